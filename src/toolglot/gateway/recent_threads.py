"""The latest responses of one WebSocket connection: `previous_response_id` works there without anything being stored."""

from __future__ import annotations

from collections import OrderedDict

import msgspec

from toolglot.core.messages import Message
from toolglot.gateway.store import MAX_TURNS


class _Turn(msgspec.Struct, frozen=True):
    previous: str | None
    messages: tuple[Message, ...]
    size: int


class Room:
    """The bytes that all connections may keep together."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes, self.used = max_bytes, 0


class RecentThreads:
    """`max_bytes`: of the requests of all turns; the oldest are forgotten first, also if `room` is full."""

    def __init__(self, max_bytes: int, room: Room) -> None:
        self._max_bytes, self._room = max_bytes, room
        self._turns: OrderedDict[str, _Turn] = OrderedDict()
        self._bytes = 0

    def add(self, id: str, previous: str | None, messages: tuple[Message, ...], size: int) -> None:
        self._turns[id] = _Turn(previous, messages, size)
        self._count(size)
        while self._turns and (self._is_full or len(self._turns) > MAX_TURNS):
            self._count(-self._turns.popitem(last=False)[1].size)

    @property
    def _is_full(self) -> bool:
        return self._bytes > self._max_bytes or self._room.used > self._room.max_bytes

    def _count(self, size: int) -> None:
        self._bytes += size
        self._room.used += size

    def forget(self, id: str) -> None:
        if (turn := self._turns.pop(id, None)) is not None:
            self._count(-turn.size)

    def clear(self) -> None:
        self._turns.clear()
        self._count(-self._bytes)

    def history(self, id: str) -> tuple[tuple[Message, ...], str | None]:
        """The messages up to and including this response, as far as they are here, and the response before them."""
        turns: list[tuple[Message, ...]] = []
        previous: str | None = id
        while previous is not None and (turn := self._turns.get(previous)) is not None:
            turns.append(turn.messages)
            previous = turn.previous
        return tuple(message for turn in reversed(turns) for message in turn), previous
