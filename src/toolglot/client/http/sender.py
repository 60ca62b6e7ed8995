"""The transport: a pool for each host, and one exchange after the other."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from typing import Self

from toolglot.client.http.answer import HttpAnswer
from toolglot.client.http.connection import Connection
from toolglot.client.http.faults import fault
from toolglot.client.http.head import request_head
from toolglot.client.http.opening import open_connection
from toolglot.client.http.pool import HostPool
from toolglot.client.http.proxy import Proxies, from_environment
from toolglot.client.http.tls import tls_context
from toolglot.client.http.url import Target, parse_url
from toolglot.client.transport import Limits

_Place = tuple[bool, str, int]
_DEFAULT = Limits()
_NOT_LET_IN = 407  # only proxies say so


class HttpTransport:
    """`per_host`: connections at a time to one host. `rest`: seconds that an unused one is kept.

    Bound to the event loop that uses it; used in a later loop (a second `asyncio.run`), it begins anew there.
    """

    def __init__(
        self,
        *,
        per_host: int = 100,
        rest: float | None = 30.0,
        proxies: Proxies | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._per_host = per_host
        self._rest = rest
        self._proxies = from_environment() if proxies is None else proxies
        self._tls = tls
        self._pools: dict[_Place, HostPool] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, limits: Limits = _DEFAULT
    ) -> HttpAnswer:
        """The answer, once its head is there. Redirects are not followed: a 3xx is an answer."""
        target = parse_url(url)
        proxy = self._proxies.for_target(target)
        absolute = proxy is not None and not target.secure
        auth = proxy.auth if proxy is not None and absolute else None
        data = request_head(method, target, headers, len(body), absolute=absolute, proxy_auth=auth) + body
        pool = self._pool(target)
        connection = pool.rested() or await self._connect(pool, target, limits, fresh=False)
        answer = await self._exchange(connection, data, limits, headless=method == "HEAD")
        if answer.stale:
            # The peer closed a rested connection just as we wrote: the request found nobody. Only then, and once, it is
            # sent again, on a new connection, so that a server that closes on sight is not asked for ever.
            connection = await self._connect(pool, target, limits, fresh=True)
            answer = await self._exchange(connection, data, limits, headless=method == "HEAD")
        answer.must_have_begun()
        if proxy is not None and absolute and answer.status == _NOT_LET_IN:
            await answer.aclose()
            raise fault("proxy_failed", proxy.shown, f"status {answer.status}")
        return answer

    async def aclose(self) -> None:
        """Every connection is closed, whatever it does; returns when the sockets are."""
        self._closed = True
        open_now = [connection for pool in self._pools.values() for connection in pool.connections()]
        self._pools.clear()
        if self._loop is not asyncio.get_running_loop():
            return
        for connection in open_now:
            connection.abort_with(fault("closed", connection.host))
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
        connection = await pool.take(limits.first_byte, fresh=fresh)
        if connection is not None:
            return connection
        try:
            self._must_be_open(target)
            connection = await open_connection(target, self._proxies.for_target(target), limits, self._context, self._rest)
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
            raise fault("closed", target.shown)

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
