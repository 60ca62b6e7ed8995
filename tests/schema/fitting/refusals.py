"""An inspector of fitted schemas: all that a target would refuse in one. It shares nothing with the code but the rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from toolglot.schema.fitting import Target

_TYPES = {"object", "array", "string", "number", "integer", "boolean", "null"}


def refused(schema: Any, target: Target, where: str = "") -> list[str]:
    if target.as_is and not any(word in schema for word in ("$ref", "anyOf", "oneOf", "allOf", "enum", "not")):
        return [] if schema["type"] == "object" else ["the root is no object"]
    found = list(_one(schema, target, "/", root=True))
    if "anyOf" in schema and not target.root_union:
        found.append("the root is a union")
    return found


def _one(schema: Any, target: Target, where: str, *, root: bool = False) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield f"{where}: not an object but {schema!r}"
        return
    allowed = target.root if root and target.root is not None else target.keywords
    for word in schema.keys() - allowed:
        yield f"{where}: keyword {word}"
    yield from _types(schema, target, where)
    yield from _values(schema, target, where)
    yield from _shape(schema, target, where, root=root)
    for name, inner in schema.get("properties", {}).items():
        yield from _one(inner, target, f"{where}{name}/")
    for word in ("anyOf", "prefixItems"):
        for inner in schema.get(word, ()):
            yield from _one(inner, target, f"{where}{word}/")
    for word in ("items", "additionalProperties"):
        if word in schema and not (word == "additionalProperties" and isinstance(schema[word], bool)):
            yield from _one(schema[word], target, f"{where}{word}/")


def _types(schema: dict[str, Any], target: Target, where: str) -> Iterator[str]:
    kind = schema.get("type")
    names = kind if isinstance(kind, list) else [] if kind is None else [kind]
    if isinstance(kind, list) and (target.types != "list" or len(kind) < 2):
        yield f"{where}: a list of types"
    for name in names:
        if (name.lower() if target.capitals else name) not in _TYPES or (target.capitals and not name.isupper()):
            yield f"{where}: type {name}"
    if kind is None and "anyOf" not in schema and target.anything != "empty":
        yield f"{where}: no type"


def _values(schema: dict[str, Any], target: Target, where: str) -> Iterator[str]:
    kinds = {str: "string", bool: "boolean", int: "number", float: "number", type(None): "null", dict: "object", list: "array"}
    for value in schema.get("enum", ()):
        if kinds[type(value)] not in target.enums and not (value is None and target.filled):
            yield f"{where}: enum value {value!r}"
    if "enum" in schema and not schema["enum"]:
        yield f"{where}: empty enum"
    if "format" in schema and target.formats is not None and schema["format"] not in target.formats:
        yield f"{where}: format {schema['format']}"
    pattern = schema.get("pattern", "^a$")
    if target.patterns != "any" and re.search(r"\(\?[=!<]|\\[1-9]", pattern):
        yield f"{where}: pattern {pattern}"
    if target.patterns == "whole" and (
        not pattern.startswith("^") or not pattern.endswith("$") or re.search(r"\\[dwsDWS]|\[\^", pattern)
    ):
        yield f"{where}: pattern {pattern}"
    for word, most in target.most.items():
        if schema.get(word, 0) > most:
            yield f"{where}: {word} {schema[word]}"


def _shape(schema: dict[str, Any], target: Target, where: str, *, root: bool) -> Iterator[str]:
    names = schema.get("type", [])
    lower = [name.lower() for name in (names if isinstance(names, list) else [names])]
    if target.closed and "object" in lower:
        if schema.get("additionalProperties") is not False or "properties" not in schema:
            yield f"{where}: not closed"
        if target.filled and schema.get("required") != list(schema.get("properties", {})):
            yield f"{where}: not all required"
    if target.items and "array" in lower and "items" not in schema:
        yield f"{where}: no items"
    missing = set(schema.get("required", ())) - schema.get("properties", {}).keys()
    if missing:
        yield f"{where}: required but unknown {missing}"
