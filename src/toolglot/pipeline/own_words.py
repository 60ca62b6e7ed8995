"""A tool's schema, held to what the text says: a string is one of its own words, a number one of its numbers.

Where the words beside a value say whose it is, the parameter is held to that one; else the model chooses among those of its
kind. An optional parameter that nothing in the text speaks of is not offered: small models fill all that they see. Nothing is
invented here; what the text can't say (a code of a given form, a choice that it only implies) is left to the model.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from toolglot.pipeline.each_value import each_value
from toolglot.pipeline.exact_values import exact
from toolglot.pipeline.held import ANYTHING, CLEAR, SOFT, SURE, Filled, Held, Schema, fills, properties_of
from toolglot.pipeline.held_values import MOST_ITEMS, one_of, shown
from toolglot.pipeline.inner_values import nests, rest_for, shape
from toolglot.pipeline.pointers import pointed
from toolglot.pipeline.relevance import words_of
from toolglot.pipeline.said import Find, Said
from toolglot.pipeline.said_choices import chosen, days
from toolglot.pipeline.said_flags import flag
from toolglot.pipeline.said_labels import labelled, labelled_row
from toolglot.pipeline.said_options import described_options, mentioned, numbered, word_for_word
from toolglot.pipeline.said_parts import parts
from toolglot.pipeline.said_runs import bracketed, rows
from toolglot.pipeline.slot_kinds import Slot, slot, told_apart
from toolglot.pipeline.slots import default_of, sure, written
from toolglot.pipeline.spans import Spans
from toolglot.pipeline.spare_values import spare_values
from toolglot.pipeline.spoken_of import left_over, spoken_of, to_spare
from toolglot.pipeline.whose_values import settle

_TOWNS, _LANDS = frozenset({"city", "town"}), frozenset({"country", "state", "province"})
_FILE = re.compile(r"\bfile\b|\bdirectory\b|\bfolder\b|\bpath\b", re.IGNORECASE)
_OWNERS, _REPOSITORIES = frozenset({"owner", "org", "organization"}), frozenset({"repo", "repository"})
_OWNED = re.compile(r"(?<![\w/.:-])(?P<owner>[A-Za-z][\w.-]*)/(?P<name>[\w.-]*\w)(?![\w/])")
_DAYS = frozenset(words_of("date day"))
_ENDS = frozenset({"start", "end", "from", "to", "first", "second", "begin"})
_SHARES = frozenset({"stock", "shar"})  # stems
_MOVED = frozenset({"source", "destination", "target", "from", "to"})


# what a value of a kind tells about the question: codes and addresses are there for a reason, names and numbers may be chance
_TELLS = {
    "name": 0.5,
    "ticker": 0.5,
    "airport": 0.5,
    "number": 0.5,
    "enum": 0.7,
    "date": 1.0,
    "time": 0.9,
    "words": 0.4,
    "free": 0.6,
    "array": 0.5,
}
_SHARP = 0.6
_SCALE = 20  # steps
_OF_A_ROW = re.compile(r"(|[a-z]+_?(?=\d))(?:[a-z]|\d{1,2})", re.IGNORECASE)
_NUMERALS = 2
_NUMERAL = re.compile(r"\d{1,20}")
_OFFERING = SOFT | {"unit"}


def held_to(schema: Schema, said: Said, about: frozenset[str] = frozenset()) -> Filled:
    """An object's schema. What it says beyond `properties` stays."""
    key = (id(schema), about)
    if key not in said.kept:
        said.kept[key] = (schema, _held_to(schema, said, about))  # the schema, too: its id is its own as long as it lives
    filled: Filled = said.kept[key][1]
    return filled


def _held_to(schema: Schema, said: Said, about: frozenset[str]) -> Filled:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return Filled(schema)
    required = set(schema.get("required") or ())
    required |= _twins(properties, required, said)
    slots = _slots({name: inner for name, inner in properties.items() if isinstance(inner, dict)}, about)
    said.look_for(len(slots))
    flat = {one.name: _held(one, one.name in required, said) for one in slots if not nests(one)}
    held = [flat.get(one.name) or _held(one, one.name in required, _rest(one, slots, flat, said)) for one in slots]
    told = [find for one in held for find in one.values]
    _apart_from_lists(held, said)
    _apart_from_objects(held)
    _split_places(held, said)
    _split_repository(held, said)
    settle(held, said)
    offered = [one for one in held if one.required or (spoken_of(one, said) and to_spare(one, held))]
    offered = [one for one in held if any(one is other for other in [*offered, *left_over(held, offered, said)])]
    spare = spare_values(told, offered)
    each = each_value(offered, said)
    narrowed = shown(offered, said, about)
    narrow = {**schema, "properties": narrowed, "required": list(narrowed), "additionalProperties": False}
    settled = tuple(
        (find.start, find.end) for one in offered for find in one.values if narrowed[one.slot.name].get("enum") == [find.value]
    )
    return msgspec.structs.replace(_counted(held, offered), schema=narrow, each=each, settled=settled, spare=spare)


def _twins(properties: dict[str, Any], required: set[str], said: Said) -> set[str]:
    """Numbers of one row (a and b, x1 and x2) of which some are required, where as many are said: "add 3 and 4" is one sum."""
    by_stem: dict[str, set[str]] = {}
    for name, inner in properties.items():
        if isinstance(inner, dict) and inner.get("type") in ("integer", "number") and (match := _OF_A_ROW.fullmatch(name)):
            by_stem.setdefault(match[1], set()).add(name)
    open_ = [row for row in by_stem.values() if row & required and row - required]
    if not open_:  # as nearly always: the numbers need not be looked for
        return set()
    told = len({find.start for find in said.numbers})
    return {name for row in open_ if len(row) == told for name in row}


def _rest(this: Slot, slots: list[Slot], flat: dict[str, Held], said: Said) -> Said:
    return rest_for(this, [one for one in slots if shape(one) and shape(one) == shape(this)], list(flat.values()), said)


def _slots(properties: dict[str, Schema], about: frozenset[str]) -> list[Slot]:
    """Where one parameter is about a file, what is called source or target is one, too; the symbol of a stock is a ticker."""
    found = told_apart([slot(name, inner) for name, inner in properties.items()])
    if about & _DAYS:
        found = [
            msgspec.structs.replace(one, kind="date") if one.own and one.own <= _ENDS and one.kind in SOFT else one
            for one in found
        ]
    if about & _SHARES:
        found = [msgspec.structs.replace(one, kind="ticker") if one.own == {"symbol"} else one for one in found]
    found = [
        msgspec.structs.replace(one, kind="path") if one.kind == "name" and re.search(r"\bfile ?name\b", one.about) else one
        for one in found
    ]
    if not any(_FILE.search(str(inner.get("description") or "")) for inner in properties.values()):
        return found
    return [msgspec.structs.replace(one, kind="path") if one.own & _MOVED and one.kind == "name" else one for one in found]


def only(filled: Filled, name: str, value: Any) -> Filled:
    """The same, with one value for one parameter."""
    properties = filled.schema["properties"]
    held = {**properties, name: one_of(properties[name], [value])}
    return msgspec.structs.replace(filled, schema={**filled.schema, "properties": held})


def with_more(filled: Filled, more: dict[str, Schema]) -> Filled:
    """The same, with more parameters."""
    properties = {**properties_of(filled), **more}
    return msgspec.structs.replace(filled, schema={**filled.schema, "properties": properties, "required": list(properties)})


def in_words(filled: Filled) -> Filled:
    """The same, where the text has plain words to spare for what it lacks."""
    missing = tuple(name for name in filled.missing if name not in filled.wordable)
    implied = tuple(name for name in filled.implied if name not in filled.wordable)
    return msgspec.structs.replace(filled, missing=missing, implied=implied)


def inherited(filled: Filled, whole: Filled, *, same: bool) -> Filled:
    """A part, with the values of the whole for what it lacks; `same`: the part says that the rest is as before."""
    own, all_ = properties_of(filled), properties_of(whole)
    lacking = {*filled.missing, *filled.implied} if not same else own.keys() - set(filled.found)
    held = {name: all_[name] if name in lacking and name in all_ else own[name] for name in own}
    return msgspec.structs.replace(filled, schema={**filled.schema, "properties": held})


def _counted(held: list[Held], offered: list[Held]) -> Filled:
    due = [one for one in held if one.required]
    lacking = [one for one in due if not one.is_found and one.slot.kind not in ANYTHING and default_of(one.slot.schema) is None]
    choosing = sorted((one for one in due if one.values), key=lambda one: (one.slot.kind in SOFT, -one.clear))
    lacking += _crowded([one for one in choosing if one.slot.kind != "array"])
    found = [one for one in due if one.is_found and not any(one is other for other in lacking)]
    return Filled(
        {},
        tuple(one.slot.name for one in found),
        tuple(one.slot.name for one in lacking if not one.is_implied),
        tuple(one.slot.name for one in lacking if one.is_implied),
        tuple(one.slot.name for one in lacking if one.slot.kind in SOFT),
        sum(_TELLS.get(one.slot.kind, 1.0) if one.inner is None else one.inner.evidence for one in offered if one.is_found),
        any(one.is_found and (one.inner.sharp if one.inner else _TELLS.get(one.slot.kind, 1.0) >= _SHARP) for one in offered),
        sum(one.clear for one in offered),
        tuple((find.start, find.end) for one in offered for find in one.values),
        {one.slot.name: (one.values[0].start, one.values[0].end) for one in found if one.values},
        len(found) == len(due) and not any(one.slot.kind == "array" for one in due),
    )


def _crowded(held: list[Held]) -> list[Held]:
    """Those for which no value is left once each of the others has one of its own."""
    taken: dict[int, int] = {}

    def place(at: int, tried: set[int]) -> bool:
        for start in dict.fromkeys(find.start for find in held[at].values):
            if start not in tried:
                tried.add(start)
                if start not in taken or place(taken[start], tried):
                    taken[start] = at
                    return True
        return False

    return [one for at, one in enumerate(held) if not place(at, set())]


def _held(this: Slot, required: bool, said: Said) -> Held:
    if this.kind == "enum":
        options = this.schema.get("enum") or [this.schema.get("const")]
        coded = [find for find in numbered(this.about, said) if find.value in options]
        return Held(
            this,
            required,
            coded
            or _counted_options(this, options, said)
            or word_for_word(mentioned(options, said), said)
            or _switched(this, options, said)
            or chosen(options, said),
        )
    if this.kind == "number" and not _scaled(this, said) and (coded := numbered(this.about, said)):
        return Held(this, required, coded, CLEAR)
    if this.kind == "object" and this.schema.get("properties"):
        inner = held_to(this.schema, said)
        return Held(this, required, [], inner.pointed, inner.schema, inner)
    if this.kind == "array":
        return _listing(this, required, said)
    if not required and this.kind in _OFFERING and (options := described_options(this.about)):
        told = labelled(this, said) or mentioned(options, said)
        if told or (this.kind == "unit" and len(options) > 1):
            return Held(this, required, told, SURE)
    own = exact(this, said)
    return Held(this, required, sure(this, said), SURE if own or written(this, said) else 0.0, is_exact=bool(own))


def _scaled(this: Slot, said: Said) -> bool:
    """0 is closed, 100 is open: what lies between has no name, and the text may have it in digits."""
    low, high = this.schema.get("minimum"), this.schema.get("maximum")
    return isinstance(low, int) and isinstance(high, int) and high - low >= _SCALE and bool(sure(this, said))


def _counted_options(this: Slot, options: list[Any], said: Said) -> list[Find]:
    """Numbers that are written as words: "1", "2", "3"; a text has many, and the words beside one say that it is meant."""
    numeric = {option: int(option) for option in options if isinstance(option, str) and _NUMERAL.fullmatch(option)}
    if len(numeric) < _NUMERALS:
        return []
    counts = msgspec.structs.replace(this, kind="number")
    near = [find for find in said.numbers if find.value in numeric.values() and pointed(counts, find, said) >= CLEAR]
    return [msgspec.structs.replace(find, value=str(find.value)) for find in near]


def _switched(this: Slot, options: list[Any], said: Said) -> list[Find]:
    """A switch that is written as words: "True", "False", "dontcare"."""
    sides = {str(option).lower(): option for option in options}
    told = flag(this, said) if {"true", "false"} <= sides.keys() else None
    return [] if told is None else [Find(sides[str(told[0]).lower()], *told[1])]


# -- lists


def _listing(this: Slot, required: bool, said: Said) -> Held:
    """All values of the kind, in their order; or an item for each part of the text that fills one."""
    items = this.schema.get("items")
    if not isinstance(items, dict):
        return Held(this, required, [])
    if items.get("type") == "object" and items.get("properties"):
        return _listed_objects(this, items, required, said)
    about = {"description": this.schema.get("description"), **items}
    one = slot(this.name.removesuffix("s"), about)
    if "enum" in items:
        return Held(this, required, days(items["enum"], mentioned(items["enum"], said), said))
    quoted = max(rows(said.quoted, said), key=len, default=[])
    if row := labelled_row(this, said) or (quoted if len(quoted) > 1 and one.kind in SOFT else []):
        return Held(this, required, row, SURE)
    found = sure(one, said)
    if one.kind in ("free", "words", "name") and len(found) < 2:
        found = max(said.rows, key=len, default=found)
    return Held(this, required, found)


def _listed_objects(this: Slot, items: Schema, required: bool, said: Said) -> Held:
    told = parts(said, lambda part: fills(held_to(items, part)))
    filled = [held_to(items, part) for part in told] or [held_to(items, said)]
    if len(filled) > 1:
        schema = _tuple(this.schema, [one.schema for one in filled])
    else:
        schema = {**this.schema, "items": filled[0].schema, "minItems": 1, "maxItems": MOST_ITEMS if not told else 1}
    return Held(this, required, [], max(one.pointed for one in filled), schema, filled[0])


def _tuple(schema: Schema, items: list[Schema]) -> Schema:
    kept = {key: value for key, value in schema.items() if key != "items"}
    return {**kept, "prefixItems": items, "minItems": len(items), "maxItems": len(items)}


# -- several values, and none


def _split_places(held: list[Held], said: Said) -> None:
    """London, UK is a city and a country, where both are asked for."""
    towns = [one for one in held if one.slot.own & _TOWNS and one.slot.kind in SOFT]
    lands = [one for one in held if one.slot.own & _LANDS and one.slot.kind in SOFT and not one.is_exact]
    for one in [*towns, *lands] if towns and lands else []:
        cut = [(place, str(place.value).rsplit(", ", 1)) for place in said.places]
        own = [
            Find(parts[0], place.start, place.start + len(parts[0]))
            if one in towns
            else Find(parts[1], place.end - len(parts[1]), place.end)
            for place, parts in cut
        ]
        if own:
            one.values, one.clear = own, SURE


def _split_repository(held: list[Held], said: Said) -> None:
    """octocat/hello is an owner and a repository, where both are asked for."""
    owners, names = ([one for one in held if one.slot.own & own and one.slot.kind in SOFT] for own in (_OWNERS, _REPOSITORIES))
    match = _OWNED.search(said.text) if owners and names else None
    if match is None:
        return
    for part, one in (("owner", owners[0]), ("name", names[0])):
        one.values, one.clear = [Find(match[part], *match.span(part))], SURE


def _apart_from_objects(held: list[Held]) -> None:
    """The day that someone is born on is not the day of the appointment."""
    inner = Spans(Find("", *place) for one in held if one.slot.kind == "object" and one.inner for place in one.inner.settled)
    for one in held:
        if one.slot.kind in ("date", "time") and one.inner is None:
            one.values = [find for find in one.values if not inner.meet(find)] or one.values


def _apart_from_lists(held: list[Held], said: Said) -> None:
    """Numbers in brackets are a list's, where one is wanted."""
    lists = Spans(Find("", start, end) for _, start, end in bracketed(said))
    if any(one.slot.kind == "array" for one in held):
        for one in held:
            if one.slot.kind == "number":
                one.values = [find for find in one.values if not lists.meet(find)] or one.values
