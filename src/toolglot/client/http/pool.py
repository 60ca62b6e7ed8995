"""Connections to one host: idle and busy ones, their number, and the queues for one: a queue for each owner, served in turn."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from toolglot.client.http.connection import Connection
from toolglot.client.http.faults import transport_error
from toolglot.client.transport import Limits, request_owner

_Turn = asyncio.Future[Connection | None]


class HostPool:
    """`take` returns an idle connection, or None: a slot to open one, which `add` or `give_up` must follow."""

    def __init__(self, shown: str, limit: int) -> None:
        self._shown = shown
        self._limit = limit
        self._idle: list[Connection] = []
        self._busy: set[Connection] = set()
        self._opening = 0
        self._waiting: OrderedDict[str, dict[_Turn, None]] = OrderedDict()  # by owner; the next one first

    @property
    def count(self) -> int:
        return len(self._idle) + len(self._busy) + self._opening

    def limit(self, connections: int | None) -> None:
        """From now on; None: as before. Idle ones of requests without this limit may be too many."""
        if connections is not None:
            self._limit = connections

    def take_idle(self) -> Connection | None:
        """The last used idle connection: the peer has least likely closed it."""
        while self._idle and len(self._busy) + self._opening < self._limit:
            connection = self._idle.pop()
            if connection.usable:
                self._busy.add(connection)
                return connection
            connection.abort()
        return None

    async def take(self, limits: Limits, *, fresh: bool) -> Connection | None:
        connection = None if fresh else self.take_idle()
        if connection is not None:
            return connection
        if self.count >= self._limit and self._idle:
            self._idle[0].abort()
        if self.count < self._limit:
            self._opening += 1
            return None
        return await self._queue(limits.queue)

    async def _queue(self, wait: float | None) -> Connection | None:
        turn: _Turn = asyncio.get_running_loop().create_future()
        owner = request_owner.get()
        self._waiting.setdefault(owner, {})[turn] = None
        try:
            async with asyncio.timeout(wait):
                return await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self._return(turn.result())
            else:
                self._leave(owner, turn)
            if isinstance(error, TimeoutError):
                raise transport_error("timeout_pool", self._shown, f"{self._limit} connections, {wait:g} s") from None
            raise

    def _leave(self, owner: str, turn: _Turn) -> None:
        queue = self._waiting.get(owner, {})
        queue.pop(turn, None)
        if not queue:
            self._waiting.pop(owner, None)

    def _next_turn(self) -> _Turn | None:
        while self._waiting:
            owner, queue = next(iter(self._waiting.items()))
            turn = next(iter(queue))
            self._waiting.move_to_end(owner)
            self._leave(owner, turn)
            if not turn.done():
                return turn
        return None

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
        turn = self._next_turn()
        if turn is not None:
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
        """A slot is free: the next in the queue may open a connection."""
        while self.count < self._limit and (turn := self._next_turn()) is not None:
            self._opening += 1
            turn.set_result(None)
