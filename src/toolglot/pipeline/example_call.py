"""Calls to show in a prompt: of the tools that are really there, with values that their schemas take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from toolglot.core.messages import ToolCall
from toolglot.core.tools import Tool, as_function
from toolglot.schema.check import checker, resolved
from toolglot.text.json_text import encode

_DEEPEST = 8
_FORMATS = {
    "date": ("2026-01-31", "2026-02-28"),
    "time": ("09:30:00Z", "17:45:00Z"),
    "date-time": ("2026-01-31T09:30:00Z", "2026-02-28T17:45:00Z"),
    "email": ("ann@example.com", "bob@example.com"),
    "uri": ("https://example.com/a", "https://example.com/b"),
    "uuid": ("11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"),
    "ipv4": ("192.0.2.1", "192.0.2.2"),
}


def example_calls(tools: tuple[Tool, ...]) -> tuple[ToolCall, ...]:
    """One call of the first tool, and a second, different one where there can be one."""
    made = [call for tool in tools[:2] if (call := _example(tool, 0)) is not None]
    if not made:  # no value of ours fits: its form is shown all the same
        return (ToolCall("", tools[0].full_name, "{}"),)
    if len(made) == 1:
        again = _example(tools[0], 1)
        made += [again] if again is not None and again != made[0] else []
    return tuple(made)


def _example(tool: Tool, nth: int) -> ToolCall | None:
    """None where the schema wants what can't be made up."""
    schema = as_function(tool).schema
    held = checker(schema)
    arguments = _object(held.schema, _Place(held.schema, "", nth)) if schema else {}
    if not held.fits(arguments):
        return None
    return ToolCall("", tool.full_name, msgspec.json.format(encode(arguments), indent=0).decode())


class _Place(msgspec.Struct, frozen=True):
    """Where in a schema a value stands, and which of several examples it is for."""

    root: Any
    name: str
    nth: int
    depth: int = 0

    def below(self, name: str) -> _Place:
        return _Place(self.root, name, self.nth, self.depth + 1)


def _value(schema: Any, place: _Place) -> Any:
    if not isinstance(schema, dict) or place.depth > _DEEPEST:
        return _string({}, place)
    if "$ref" in schema:
        return _value(resolved(schema["$ref"], place.root), place.below(place.name))
    if "const" in schema:
        return schema["const"]
    for key in ("enum", "examples"):
        given = schema.get(key)
        if isinstance(given, list) and given:
            return given[min(place.nth, len(given) - 1)]
    if "default" in schema and schema["default"] is not None:
        return schema["default"]
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return _value({**{k: v for k, v in schema.items() if k != key}, **_first(schema[key])}, place.below(place.name))
    return _of_type(schema, place)


def _first(branches: list[Any]) -> dict[str, Any]:
    held = [branch for branch in branches if isinstance(branch, dict)]
    return next((branch for branch in held if branch.get("type") != "null"), {})


def _of_type(schema: dict[str, Any], place: _Place) -> Any:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), None)
    if kind is None:
        kind = "object" if "properties" in schema else "array" if "items" in schema else "string"
    make = _MAKERS.get(kind)
    return make(schema, place) if make else None


def _string(schema: dict[str, Any], place: _Place) -> str:
    text = _FORMATS.get(schema.get("format", ""))
    if text is not None:
        return text[place.nth]
    words = f"{('some', 'another')[place.nth]} {place.name.replace('_', ' ').strip() or 'text'}"
    return words.ljust(schema.get("minLength", 0), "x")[: schema.get("maxLength", len(words) + 1000)]


def _number(schema: dict[str, Any], place: _Place) -> int:
    """A whole number within the bounds: a number, too."""
    step = int(schema.get("multipleOf") or 1) or 1
    low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    value = (int(low) // step + 1 + place.nth) * step
    high = schema.get("maximum", schema.get("exclusiveMaximum", value + 1) - 1)
    return value if value <= high else int(high) // step * step


def _object(schema: dict[str, Any], place: _Place) -> dict[str, Any]:
    """What is required; of an object that requires nothing, its first member, so that something is shown."""
    known = schema.get("properties")
    known = known if isinstance(known, dict) else {}
    needed = schema.get("required") or list(known)[:1]
    return {name: _value(known.get(name), place.below(name)) for name in needed}


def _array(schema: dict[str, Any], place: _Place) -> list[Any]:
    count = max(1, schema.get("minItems", 1))
    return [_value(schema.get("items"), place.below(place.name)) for _ in range(min(count, 8))]


_MAKERS: dict[str, Callable[[dict[str, Any], _Place], Any]] = {
    "string": _string,
    "integer": _number,
    "number": _number,
    "boolean": lambda _, place: place.nth == 0,
    "array": _array,
    "object": _object,
}
