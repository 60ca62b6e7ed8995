"""Parameters for which a text has several values, a call for each: "Oslo, Madrid and Cairo"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from toolglot.pipeline.held import ANYTHING, CLEAR, Held
from toolglot.pipeline.said import Find, Said
from toolglot.pipeline.said_options import mentioned
from toolglot.pipeline.said_parts import is_between
from toolglot.pipeline.said_runs import bracketed, rows
from toolglot.pipeline.slots import sure
from toolglot.pipeline.spans import Spans

_NUMERIC = frozenset({"number", "integer"})
_ROW = re.compile(
    r"(?:'s)?(?:,|,? (?:and|or|&)|,? as well as)(?: (?:in|to|for|at|from|of|with|on|the|also|my|last|next))*\s*", re.IGNORECASE
)
_BOTH = re.compile(r"\bboth (?:the )?([\w-]+) and (?:the )?([\w-]+)", re.IGNORECASE)
_PLAIN_ROW = re.compile(
    r"\b[^\W\d_]+(?:, (?:the |a |an )?[^\W\d_]+)+,? (?:and|or) (?:the |a |an )?[^\W\d_]+(?=[.,?!]|$)", re.IGNORECASE
)
_ITEM = re.compile(r"(?!(?:the|a|an)\b)[^\W\d_]+", re.IGNORECASE)
_UNIT = re.compile(r"[ -]([^\W\d_]+)")


def each_value(held: list[Held], said: Said) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    """Plain parameters whose value stands in a list of such, "Oslo, Madrid and Cairo", that no other needs a part of."""
    lists = [one for one in held if one.slot.kind == "array" and (one.slot.schema.get("items") or {}).get("type") in _NUMERIC]
    if len(lists) == 1 and len(told := [row for row, _, _ in bracketed(said)]) > 1:
        return ((lists[0].slot.name, tuple(told)),)
    found = []
    for one in held:
        if not one.values or one.schema is not None or one.slot.kind in ANYTHING | {"array"}:
            continue
        others = [other for other in held if other is not one and other.is_found and other.slot.kind not in ANYTHING]
        taken = Spans(*(other.values for other in others if other.clear >= CLEAR or other.slot.kind == "array"))
        named = "enum" in one.slot.schema
        every = mentioned(one.slot.schema["enum"], said) if named else sure(one.slot, said)
        row = _row_of(one.values[0], [find for find in every if not taken.meet(find)], said)
        if len(row) < 2 or any(_within(other.values, row) for other in others):
            continue
        found.append((one.slot.name, tuple(dict.fromkeys(find.value for find in row))))
        own = Spans(row)
        for other in others:
            other.values = [find for find in other.values if not own.meet(find)]
    return tuple(found) or _worded(held, said)


def _worded(held: list[Held], said: Said) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    """A parameter that may be any words, where some stand in a row as things do: "X" and "Y"; both x and y; x, y and z."""
    if any(one.slot.kind == "array" for one in held):
        return ()
    soft = [one for one in held if one.required and (one.slot.kind == "words" or (one.slot.kind == "name" and not one.values))]
    for one in soft:
        taken = Spans(*(other.values for other in held if other is not one and other.clear >= CLEAR))
        own = one.values if one.clear >= CLEAR else []
        for row in _word_rows(said):
            if not any(map(taken.meet, row)) and (not own or _within(own[:1], row)):
                return ((one.slot.name, tuple(dict.fromkeys(find.value for find in row))),)
    return ()


def _word_rows(said: Said) -> Iterator[list[Find]]:
    for told in (said.quoted, said.codes):
        yield from (row for row in rows(told, said) if len(row) > 1)
    for match in _BOTH.finditer(said.text):
        yield [Find(match[at], match.start(at), match.end(at)) for at in (1, 2)]
    for match in _PLAIN_ROW.finditer(said.text):
        yield [
            Find(item[0], match.start() + item.start(), match.start() + item.end())
            for item in _ITEM.finditer(match[0])
            if item[0].lower() not in ("and", "or")
        ]


def _within(values: list[Find], row: list[Find]) -> bool:
    return bool(values) and all(map(Spans(row).meet, values))


def _row_of(one: Find, every: list[Find], said: Said) -> list[Find]:
    """The values that stand in one row with a value, nothing but commas and "and" between them."""
    places = {find.start: find for find in every}
    row = [places[start] for start in sorted(places)]
    groups: list[list[Find]] = []
    for find in row:
        between = _without_unit(said.text[groups[-1][-1].end : find.start], find, said) if groups else ""
        if groups and _ROW.fullmatch(between) and not is_between(said, groups[-1][0].end):
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
