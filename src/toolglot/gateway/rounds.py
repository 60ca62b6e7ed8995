"""One timer that comes by all requests that run, instead of one for each: most are over before it does."""

from __future__ import annotations

import asyncio
from typing import Protocol

EVERY = 0.05  # seconds


class Looked(Protocol):
    def look(self, now: float, /) -> None: ...


class Rounds:
    """Nothing runs while nobody is to be looked after."""

    def __init__(self) -> None:
        self._held: set[Looked] = set()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, one: Looked) -> None:
        self._held.add(one)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(EVERY, self._go)

    def remove(self, one: Looked) -> None:
        self._held.discard(one)

    def _go(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        now = loop.time()
        for one in tuple(self._held):
            one.look(now)
        if self._held:
            self._timer = loop.call_later(EVERY, self._go)
