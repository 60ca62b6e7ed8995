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
# Compiling holds the interpreter, so its cost is limited: to some 30 ms, and 60 for large patterns.
_MAX_COST = 32_000
_COST = {"$ref": 8, "pattern": 10}  # of these keywords; of all other values: 1
_MAX_PATTERNS_COST = 64
_PATTERN_COSTS = {1 << 16: 0, 1 << 18: 1, 1 << 20: 4, 1 << 22: 16}  # milliseconds, by the size of what it is compiled to
_MAX_PATTERN_COST = 45
_LONG_PATTERN = 200  # characters; shorter ones without counted repetition or Unicode classes are always small
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
    if too_large := _too_large(schema):
        return Compiled(_ANY_OBJECT, _validator(_ANY_OBJECT), (), (f"the schema ({too_large})",))
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


def _too_large(schema: Schema) -> str:
    """Why compiling it takes too long; empty if it does not."""
    cost, patterns = 0, set[str]()
    left: list[Any] = [schema]
    for value in left:  # `left` grows during the loop
        cost += len(value)
        if isinstance(value, dict):
            cost += sum(_COST[key] for key in _COST.keys() & value.keys())
            patterns.update(text for text in (value.get("pattern"), *value) if isinstance(text, str) and _may_be_large(text))
        if cost > _MAX_COST:
            return "it is too large"
        left += [item for item in (value.values() if isinstance(value, dict) else value) if isinstance(item, (dict, list))]
    cost = 0
    for pattern in sorted(patterns):
        cost += _pattern_cost(pattern)
        if cost > _MAX_PATTERNS_COST:
            return "its patterns are too large"
    return ""


def _may_be_large(pattern: str) -> bool:
    return "{" in pattern or len(pattern) > _LONG_PATTERN


def _pattern_cost(pattern: str) -> int:
    pattern = translated(pattern) or pattern
    for size, cost in _PATTERN_COSTS.items():
        options = jsonschema_rs.FancyRegexOptions(size_limit=size)
        try:
            jsonschema_rs.validator_for({"pattern": pattern}, offline=True, pattern_options=options)
        except (jsonschema_rs.ValidationError, ValueError):
            continue
        return cost
    return _MAX_PATTERN_COST


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
