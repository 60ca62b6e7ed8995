"""Connections to one host: those that rest, how many there are, and who waits for one."""

from __future__ import annotations

import asyncio
from collections import deque

from toolglot.client.http.connection import Connection
from toolglot.client.http.faults import fault


class HostPool:
    """`take` gives a rested connection, or None: the right to open one, which `add` or `give_up` settles."""

    def __init__(self, shown: str, limit: int) -> None:
        self._shown = shown
        self._limit = limit
        self._resting: list[Connection] = []
        self._busy: set[Connection] = set()
        self._opening = 0
        self._waiting: deque[asyncio.Future[Connection | None]] = deque()

    @property
    def count(self) -> int:
        return len(self._resting) + len(self._busy) + self._opening

    def rested(self) -> Connection | None:
        """The one that rested last, for it is the least likely to have been closed by the peer meanwhile."""
        while self._resting:
            connection = self._resting.pop()
            if connection.usable:
                self._busy.add(connection)
                return connection
            connection.abort()
        return None

    async def take(self, wait: float | None, *, fresh: bool) -> Connection | None:
        connection = None if fresh else self.rested()
        if connection is not None:
            return connection
        if self.count >= self._limit and self._resting:
            self._resting[0].abort()
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
                raise fault("timeout_pool", self._shown, f"{self._limit} connections, {wait:g} s") from None
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
        return [*self._resting, *self._busy]

    def _return(self, given: Connection | None) -> None:
        """What was given to a waiter that has gone."""
        if given is None:
            self.give_up()
        elif given.usable:
            self._free(given)

    def _free(self, connection: Connection) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(connection)
                return
        self._busy.discard(connection)
        self._resting.append(connection)

    def _gone(self, connection: Connection) -> None:
        self._busy.discard(connection)
        if connection in self._resting:
            self._resting.remove(connection)
        self._next()

    def _next(self) -> None:
        """A place is free: the first that waits may open a connection."""
        while self._waiting and self.count < self._limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._opening += 1
                turn.set_result(None)
