"""The order in which the targets of a request are tried: equal targets take turns by weight, failing ones come last."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

_MAX_TARGETS = 1024  # their names may contain a name that a client sent
FAILURES = 3  # in a row, before a target rests
_MAX_WAIT = 300.0  # seconds that a target may demand with Retry-After


class _Target(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def weight(self) -> int: ...
    @property
    def group(self) -> str: ...


T = TypeVar("T", bound=_Target)


class _State:
    __slots__ = ("failures", "turn", "until")

    def __init__(self) -> None:
        self.failures, self.until, self.turn = 0, 0.0, 0


class Balancer:
    """Lives as long as the gateway. It only orders: a resting target is still tried if all others fail."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._states: OrderedDict[str, _State] = OrderedDict()

    def order(self, targets: Sequence[T]) -> tuple[T, ...]:
        if len(targets) == 1:
            return tuple(targets)
        now = self._clock()
        rests = {one.name: self._states[one.name].until > now for one in targets if one.name in self._states}
        ordered = self._by_weight([one for one in targets if not rests.get(one.name)])
        return (*ordered, *(one for one in targets if rests.get(one.name)))

    def _by_weight(self, targets: list[T]) -> list[T]:
        """Within each group, smooth weighted round robin: 2 and 1 give a a b, and never the same order twice as a burst."""
        chosen: dict[str, T] = {}
        for group in dict.fromkeys(one.group for one in targets if one.weight):
            members = [one for one in targets if one.group == group and one.weight]
            if len(members) > 1:
                chosen[group] = self._turn(members)
        placed: list[T] = []
        for one in targets:
            first = chosen.pop(one.group, None) if one.weight else None
            if first is not None:
                placed.append(first)
            if not any(one is other for other in placed):
                placed.append(one)
        return placed

    def _turn(self, members: list[T]) -> T:
        for one in members:
            self._state(one.name).turn += one.weight
        best = max(members, key=lambda one: self._state(one.name).turn)
        self._state(best.name).turn -= sum(one.weight for one in members)
        return best

    def failed(self, name: str, seconds: float, retry_after: float | None = None) -> None:
        """It rests after some failures in a row, or as long as it demands. `seconds` 0: never."""
        if not seconds:
            return
        state = self._state(name)
        state.failures += 1
        if retry_after is not None:
            state.until = self._clock() + min(retry_after, _MAX_WAIT)
        elif state.failures >= FAILURES:
            state.until = self._clock() + seconds

    def worked(self, name: str) -> None:
        state = self._states.get(name)
        if state is not None:
            state.failures, state.until = 0, 0.0

    def _state(self, name: str) -> _State:
        state = self._states.setdefault(name, _State())
        self._states.move_to_end(name)
        if len(self._states) > _MAX_TARGETS:
            self._states.popitem(last=False)
        return state
