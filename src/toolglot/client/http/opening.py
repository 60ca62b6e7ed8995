"""From a target to a connection: name, TCP, the proxy's consent, TLS."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from toolglot.client.http.connection import Connection
from toolglot.client.http.faults import fault, system_words, tls_fault
from toolglot.client.http.proxy import Proxy
from toolglot.client.http.url import Target
from toolglot.client.transport import Limits

_STAGGER = 0.25  # seconds until the next address of a name is tried beside the first
_HEAD_END = b"\r\n\r\n"


async def open_connection(
    target: Target, proxy: Proxy | None, limits: Limits, context: Callable[[], ssl.SSLContext], rest: float | None
) -> Connection:
    """Everything within the connect limit. Whatever goes wrong, or if it is cancelled, no socket stays open."""
    loop = asyncio.get_running_loop()
    connection = Connection(target.shown, loop, rest)
    opening = _Opening(loop, connection, limits.head)
    first: Target | Proxy = proxy or target
    try:
        async with asyncio.timeout(limits.connect):
            await opening.reach(first)
            if proxy is not None and proxy.secure:
                await opening.secure(proxy.host, proxy.shown, context())
            if proxy is not None and target.secure:
                await opening.tunnel(target, proxy)
            if target.secure:
                await opening.secure(target.host, target.shown, context())
            opening.hand_over()
    except TimeoutError:
        opening.abort()
        raise fault("timeout_connect", first.shown, "" if limits.connect is None else f"{limits.connect:g} s") from None
    except BaseException:
        opening.abort()
        raise
    return connection


class _Opening:
    """The steps, over one transport that grows layers."""

    def __init__(self, loop: asyncio.AbstractEventLoop, connection: Connection, head: int) -> None:
        self._loop = loop
        self._connection = connection
        self._head = head
        self._transport: asyncio.Transport | None = None

    async def reach(self, place: Target | Proxy) -> None:
        # uvloop tries a name's addresses one after the other, and takes no option about it.
        how: dict[str, Any] = {"happy_eyeballs_delay": _STAGGER} if isinstance(self._loop, asyncio.BaseEventLoop) else {}
        try:
            self._transport, _ = await self._loop.create_connection(asyncio.Protocol, place.host, place.port, **how)
        except socket.gaierror as error:
            raise fault("dns_failed", place.shown, system_words(error)) from None
        except UnicodeError:
            raise fault("dns_failed", place.shown, "no valid domain name", again=False) from None
        except TimeoutError:
            raise
        except OSError as error:
            raise fault("connect_failed", place.shown, _connect_words(error)) from None
        plain = self._transport.get_extra_info("socket")
        with suppress(OSError):  # notices a peer that vanished during a long wait
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    async def secure(self, name: str, shown: str, context: ssl.SSLContext) -> None:
        try:
            secured = await self._loop.start_tls(self._open(), asyncio.Protocol(), context, server_hostname=name)
        except TimeoutError:
            raise
        except (ssl.SSLError, OSError) as error:
            raise tls_fault(shown, error) from None
        if secured is None:  # the peer closed while the handshake ended
            raise tls_fault(shown, ConnectionResetError())
        self._transport = secured

    async def tunnel(self, target: Target, proxy: Proxy) -> None:
        """CONNECT: from here on the proxy only passes bytes."""
        waiting = _ProxyReply(self._loop.create_future(), self._head)
        transport = self._open()
        transport.set_protocol(waiting)
        host = f"[{target.host}]" if ":" in target.host else target.host
        auth = f"Proxy-Authorization: {proxy.auth}\r\n" if proxy.auth else ""
        transport.write(f"CONNECT {host}:{target.port} HTTP/1.1\r\nHost: {host}:{target.port}\r\n{auth}\r\n".encode("latin-1"))
        if transport.is_closing():
            waiting.connection_lost(None)
        status = await waiting.status
        if status is None:
            raise fault("proxy_failed", proxy.shown, "it closed without an answer to CONNECT", again=True)
        if not 200 <= status < 300:
            raise fault("proxy_failed", proxy.shown, f"status {status} to CONNECT {target.shown}", again=status >= 500)

    def hand_over(self) -> None:
        transport = self._open()
        transport.set_protocol(self._connection)
        self._connection.adopt(transport)

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _open(self) -> asyncio.Transport:
        if self._transport is None:
            raise AssertionError("reach comes first")
        return self._transport


class _ProxyReply(asyncio.Protocol):
    """The head of a proxy's answer to CONNECT: its status, or None where it hung up or spoke no HTTP."""

    def __init__(self, status: asyncio.Future[int | None], limit: int) -> None:
        self.status = status
        self._seen = b""
        self._limit = limit

    def data_received(self, data: bytes) -> None:
        self._seen += data
        if _HEAD_END in self._seen:
            line = self._seen.split(b"\r\n", 1)[0].split(b" ")
            sound = len(line) >= 2 and line[0].startswith(b"HTTP/1.") and line[1].isdigit() and len(line[1]) == 3
            self._settle(int(line[1]) if sound else None)
        elif len(self._seen) > self._limit:
            self._settle(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._settle(None)

    def _settle(self, status: int | None) -> None:
        if not self.status.done():
            self.status.set_result(status)


def _connect_words(error: OSError) -> str:
    """asyncio folds the failures of several addresses into one text with tuples in it; the error's number says it better."""
    return os.strerror(error.errno).lower() if error.errno else "refused or unreachable at every address"
