"""Opens a connection: DNS, TCP, the proxy's CONNECT, TLS."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from toolglot.client.http.connection import Connection
from toolglot.client.http.faults import system_message, tls_error, transport_error
from toolglot.client.http.proxy import Proxy
from toolglot.client.http.url import Target
from toolglot.client.transport import Limits

_STAGGER = 0.25  # seconds until the next address of a name is tried beside the first
_HEAD_END = b"\r\n\r\n"


async def open_connection(
    target: Target,
    proxy: Proxy | None,
    limits: Limits,
    context: Callable[[], ssl.SSLContext],
    *,
    rest: float | None,
    tls_name: str | None = None,
) -> Connection:
    """Within the connect limit. On any error or cancellation no socket stays open. `tls_name`: in the target's certificate."""
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
                await opening.secure(tls_name or target.host, target.shown, context())
            opening.hand_over()
    except TimeoutError:
        opening.abort()
        raise transport_error(
            "timeout_connect", first.shown, "" if limits.connect is None else f"{limits.connect:g} s"
        ) from None
    except BaseException:
        opening.abort()
        raise
    return connection


class _Opening:
    """The steps, over one transport that gains layers."""

    def __init__(self, loop: asyncio.AbstractEventLoop, connection: Connection, head: int) -> None:
        self._loop = loop
        self._connection = connection
        self._head = head
        self._transport: asyncio.Transport | None = None

    async def reach(self, place: Target | Proxy) -> None:
        # uvloop tries a name's addresses one after the other, and has no option for it.
        how: dict[str, Any] = {"happy_eyeballs_delay": _STAGGER} if isinstance(self._loop, asyncio.BaseEventLoop) else {}
        try:
            self._transport, _ = await self._loop.create_connection(asyncio.Protocol, place.host, place.port, **how)
        except socket.gaierror as error:
            raise transport_error("dns_failed", place.shown, system_message(error)) from None
        except UnicodeError:
            raise transport_error("dns_failed", place.shown, "not a valid domain name", again=False) from None
        except TimeoutError:
            raise
        except OSError as error:
            raise transport_error("connect_failed", place.shown, _connect_message(error)) from None
        plain = self._transport.get_extra_info("socket")
        with suppress(OSError):  # notices a peer that vanished during a long wait
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    async def secure(self, name: str, shown: str, context: ssl.SSLContext) -> None:
        try:
            secured = await self._loop.start_tls(self._open(), asyncio.Protocol(), context, server_hostname=name)
        except TimeoutError:
            raise
        except (ssl.SSLError, OSError) as error:
            raise tls_error(shown, error) from None
        if secured is None:  # the peer closed while the handshake ended
            raise tls_error(shown, ConnectionResetError())
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
            raise transport_error("proxy_failed", proxy.shown, "it closed without a response to CONNECT", again=True)
        if not 200 <= status < 300:
            raise transport_error(
                "proxy_failed", proxy.shown, f"status {status} to CONNECT {target.shown}", again=status >= 500
            )

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
    """The head of a proxy's response to CONNECT: its status, or None if it closed or did not send HTTP."""

    def __init__(self, status: asyncio.Future[int | None], limit: int) -> None:
        self.status = status
        self._received = b""
        self._limit = limit

    def data_received(self, data: bytes) -> None:
        self._received += data
        if _HEAD_END in self._received:
            line = self._received.split(b"\r\n", 1)[0].split(b" ")
            valid = len(line) >= 2 and line[0].startswith(b"HTTP/1.") and line[1].isdigit() and len(line[1]) == 3
            self._set_status(int(line[1]) if valid else None)
        elif len(self._received) > self._limit:
            self._set_status(None)

    def connection_lost(self, exc: Exception | None) -> None:
        self._set_status(None)

    def _set_status(self, status: int | None) -> None:
        if not self.status.done():
            self.status.set_result(status)


def _connect_message(error: OSError) -> str:
    """asyncio joins the failures of several addresses into one text with tuples; the error number is clearer."""
    return os.strerror(error.errno).lower() if error.errno else "refused or unreachable at every address"


def tls_context(ca_file: str | None = None) -> ssl.SSLContext:
    """Certificates and host names are always checked: by the CAs of this file, SSL_CERT_FILE or SSL_CERT_DIR, or the system."""
    context = ssl.create_default_context(cafile=ca_file)
    context.set_alpn_protocols(["http/1.1"])
    return context
