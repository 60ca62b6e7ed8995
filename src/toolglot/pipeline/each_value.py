"""Parameters for which a text has several values, a call for each: "Oslo, Madrid and Cairo"."""

from __future__ import annotations

import re
from typing import Any

from toolglot.pipeline.held import ANYTHING, CLEAR, Held, overlap
from toolglot.pipeline.said import Find, Said
from toolglot.pipeline.said_options import mentioned
from toolglot.pipeline.said_parts import BETWEEN
from toolglot.pipeline.said_runs import bracketed
from toolglot.pipeline.slots import sure

_NUMERIC = frozenset({"number", "integer"})
_ROW = re.compile(
    r"(?:'s)?(?:,|,? (?:and|or|&)|,? as well as)(?: (?:in|to|for|at|from|of|with|on|the|also|my|last|next))*\s*", re.IGNORECASE
)
_UNIT = re.compile(r"[ -]([^\W\d_]+)")


def each_value(held: list[Held], said: Said) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    """Plain parameters whose value stands in a list of such, "Oslo, Madrid and Cairo", that no other needs a part of."""
    lists = [one for one in held if one.slot.kind == "array" and (one.slot.schema.get("items") or {}).get("type") in _NUMERIC]
    if len(lists) == 1 and len(rows := [row for row, _, _ in bracketed(said)]) > 1:
        return ((lists[0].slot.name, tuple(rows)),)
    found = []
    for one in held:
        if not one.values or one.schema is not None or one.slot.kind in ANYTHING | {"array"}:
            continue
        others = [other for other in held if other is not one and other.is_found and other.slot.kind not in ANYTHING]
        taken = [find for other in others if other.clear >= CLEAR or other.slot.kind == "array" for find in other.values]
        named = "enum" in one.slot.schema
        every = mentioned(one.slot.schema["enum"], said) if named else sure(one.slot, said)
        row = _row_of(one.values[0], [find for find in every if not any(overlap(find, other) for other in taken)], said)
        if len(row) < 2 or any(_within(other.values, row) for other in others):
            continue
        found.append((one.slot.name, tuple(dict.fromkeys(find.value for find in row))))
        for other in others:
            other.values = [find for find in other.values if not any(overlap(find, own) for own in row)]
    return tuple(found)


def _within(values: list[Find], row: list[Find]) -> bool:
    return bool(values) and all(any(overlap(find, own) for own in row) for find in values)


def _row_of(one: Find, every: list[Find], said: Said) -> list[Find]:
    """The values that stand in one row with a value, nothing but commas and "and" between them."""
    places = {find.start: find for find in every}
    row = [places[start] for start in sorted(places)]
    groups: list[list[Find]] = []
    for find in row:
        between = _without_unit(said.text[groups[-1][-1].end : find.start], find, said) if groups else ""
        if groups and _ROW.fullmatch(between) and not BETWEEN.search(said.text[: groups[-1][0].end]):
            groups[-1].append(find)
        else:
            groups.append([find])
    own = next((group for group in groups if any(find.start == one.start for find in group)), [one])
    last = said.text[own[-2].end : own[-1].start] if len(own) > 1 else ""
    return own if re.search(r"and|or|&|as well as", last) else [one]  # Denver, Colorado is one place


def _without_unit(between: str, find: Find, said: Said) -> str:
    """What stands before a value in a row, without the word that stands behind it, too: 10 years and 20 years."""
    behind = _UNIT.match(said.text, find.end)
    ahead = _UNIT.match(between)
    if behind is None or ahead is None or behind[1].lower().rstrip("s") != ahead[1].lower().rstrip("s"):
        return between
    return between[ahead.end() :]
