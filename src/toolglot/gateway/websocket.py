"""One WebSocket on a connection that the HTTP server handed over. The frames are read and written by `websockets`.

Text messages only, because that is what the APIs use. Pings of the client are answered while the application waits for
messages.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from websockets.exceptions import ConnectionClosed, InvalidState
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

from toolglot.gateway.http_exchange import ClientDisconnected, Duplex, HttpExchange

_HANDSHAKE = ("connection", "upgrade", "origin")  # and those that begin with sec-websocket-
_DATA = frozenset({Opcode.TEXT, Opcode.BINARY, Opcode.CONT})
_CLOSE_SECONDS = 5.0  # for the client's answer to a close frame
_silent = logging.getLogger("toolglot.gateway.frames")  # what a client does wrong is not our log's business
_silent.addHandler(logging.NullHandler())
_silent.propagate = False


class WebSocket:
    """`max_size`: bytes of a message. `silence`: seconds until a ping, and until its answer."""

    def __init__(self, connection: Duplex, max_size: int, silence: float) -> None:
        self._connection, self._silence = connection, silence
        self._protocol = ServerProtocol(max_size=max_size, logger=_silent)  # no compression: clients are near
        self._frames: deque[Frame] = deque()
        self._parts: list[bytes] = []
        self._sending = asyncio.Lock()

    @property
    def is_stopping(self) -> bool:
        return self._connection.is_stopping

    async def accept(self, exchange: HttpExchange) -> bool:
        """Answers the handshake. False: it was not valid, and the client got an error."""
        lines = [b"GET / HTTP/1.1", b"host: gateway"]
        for name, value in exchange.headers.items():
            if name.decode("latin-1") in _HANDSHAKE or name.startswith(b"sec-websocket-"):
                lines.append(name + b": " + (b"Upgrade" if name == b"connection" else value))
        if b"connection" not in exchange.headers:
            lines.append(b"connection: Upgrade")
        self._protocol.receive_data(b"\r\n".join([*lines, b"", b""]))
        for event in self._protocol.events_received():
            if isinstance(event, Request):
                response = self._protocol.accept(event)
                response.headers["x-request-id"] = exchange.request_id
                self._protocol.send_response(response)
        await self._flush()
        return self._protocol.state is State.OPEN

    async def receive(self, is_idle: Callable[[], bool]) -> str | None:
        """The next message; None once the connection ends. Sends a ping in silence; a client that does not answer is gone.

        `is_idle`: whether the connection should be closed in silence.
        """
        pinged = False
        while True:
            while self._frames:
                frame = self._frames.popleft()
                if frame.opcode is Opcode.BINARY:
                    await self.close(CloseCode.UNSUPPORTED_DATA, "messages must be text")
                    return None
                if frame.opcode in _DATA:
                    if frame.data:
                        self._parts.append(bytes(frame.data))
                    if frame.fin:
                        message, self._parts = b"".join(self._parts), []
                        try:
                            return message.decode()
                        except UnicodeDecodeError:
                            await self.close(CloseCode.INVALID_DATA, "a message is not UTF-8")
                            return None
            if self._protocol.state is not State.OPEN or self._connection.is_stopping:
                return None
            try:
                async with asyncio.timeout(self._silence):
                    data = await self._connection.receive()
            except TimeoutError:
                if is_idle():
                    await self.close(CloseCode.NORMAL_CLOSURE, "nothing was requested for too long")
                    return None
                if pinged:
                    await self.close(CloseCode.INTERNAL_ERROR, "no answer to a ping")
                    return None
                pinged = True
                self._protocol.send_ping(b"")
                await self._flush()
                continue
            pinged = False
            await self._received(data)

    async def _received(self, data: bytes) -> None:
        if data:
            self._protocol.receive_data(data)
        elif not self._connection.is_stopping:
            self._protocol.receive_eof()
        self._frames.extend(event for event in self._protocol.events_received() if isinstance(event, Frame))
        await self._flush()

    async def send(self, message: bytes) -> None:
        """A text message. Raises ClientDisconnected if the connection has ended."""
        async with self._sending:
            try:
                self._protocol.send_text(message)
            except (InvalidState, ConnectionClosed):
                raise ClientDisconnected from None
            await self._write()

    async def close(self, code: int, reason: str = "") -> None:
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(code, reason)
            await self._flush()

    async def finish(self) -> None:
        """Reads until the client ends: a connection that is closed with unread bytes loses the close frame."""
        if self._protocol.close_sent is None or self._protocol.close_rcvd is not None or self._connection.is_stopping:
            return
        self._connection.end_sending()
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                while self._protocol.close_rcvd is None and (data := await self._connection.receive()):
                    self._protocol.receive_data(data)
                    self._protocol.events_received()

    async def _flush(self) -> None:
        async with self._sending:
            await self._write()

    async def _write(self) -> None:
        if data := b"".join(self._protocol.data_to_send()):
            await self._connection.send(data)
