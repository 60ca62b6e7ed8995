"""The HTTP transport: a connection pool for each host, and the head of a request as bytes."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Self

from toolglot.client.http.answer import HttpAnswer
from toolglot.client.http.connection import Connection
from toolglot.client.http.faults import transport_error
from toolglot.client.http.opening import open_connection, tls_context
from toolglot.client.http.pool import HostPool
from toolglot.client.http.proxy import Proxies, from_environment
from toolglot.client.http.url import Target, parse_url
from toolglot.client.transport import Limits, request_sent
from toolglot.errors import CallerError

_Place = tuple[bool, str, int]
_DEFAULT = Limits()
_PROXY_AUTH_REQUIRED = 407  # only proxies send it
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_METHOD = re.compile(r"[A-Z]{1,20}")
# The transport frames the message; other values would allow request smuggling.
_OURS = frozenset({"connection", "content-length", "expect", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"})
_BODY_METHODS = frozenset({"POST", "PUT", "PATCH"})


class HttpTransport:
    """`per_host`: the maximum of connections to one host, unless the limits of a request have another.

    `rest`: seconds until an idle connection is closed. `tls_name`: the name in the servers' certificates, if not their hosts.

    Bound to the event loop that uses it; used in a later loop (a second `asyncio.run`), it starts again there.
    """

    def __init__(
        self,
        *,
        per_host: int = 100,
        rest: float | None = 30.0,
        proxies: Proxies | None = None,
        tls: ssl.SSLContext | None = None,
        tls_name: str | None = None,
    ) -> None:
        self._per_host = per_host
        self._rest = rest
        self._proxies = from_environment() if proxies is None else proxies
        self._tls, self._tls_name = tls, tls_name
        self._pools: dict[_Place, HostPool] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, limits: Limits = _DEFAULT
    ) -> HttpAnswer:
        """The response, once its head is there. Redirects are not followed."""
        target = parse_url(url)
        proxy = self._proxies.for_target(target)
        absolute = proxy is not None and not target.secure
        auth = proxy.auth if proxy is not None and absolute else None
        data = request_head(method, target, headers, len(body), absolute=absolute, proxy_auth=auth) + body
        pool = self._pool(target)
        pool.limit(limits.connections)
        connection = pool.take_idle() or await self._connect(pool, target, limits, fresh=False)
        _count(is_resent=False)
        answer = await self._exchange(connection, data, limits, headless=method == "HEAD")
        if answer.stale:
            # The peer closed an idle connection while we wrote: it did not process the request. Only then it is sent again,
            # once, on a new connection, so that a server that always closes does not cause a loop.
            connection = await self._connect(pool, target, limits, fresh=True)
            _count(is_resent=True)
            answer = await self._exchange(connection, data, limits, headless=method == "HEAD")
        answer.must_have_begun()
        if proxy is not None and absolute and answer.status == _PROXY_AUTH_REQUIRED:
            await answer.aclose()
            raise transport_error("proxy_failed", proxy.shown, f"status {answer.status}")
        return answer

    async def aclose(self) -> None:
        """Close every connection, busy or not; returns when the sockets are closed."""
        self._closed = True
        open_now = [connection for pool in self._pools.values() for connection in pool.connections()]
        self._pools.clear()
        if self._loop is not asyncio.get_running_loop():
            return
        for connection in open_now:
            connection.abort_with(transport_error("closed", connection.host))
        for connection in open_now:
            await connection.wait_closed()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _exchange(self, connection: Connection, data: bytes, limits: Limits, *, headless: bool) -> HttpAnswer:
        answer = HttpAnswer(connection, limits)
        connection.ask(answer, data, headless=headless)
        await answer.settled()
        return answer

    async def _connect(self, pool: HostPool, target: Target, limits: Limits, *, fresh: bool) -> Connection:
        connection = await pool.take(limits, fresh=fresh)
        if connection is not None:
            return connection
        try:
            self._must_be_open(target)
            proxy = self._proxies.for_target(target)
            more: dict[str, Any] = {"rest": self._rest, "tls_name": self._tls_name}
            connection = await open_connection(target, proxy, limits, self._context, **more)
        except BaseException:
            pool.give_up()
            raise
        pool.add(connection)
        if self._closed:  # meanwhile
            connection.abort()
            self._must_be_open(target)
        return connection

    def _must_be_open(self, target: Target) -> None:
        if self._closed:
            raise transport_error("closed", target.shown)

    def _pool(self, target: Target) -> HostPool:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._pools = {}
        self._must_be_open(target)
        place = (target.secure, target.host, target.port)
        pool = self._pools.get(place)
        if pool is None:
            pool = self._pools[place] = HostPool(target.shown, self._per_host)
        return pool

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = tls_context()
        return self._tls


def request_head(
    method: str, target: Target, headers: Mapping[str, str], size: int, *, absolute: bool, proxy_auth: str | None
) -> bytes:
    """Validated against header injection. `absolute`: the whole URL in the first line, as proxies for plain http require it."""
    start = _start(method, target, tuple(headers.items()), absolute, proxy_auth)
    return start + b"Content-Length: %d\r\n\r\n" % size if size or method in _BODY_METHODS else start + b"\r\n"


@lru_cache(64)  # a client sends the same headers again and again
def _start(method: str, target: Target, headers: tuple[tuple[str, str], ...], absolute: bool, proxy_auth: str | None) -> bytes:
    """Everything but the length, checked."""
    if not _METHOD.fullmatch(method):
        raise CallerError("is not an HTTP method", "method")
    for name, value in headers:
        if not _NAME.fullmatch(name):
            raise CallerError("a header's name contains an invalid character", "headers")
        if not _VALUE.fullmatch(value):  # not shown: it may be a secret
            raise CallerError(f"{name} contains an invalid character", "headers")
    names = {name.lower() for name, _ in headers}
    if not _OURS.isdisjoint(names):
        raise CallerError(f"{min(_OURS & names)} is set by the transport; leave it out", "headers")
    where = f"http://{target.authority}{target.path}" if absolute else target.path
    ours = {"Host": target.authority, "Accept-Encoding": "identity", "User-Agent": "toolglot"}
    lines = [(name, value) for name, value in ours.items() if name.lower() not in names]
    if proxy_auth:
        lines.append(("Proxy-Authorization", proxy_auth))
    written = "".join(f"{name}: {value}\r\n" for name, value in (*lines, *headers))
    return f"{method} {where} HTTP/1.1\r\n{written}".encode("latin-1")


def _count(*, is_resent: bool) -> None:
    counted = request_sent.get()
    if counted is not None:
        counted.sent += 1
        counted.resent += is_resent
