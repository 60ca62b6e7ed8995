"""What `Annotated` adds to a hint: a description, limits. Read by their attributes, whatever library they are of."""

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
    """The schema with what the metadata says of it; what says nothing to a schema is passed over."""
    for item in metadata:
        schema = {**schema, **_said(item, schema.get("type"))}
    return schema


def _said(item: Any, kind: Any) -> Schema:
    if isinstance(item, str):
        return {"description": item}
    said: Schema = {}
    lengths = [_LENGTHS.get(each, {}) for each in (kind if isinstance(kind, list) else [kind])]
    for table, types in ((_NUMBERS, (int, float)), *((length, (int,)) for length in lengths)):
        for attribute, keyword in table.items():
            value = getattr(item, attribute, None)
            if isinstance(value, types):
                said[keyword] = value
    for attribute, keyword in _WORDS.items():
        value = getattr(item, attribute, None)
        if isinstance(value, re.Pattern):
            value = value.pattern
        if isinstance(value, str):
            said[keyword] = value
    if isinstance(examples := getattr(item, "examples", None), list):
        said["examples"] = examples
    return {**said, **(getattr(item, "extra_json_schema", None) or {})}
