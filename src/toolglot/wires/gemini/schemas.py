"""Reads Gemini's schemas (OpenAPI 3.0, types in capitals, `nullable`) as JSON Schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolglot.errors import CallerError

Schema = dict[str, Any]


def read_schema(schema: Schema, key: str) -> Schema:
    try:
        return _object(schema)
    except RecursionError:
        raise CallerError("the schema is nested too deeply", key) from None


def _one(value: Any) -> Any:
    return _object(value) if isinstance(value, dict) else value


def _object(schema: Schema) -> Schema:
    found: Schema = {}
    for given, value in schema.items():
        rule = _RULES.get(given)
        if rule is None:
            found[given] = value
        else:
            key, read = rule
            found[key] = read(value)
    if found.get("type") == "type_unspecified":
        del found["type"]
    if "nullable" in found and found.pop("nullable") is True:
        return _or_null(found)
    return found


def _type(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value  # a list of types is JSON Schema's already


def _count(value: Any) -> Any:
    """Proto's 64-bit numbers are strings in JSON."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value


def _each(value: Any) -> Any:
    return [_one(item) for item in value] if isinstance(value, list) else value


def _named(value: Any) -> Any:
    return {name: _one(item) for name, item in value.items()} if isinstance(value, dict) else value


def _same(value: Any) -> Any:
    return value


# key, in either spelling -> key in JSON Schema, and how what is under it is read
_RULES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "type": ("type", _type),
    "properties": ("properties", _named),
    "items": ("items", _one),
    "anyOf": ("anyOf", _each),
    "any_of": ("anyOf", _each),
    "oneOf": ("oneOf", _each),
    "allOf": ("allOf", _each),
    "prefixItems": ("prefixItems", _each),
    "additionalProperties": ("additionalProperties", _one),
    "additional_properties": ("additionalProperties", _one),
    "$defs": ("$defs", _named),
    "defs": ("$defs", _named),
    "ref": ("$ref", _same),
    "property_ordering": ("propertyOrdering", _same),
    **{
        given: (f"{bound}{what}", _count)
        for bound in ("min", "max")
        for what in ("Items", "Length", "Properties")
        for given in (f"{bound}{what}", f"{bound}_{what.lower()}")
    },
}


def _or_null(schema: Schema) -> Schema:
    """The same schema, or null."""
    kind = schema.get("type")
    if isinstance(kind, str):
        schema["type"] = [kind, "null"]
        options = schema.get("enum")
        if isinstance(options, list) and None not in options:
            schema["enum"] = [*options, None]
    elif isinstance(schema.get("anyOf"), list):
        if {"type": "null"} not in schema["anyOf"]:
            schema["anyOf"].append({"type": "null"})
    elif "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    return schema


def is_empty(schema: Schema) -> bool:
    """No parameters: Gemini requires them left out then, and has rejected an object without properties."""
    return (
        not schema.get("properties")
        and schema.get("additionalProperties", False) is False
        and not schema.keys() - _HARMLESS
        and schema.get("type", "object") == "object"
    )


_HARMLESS = frozenset({"type", "properties", "required", "additionalProperties", "$schema", "title", "description"})
