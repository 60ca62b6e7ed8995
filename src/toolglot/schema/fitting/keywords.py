"""Single keywords: which type each belongs to, and whether a target supports it with this value."""

from __future__ import annotations

import math
import re
from typing import Any

from toolglot.schema.fitting.targets import Target
from toolglot.schema.fitting.values import is_whole
from toolglot.schema.schema_repair import Schema

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
_MAX_EXACT = 2**53

# the regular expressions that targets accept
_BEYOND = re.compile(r"\(\?(?!:)|\\[1-9bBkpPAZzG]")  # lookaround, named groups, flags, backreferences, word boundaries
_SET = r"\[(?:[A-Za-z0-9_ ,;:!#%&@~'=<>/.*+?(){}|$](?:-[A-Za-z0-9])?|\\[\]\[])+-?\]"
_ATOM = rf"(?:[A-Za-z0-9_ ,;:!#%&@~'=<>/-]|\\[.^$*+?()\[\]{{}}|]|{_SET})"
_TIMES = r"(?:[*+?]|\{\d{1,2}(?:,\d{1,2})?\})?"
_RUN = rf"(?:{_ATOM}{_TIMES})+"
_GROUP = rf"\((?:\?:)?{_RUN}(?:\|{_RUN})*\){_TIMES}"
_WHOLE = re.compile(rf"\^(?:{_ATOM}{_TIMES}|{_GROUP})+\$\Z")


def implied_types(schema: Schema) -> list[str] | None:
    """The types that the keywords imply (`properties`: an object); None if there is no such keyword."""
    found = [name for name in ("object", "array", "string", "number") if RELEVANT[name] & schema.keys()]
    return found or None


def supports(word: str, value: Any, target: Target) -> bool:
    if word not in target.keywords or (word in target.most and value > target.most[word]):
        return False
    if word == "format":
        return target.formats is None or value in target.formats
    if word == "pattern":
        return _accepts_pattern(value, target.patterns)
    return word not in _NUMERIC or abs(value) <= _MAX_EXACT


def _accepts_pattern(pattern: Any, rule: str) -> bool:
    """`plain`: nothing that needs backtracking. `whole`: from ^ to $, made of characters, sets, groups and counts.

    llama.cpp converts a pattern to a grammar: `.`, negated sets and `\\d` are converted wrongly or not at all.
    """
    if not isinstance(pattern, str):
        return False
    if rule == "any":
        return True
    if rule == "plain":
        return _BEYOND.search(pattern) is None
    return len(pattern) <= 200 and _WHOLE.match(pattern) is not None


def bounded(keywords: Schema, types: list[str] | None) -> Schema:
    """Rounds the bounds of integers to integers. Drops bounds that allow nothing, because grammars fail on them."""
    result = dict(keywords)
    if types and set(types) <= {"integer", "null"}:
        _whole(result, "exclusiveMinimum", "minimum", lambda bound: math.floor(bound) + 1, max)
        _whole(result, "exclusiveMaximum", "maximum", lambda bound: math.ceil(bound) - 1, min)
        for word, rounded in (("minimum", math.ceil), ("maximum", math.floor)):
            if word in result:
                result[word] = rounded(result[word])
    for low, high in _PAIRS:
        if low in result and high in result and result[low] > result[high]:
            del result[low], result[high]
    return {word: int(value) if word in _COUNTS and is_whole(value) else value for word, value in result.items()}


def _whole(schema: Schema, strict: str, loose: str, rounded: Any, tighter: Any) -> None:
    if strict in schema:
        bound = rounded(schema.pop(strict))
        schema[loose] = tighter(bound, schema[loose]) if loose in schema else bound


_COUNTS = frozenset(word for pair in _PAIRS[1:] for word in pair)
