"""Constraints in words, for the description: short, and each once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from toolglot.io.json_codec import JSON_ERRORS, dumps, preview

_LONGEST = 500


def brief(value: Any, limit: int = 160) -> str:
    try:
        return preview(dumps(value), limit)
    except (TypeError, OverflowError, *JSON_ERRORS):
        return "(not shown)"


def describe_loss(keyword: str, value: Any) -> str | None:
    """The constraint in words; None if there is nothing to describe."""
    describe = _DESCRIBE.get(keyword)
    return describe(value) if describe else None


def described(description: Any, words: Iterable[str]) -> str:
    """The description followed by the words, each once."""
    text = description if isinstance(description, str) else ""
    new = [word for word in dict.fromkeys(words) if word not in text]
    if not new:
        return text
    added = f"({preview('; '.join(new), _LONGEST)})"
    return f"{text} {added}" if text else added


def _counted(what: str, bound: str) -> Callable[[Any], str]:
    return lambda value: f"{bound} {value} {what if value == 1 else what + 's'}"


def _names(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else brief(value)


def _needs(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    return "; ".join(f"with {name} also {_names(rest)}" for name, rest in value.items()) or None


def _by_pattern(value: Any) -> str:
    if not isinstance(value, dict):
        return brief(value)
    return "; ".join(f"keys matching {pattern}: {brief(one)}" for pattern, one in value.items())


def _others(value: Any) -> str | None:
    if isinstance(value, dict):
        return f"other keys: {brief(value)}" if value else None
    return "no other keys" if value is False else None


_DESCRIBE: dict[str, Callable[[Any], str | None]] = {
    "minimum": lambda value: f"at least {value}",
    "maximum": lambda value: f"at most {value}",
    "exclusiveMinimum": lambda value: f"more than {value}",
    "exclusiveMaximum": lambda value: f"less than {value}",
    "multipleOf": lambda value: f"a multiple of {value}",
    "minLength": _counted("character", "at least"),
    "maxLength": _counted("character", "at most"),
    "pattern": lambda value: f"matches {preview(value)}",
    "format": lambda value: f"format {preview(value, 40)}",
    "minItems": _counted("item", "at least"),
    "maxItems": _counted("item", "at most"),
    "uniqueItems": lambda value: "no item twice" if value is True else None,
    "contains": lambda value: f"contains {brief(value)}",
    "prefixItems": lambda value: f"items in this order: {brief(value)}",
    "unevaluatedItems": lambda value: "no other items" if value is False else None,
    "minProperties": _counted("key", "at least"),
    "maxProperties": _counted("key", "at most"),
    "propertyNames": lambda value: f"each key: {brief(value)}",
    "patternProperties": _by_pattern,
    "additionalProperties": _others,
    "unevaluatedProperties": _others,
    "dependentRequired": _needs,
    "dependentSchemas": lambda value: f"depending on keys: {brief(value)}",
    "dependencies": lambda value: f"depending on keys: {brief(value)}",
    "not": lambda value: f"not {brief(value)}",
    "enum": lambda value: f"one of {brief(value, 400)}",
    "anyOf": lambda value: f"one of the forms {brief(value, 300)}",
    "required": lambda value: f"needs {_names(value)}",
    "default": lambda value: f"default {brief(value, 80)}",
    "examples": lambda value: f"for example {brief(value, 120)}",
    "contentEncoding": lambda value: f"encoded as {preview(value, 40)}",
}
