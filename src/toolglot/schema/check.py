"""Do arguments satisfy a tool's schema, and if not, what was expected? Compiled once for each schema; never on the network."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jsonschema_rs
import msgspec

from toolglot.schema.evident import Schema, evident
from toolglot.schema.relaxed_json import kind_of
from toolglot.text.json_text import BadJson, decode, dumps, shown

_MOST_PROBLEMS = 5
_MOST_REPAIRS = 16
_ARTICLES = {"integer": "an integer", "object": "an object", "array": "a list", "null": "null"}


class Problem(msgspec.Struct, frozen=True):
    path: str  # "" is the whole
    expected: str

    def __str__(self) -> str:
        return f"{self.path}: {self.expected}" if self.path else self.expected


class Checker:
    """One schema, compiled. `schema` is as it was meant; `notes` says what was wrong with it.

    `branches` are checkers of parts of it, by the part's id, for who must tell which of several a value fits.
    """

    __slots__ = ("_validator", "branches", "notes", "schema")

    def __init__(self, schema: Schema) -> None:
        self.schema, notes = evident(schema)
        self.schema, self._validator, more = _compiled(self.schema)
        self.notes: tuple[str, ...] = (*notes, *more)
        self.branches: dict[int, Checker] = {}

    def fits(self, value: Any) -> bool:
        try:
            return bool(self._validator.is_valid(value))
        except (ValueError, RecursionError):  # what JSON has not
            return False

    def problems(self, value: Any) -> list[Problem]:
        """Short and precise: this is what the model is told. None where the value fits."""
        try:
            found = [
                _problem(error) for error, _ in zip(self._validator.iter_errors(value), range(_MOST_PROBLEMS), strict=False)
            ]
        except (ValueError, RecursionError) as error:
            return [Problem("", shown(str(error)))]
        return list(dict.fromkeys(found))


def checker(schema: Schema | None) -> Checker:
    """The checker of a schema, from the cache where it is there. None, where no parameters were declared, takes any object."""
    if not schema:
        return _ANY_OBJECT
    try:
        return _kept(dumps(schema))
    except (TypeError, *BadJson):  # not JSON at all: no key to keep it by
        return Checker(schema)


@lru_cache(maxsize=512)
def _kept(text: str) -> Checker:
    return Checker(decode(text))


def _compiled(schema: Schema) -> tuple[Schema, Any, tuple[str, ...]]:
    """What can't be compiled is taken out, keyword by keyword; at the worst, any object is accepted."""
    notes: list[str] = []
    for _ in range(_MOST_REPAIRS):
        try:
            return schema, jsonschema_rs.validator_for(schema, offline=True), tuple(notes)
        except jsonschema_rs.ValidationError as error:
            path = list(error.instance_path)
            schema = _without(schema, path) if path else _without_references(schema)
            notes.append(f"{'.'.join(map(str, path)) or '$ref'} can't be used and is ignored: {_first_line(error.message)}")
        except (ValueError, RecursionError, jsonschema_rs.ReferencingError) as error:
            notes.append(f"any object is accepted: {_first_line(str(error))}")
            break
    else:
        notes.append("any object is accepted: too much in it can't be used")
    schema = {"type": "object"}
    return schema, jsonschema_rs.validator_for(schema, offline=True), tuple(notes)


def _without(schema: Any, path: list[str | int]) -> Any:
    """The schema without what stands at `path`."""
    step, *rest = path
    if isinstance(schema, dict):
        held = {key: item for key, item in schema.items() if rest or key != step}
        if rest and step in held:
            held[str(step)] = _without(held[str(step)], rest)
        return held
    if isinstance(schema, list) and isinstance(step, int):
        return [_without(item, rest) if at == step and rest else item for at, item in enumerate(schema) if rest or at != step]
    return {}


def _without_references(schema: Any, root: Any = None) -> Any:
    """Without `$ref`s that lead nowhere in it, and without names of its own, which may mislead those that do."""
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
    held = root
    for step in reference[2:].split("/") if len(reference) > 1 else ():
        step = step.replace("~1", "/").replace("~0", "~").replace("%24", "$")
        if isinstance(held, list) and step.isdigit() and int(step) < len(held):
            held = held[int(step)]
        elif isinstance(held, dict) and step in held:
            held = held[step]
        else:
            return None
    return held if isinstance(held, dict) else None


def _first_line(message: str) -> str:
    return shown(message.split("\n", 1)[0], 160)


def _problem(error: jsonschema_rs.ValidationError) -> Problem:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path).lstrip(".")
    told = _SENTENCES.get(error.kind.name)
    return Problem(path, told(error) if told else _first_line(error.message))


def _type(error: jsonschema_rs.ValidationError) -> str:
    return _mistyped(error.kind.value, error.instance)


def _mistyped(kinds: list[str], got: Any) -> str:
    wanted = " or ".join(_ARTICLES.get(word, f"a {word}") for word in kinds)
    seen = "" if got is None or isinstance(got, (dict, list)) else f" ({shown(dumps(got), 40)})"
    return f"expected {wanted}, got {kind_of(got)}{seen}"


def _unknown(error: jsonschema_rs.ValidationError) -> str:
    return f"there is no parameter {', '.join(map(repr, error.kind.value[:5]))}"


def _either(error: jsonschema_rs.ValidationError) -> str:
    branches = [branch[0] for branch in error.kind.value if branch]
    if branches and all(
        branch.kind.name == "type" and not branch.instance_path[len(error.instance_path) :] for branch in branches
    ):
        return _mistyped([kind for branch in branches for kind in branch.kind.value], error.instance)
    told = dict.fromkeys(_problem(branch).expected for branch in branches)
    return shown("; or ".join(told) or "it fits more than one of the schemas", 200)


_SENTENCES = {
    "type": _type,
    "required": lambda error: f"{error.kind.value!r} is missing",
    "additionalProperties": _unknown,
    "unevaluatedProperties": _unknown,
    "enum": lambda error: (
        f"expected one of {shown(', '.join(map(dumps, error.kind.value)))}, got {shown(dumps(error.instance), 40)}"
    ),
    "const": lambda error: f"expected {shown(dumps(error.kind.value), 60)}, got {shown(dumps(error.instance), 40)}",
    "anyOf": _either,
    "oneOf": _either,
}
_ANY_OBJECT = Checker({"type": "object"})
