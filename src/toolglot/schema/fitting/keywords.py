"""Single keywords: which type each belongs to, and whether a target takes it with this value."""

from __future__ import annotations

import math
from typing import Any

from toolglot.schema.evident import Schema
from toolglot.schema.fitting.patterns import accepted
from toolglot.schema.fitting.targets import Target
from toolglot.schema.fitting.values import is_whole

_NUMERIC = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
RELEVANT: dict[str, frozenset[str]] = {
    "object": frozenset({"properties", "required", "additionalProperties", "minProperties", "maxProperties"}),
    "array": frozenset({"items", "prefixItems", "minItems", "maxItems", "uniqueItems"}),
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "number": _NUMERIC | {"format"},
    "integer": _NUMERIC | {"format"},
    "boolean": frozenset(),
    "null": frozenset(),
}
_PAIRS = (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"), ("minProperties", "maxProperties"))
_MOST_EXACT = 2**53


def evident_types(held: Schema) -> list[str] | None:
    """The type that is meant where none is said: `properties` belong to an object. None where nothing tells."""
    found = [name for name in ("object", "array", "string", "number") if RELEVANT[name] & held.keys()]
    return found or None


def kept(word: str, value: Any, target: Target) -> bool:
    if word not in target.keywords or (word in target.most and value > target.most[word]):
        return False
    if word == "format":
        return target.formats is None or value in target.formats
    if word == "pattern":
        return accepted(value, target.patterns)
    return word not in _NUMERIC or abs(value) <= _MOST_EXACT


def bounded(held: Schema, types: list[str] | None) -> Schema:
    """The bounds of whole numbers as whole numbers; bounds that leave nothing are dropped, for grammars break on them."""
    made = dict(held)
    if types and set(types) <= {"integer", "null"}:
        _whole(made, "exclusiveMinimum", "minimum", lambda bound: math.floor(bound) + 1, max)
        _whole(made, "exclusiveMaximum", "maximum", lambda bound: math.ceil(bound) - 1, min)
        for word, rounded in (("minimum", math.ceil), ("maximum", math.floor)):
            if word in made:
                made[word] = rounded(made[word])
    for low, high in _PAIRS:
        if low in made and high in made and made[low] > made[high]:
            del made[low], made[high]
    return {word: int(value) if word in _COUNTS and is_whole(value) else value for word, value in made.items()}


def _whole(made: Schema, strict: str, loose: str, rounded: Any, tighter: Any) -> None:
    if strict in made:
        bound = rounded(made.pop(strict))
        made[loose] = tighter(bound, made[loose]) if loose in made else bound


_COUNTS = frozenset(word for pair in _PAIRS[1:] for word in pair)
