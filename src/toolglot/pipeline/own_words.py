"""A tool's schema, held to what the text says: a string is one of its own words, a number one of its numbers.

Where the words beside a value say whose it is, the parameter is held to that one; else the model chooses among those of its
kind. An optional parameter that nothing in the text speaks of is not offered: small models fill all that they see. Nothing is
invented here; what the text can't say (a code of a given form, a choice that it only implies) is left to the model.
"""

from __future__ import annotations

import math
import re
from typing import Any

import msgspec

from toolglot.pipeline.relevance import words_of
from toolglot.pipeline.said import FUNCTION_WORDS, Find, Said, Value
from toolglot.pipeline.said_options import described_options, implied, mentioned, numbered
from toolglot.pipeline.said_parts import BETWEEN, parts
from toolglot.pipeline.said_runs import bracketed, number_rows, runs, word_rows
from toolglot.pipeline.slots import FORMS, MOST, SHARP, Slot, begins_alike, default_of, maybe, pointed, slot, sure, told_apart

Schema = dict[str, Any]

_SURE = 1.5  # from here on it is held to that value
_CLEAR = 0.5  # from here on the words beside a value say whose it is
_SWITCHING = frozenset({"is", "includ", "show", "us", "enabl", "allow", "with"})  # stems that say nothing of what is switched
_DENYING = frozenset({"no", "not", "without", "don't", "doesn't", "never", "skip", "exclude", "except", "isn't"})
_MOST_SIGNS = 80  # of a string that the text does not hold
_LARGEST = 9999  # and of a number
_MOST_ITEMS = 4  # of a list that the text does not count
_COUNTS = re.compile(rf"[ -](?!(?:{'|'.join(map(re.escape, FUNCTION_WORDS))})\b)[^\W\d_]+", re.IGNORECASE)  # 3 people
_FILE = re.compile(r"\bfile\b|\bdirectory\b|\bfolder\b", re.IGNORECASE)
_MOVED = frozenset({"source", "destination", "target", "from", "to"})
_STATE = re.compile(r"[Cc]ity,? (?:and )?[Ss]tate|[A-Z][a-z]+, [A-Z]{2}\b")
_PLACED = re.compile(r"\b(?:city|state|location|place|where)\b", re.IGNORECASE)
_ROW = re.compile(
    r"(?:'s)?(?:,|,? (?:and|or|&)|,? as well as)(?: (?:in|to|for|at|from|of|with|on|the|also|my))*\s*", re.IGNORECASE
)


class Filled(msgspec.Struct, frozen=True):
    """How well a text fills a schema."""

    schema: Schema  # held to the text
    found: tuple[str, ...] = ()  # required parameters whose value the text says
    missing: tuple[str, ...] = ()  # those that the text has nothing for
    implied: tuple[str, ...] = ()  # those that it may only imply: a choice, a name in plain words
    wordable: tuple[str, ...] = ()  # of both those that plain words may be the value of
    evidence: float = 0.0  # how much the values tell: a path or a code more than a number
    sharp: bool = False  # one of them is of a kind that is there for a reason: a date, a path, a code
    pointed: float = 0.0  # how clearly the words beside the values say whose they are
    places: tuple[tuple[int, int], ...] = ()  # where its values stand
    whole: bool = False  # each required parameter has a value of its own, and none is a list
    each: tuple[str, tuple[Any, ...]] | None = None  # a parameter for which the text has several values: Oslo and Cairo


class _Held(msgspec.Struct):
    """A parameter on its way: `values` are those that it could have."""

    slot: Slot
    required: bool
    values: list[Find]
    clear: float = 0.0  # how clearly the values are its own
    schema: Schema | None = None  # of what is no plain value
    inner: Filled | None = None

    @property
    def is_found(self) -> bool:
        return bool(self.values) if self.inner is None else not self.inner.missing and bool(self.inner.found)

    @property
    def is_implied(self) -> bool:
        return self.slot.kind in _IMPLIED or (self.inner is not None and bool(self.inner.found))


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
_NUMERIC = frozenset({"number", "integer"})
_SOFT = frozenset({"name", "words", "free"})
_ANYTHING = frozenset({"free", "words", "boolean", "any"})  # need no value of their own: any words will do
_IMPLIED = frozenset({"enum", "name", "tag"})


def held_to(schema: Schema, said: Said, about: frozenset[str] = frozenset()) -> Filled:
    """An object's schema. What it says beyond `properties` stays."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return Filled(schema)
    required = set(schema.get("required") or ())
    slots = _slots({name: inner for name, inner in properties.items() if isinstance(inner, dict)})
    held = [_held(one, one.name in required, said) for one in slots]
    _apart_from_lists(held, said)
    _settle(held, said)
    offered = [one for one in held if one.required or (_spoken_of(one, said) and _to_spare(one, held))]
    offered = [one for one in held if any(one is other for other in [*offered, *_left_over(held, offered, said)])]
    each = _each(offered, said)
    shown = _shown(offered, said, about)
    narrow = {**schema, "properties": shown, "required": list(shown), "additionalProperties": False}
    return msgspec.structs.replace(_counted(held, offered), schema=narrow, each=each)


def _slots(properties: dict[str, Schema]) -> list[Slot]:
    """Where one parameter is about a file, what is called source or target is one too."""
    found = told_apart([slot(name, inner) for name, inner in properties.items()])
    if not any(_FILE.search(str(inner.get("description") or "")) for inner in properties.values()):
        return found
    return [msgspec.structs.replace(one, kind="path") if one.own & _MOVED and one.kind == "name" else one for one in found]


def only(filled: Filled, name: str, value: Any) -> Filled:
    """The same, with one value for one parameter."""
    properties = filled.schema["properties"]
    held = {**properties, name: _one_of(properties[name], [value])}
    return msgspec.structs.replace(filled, schema={**filled.schema, "properties": held})


def in_words(filled: Filled) -> Filled:
    """The same, where the text has plain words to spare for what it lacks."""
    missing = tuple(name for name in filled.missing if name not in filled.wordable)
    implied = tuple(name for name in filled.implied if name not in filled.wordable)
    return msgspec.structs.replace(filled, missing=missing, implied=implied)


def inherited(filled: Filled, whole: Filled, *, same: bool) -> Filled:
    """A part, with the values of the whole for what it lacks; `same`: the part says that the rest is as before."""
    own, all_ = filled.schema["properties"], whole.schema["properties"]
    lacking = {*filled.missing, *filled.implied} if not same else own.keys() - set(filled.found)
    held = {name: all_[name] if name in lacking and name in all_ else own[name] for name in own}
    return msgspec.structs.replace(filled, schema={**filled.schema, "properties": held})


def _counted(held: list[_Held], offered: list[_Held]) -> Filled:
    due = [one for one in held if one.required]
    lacking = [
        one for one in due if not one.is_found and one.slot.kind not in _ANYTHING and default_of(one.slot.schema) is None
    ]
    lacking += _crowded([one for one in due if one.values and one.slot.kind != "array"])
    found = [one for one in due if one.is_found and not any(one is other for other in lacking)]
    return Filled(
        {},
        tuple(one.slot.name for one in found),
        tuple(one.slot.name for one in lacking if not one.is_implied),
        tuple(one.slot.name for one in lacking if one.is_implied),
        tuple(one.slot.name for one in lacking if one.slot.kind in _SOFT),
        sum(_TELLS.get(one.slot.kind, 1.0) if one.inner is None else one.inner.evidence for one in offered if one.is_found),
        any(one.is_found and (one.inner.sharp if one.inner else _TELLS.get(one.slot.kind, 1.0) >= _SHARP) for one in offered),
        sum(one.clear for one in offered),
        tuple((find.start, find.end) for one in offered for find in one.values),
        len(found) == len(due) and not any(one.slot.kind == "array" for one in due),
    )


def _crowded(held: list[_Held]) -> list[_Held]:
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


def _held(this: Slot, required: bool, said: Said) -> _Held:
    if this.kind == "enum":
        options = this.schema.get("enum") or [this.schema.get("const")]
        coded = [find for find in numbered(_about(this), said) if find.value in options]
        return _Held(this, required, coded or mentioned(options, said) or _switched(this, options, said))
    if this.kind == "number" and (coded := numbered(_about(this), said)):
        return _Held(this, required, coded, _CLEAR)
    if this.kind == "object" and this.schema.get("properties"):
        inner = held_to(this.schema, said)
        return _Held(this, required, [], inner.pointed, inner.schema, inner)
    if this.kind == "array":
        return _listing(this, required, said)
    return _Held(this, required, sure(this, said))


def _about(this: Slot) -> str:
    return str(this.schema.get("description") or "")


def _switched(this: Slot, options: list[Any], said: Said) -> list[Find]:
    """A switch that is written as words: "True", "False", "dontcare"."""
    sides = {str(option).lower(): option for option in options}
    flag = _flag(this, said) if {"true", "false"} <= sides.keys() else None
    return [] if flag is None else [Find(sides[str(flag[0]).lower()], *flag[1])]


# -- lists


def _listing(this: Slot, required: bool, said: Said) -> _Held:
    """All values of the kind, in their order; or an item for each part of the text that fills one."""
    items = this.schema.get("items")
    if not isinstance(items, dict):
        return _Held(this, required, [])
    if items.get("type") == "object" and items.get("properties"):
        return _listed_objects(this, items, required, said)
    about = {"description": this.schema.get("description"), **items}
    one = slot(this.name.removesuffix("s"), about)
    if "enum" in items:
        return _Held(this, required, mentioned(items["enum"], said))
    found = sure(one, said)
    if one.kind in ("free", "words", "name") and len(found) < 2:
        found = max(said.rows, key=len, default=found)
    return _Held(this, required, found)


def _listed_objects(this: Slot, items: Schema, required: bool, said: Said) -> _Held:
    told = parts(said, lambda part: _fills(held_to(items, part)))
    filled = [held_to(items, part) for part in told] or [held_to(items, said)]
    if len(filled) > 1:
        schema = _tuple(this.schema, [one.schema for one in filled])
    else:
        schema = {**this.schema, "items": filled[0].schema, "minItems": 1, "maxItems": _MOST_ITEMS if not told else 1}
    return _Held(this, required, [], max(one.pointed for one in filled), schema, filled[0])


def _tuple(schema: Schema, items: list[Schema]) -> Schema:
    kept = {key: value for key, value in schema.items() if key != "items"}
    return {**kept, "prefixItems": items, "minItems": len(items), "maxItems": len(items)}


def _fills(filled: Filled) -> bool:
    return not filled.missing and not filled.implied and bool(filled.found)


# -- whose value is whose


def _settle(held: list[_Held], said: Said) -> None:
    """The clearest first: a value that is surely one parameter's is not offered to the others, if they have another."""
    open_ = [one for one in held if one.values and one.slot.kind != "array"]
    lists = [one for one in held if one.values and one.slot.kind == "array"]
    scores = {
        (at, find): pointed(one.slot, find, said) for at, one in enumerate(open_) for find in one.values
    }  # fmt: skip
    taken: list[Find] = []
    settled: set[int] = set()
    for (at, find), score in sorted(scores.items(), key=lambda row: -row[1]):
        if score < _CLEAR or at in settled or any(_overlap(find, other) for other in taken):
            continue
        same = [other for other in open_[at].values if other.start == find.start]
        open_[at].values, open_[at].clear = same, score
        settled.add(at)
        taken.append(find)
    for at, one in enumerate(open_):  # what has but one place takes it
        if at not in settled and len({find.start for find in one.values}) == 1 and one.required:
            taken.append(one.values[0])
            settled.add(at)
    for at, one in enumerate(open_):
        if at not in settled:
            rest = [find for find in one.values if not any(_overlap(find, other) for other in taken)]
            one.values = rest or (one.values if one.required else [])
    _in_order([one for at, one in enumerate(open_) if at not in settled and one.required])
    for one in lists:
        rest = [find for find in one.values if not any(_overlap(find, other) for other in taken)]
        one.values = rest or one.values


def _in_order(rest: list[_Held]) -> None:
    """Values of one kind stand in the order of the parameters, where nothing else tells whose they are."""
    for kind in dict.fromkeys(_sort(one) for one in rest):
        alike = [one for one in rest if _sort(one) == kind]
        places = sorted({find.start for one in alike for find in one.values})
        if 1 < len(alike) == len(places):
            for at, one in enumerate(alike):
                own = places[at : at + 1]
                one.values = [find for find in one.values if find.start in own] or one.values


def _sort(one: _Held) -> str:
    return f"{one.slot.kind} {one.slot.schema.get('enum')}"


def _each(held: list[_Held], said: Said) -> tuple[str, tuple[Any, ...]] | None:
    """A plain parameter whose value stands in a list of such, "Oslo, Madrid and Cairo", that no other takes a part of."""
    lists = [one for one in held if one.slot.kind == "array" and (one.slot.schema.get("items") or {}).get("type") in _NUMERIC]
    if len(lists) == 1 and len(rows := [row for row, _, _ in bracketed(said)]) > 1:
        return lists[0].slot.name, tuple(rows)
    plain = [one for one in held if one.values and one.schema is None and one.slot.kind != "array"]
    for one in plain:
        if one.slot.kind in _ANYTHING:
            continue
        named = "enum" in one.slot.schema
        every = mentioned(one.slot.schema["enum"], said) if named else sure(one.slot, said)
        own = _row_of(one.values[0], every, said)
        others = [find for other in held if other is not one and other.is_found for find in other.values]
        if len(own) > 1 and not any(_overlap(find, other) for find in own for other in others):
            return one.slot.name, tuple(dict.fromkeys(find.value for find in own))
    return None


def _row_of(one: Find, every: list[Find], said: Said) -> list[Find]:
    """The values that stand in one row with a value, nothing but commas and "and" between them."""
    places = {find.start: find for find in every}
    row = [places[start] for start in sorted(places)]
    groups: list[list[Find]] = []
    for find in row:
        between = said.text[groups[-1][-1].end : find.start] if groups else ""
        if groups and _ROW.fullmatch(between) and not BETWEEN.search(said.text[: groups[-1][0].end]):
            groups[-1].append(find)
        else:
            groups.append([find])
    own = next((group for group in groups if any(find.start == one.start for find in group)), [one])
    last = said.text[own[-2].end : own[-1].start] if len(own) > 1 else ""
    return own if re.search(r"and|or|&|as well as", last) else [one]  # Denver, Colorado is one place


def _overlap(one: Find, other: Find) -> bool:
    return one.start < other.end and other.start < one.end


def _spoken_of(one: _Held, said: Said) -> bool:
    """Whether the text speaks of an optional parameter."""
    kind = one.slot.kind
    if kind == "enum":
        return bool(one.values)
    if kind == "boolean":
        return _flag(one.slot, said) is not None
    if one.inner is not None:
        return _fills(one.inner) and one.inner.pointed >= _CLEAR
    if kind == "array" and "enum" in (one.slot.schema.get("items") or {}):
        return bool(one.values)
    if kind == "array":
        return bool(one.values) and any(pointed(one.slot, find, said) >= _CLEAR for find in one.values)
    if kind in ("date", "time", "email", "phone", "url", "currency"):
        return bool(one.values)
    return bool(one.values) and one.clear > 0


def _left_over(held: list[_Held], offered: list[_Held], said: Said) -> list[_Held]:
    """What is said is said for a reason: a value that nothing takes is that of the only optional parameter of its kind."""
    taken = [find for one in offered for find in one.values if one.required or one.clear]
    taken += [Find("", *place) for one in offered if one.inner is not None for place in one.inner.places]
    found = []
    for kinds in (_SOFT, {"code"}, {"number"}):
        alike = [
            one for one in held if one.slot.kind in kinds and not one.required and not any(one is other for other in offered)
        ]
        if len(alike) == 1:
            free = [find for find in alike[0].values if not any(_overlap(find, other) for other in taken)]
            free = [find for find in free if not isinstance(find.value, (int, float)) or not _COUNTS.match(said.text, find.end)]
            if free and _to_spare(alike[0], held):
                alike[0].values = free
                found.append(alike[0])
    return found


def _to_spare(one: _Held, held: list[_Held]) -> bool:
    """Whether there is a name for an optional parameter once each of those that must have one has its own."""
    if one.slot.kind not in _SOFT:
        return True
    enums = [find for other in held if other.slot.kind == "enum" for find in other.values]
    needy = [other for other in held if other.required and other.slot.kind in _SOFT]
    values = [find for other in [one, *needy] for find in other.values]
    places = {find.start for find in values if not any(_overlap(find, other) for other in enums)}
    return len(places) > len(needy)


def _flag(this: Slot, said: Said) -> tuple[bool, tuple[int, int]] | None:
    """Whether the text speaks of a switch by its name, where, and whether it says no to it."""
    own = {stem for word in this.own - FUNCTION_WORDS for stem in words_of(word)} - _SWITCHING
    for at, word in enumerate(said.words):
        if any(begins_alike(stem, name) for stem in words_of(word.low) for name in own):
            denied = any(before.low in _DENYING for before in said.words[max(0, at - 3) : at])
            return not denied, (word.start, word.end)
    return None


def _apart_from_lists(held: list[_Held], said: Said) -> None:
    """Numbers in brackets are a list's, where one is wanted."""
    lists = [Find("", start, end) for _, start, end in bracketed(said)]
    if any(one.slot.kind == "array" for one in held):
        for one in held:
            if one.slot.kind == "number":
                one.values = [find for find in one.values if not any(_overlap(find, other) for other in lists)] or one.values


# -- the schema


def _shown(offered: list[_Held], said: Said, about: frozenset[str]) -> dict[str, Schema]:
    """Each parameter, held to what it may be. What is surely one's is not offered to those that may have any words."""
    taken = [find for one in offered if _is_told(one) for find in one.values]
    for one in offered:
        if one.required and one.slot.kind in _SOFT:
            own = _claimed(one, said, taken)
            if own:
                one.values, one.clear = own, _SURE
                taken += own
    open_ = [one for one in offered if one.required and one.slot.kind in _SOFT and one.clear < _SURE]
    quoted = [find for find in said.quoted if not any(_overlap(find, other) for other in taken)]
    if len(open_) == len(quoted):  # as many as there are parameters: in their order
        for one, find in zip(open_, quoted, strict=True):
            one.values, one.clear = [find], _SURE
    about |= {stem for one in offered for stem in one.slot.named}
    rest = [find for find in runs(said, about) if not any(_overlap(find, other) for other in taken)]
    shown = {one.slot.name: _narrowed(one, said, rest) for one in offered}
    lists = [one for one in offered if one.slot.kind == "array" and "enum" in shown[one.slot.name]]
    rows = shown[lists[0].slot.name]["enum"] if lists else []
    if 1 < len(lists) == len(rows):  # as many as there are parameters: in their order
        for one, row in zip(lists, rows, strict=True):
            shown[one.slot.name] = {**shown[one.slot.name], "enum": [row]}
    return shown


def _is_told(one: _Held) -> bool:
    return one.slot.kind in SHARP or one.slot.kind == "enum" or (not one.required and one.slot.kind in _SOFT)


def _claimed(one: _Held, said: Said, taken: list[Find]) -> list[Find]:
    """The values that a description gives and the text names; or a name that says what it is: Santa Clara County."""
    if _wants_state(one.slot):
        return []
    told = mentioned(described_options(_about(one.slot)), said)
    named = [name for name in said.names if one.slot.named & set(words_of(str(name.value))) and " " in str(name.value)]
    return [find for find in told or named if not any(_overlap(find, other) for other in taken)]


def _narrowed(one: _Held, said: Said, rest: list[Find]) -> Schema:
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
        flag = _flag(one.slot, said)
        return given if flag is None else {**given, "enum": [flag[0]]}
    form = FORMS.get(kind)
    fits = [value for value in _values(one) if form is None or re.match(form, str(value))]
    if form is not None:
        return _one_of(given, fits) if fits else {**given, "pattern": form}
    if kind == "number" and not fits:
        default = default_of(given)
        return bounded(given) if default is None else _one_of(given, [default])
    if kind in _SOFT and _wants_state(one.slot) and (held := _with_state(given, said)):
        return held
    if fits and (kind in SHARP or one.clear >= _SURE or not one.required):
        return _one_of(given, fits)
    return bounded(given) if kind in ("any", "object") else _worded(one, said, rest)


def _worded(one: _Held, said: Said, rest: list[Find]) -> Schema:
    """Any of the text's own words."""
    given = one.slot.schema
    words = list(dict.fromkeys(find.value for find in maybe(one.slot, said, rest)))[:MOST]
    return _one_of(given, words) if words else bounded(given)


def _wants_state(this: Slot) -> bool:
    return _STATE.search(_about(this)) is not None and _PLACED.search(f"{this.name} {_about(this)}") is not None


def _with_state(given: Schema, said: Said) -> Schema | None:
    """Where a place is wanted with its state: as the text has it, or else the model adds the state's letters."""
    if said.places:
        return _one_of(given, [one.value for one in said.places])
    names = "|".join(re.escape(str(one.value)) for one in said.names if str(one.value).isascii())
    return {**given, "pattern": f"^({names}), [A-Z][A-Z]$"} if names else None


def _list_of(one: _Held, said: Said, rest: list[Find]) -> Schema:
    """A list is one of the text's own lists, or a single value of it."""
    given = one.slot.schema
    items = given.get("items")
    if not isinstance(items, dict) or not isinstance(items.get("type"), str):
        return bounded(given)
    item = slot(one.slot.name.removesuffix("s"), {"description": given.get("description"), **items})
    if item.kind == "number":
        whole = items["type"] == "integer"
        lists = [row for row in number_rows(said) if not whole or all(isinstance(value, int) for value in row)]
    elif item.kind == "enum" or item.kind in SHARP:
        lists = [_values(one)] if one.values else []
    elif items["type"] == "string":
        lists = [*word_rows(said), *([find.value] for find in maybe(item, said, rest))]
    else:
        lists = []
    lists = [list(row) for row in dict.fromkeys(tuple(row) for row in lists)][:MOST]
    kept = {key: given[key] for key in ("type", "description") if key in given}
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
        held = {"minItems": 1, "maxItems": _MOST_ITEMS, **schema}
        return {**held, "items": bounded(schema["items"])} if isinstance(schema.get("items"), dict) else held
    if isinstance(schema.get("properties"), dict):
        inner = {name: bounded(one) if isinstance(one, dict) else one for name, one in schema["properties"].items()}
        return {**schema, "properties": inner}
    return schema


def _values(one: _Held) -> list[Value]:
    return list(dict.fromkeys(find.value for find in one.values))[:MOST]


def _one_of(schema: Schema, values: list[Any]) -> Schema:
    return {key: schema[key] for key in ("type", "description") if key in schema} | {"enum": values}
