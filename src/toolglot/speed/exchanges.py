"""Requests to a model, timed from outside: how long it took, and what of it was toolglot's own work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Exchange:
    first_event: float  # seconds from the question on
    first_delta: float | None  # of text, thought or a call; None: the answer was empty
    end: float
    events: int
    own_cpu: float  # seconds


@dataclass(frozen=True)
class Exchanges:
    """The same question, put several times; each figure is the median."""

    name: str
    held: Sequence[Exchange]

    @property
    def figures(self) -> dict[str, float | None]:
        end, own = self._median(lambda one: one.end), self._median(lambda one: one.own_cpu)
        events = self._median(lambda one: one.events)
        begun = [one.first_delta for one in self.held if one.first_delta is not None]
        return {
            "first_event_ms": 1e3 * self._median(lambda one: one.first_event),
            "first_delta_ms": 1e3 * median(begun) if begun else None,
            "end_ms": 1e3 * end,
            "events": events,
            "events_s": events / end,
            "own_cpu_ms": 1e3 * own,
            "own_share": own / end,
        }

    def _median(self, figure: Callable[[Exchange], float]) -> float:
        return median(map(figure, self.held))
