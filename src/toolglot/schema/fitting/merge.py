"""Merges two normalized schemas into one that allows what both allow; None if that is nothing.

The result may allow more than both together, never less. What can't stay a keyword is described in words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolglot.schema.fitting.values import distinct, key
from toolglot.schema.fitting.words import describe_loss
from toolglot.schema.schema_repair import Schema

DESCRIBED = "$described"  # internal keyword: constraints in words, until they go into the description
NOTES = ("title", "description", "default", "examples", DESCRIBED)  # these allow and forbid nothing
_MOST_BRANCHES = 32
_FIRST = ("pattern", "format", "multipleOf", "uniqueItems")  # both apply; only the first can stay a keyword


def rules(schema: Schema) -> Schema:
    """The keywords that allow or forbid."""
    return {word: value for word, value in schema.items() if word not in NOTES}


def remarks(schema: Schema) -> Schema:
    return {word: value for word, value in schema.items() if word in NOTES}


def with_words(schema: Schema, *words: str | None) -> Schema:
    new = [word for word in words if word]
    return {**schema, DESCRIBED: [*schema.get(DESCRIBED, ()), *new]} if new else schema


def merge(one: Schema | None, other: Schema | None, count: Callable[[], None]) -> Schema | None:
    """`count` is called for each schema and raises if there are too many. The annotations of `one` win."""
    count()
    if one is None or other is None:
        return None
    beside = {**remarks(other), **remarks(one)}
    words = [*one.get(DESCRIBED, ()), *other.get(DESCRIBED, ())]
    both = _rules(rules(one), rules(other), words, count)
    if both is None:
        return None
    if words:
        beside[DESCRIBED] = list(dict.fromkeys(words))
    return {**both, **beside}


def _rules(one: Schema, other: Schema, words: list[str], count: Callable[[], None]) -> Schema | None:
    if not one or not other:
        return one or other
    if "anyOf" in one or "anyOf" in other:
        return _branches(one, other, words, count)
    merged = {**other, **one}
    for word in one.keys() & other.keys():
        mine, yours = one[word], other[word]
        if word in _BOTH:
            merged[word] = _BOTH[word](mine, yours)
            if merged[word] is None:
                return None
        elif word in _FIRST and mine != yours:
            words.extend(filter(None, [describe_loss(word, yours)]))
    if not _objects(merged, one, other, count):
        return None
    _lists(merged, one, other, words, count)
    return merged


def _branches(one: Schema, other: Schema, words: list[str], count: Callable[[], None]) -> Schema | None:
    """Merges the keywords beside a union into each branch, so that a union has no siblings."""
    if "anyOf" not in one:
        one, other = other, one
    if len(one["anyOf"]) * len(other.get("anyOf", (1,))) > _MOST_BRANCHES:
        words.extend(filter(None, [describe_loss("anyOf", one["anyOf"])]))
        return other
    return union([merge(branch, other, count) for branch in one["anyOf"]])


def union(branches: list[Schema | None]) -> Schema | None:
    """Any of the branches; None if none is left."""
    flat: list[Schema] = []
    for branch in branches:
        if branch is not None:
            flat.extend(branch["anyOf"] if "anyOf" in branch and len(branch) == 1 else [branch])
    left = distinct(flat)
    if len(left) < 2:
        return left[0] if left else None
    return {"anyOf": left}


def _objects(merged: Schema, one: Schema, other: Schema, count: Callable[[], None]) -> bool:
    """`properties` and `additionalProperties`. False if a required key is impossible."""
    merged |= _properties(one, other, count)
    mine, yours = one.get("additionalProperties"), other.get("additionalProperties")
    if mine is False or yours is False:
        merged["additionalProperties"] = False
    elif isinstance(mine, dict) and isinstance(yours, dict):
        both = merge(mine, yours, count)
        merged["additionalProperties"] = False if both is None else both
    elif isinstance(yours, dict):
        merged["additionalProperties"] = yours
    properties = merged.get("properties")
    if properties is None:
        return True
    gone = [name for name, schema in properties.items() if schema is None]
    merged["properties"] = {name: schema for name, schema in properties.items() if schema is not None}
    return not set(gone) & set(merged.get("required", ()))


def _properties(one: Schema, other: Schema, count: Callable[[], None]) -> Schema:
    """A key that only one of the two lists is merged with the other's `additionalProperties`, if that is a schema."""
    if "properties" not in one and "properties" not in other:
        return {}
    mine, yours = one.get("properties", {}), other.get("properties", {})
    found: dict[str, Any] = {**mine, **yours}
    for name in found if _rest(one) or _rest(other) else mine.keys() & yours.keys():
        left = mine.get(name, _rest(one))
        right = yours.get(name, _rest(other))
        found[name] = merge(left, right, count) if left and right else left or right
    return {"properties": found}


def _rest(schema: Schema) -> Schema:
    others = schema.get("additionalProperties")
    return others if isinstance(others, dict) else {}


def _lists(merged: Schema, one: Schema, other: Schema, words: list[str], count: Callable[[], None]) -> None:
    if ("prefixItems" in one and ("items" in other or "prefixItems" in other)) or ("prefixItems" in other and "items" in one):
        words.extend(
            filter(
                None, [describe_loss("prefixItems", side.get("prefixItems")) for side in (one, other) if "prefixItems" in side]
            )
        )
        merged.pop("prefixItems", None)
        merged.pop("items", None)
    elif "items" in one and "items" in other:
        both = merge(one["items"], other["items"], count)
        if both is None:
            merged.pop("items")
            merged["maxItems"] = 0
        else:
            merged["items"] = both


def _types(one: list[str], other: list[str]) -> list[str] | None:
    found = [name for name in one if name in other or (name == "integer" and "number" in other)]
    if "number" in one and "number" not in other and "integer" in other and "integer" not in found:
        found.append("integer")
    return found or None


def _values(one: list[Any], other: list[Any]) -> list[Any] | None:
    listed = {key(value) for value in other}
    return [value for value in one if key(value) in listed] or None


_BOTH: dict[str, Callable[[Any, Any], Any]] = {
    "type": _types,
    "enum": _values,
    "required": lambda one, other: list(dict.fromkeys([*one, *other])),
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
}
