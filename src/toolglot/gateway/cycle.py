"""One request and its answer on a connection, as ASGI has it. What is written in one go leaves in one piece."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import MutableMapping
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolglot.gateway.protocol import HttpProtocol

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_HIGH_WATER = 64 * 1024  # bytes that wait for the application before the connection is no longer read
_BODILESS = frozenset({204, 304})

log = logging.getLogger("toolglot.gateway")


class Cycle:
    """`keep`: another request may follow on the connection."""

    __slots__ = (
        "_chunked",
        "_connection",
        "_expects",
        "_head",
        "_held",
        "_left",
        "_more",
        "_pieces",
        "_started",
        "_waiter",
        "complete",
        "gone",
        "keep",
        "scope",
    )

    def __init__(self, connection: HttpProtocol, scope: dict[str, Any], keep: bool) -> None:
        self._connection = connection
        self.scope = scope
        self.keep = keep
        self.gone = False  # the client left before the answer was complete
        self.complete = False  # the answer is
        self._expects = (b"expect", b"100-continue") in scope["headers"]
        self._pieces: list[bytes] = []
        self._held = 0
        self._more = True  # the end of the body has not been told
        self._waiter: asyncio.Future[None] | None = None
        self._started = False
        self._head = b""  # of an answer whose length is known: it waits for the body
        self._chunked = False
        self._left = -1  # bytes of the body that are still to come; -1: nobody knows

    async def run(self, app: Any) -> None:
        try:
            await app(self.scope, self.receive, self.send)
        except Exception:
            log.exception("the application failed")
        finally:
            if not self.complete:  # what has begun can only be broken off
                self._connection.close()
            self._connection.over(self)

    # -- in

    def piece(self, data: bytes) -> None:
        if self.complete:  # it was answered without being read
            return
        self._pieces.append(data)
        self._held += len(data)
        if self._held > _HIGH_WATER:
            self._connection.pause_reading()
        self.wake()

    def ended(self) -> None:
        """The whole body has come."""
        self._pieces.append(b"")
        self.wake()

    def leave(self) -> None:
        if not self.complete:
            self.gone = True
        self.wake()

    def wake(self) -> None:
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    async def receive(self) -> MutableMapping[str, Any]:
        if self._expects and not self.gone:
            self._expects = False
            self._connection.transport.write(_CONTINUE)
        while not (self._pieces or self.gone or self.complete):
            self._connection.resume_reading()
            self._waiter = self._connection.loop.create_future()
            await self._waiter
        if self.gone or self.complete:
            return {"type": "http.disconnect"}
        pieces = self._pieces
        more = bool(pieces[-1])
        body = pieces[0] if len(pieces) <= 2 - more else b"".join(pieces)
        self._pieces, self._held = [], 0
        return {"type": "http.request", "body": body, "more_body": more}

    # -- out

    async def send(self, message: MutableMapping[str, Any]) -> None:
        connection = self._connection
        if connection.choked and not self.gone:
            await connection.drained()
        if self.gone:
            return
        if self._started:
            self._body(message.get("body", b""), message.get("more_body", False))
        else:
            self._start(message["status"], message["headers"])

    def _start(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self._started, self._expects = True, False
        lines = [b"%b: %b\r\n" % header for header in headers]
        for name, value in headers:
            if name == b"content-length":
                self._left = int(value)
            elif name == b"connection" and value == b"close":
                self.keep = False
        if not self.keep and (b"connection", b"close") not in headers:
            lines.append(b"connection: close\r\n")
        if self.scope["method"] == "HEAD" or status in _BODILESS:
            self._left = 0
        elif self._left < 0 and self.scope["http_version"] != "1.0":  # there the connection's end is the body's
            self._chunked = True
            lines.append(b"transfer-encoding: chunked\r\n")
        said = b"".join(lines)
        if not len(lines) == said.count(b"\n") == said.count(b"\r") or b"\0" in said:
            raise ValueError("a header holds what would end its line")
        head = b"%b%b%b\r\n" % (_status_line(status), self._connection.standing_headers(), said)
        if self._left < 0:
            self._connection.transport.write(head)
        else:
            self._head = head

    def _body(self, data: bytes, more: bool) -> None:
        if self._chunked:
            written = b"%x\r\n%b\r\n" % (len(data), data) if data else b""
            if not more:
                written += b"0\r\n\r\n"
        elif self.scope["method"] == "HEAD":
            written = b""
        else:
            written = data
            if self._left >= 0:
                self._left -= len(data)
                if self._left < 0 or (self._left and not more):
                    raise ValueError("the body is not as long as was said")
        if self._head:
            written = self._head + written
            self._head = b""
        if written:
            self._connection.transport.write(written)
        if not more:
            self.complete = True
            self.wake()
            if not self.keep:
                self._connection.close()


@lru_cache
def _status_line(status: int) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = ""
    return f"HTTP/1.1 {status} {phrase}\r\n".encode()
