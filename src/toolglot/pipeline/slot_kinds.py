"""What a parameter asks for: a kind, told by its type, its format and the words of its name and description. Data, no model."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from toolglot.pipeline.relevance import spaced, words_of

_LONG = 4  # letters of a stem that another may begin with


# a kind, and the words of a parameter's name that tell it; the last word of a name is asked first
_BY_NAME: dict[str, str] = {
    word: kind
    for kind, told in {
        "date": "date day deadline birthday birthdate checkin checkout dob",
        "time": "time hour",
        "email": "email mail",
        "phone": "phone mobile telephone",
        "url": "url link uri website webpage",
        "host": "host hostname domain ip server",
        "path": "path file filename filepath directory folder dir",
        "code": "id code hash commit number sku isbn vin iban serial postcode zipcode zip reference identifier symbol",
        "ticker": "ticker",
        "tag": "channel tag hashtag",
        "currency": "currency",
        "unit": "unit units",
        "free": "content body message text expression expr sql prompt comment note notes question instruction"
        " instructions sentence reason details command",
        "address": "address street",
        "name": "name city country location place person artist author title company restaurant team player state"
        " movie film book album song origin destination recipient contact region town hotel station airport brand actor"
        " director singer band university school museum user username customer client language venue stadium area county"
        " pickup dropoff",
    }.items()
    for word in told.split()
}
# what a description says, before any word of the name
_BY_DESCRIPTION = (
    (re.compile(r"YYYY|MM/DD|DD/MM", re.IGNORECASE), "date"),
    (re.compile(r"HH:MM|24-hour|time of day", re.IGNORECASE), "time"),
    (re.compile(r"\bdate\b", re.IGNORECASE), "date"),
    (re.compile(r"ISO[ -]?4217|currency code", re.IGNORECASE), "currency"),
    (re.compile(r"e-?mail address", re.IGNORECASE), "email"),
    (re.compile(r"phone number", re.IGNORECASE), "phone"),
    (re.compile(r"ticker|stock symbol", re.IGNORECASE), "ticker"),
    (re.compile(r"\bIATA\b(?! flight| airline)|airport code", re.IGNORECASE), "airport"),
)
_BY_FORMAT = {"date": "date", "time": "time", "date-time": "date", "email": "email", "uri": "url", "hostname": "host"}


class Slot(msgspec.Struct, frozen=True):
    """A parameter: its kind, and its words."""

    name: str
    kind: str
    schema: dict[str, Any]
    own: frozenset[str]  # the words of its name
    named: frozenset[str]  # the same, as stems
    words: frozenset[str]  # the stems of its description

    @property
    def about(self) -> str:
        """Its description."""
        return str(self.schema.get("description") or "")


def slot(name: str, schema: dict[str, Any]) -> Slot:
    named = [word.lower() for word in re.split(r"[\W\d_]+", spaced(name)) if word]
    about = str(schema.get("description") or "")
    own = frozenset(named)
    stems = frozenset(words_of(" ".join(named)))
    return Slot(name, _kind(named, about, schema), schema, own, stems, frozenset(words_of(about)))


def _kind(named: list[str], about: str, schema: dict[str, Any]) -> str:
    held = schema.get("type")
    types = [held] if isinstance(held, str) else held if isinstance(held, list) else []
    if "enum" in schema or "const" in schema:
        return "enum"
    for type_, kind in (("boolean", "boolean"), ("array", "array"), ("object", "object")):
        if type_ in types and "string" not in types:
            return kind
    if "string" not in types and ("number" in types or "integer" in types):
        return "number"
    if "string" not in types:
        return "any"
    if named[-2:] == ["stock", "symbol"]:
        return "ticker"
    if schema.get("format") in _BY_FORMAT:
        return _BY_FORMAT[str(schema["format"])]
    for pattern, kind in _BY_DESCRIPTION:
        if pattern.search(about):
            return kind
    return next((_BY_NAME[word] for word in reversed(named) if word in _BY_NAME), "") or _by_words(about)


def _by_words(about: str) -> str:
    first = re.findall(r"[a-z]+", about.lower())[:6]
    return next((_BY_NAME[word] for word in first if _BY_NAME.get(word) in ("name", "free", "path", "url")), "words")


def begins_alike(one: str, other: str) -> bool:
    """Child and children, stats and statistics."""
    return one == other or (min(len(one), len(other)) >= _LONG and (one.startswith(other) or other.startswith(one)))


def told_apart(slots: list[Slot]) -> list[Slot]:
    """What all parameters of a kind have in common says nothing of whose a value is."""
    found = []
    for this in slots:
        others = [other for other in slots if other is not this and other.kind == this.kind]
        alike = frozenset.intersection(*(other.words | other.named for other in others)) if others else frozenset()
        own = this.own - frozenset.intersection(*(other.own for other in others)) if others else this.own
        found.append(msgspec.structs.replace(this, own=own, named=this.named - alike, words=this.words - alike))
    return found
