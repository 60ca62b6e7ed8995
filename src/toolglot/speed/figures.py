"""Measures subjects together: the time per unit, and the ratio to the floor."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from toolglot.speed.parts import PARTS
from toolglot.speed.subject import Subject
from toolglot.speed.timing import CALIBRATION, Case, Timing, measure

SECONDS = 0.03  # about how long one subject runs in a round: all parts take some ten seconds


@dataclass(frozen=True)
class Figure:
    """CPU time in microseconds, the best of the rounds."""

    name: str
    unit: str
    us: float
    floor_us: float | None
    mb_s: float | None

    @property
    def ratio(self) -> float | None:
        return None if self.floor_us is None else self.us / self.floor_us


@dataclass(frozen=True)
class Figures:
    calibration_us: float
    parts: dict[str, list[Figure]]


def measured(names: Iterable[str], rounds: int, on_round: Callable[[int], None]) -> Figures:
    """Runs all subjects in each round, so that a slow moment affects all alike."""
    subjects = {part: PARTS[part].subjects() for part in names}
    cases = {
        case.name: case for part, group in subjects.items() for one in group for case in (_case(part, one), one.floor) if case
    }
    timings = measure(list(cases.values()), rounds, SECONDS, on_round)
    parts = {part: [_figure(one, _case(part, one).name, timings) for one in group] for part, group in subjects.items()}
    return Figures(timings[CALIBRATION].best, parts)


def _case(part: str, one: Subject) -> Case:
    return Case(f"{part}: {one.name}", one.run, one.units)


def _figure(one: Subject, case: str, timings: dict[str, Timing]) -> Figure:
    us = timings[case].best
    floor_us = None if one.floor is None else timings[one.floor.name].best
    return Figure(one.name, one.unit, us, floor_us, one.size / one.units / us if one.size else None)
