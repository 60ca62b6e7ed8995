"""An event loop whose clock leaves out the time in which this process did not run.

On a loaded machine a process stands still for half a second now and then. All timers of a loop would be due after that, also
those of what had no chance to happen meanwhile: a server of the test in the same loop had its answer ready. Here a step of the
loop takes at most `_STEP`, and waiting for something that comes does too; only waiting in vain takes as long as it takes.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
_STEP = 0.02  # seconds


class _Selector(selectors.DefaultSelector):
    """Tells the clock when the loop waits."""

    clock: _Clock

    def select(self, timeout: float | None = None) -> Any:
        self.clock.advance(_STEP)
        found = super().select(timeout)
        self.clock.advance(_STEP if found or timeout is None else max(timeout, 0.0))
        return found


class _Clock:
    def __init__(self) -> None:
        self._now = self._seen = time.monotonic()

    def advance(self, most: float) -> None:
        now = time.monotonic()
        self._now, self._seen = self._now + min(now - self._seen, most), now

    def time(self) -> float:
        return self._now + min(time.monotonic() - self._seen, _STEP)

    def skip(self, seconds: float) -> None:
        self._now += seconds


class SteadyLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        selector = _Selector()
        self._clock = selector.clock = _Clock()
        super().__init__(selector)

    def time(self) -> float:
        return self._clock.time()

    def skip(self, seconds: float) -> None:
        """As if they had gone by: what waits for that long waits no more."""
        self._clock.skip(seconds)


def run_steadily(work: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=SteadyLoop) as runner:
        return runner.run(work)
