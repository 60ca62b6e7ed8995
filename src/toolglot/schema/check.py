"""Validates arguments against a tool's schema and describes what is wrong. Compiled once per schema; never uses the network."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jsonschema_rs
import msgspec

from toolglot.io.json_codec import JSON_ERRORS, decode, dumps, preview
from toolglot.schema.relaxed_json import kind_of
from toolglot.schema.schema_repair import Schema, repair_schema

_MAX_PROBLEMS = 5
_MAX_REPAIRS = 16
_ARTICLES = {"integer": "an integer", "object": "an object", "array": "a list", "null": "null"}


class Problem(msgspec.Struct, frozen=True):
    path: str  # "": the root
    expected: str

    def __str__(self) -> str:
        return f"{self.path}: {self.expected}" if self.path else self.expected


class Checker:
    """One compiled schema. `schema` is the repaired one; `notes` lists what was wrong with it.

    `branches` caches checkers of its parts, by the part's id, to test which branch of a union a value satisfies.
    """

    __slots__ = ("_validator", "branches", "notes", "schema")

    def __init__(self, schema: Schema) -> None:
        self.schema, notes = repair_schema(schema)
        self.schema, self._validator, more = _compiled(self.schema)
        self.notes: tuple[str, ...] = (*notes, *more)
        self.branches: dict[int, Checker] = {}

    def fits(self, value: Any) -> bool:
        try:
            return bool(self._validator.is_valid(value))
        except (ValueError, RecursionError):  # not a JSON value
            return False

    def problems(self, value: Any) -> list[Problem]:
        """The problems in short sentences, which are also sent to the model. Empty if the value is valid."""
        try:
            found = [
                _problem(error) for error, _ in zip(self._validator.iter_errors(value), range(_MAX_PROBLEMS), strict=False)
            ]
        except (ValueError, RecursionError) as error:
            return [Problem("", preview(str(error)))]
        return list(dict.fromkeys(found))


def checker(schema: Schema | None) -> Checker:
    """The checker of a schema, cached. None (no parameters declared) accepts any object."""
    if not schema:
        return _ANY_OBJECT
    try:
        return _cached(dumps(schema))
    except (TypeError, *JSON_ERRORS):  # not JSON: there is no cache key
        return Checker(schema)


@lru_cache(maxsize=512)
def _cached(text: str) -> Checker:
    return Checker(decode(text))


def _compiled(schema: Schema) -> tuple[Schema, Any, tuple[str, ...]]:
    """Removes keywords that can't be compiled, one by one; in the worst case, any object is accepted."""
    notes: list[str] = []
    for _ in range(_MAX_REPAIRS):
        try:
            return schema, jsonschema_rs.validator_for(schema, offline=True), tuple(notes)
        except jsonschema_rs.ValidationError as error:
            path = list(error.instance_path)
            schema = _without(schema, path) if path else _without_references(schema)
            notes.append(f"{'.'.join(map(str, path)) or '$ref'} is invalid and ignored: {_first_line(error.message)}")
        except (ValueError, RecursionError, jsonschema_rs.ReferencingError) as error:
            notes.append(f"any object is accepted: {_first_line(str(error))}")
            break
    else:
        notes.append("any object is accepted: too many keywords are invalid")
    schema = {"type": "object"}
    return schema, jsonschema_rs.validator_for(schema, offline=True), tuple(notes)


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


def resolved(reference: Any, root: Any) -> Schema | None:
    """The schema that a local `$ref` points to."""
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None
    node = root
    for step in reference[2:].split("/") if len(reference) > 1 else ():
        step = step.replace("~1", "/").replace("~0", "~").replace("%24", "$")
        if isinstance(node, list) and step.isdigit() and int(step) < len(node):
            node = node[int(step)]
        elif isinstance(node, dict) and step in node:
            node = node[step]
        else:
            return None
    return node if isinstance(node, dict) else None


def _first_line(message: str) -> str:
    return preview(message.split("\n", 1)[0], 160)


def _problem(error: jsonschema_rs.ValidationError) -> Problem:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path).lstrip(".")
    sentence = _SENTENCES.get(error.kind.name)
    return Problem(path, sentence(error) if sentence else _first_line(error.message))


def _type(error: jsonschema_rs.ValidationError) -> str:
    return _mistyped(error.kind.value, error.instance)


def _mistyped(kinds: list[str], got: Any) -> str:
    wanted = " or ".join(_ARTICLES.get(word, f"a {word}") for word in kinds)
    shown = "" if got is None or isinstance(got, (dict, list)) else f" ({preview(dumps(got), 40)})"
    return f"expected {wanted}, got {kind_of(got)}{shown}"


def _unknown(error: jsonschema_rs.ValidationError) -> str:
    return f"unknown parameter {', '.join(map(repr, error.kind.value[:5]))}"


def _either(error: jsonschema_rs.ValidationError) -> str:
    branches = [branch[0] for branch in error.kind.value if branch]
    if branches and all(
        branch.kind.name == "type" and not branch.instance_path[len(error.instance_path) :] for branch in branches
    ):
        return _mistyped([kind for branch in branches for kind in branch.kind.value], error.instance)
    expected = dict.fromkeys(_problem(branch).expected for branch in branches)
    return preview("; or ".join(expected) or "it fits more than one of the schemas", 200)


_SENTENCES = {
    "type": _type,
    "required": lambda error: f"{error.kind.value!r} is missing",
    "additionalProperties": _unknown,
    "unevaluatedProperties": _unknown,
    "enum": lambda error: (
        f"expected one of {preview(', '.join(map(dumps, error.kind.value)))}, got {preview(dumps(error.instance), 40)}"
    ),
    "const": lambda error: f"expected {preview(dumps(error.kind.value), 60)}, got {preview(dumps(error.instance), 40)}",
    "anyOf": _either,
    "oneOf": _either,
}
_ANY_OBJECT = Checker({"type": "object"})
