"""Timed requests to a model: the total time, and toolglot's share of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Exchange:
    first_event: float  # seconds since the request
    first_delta: float | None  # of text, reasoning or a call; None: the answer was empty
    end: float
    events: int
    own_cpu: float  # seconds


@dataclass(frozen=True)
class Exchanges:
    """The same question, sent several times; each figure is the median."""

    name: str
    exchanges: Sequence[Exchange]

    @property
    def figures(self) -> dict[str, float | None]:
        end, own_cpu = self._median(lambda one: one.end), self._median(lambda one: one.own_cpu)
        events = self._median(lambda one: one.events)
        begun = [one.first_delta for one in self.exchanges if one.first_delta is not None]
        return {
            "first_event_ms": 1e3 * self._median(lambda one: one.first_event),
            "first_delta_ms": 1e3 * median(begun) if begun else None,
            "end_ms": 1e3 * end,
            "events": events,
            "events_s": events / end,
            "own_cpu_ms": 1e3 * own_cpu,
            "own_share": own_cpu / end,
        }

    def _median(self, figure: Callable[[Exchange], float]) -> float:
        return median(map(figure, self.exchanges))
