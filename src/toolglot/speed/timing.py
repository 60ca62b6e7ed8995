"""CPU time, in rounds. Every round runs the calibration loop and every case, so that a slow moment touches all alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import process_time

CALIBRATION = "calibration"
# What the loop took on the machine that the targets in microseconds were set on: it carries them to other machines.
REFERENCE_US = 100.0
_KEYS = [f"key_{at}" for at in range(32)]


@dataclass(frozen=True)
class Case:
    name: str
    run: Callable[[], object]
    units: int = 1  # how many things one run translates: the chunks of a stream


@dataclass(frozen=True)
class Timing:
    us: float  # the median of the rounds, for one unit
    loops: float  # the same in calibration loops, each round against its own
    rounds: tuple[float, ...]

    @property
    def best(self) -> float:
        """What is least disturbed by others on a machine at work."""
        return min(self.rounds)


def calibration() -> int:
    """A fixed piece of what translation is made of: small dicts, look-ups, joins, appends, calls."""
    table: dict[str, dict[str, object]] = {}
    said: list[str] = []
    for at in range(300):
        key = _KEYS[at & 31]
        held = {"name": key, "at": at, "of": table.get(key)}
        table[key] = {"type": "held", "held": len(held), "text": key + "x"}
        if isinstance(held["at"], int) and at % 3:
            said.append(key)
    return len("".join(said))


def measure(
    cases: Sequence[Case], rounds: int, seconds: float, told: Callable[[int], None] = lambda _: None
) -> dict[str, Timing]:
    """`seconds`: about how long one case runs within one round. `told` is told which round begins; 0 warms up."""
    everything = [Case(CALIBRATION, calibration), *cases]
    told(0)
    repeats = [_repeats(case, seconds) for case in everything]
    taken: dict[str, list[float]] = {case.name: [] for case in everything}
    for number in range(1, rounds + 1):
        told(number)
        for case, times in zip(everything, repeats, strict=True):
            taken[case.name].append(_once(case, times))
    loops = taken[CALIBRATION]
    return {name: Timing(median(held), ratio(held, loops), tuple(held)) for name, held in taken.items()}


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """How many times `theirs` goes into `ours`, round by round."""
    return median(one / other for one, other in zip(ours, theirs, strict=True))


def _once(case: Case, times: int) -> float:
    run = case.run
    start = process_time()
    for _ in range(times):
        run()
    return (process_time() - start) / times / case.units * 1e6


def _repeats(case: Case, seconds: float) -> int:
    """Also warms up: caches fill, and the interpreter specialises."""
    case.run()  # what is made once, on the first run, says nothing of how long the others take
    times = 1
    while True:
        spent = _once(case, times) * times * case.units / 1e6
        if spent >= seconds / 4 or times >= 1 << 16:
            return max(1, round(times * seconds / max(spent, 1e-6)))
        times *= 4
