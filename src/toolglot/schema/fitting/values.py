"""JSON values as schemas see them: 1 is 1.0, true is not 1."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolglot.io.json_codec import JSON_ERRORS, dumps

_MOST = 1e300


def kind(value: Any) -> str:
    """The JSON type of a value; whole numbers are numbers."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, (list, tuple)) else "object"


def key(value: Any) -> str:
    """Equal for values that are equal as JSON."""
    try:
        return dumps(_plain(value))
    except (TypeError, OverflowError, *JSON_ERRORS):  # not a JSON value
        return repr(value)


def distinct(values: Iterable[Any]) -> list[Any]:
    return list({key(value): value for value in values}.values())


def is_finite(value: Any) -> bool:
    """A number that fits into a 64-bit float."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -_MOST <= value <= _MOST


def is_whole(value: Any) -> bool:
    return is_finite(value) and float(value).is_integer()


def _plain(value: Any) -> Any:
    if isinstance(value, float) and is_whole(value):
        return int(value)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(name): _plain(value[name]) for name in sorted(value, key=str)}
    return value
