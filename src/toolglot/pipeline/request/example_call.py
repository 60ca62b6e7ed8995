"""Example calls for a prompt: of the request's tools, with values that satisfy their schemas."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from toolglot.core.messages import ToolCall
from toolglot.core.tools import Tool, custom_as_function
from toolglot.io.json_codec import encode
from toolglot.schema.check import checker
from toolglot.schema.references import resolved

_MAX_DEPTH = 8
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
    """One call of the first tool and, if possible, a second, different one."""
    calls = [call for tool in tools[:2] if (call := _example(tool, 0)) is not None]
    if not calls:  # no example value is valid: show only the form
        return (ToolCall("", tools[0].full_name, "{}"),)
    if len(calls) == 1:
        again = _example(tools[0], 1)
        calls += [again] if again is not None and again != calls[0] else []
    return tuple(calls)


def _example(tool: Tool, nth: int) -> ToolCall | None:
    """None if no example value satisfies the schema."""
    schema = custom_as_function(tool).schema
    check = checker(schema)
    arguments = _object(check.schema, _Place(check.schema, "", nth)) if schema else {}
    if not check.fits(arguments):
        return None
    return ToolCall("", tool.full_name, msgspec.json.format(encode(arguments), indent=0).decode())


class _Place(msgspec.Struct, frozen=True):
    """The place of a value in a schema, and the number of the example."""

    root: Any
    name: str
    nth: int
    depth: int = 0

    def below(self, name: str) -> _Place:
        return _Place(self.root, name, self.nth, self.depth + 1)


def _value(schema: Any, place: _Place) -> Any:
    if not isinstance(schema, dict) or place.depth > _MAX_DEPTH:
        return _string({}, place)
    if "$ref" in schema:
        return _value(resolved(schema["$ref"], place.root), place.below(place.name))
    if "const" in schema:
        return schema["const"]
    for key in ("enum", "examples"):
        choices = schema.get(key)
        if isinstance(choices, list) and choices:
            return choices[min(place.nth, len(choices) - 1)]
    if "default" in schema and schema["default"] is not None:
        return schema["default"]
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return _value(
                {**{k: v for k, v in schema.items() if k != key}, **_first_branch(schema[key])}, place.below(place.name)
            )
    return _of_type(schema, place)


def _first_branch(branches: list[Any]) -> dict[str, Any]:
    objects = [branch for branch in branches if isinstance(branch, dict)]
    return next((branch for branch in objects if branch.get("type") != "null"), {})


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
    """An integer within the bounds; valid for `number` too."""
    step = int(schema.get("multipleOf") or 1) or 1
    low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    value = (int(low) // step + 1 + place.nth) * step
    high = schema.get("maximum", schema.get("exclusiveMaximum", value + 1) - 1)
    return value if value <= high else int(high) // step * step


def _object(schema: dict[str, Any], place: _Place) -> dict[str, Any]:
    """The required properties; if there are none, the first property, so that the example is not empty."""
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
