"""Compiles a repaired schema. A keyword that can't be compiled is translated, or else reported: it is never just ignored."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import msgspec

from toolglot.io.json_codec import preview
from toolglot.schema.evaluate import PATTERN_OPTIONS
from toolglot.schema.patterns import translated
from toolglot.schema.references import resolved
from toolglot.schema.schema_repair import Schema

_MAX_REPAIRS = 16
_ANY_OBJECT: Schema = {"type": "object"}
# these say nothing about which values are valid
_ANNOTATIONS = frozenset(
    ("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "$vocabulary")
)


class Compiled(msgspec.Struct, frozen=True):
    """`unsupported` names the keywords that are left out of `schema`, because they can't be compiled."""

    schema: Schema
    validator: Any
    notes: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()


def compile_schema(schema: Schema) -> Compiled:
    """Never raises: what can't be compiled is removed and listed as unsupported; in the worst case, the whole schema."""
    notes: list[str] = []
    unsupported: list[str] = []
    for _ in range(_MAX_REPAIRS):
        try:
            return Compiled(schema, _validator(schema), tuple(notes), tuple(unsupported))
        except jsonschema_rs.ValidationError as error:
            path = list(error.instance_path)
            schema = _repaired(schema, path, _first_line(error.message), notes, unsupported)
        except (ValueError, RecursionError, jsonschema_rs.ReferencingError) as error:
            unsupported.append(f"the schema ({_first_line(str(error))})")
            break
    else:
        unsupported.append("the schema (too many of its keywords are invalid)")
    return Compiled(_ANY_OBJECT, _validator(_ANY_OBJECT), tuple(notes), tuple(unsupported))


def _validator(schema: Schema) -> Any:
    return jsonschema_rs.validator_for(schema, offline=True, pattern_options=PATTERN_OPTIONS)


def _repaired(schema: Any, path: list[str | int], why: str, notes: list[str], unsupported: list[str]) -> Any:
    """The schema without its first error, which is at `path`. References have no path."""
    if not path:
        if why.startswith("Unknown meta-schema"):
            notes.append(f"$schema {preview(str(schema.get('$schema')), 60)} is not a known draft; it is read as draft 2020-12")
            return {key: item for key, item in schema.items() if key != "$schema"}
        unsupported.append(f"$ref ({why})")
        return _without_references(schema)
    where = ".".join(map(str, path))
    new = _translated(schema, path)
    if new is not None:
        notes.append(f"{where} is translated")
        return new
    if path[-1] in _ANNOTATIONS:
        notes.append(f"{where} is invalid and ignored: {why}")
    else:
        unsupported.append(f"{where} ({why})")
    return _without(schema, path)


def _translated(schema: Schema, path: list[str | int]) -> Any:
    """The schema with the pattern at `path` translated; None if it is not a pattern, or the translation is the same text."""
    is_name = len(path) > 1 and path[-2] == "patternProperties"
    holder: Any = schema
    for step in path[:-1]:
        holder = holder[step]
    old = path[-1] if is_name else holder.get("pattern") if path[-1] == "pattern" and isinstance(holder, dict) else None
    new = translated(old) if isinstance(old, str) else old
    if new is None or new == old or not isinstance(holder, dict):
        return None
    changed = {new if key == old else key: item for key, item in holder.items()} if is_name else {**holder, "pattern": new}
    return _with(schema, path[:-1], changed)


def _with(schema: Any, path: list[str | int], part: Any) -> Any:
    if not path:
        return part
    step, *rest = path
    if isinstance(schema, list):
        return [_with(item, rest, part) if at == step else item for at, item in enumerate(schema)]
    return {key: _with(item, rest, part) if key == step else item for key, item in schema.items()}


def _without(schema: Any, path: list[str | int]) -> Any:
    """The schema without the keyword at `path`."""
    step, *rest = path
    if isinstance(schema, dict):
        kept = {key: item for key, item in schema.items() if rest or key != step}
        if rest and step in kept:
            kept[str(step)] = _without(kept[str(step)], rest)
        return kept
    if isinstance(schema, list) and isinstance(step, int):
        return [_without(item, rest) if at == step and rest else item for at, item in enumerate(schema) if rest or at != step]
    return {}


def _without_references(schema: Any, root: Any = None) -> Any:
    """Without unresolvable `$ref`s, and without `$id` and anchors, which may redirect the others."""
    root = schema if root is None else root
    if isinstance(schema, list):
        return [_without_references(item, root) for item in schema]
    if not isinstance(schema, dict):
        return schema
    lost = {"$id", "$schema", "$anchor", "$dynamicRef", "$recursiveRef"}
    if "$ref" in schema and resolved(schema["$ref"], root) is None:
        lost.add("$ref")
    return {key: _without_references(item, root) for key, item in schema.items() if key not in lost}


def _first_line(message: str) -> str:
    return preview(message.split("\n", 1)[0], 160)
