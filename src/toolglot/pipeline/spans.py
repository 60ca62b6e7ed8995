"""Places in a text, kept so that whether one of them meets another is told without looking at them all."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import Generic, Protocol, TypeVar


class Placed(Protocol):
    """What stands from `start` up to `end`."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


Kind = TypeVar("Kind", bound=Placed)


class Spans(Generic[Kind]):
    """Of those that begin early enough, only how far the furthest reaches is asked for."""

    __slots__ = ("_held", "_reach", "_starts")

    def __init__(self, *kinds: Iterable[Kind]) -> None:
        self._held = sorted((one for kind in kinds for one in kind), key=lambda one: one.start)
        self._starts = [one.start for one in self._held]
        self._reach = list(accumulate((one.end for one in self._held), max))

    def meet(self, one: Placed) -> bool:
        """Whether one of them overlaps it."""
        at = bisect_left(self._starts, one.end)
        return at > 0 and self._reach[at - 1] > one.start

    def near(self, one: Placed) -> list[Kind]:
        """Those that may overlap it, and hardly another."""
        return self._held[bisect_right(self._reach, one.start) : bisect_left(self._starts, one.end)]

    def hold(self, one: Placed) -> bool:
        """Whether it stands within one of them."""
        at = bisect_right(self._starts, one.start)
        return at > 0 and self._reach[at - 1] >= one.end

    def reach(self, place: int) -> bool:
        """Whether one of them has this place."""
        at = bisect_right(self._starts, place)
        return at > 0 and self._reach[at - 1] > place
