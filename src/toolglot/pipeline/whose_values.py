"""Whose value is whose, where several parameters may have the same: the words beside a value tell, or else the order."""

from __future__ import annotations

import re
from itertools import pairwise, zip_longest

from toolglot.pipeline.held import CLEAR, SOFT, Held, overlap
from toolglot.pipeline.pointers import POINTED, pointed
from toolglot.pipeline.relevance import words_of
from toolglot.pipeline.said import Find, Said
from toolglot.pipeline.said_words import Word
from toolglot.pipeline.slot_kinds import begins_alike

_NAMED = 1.0  # how clearly a value is that of a parameter that has but a few
_FIRST = 2.0
_COUNTED = frozenset({"number", "date", "time"})
_TWO = 2
_TAKEN = re.compile(r"\b(?:subtract|take(?: away)?|deduct) \S+ from \d", re.IGNORECASE)
_JOINED = re.compile(r"(?:,|and|&|the|a|an|its|their|of|\s|\')*", re.IGNORECASE)


def settle(held: list[Held], said: Said) -> None:
    """The clearest first: a value that is surely one parameter's is not offered to the others, if they have another."""
    open_ = [one for one in held if one.values and one.slot.kind != "array"]
    lists = [one for one in held if one.values and one.slot.kind == "array"]
    taken: list[Find] = []
    settled: set[int] = set()
    for at, find in _named_in_a_row(open_, said).items():
        _take(open_[at], find, CLEAR)
        settled.add(at)
        taken.append(find)
    for at, one in sorted(enumerate(open_), key=lambda held: not held[1].required):
        alone = one.is_exact and len({find.start for find in one.values}) == 1
        if alone and not any(one.values[0].start == other.start and one.values[0].end == other.end for other in taken):
            settled.add(at)
            taken.append(one.values[0])
    scores = [
        (pointed(one.slot, find, said) + (_NAMED if one.slot.kind == "enum" else 0.0), at, find)
        for at, one in enumerate(open_)
        for find in (reversed(one.values) if one.slot.own & POINTED["to"] else one.values)
    ]
    for score, at, find in sorted(scores, key=lambda row: _turn(open_[row[1]], row[0])):
        if score < CLEAR or at in settled or any(overlap(find, other) for other in taken):
            continue
        if not open_[at].required and not _to_spare(open_, settled, [*taken, find], open_[at]):
            continue
        _take(open_[at], find, score)
        settled.add(at)
        taken.append(find)
    for at, one in enumerate(open_):  # what has but one place takes it
        lone = at not in settled and len({find.start for find in one.values}) == 1 and one.required
        if lone and not (one.slot.kind in SOFT and any(overlap(one.values[0], other) for other in taken)):
            taken.append(one.values[0])
            settled.add(at)
    for at, one in enumerate(open_):
        if at not in settled:
            rest = [find for find in one.values if not any(overlap(find, other) for other in taken)]
            one.values = rest or (one.values if one.required else [])
            one.clear = one.clear if rest else 0.0  # what is surely another's is not surely its own
    _apart([one for at, one in enumerate(open_) if at not in settled and not one.required])
    _in_order([one for at, one in enumerate(open_) if at not in settled and one.required], said)
    for one in lists:
        rest = [find for find in one.values if not any(overlap(find, other) for other in taken)]
        one.values = rest or one.values


def _turn(one: Held, score: float) -> tuple[float, bool]:
    """An option that the text names is no other parameter's: those come first."""
    return -(score + (_FIRST if one.slot.kind == "enum" else 0.0)), not one.required


def _take(one: Held, find: Find, score: float) -> None:
    one.values, one.clear = [other for other in one.values if other.start == find.start], max(score, one.clear)


def _to_spare(open_: list[Held], settled: set[int], taken: list[Find], this: Held) -> bool:
    """Whether enough numbers, days or times are left for those parameters that must have one."""
    if this.slot.kind not in _COUNTED:
        return True
    needy = [one for at, one in enumerate(open_) if at not in settled and one.required and one.slot.kind == this.slot.kind]
    left = {find.start for one in needy for find in one.values if not any(overlap(find, other) for other in taken)}
    return len(left) >= len(needy)


def _named_in_a_row(open_: list[Held], said: Said) -> dict[int, Find]:
    """The base and height as 6 cm and 10 cm: names in a row, and as many numbers behind them, have the same order."""
    numeric = {at: one for at, one in enumerate(open_) if one.slot.kind == "number" and one.required}
    named = {at: word for at, one in numeric.items() if (word := _mention(one, said)) is not None}
    order = sorted(named, key=lambda at: named[at].start)
    places = {find.start: find for one in numeric.values() for find in reversed(one.values)}
    behind = [places[start] for start in sorted(places) if named and start > named[order[-1]].end]
    gaps = [said.text[named[one].end : named[other].start] for one, other in pairwise(order)]
    if len(order) < 2 or len(order) != len(behind) or not all(_JOINED.fullmatch(gap) for gap in gaps):
        return {}
    return {at: find for at, find in zip(order, behind, strict=True) if find in numeric[at].values}


def _mention(one: Held, said: Said) -> Word | None:
    """Where the text has a parameter's own name."""
    own = one.slot.named
    return next(
        (word for word in said.words if any(begins_alike(stem, name) for stem in words_of(word.low) for name in own)), None
    )


def _apart(rest: list[Held]) -> None:
    """Of two days or times that need not be told, the first has the only one."""
    for kind in ("date", "time"):
        alike = [one for one in rest if one.slot.kind == kind]
        places = sorted({find.start for one in alike for find in one.values})
        for one, start in zip_longest(alike, places[: len(alike)]):
            one.values = [find for find in one.values if find.start == start]


def _in_order(rest: list[Held], said: Said) -> None:
    """Values of one kind stand in the order of the parameters, where nothing else tells whose they are; some may be spare.

    What is taken from a number is told before it: 8 from 20 is 20 less 8.
    """
    for kind in dict.fromkeys(_sort(one) for one in rest):
        alike = [one for one in rest if _sort(one) == kind]
        places = sorted({find.start for one in alike for find in one.values})
        if alike[0].slot.kind == "number" and len(alike) == len(places) == _TWO and _TAKEN.search(said.text):
            places.reverse()
        if 1 < len(alike) <= len(places):
            spare = len(places) - len(alike)
            for at, one in enumerate(alike):
                own = places[at : at + 1 + spare]
                one.values = [find for find in one.values if find.start in own] or one.values


def _sort(one: Held) -> str:
    return f"{one.slot.kind} {one.slot.schema.get('enum')}"
