"""Connections to one host: idle and busy ones, their number, and the queue for one."""

from __future__ import annotations

import asyncio
from collections import deque

from toolglot.client.http.connection import Connection
from toolglot.client.http.faults import transport_error


class HostPool:
    """`take` returns an idle connection, or None: a slot to open one, which `add` or `give_up` must follow."""

    def __init__(self, shown: str, limit: int) -> None:
        self._shown = shown
        self._limit = limit
        self._idle: list[Connection] = []
        self._busy: set[Connection] = set()
        self._opening = 0
        self._waiting: deque[asyncio.Future[Connection | None]] = deque()

    @property
    def count(self) -> int:
        return len(self._idle) + len(self._busy) + self._opening

    def take_idle(self) -> Connection | None:
        """The last used idle connection: the peer has least likely closed it."""
        while self._idle:
            connection = self._idle.pop()
            if connection.usable:
                self._busy.add(connection)
                return connection
            connection.abort()
        return None

    async def take(self, wait: float | None, *, fresh: bool) -> Connection | None:
        connection = None if fresh else self.take_idle()
        if connection is not None:
            return connection
        if self.count >= self._limit and self._idle:
            self._idle[0].abort()
        if self.count < self._limit:
            self._opening += 1
            return None
        return await self._queue(wait)

    async def _queue(self, wait: float | None) -> Connection | None:
        turn: asyncio.Future[Connection | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            async with asyncio.timeout(wait):
                return await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self._return(turn.result())
            elif turn in self._waiting:
                self._waiting.remove(turn)
            if isinstance(error, TimeoutError):
                raise transport_error("timeout_pool", self._shown, f"{self._limit} connections, {wait:g} s") from None
            raise

    def add(self, connection: Connection) -> None:
        self._opening -= 1
        self._busy.add(connection)
        connection.free = self._free
        connection.gone = self._gone

    def give_up(self) -> None:
        self._opening -= 1
        self._next()

    def connections(self) -> list[Connection]:
        return [*self._idle, *self._busy]

    def _return(self, connection: Connection | None) -> None:
        """Take back what a cancelled waiter was given."""
        if connection is None:
            self.give_up()
        elif connection.usable:
            self._free(connection)

    def _free(self, connection: Connection) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(connection)
                return
        self._busy.discard(connection)
        self._idle.append(connection)

    def _gone(self, connection: Connection) -> None:
        self._busy.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)
        self._next()

    def _next(self) -> None:
        """A slot is free: the first in the queue may open a connection."""
        while self._waiting and self.count < self._limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._opening += 1
                turn.set_result(None)
