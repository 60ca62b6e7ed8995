"""Validates arguments against a tool's schema and describes what is wrong. Compiled once per schema; never uses the network."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jsonschema_rs
import msgspec

from toolglot.core.budget import Budget, BudgetSpent
from toolglot.io.json_codec import JSON_ERRORS, decode, dumps, preview
from toolglot.schema.byte_cache import ByteCache
from toolglot.schema.compile import compile_schema
from toolglot.schema.evaluate import Evaluator, Failure, Leaf
from toolglot.schema.relaxed_json import kind_of
from toolglot.schema.schema_repair import Schema, read_schema
from toolglot.schema.weight import count_values, weigh

_MAX_PROBLEMS = 5
# steps of the compiled validator, some ten nanoseconds each
_MAX_FREE = 500_000  # not worth counting exactly
_MAX_COMPILED = 2_000_000
_COMPILED_PER_STEP = 256  # the bound is rarely reached
_MAX_LISTED = 50_000  # listing errors is slower than finding out that there are some
_VALUES_PER_STEP = 16
_BYTES_PER_CHARACTER = 32  # of a schema's text, decoded and compiled
_ARTICLES = {"integer": "an integer", "object": "an object", "array": "a list", "null": "null"}


class Problem(msgspec.Struct, frozen=True):
    path: str  # "": the root
    expected: str

    def __str__(self) -> str:
        return f"{self.path}: {self.expected}" if self.path else self.expected


class Checker:
    """One compiled schema. `schema` is the repaired one; `notes` lists what was wrong with it. `unsupported` lists the keywords
    that can't be compiled: values that only they forbid are not detected.
    """

    __slots__ = (
        "_free",
        "_leaves",
        "_validator",
        "as_written",
        "branches",
        "derived",
        "notes",
        "schema",
        "unsupported",
        "weight",
    )

    def __init__(self, schema: Schema) -> None:
        read = read_schema(schema)
        compiled = compile_schema(read.schema)
        self.schema, self._validator = compiled.schema, compiled.validator
        self.notes: tuple[str, ...] = (*read.notes, *compiled.notes)
        self.unsupported: tuple[str, ...] = (*read.unsupported, *compiled.unsupported)
        self.as_written = not self.notes and not self.unsupported
        self.weight = weigh(self.schema)
        self._free = _MAX_FREE // self.weight.steps  # so many values can be validated without counting
        self.branches: dict[
            int, Checker | None
        ] = {}  # of its parts, by their ids, to test which branch of a union is satisfied
        self.derived: dict[tuple[str, int], Any] = {}  # what coercion computes once for a part, by its id
        self._leaves: dict[int, Leaf] = {}

    def fits(self, value: Any, budget: Budget | None = None, length: int | None = None) -> bool:
        """Whether the value is valid. `length` is that of its text, if known.

        Raises BudgetSpent if there is a budget; else a value that takes too many steps is not valid.
        """
        if length is None:
            length = count_values(value) if isinstance(value, (dict, list)) else 1
        try:
            if length > self._free:
                return self._fits_within(value, budget or Budget())
            return bool(self._validator.is_valid(value))
        except (ValueError, RecursionError):  # not a JSON value
            return False
        except BudgetSpent:
            if budget is None:
                return False
            raise

    def _fits_within(self, value: Any, budget: Budget) -> bool:
        if self._may_compile(value, budget):
            return bool(self._validator.is_valid(value))
        return self.evaluator(budget).valid(value, self.schema)

    def _may_compile(self, value: Any, budget: Budget) -> bool:
        """Whether the compiled validator is fast enough."""
        count = count_values(value)
        budget.spend(count // _VALUES_PER_STEP)
        steps = self.weight.steps * count
        if steps <= _MAX_COMPILED:
            budget.spend(steps // _COMPILED_PER_STEP)
            return True
        if not self.weight.stepwise:
            raise BudgetSpent("its schema is too large for these arguments")
        return False

    def evaluator(self, budget: Budget) -> Evaluator:
        return Evaluator(self.schema, self._leaves, budget)

    def problems(self, value: Any, budget: Budget | None = None) -> list[Problem]:
        """The problems in short sentences, which are also sent to the model. Empty if the value is valid.

        If the budget is spent, the list is incomplete.
        """
        found: list[Problem] = []
        try:
            for problem in self._problems(value, budget or Budget()):
                found.append(problem)
                if len(found) == _MAX_PROBLEMS:
                    break
        except (ValueError, RecursionError) as error:
            return [Problem("", preview(str(error)))]
        except BudgetSpent:
            found = found or [Problem("", "the arguments don't satisfy the schema, which is too large to say where")]
        return list(dict.fromkeys(found))

    def _problems(self, value: Any, budget: Budget) -> Iterable[Problem]:
        weight = self.weight
        if not weight.recursive and weight.steps * count_values(value) <= _MAX_LISTED:
            return map(_problem, self._validator.iter_errors(value))
        if not weight.stepwise:
            raise BudgetSpent
        evaluator = self.evaluator(budget)
        return () if evaluator.valid(value, self.schema) else map(_explained, evaluator.failures(value, self.schema))


def checker(schema: Schema | None) -> Checker:
    """The checker of a schema, cached. None (no parameters declared) accepts any object."""
    if not schema:
        return _ANY_OBJECT
    try:
        text = dumps(schema)
    except (TypeError, *JSON_ERRORS):  # not JSON: there is no cache key
        return Checker(schema)
    found = _CACHE.get(text)
    if found is None:
        found = Checker(decode(text))
        _CACHE.put(text, found, len(text) * _BYTES_PER_CHARACTER)
    return found


def _first_line(message: str) -> str:
    return preview(message.split("\n", 1)[0], 160)


def _problem(error: jsonschema_rs.ValidationError) -> Problem:
    sentence = _SENTENCES.get(error.kind.name)
    return Problem(_dotted(error.instance_path), sentence(error) if sentence else _first_line(error.message))


def _dotted(path: Iterable[str | int]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


def _explained(failure: Failure) -> Problem:
    """As `_problem`, for a failure that the evaluator found."""
    path = _dotted(failure.path)
    if failure.error is not None:
        return Problem(path, _problem(failure.error).expected)
    if failure.unknown is not None:
        return Problem(path, f"unknown parameter {failure.unknown!r}")
    if failure.either is None:
        return Problem(path, f"it does not satisfy {failure.keyword!r}")
    value, branches = failure.either
    types = [branch.error for branch in branches if branch.error is not None and branch.error.kind.name == "type"]
    if branches and len(types) == len(branches) and all(branch.path == failure.path for branch in branches):
        return Problem(path, _mistyped([kind for error in types for kind in error.kind.value], value))
    expected = dict.fromkeys(_explained(branch).expected for branch in branches)
    return Problem(path, _alternatives(expected))


def _alternatives(expected: Iterable[str]) -> str:
    return preview("; or ".join(expected) or "it fits more than one of the schemas", 200)


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
    return _alternatives(expected)


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
_CACHE: ByteCache[str, Checker] = ByteCache(32 << 20)
_ANY_OBJECT = Checker({"type": "object"})
