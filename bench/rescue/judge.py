"""Scores extractions against the rows, and checks the targets. Knows only `extract`'s signature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]
Extract = Callable[..., Any]  # toolglot.extract
RIGHT, MISSED, WRONG = "right", "missed", "wrong"
CLEAN_RIGHT, DAMAGED_RIGHT, DAMAGED_WRONG, KIND_RIGHT, FALSE_CALLS = 1.0, 0.97, 0.005, 0.90, 1


@dataclass
class Verdict:
    row: Row
    verdict: str
    got: list[tuple[str, Any]]
    detail: str = ""  # the decisions' codes, or what was raised


@dataclass
class Tally:
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return self.counts.total()

    def share(self, verdict: str) -> float:
        return self.counts[verdict] / max(1, self.total)


def judged(extract: Extract, row: Row, dialect: str) -> Verdict:
    try:
        found = extract(
            row["text"],
            tools=row["tools"],
            dialect=dialect,
            policy="balanced",
            starts_in_reasoning=row["starts_in_reasoning"],
        )
        got = [(call.name, call.arguments) for call in found.calls]
        codes = [str(decision.code) for decision in found.decisions]
    except Exception as error:  # noqa: BLE001 - extraction must never raise, and this is where it shows
        return Verdict(row, WRONG, [], f"raised {error!r}"[:300])
    return Verdict(row, _verdict(row, got, bool(codes)), got, " ".join(codes))


def _verdict(row: Row, got: list[tuple[str, Any]], decided: bool) -> str:
    """Wrong: an unexpected call was emitted. Missed: no wrong call, but not all expected ones, or not in order."""
    want = [(call["name"], call["arguments"]) for call in row["expected_calls"]]
    rest = list(want)
    for name, arguments in got:
        match = next((at for at, call in enumerate(rest) if call[0] == name and same(call[1], arguments)), None)
        if match is None:
            return WRONG
        rest.pop(match)
    if row["kind"] == "cut_short":
        return RIGHT if decided else MISSED
    ordered = all(one[0] == other[0] and same(one[1], other[1]) for one, other in zip(want, got, strict=False))
    return RIGHT if not rest and ordered else MISSED


def same(one: Any, other: Any) -> bool:
    """Deep equality; 5 is 5.0, but neither is True."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict | list) or isinstance(other, dict | list):
        return False
    return bool(one == other)


def counts_by(verdicts: Iterable[Verdict], key: str) -> dict[str, Tally]:
    counts: dict[str, Tally] = {}
    for one in verdicts:
        counts.setdefault(one.row[key] or "-", Tally()).counts[one.verdict] += 1
    return counts


def targets(name: str, verdicts: list[Verdict]) -> list[tuple[str, str, bool]]:
    """Each target, the result, and whether it is met."""
    tally = Tally(Counter(one.verdict for one in verdicts))
    if name == "clean":
        return [("right 100 %", f"{tally.share(RIGHT):.2%}", tally.share(RIGHT) >= CLEAN_RIGHT)]
    if name == "negatives":
        false = tally.counts[WRONG]
        return [("at most 1 false call", f"{false} of {tally.total}", false <= FALSE_CALLS)]
    kinds = {kind: tally.share(RIGHT) for kind, tally in counts_by(verdicts, "kind").items()}
    worst = min(kinds, key=lambda kind: kinds[kind])
    return [
        ("right at least 97 %", f"{tally.share(RIGHT):.2%}", tally.share(RIGHT) >= DAMAGED_RIGHT),
        ("wrong at most 0.5 %", f"{tally.share(WRONG):.2%}", tally.share(WRONG) <= DAMAGED_WRONG),
        ("no kind below 90 %", f"{worst} {kinds[worst]:.1%}", kinds[worst] >= KIND_RIGHT),
    ]
