"""CPU time, in rounds. Every round runs the calibration loop and every case, so that a slow moment affects all alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import process_time

CALIBRATION = "calibration"
# The loop's time on the reference machine: it scales targets in microseconds to other machines.
REFERENCE_US = 100.0
_KEYS = [f"key_{at}" for at in range(32)]


@dataclass(frozen=True)
class Case:
    name: str
    run: Callable[[], object]
    units: int = 1  # per run, such as the chunks of a stream


@dataclass(frozen=True)
class Timing:
    us: float  # the median of the rounds, for one unit
    loops: float  # the same in calibration loops, by round
    rounds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The round that was least disturbed by other processes."""
        return min(self.rounds)


def calibration() -> int:
    """A fixed amount of typical work: small dicts, lookups, joins, appends, calls."""
    table: dict[str, dict[str, object]] = {}
    words: list[str] = []
    for at in range(300):
        key = _KEYS[at & 31]
        entry = {"name": key, "at": at, "of": table.get(key)}
        table[key] = {"type": "item", "size": len(entry), "text": key + "x"}
        if isinstance(entry["at"], int) and at % 3:
            words.append(key)
    return len("".join(words))


def measure(
    cases: Sequence[Case], rounds: int, seconds: float, on_round: Callable[[int], None] = lambda _: None
) -> dict[str, Timing]:
    """`seconds`: about how long one case runs within one round. `on_round` gets the number of each round; 0 is the warm-up."""
    everything = [Case(CALIBRATION, calibration), *cases]
    on_round(0)
    repeats = [_repeats(case, seconds) for case in everything]
    taken: dict[str, list[float]] = {case.name: [] for case in everything}
    for number in range(1, rounds + 1):
        on_round(number)
        for case, times in zip(everything, repeats, strict=True):
            taken[case.name].append(_once(case, times))
    loops = taken[CALIBRATION]
    return {name: Timing(median(times), ratio(times, loops), tuple(times)) for name, times in taken.items()}


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
    """How often to run a case. Also warms up the caches and the interpreter."""
    case.run()  # the first run fills caches and is not representative
    times = 1
    while True:
        spent = _once(case, times) * times * case.units / 1e6
        if spent >= seconds / 4 or times >= 1 << 16:
            return max(1, round(times * seconds / max(spent, 1e-6)))
        times *= 4
