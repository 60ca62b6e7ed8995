"""Constraints and descriptions from `Annotated`, read by their attributes, whichever library they come from."""

from __future__ import annotations

import re
from typing import Any

Schema = dict[str, Any]

# the attributes of msgspec.Meta and of annotated_types' classes -> JSON Schema
_NUMBERS = {
    "gt": "exclusiveMinimum",
    "ge": "minimum",
    "lt": "exclusiveMaximum",
    "le": "maximum",
    "multiple_of": "multipleOf",
}
_LENGTHS = {
    "string": {"min_length": "minLength", "max_length": "maxLength"},
    "array": {"min_length": "minItems", "max_length": "maxItems"},
    "object": {"min_length": "minProperties", "max_length": "maxProperties"},
}
_WORDS = {"title": "title", "description": "description", "documentation": "description", "pattern": "pattern"}


def constrained(schema: Schema, metadata: tuple[Any, ...]) -> Schema:
    """The schema with the constraints of the metadata; metadata without any is ignored."""
    for item in metadata:
        schema = {**schema, **_constraints(item, schema.get("type"))}
    return schema


def _constraints(item: Any, kind: Any) -> Schema:
    if isinstance(item, str):
        return {"description": item}
    found: Schema = {}
    lengths = [_LENGTHS.get(each, {}) for each in (kind if isinstance(kind, list) else [kind])]
    for table, types in ((_NUMBERS, (int, float)), *((length, (int,)) for length in lengths)):
        for attribute, keyword in table.items():
            value = getattr(item, attribute, None)
            if isinstance(value, types):
                found[keyword] = value
    for attribute, keyword in _WORDS.items():
        value = getattr(item, attribute, None)
        if isinstance(value, re.Pattern):
            value = value.pattern
        if isinstance(value, str):
            found[keyword] = value
    if isinstance(examples := getattr(item, "examples", None), list):
        found["examples"] = examples
    return {**found, **(getattr(item, "extra_json_schema", None) or {})}
