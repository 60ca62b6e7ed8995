"""The schema of each parameter, held to what it may be.

Of what has a form of its own (a number, a date, a path) the values are known. Of the rest the model chooses: among those that
a description gives and the text names, or among the text's own words. All has an end, for a small model may find none.
"""

from __future__ import annotations

import math
import re
from typing import Any

from toolglot.pipeline.exact_values import exact
from toolglot.pipeline.held import CLEAR, SOFT, SURE, Held, Schema
from toolglot.pipeline.inner_values import held_within
from toolglot.pipeline.relevance import words_of
from toolglot.pipeline.said import Find, Said, Value
from toolglot.pipeline.said_codes import wants_state, with_state
from toolglot.pipeline.said_flags import flag
from toolglot.pipeline.said_options import described_options, implied, mentioned
from toolglot.pipeline.said_runs import number_rows, runs, word_rows
from toolglot.pipeline.said_times import OPEN_YEAR
from toolglot.pipeline.slot_kinds import slot
from toolglot.pipeline.slots import FORMS, MOST, SHARP, default_of, maybe, sure
from toolglot.pipeline.spans import Spans

MOST_ITEMS = 4  # of a list that the text does not count
_MOST_SIGNS = 80  # of a string that the text does not hold
_LARGEST = 9999  # and of a number
_PLAIN = re.compile(r"[A-Za-z][A-Za-z ]*")  # llama.cpp takes no escape in a pattern: what needs one is left out
_PLAIN_DATE = re.compile(r"[A-Z0-9?:/ -]+")
_QUOTED = frozenset(
    {"title", "query", "text", "message", "subject", "keyword", "keywords", "phrase", "note", "content", "body"}
)


def shown(offered: list[Held], said: Said, about: frozenset[str]) -> dict[str, Schema]:
    """Each parameter, held to what it may be. What is surely one's is not offered to those that may have any words."""
    taken = [find for one in offered if _is_told(one) for find in one.values]
    taken += [find for one in offered if one.schema is not None for find in held_within(one.schema, said)]
    taken += [Find("", *place) for one in offered if one.slot.kind == "object" and one.inner for place in one.inner.settled]
    for one in offered:
        if one.required and one.slot.kind in SOFT:
            own = _claimed(one, said, taken)
            if own:
                one.values, one.clear = own, SURE
                taken += own
    open_ = [one for one in offered if one.required and one.slot.kind in SOFT and one.clear < SURE]
    taken += [find for one in offered if one.slot.kind in SOFT and one.clear >= SURE for find in one.values]
    places = Spans(taken)
    quoted = [find for find in said.quoted if not places.meet(find)]
    texts = [one for one in open_ if one.slot.own & _QUOTED]
    if len(texts) == len(quoted) == 1 < len(open_):  # what is quoted is a title or a text, and no place or person
        texts[0].values, texts[0].clear = quoted, SURE
        taken += quoted
        places = Spans(taken)
    named = [one for one in open_ if one.slot.kind == "name" and one.clear < SURE]
    left = [find for one in named[:1] for find in sure(one.slot, said) if not places.meet(find)]
    if len(named) == 1 and len({find.start for find in left}) == 1:  # the only name left is that of what has one
        named[0].values, named[0].clear = left, SURE
        taken += left
    places = Spans(taken)
    quoted = [find for find in said.quoted if not places.meet(find)]
    if len(open_) == len(quoted):  # as many as there are parameters: in their order
        for one, find in zip(open_, quoted, strict=True):
            one.values, one.clear = [find], SURE
    about |= {stem for one in offered for stem in one.slot.named}
    rest = [find for find in runs(said, about) if not places.meet(find)]
    shown = {one.slot.name: _narrowed(one, said, rest) for one in offered}
    lists = [one for one in offered if one.slot.kind == "array" and "enum" in shown[one.slot.name]]
    rows = shown[lists[0].slot.name]["enum"] if lists else []
    alike = all(shown[one.slot.name]["enum"] == rows for one in lists)
    if alike and 1 < len(lists) == len(rows):  # as many as there are parameters: in their order
        for one, row in zip(lists, rows, strict=True):
            shown[one.slot.name] = {**shown[one.slot.name], "enum": [row]}
    return shown


def _is_told(one: Held) -> bool:
    return one.slot.kind in SHARP or one.slot.kind == "enum" or (not one.required and one.slot.kind in SOFT)


def _claimed(one: Held, said: Said, taken: list[Find]) -> list[Find]:
    """The values that a description gives and the text names; or a name that says what it is: Santa Clara County."""
    if wants_state(one.slot.name, one.slot.about):
        return []
    told = mentioned(described_options(one.slot.about), said)
    named = [name for name in said.names if one.slot.named & set(words_of(str(name.value))) and " " in str(name.value)]
    places = Spans(taken)
    return [find for find in told or named if not places.meet(find)]


def _narrowed(one: Held, said: Said, rest: list[Find]) -> Schema:
    """`rest` are the text's own words that are no other's."""
    kind, given = one.slot.kind, one.slot.schema
    if one.schema is not None:
        return one.schema
    if kind == "array":
        return _list_of(one, said, rest)
    if kind == "enum":
        near = [] if one.values else list(dict.fromkeys(find.value for find in implied(given.get("enum") or [], said)))
        return {**given, "enum": _values(one) or near} if one.values or near else given
    if kind == "boolean":
        said_of = flag(one.slot, said)
        return given if said_of is None else {**given, "enum": [said_of[0]]}
    form = FORMS.get(kind)
    fits = [value for value in _values(one) if form is None or re.match(form, str(value))]
    if form is not None:
        return one_of(given, fits) if fits else {**given, "pattern": form}
    if kind == "number" and not fits:
        default = default_of(given)
        return bounded(given) if default is None else one_of(given, [default])
    if kind in SOFT and wants_state(one.slot.name, one.slot.about) and (held := _with_state(one, said)):
        return held
    if fits and (kind in SHARP or kind == "unit" or one.clear >= SURE or not one.required):
        return one_of(given, fits)
    return bounded(given) if kind in ("any", "object") else _worded(one, said, rest)


def _worded(one: Held, said: Said, rest: list[Find]) -> Schema:
    """Any of the text's own words."""
    given = one.slot.schema
    words = list(dict.fromkeys(find.value for find in maybe(one.slot, said, rest)))[:MOST]
    return one_of(given, words) if words else bounded(given)


def _with_state(one: Held, said: Said) -> Schema | None:
    """Where a place is wanted with its state: as the text has it, or else the model adds the state's letters."""
    given = one.slot.schema
    near = one.values if one.clear >= CLEAR else [*said.names, *one.values]
    beside, whole = Spans(near), Spans(said.places)
    told = [place for place in said.places if beside.meet(place)]
    alone = [find for find in near if not whole.meet(find)]
    names = list(dict.fromkeys(str(find.value) for find in alone if _PLAIN.fullmatch(str(find.value))))
    if told and (not names or one.clear < CLEAR):
        return one_of(given, list(dict.fromkeys(place.value for place in told)))
    known = [with_state(name) for name in names]
    if names and all(known):
        return one_of(given, known)
    return {**given, "pattern": f"^({'|'.join(names)}), [A-Z][A-Z]$"} if names else None


def _list_of(one: Held, said: Said, rest: list[Find]) -> Schema:
    """A list is one of the text's own lists, or a single value of it."""
    given = one.slot.schema
    items = given.get("items")
    if not isinstance(items, dict) or not isinstance(items.get("type"), str):
        return bounded(given)
    item = slot(one.slot.name.removesuffix("s"), {"description": given.get("description"), **items})
    if item.kind == "number":
        whole = items["type"] == "integer"
        lists = [row for row in number_rows(said) if not whole or all(isinstance(value, int) for value in row)]
        lists = [row for row in lists if len(row) > 1] or lists  # a single number beside a row is another's
    elif item.kind == "enum" or item.kind in SHARP or exact(item, said) or one.clear >= SURE:
        lists = [_values(one)] if one.values else []
    elif items["type"] == "string" and (told := mentioned(described_options(one.slot.about), said)):
        lists = [list(dict.fromkeys(find.value for find in told))]
    elif items["type"] == "string":
        lists = word_rows(said) or [[find.value] for find in maybe(item, said, rest)]
    else:
        lists = []
    lists = [list(row) for row in dict.fromkeys(tuple(row) for row in lists)][:MOST]
    kept: Schema = {key: given[key] for key in ("type", "description") if key in given}
    return {**kept, "enum": lists} if lists else bounded(given)


def bounded(schema: Schema) -> Schema:
    """The same, with an end to all that it may hold: a small model may find none by itself."""
    if "enum" in schema or "const" in schema:
        return schema
    types = schema.get("type")
    if types == "string":
        return {"maxLength": _MOST_SIGNS, **schema} if not {"format", "pattern"} & schema.keys() else schema
    if types in ("number", "integer"):
        low, high = schema.get("minimum", 0), schema.get("maximum", _LARGEST)
        return {"type": "integer", "minimum": math.ceil(low), "maximum": max(math.ceil(low), math.floor(high))}
    if types == "array":
        held = {"minItems": 1, "maxItems": MOST_ITEMS, **schema}
        return {**held, "items": bounded(schema["items"])} if isinstance(schema.get("items"), dict) else held
    if isinstance(schema.get("properties"), dict):
        inner = {name: bounded(one) if isinstance(one, dict) else one for name, one in schema["properties"].items()}
        return {**schema, "properties": inner}
    return schema


def _values(one: Held) -> list[Value]:
    return list(dict.fromkeys(find.value for find in one.values))[:MOST]


def one_of(schema: Schema, values: list[Any]) -> Schema:
    """Where a year is open, the model writes it."""
    kept = {key: schema[key] for key in ("type", "description") if key in schema}
    if any(isinstance(value, str) and OPEN_YEAR in value for value in values):
        forms = "|".join(str(value).replace(OPEN_YEAR, "20[0-9][0-9]") for value in values if _PLAIN_DATE.fullmatch(str(value)))
        return kept | {"pattern": f"^({forms})$"}
    return kept | {"enum": values}
