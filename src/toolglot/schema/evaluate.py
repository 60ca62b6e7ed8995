"""Applies a schema to a value step by step, each pair of the two once, within a budget.

The compiled validator is faster, but follows each reference again, and its list of errors multiplies with nested unions. This
one is linear. It is used where those could be too slow, and to explain what is wrong. Keywords without a schema in them are
left to the compiled validator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jsonschema_rs
import msgspec

from toolglot.core.budget import Budget
from toolglot.schema.references import resolved
from toolglot.schema.weight import LISTS, MAPS, SINGLE, weigh

Path = tuple[str | int, ...]
_STEPS_PER_STEP = 64  # of the compiled validator, which is that much faster
_APART = SINGLE | LISTS | MAPS | {"$ref", "$defs", "definitions"}
PATTERN_OPTIONS = jsonschema_rs.FancyRegexOptions(backtrack_limit=20_000)  # one millisecond
_REFERENCE_ALONE = ("draft-03", "draft-04", "draft-06", "draft-07")


class Failure(msgspec.Struct, frozen=True):
    """One thing that is wrong: an error of the compiled validator, an unknown key, a union without a match, or a keyword."""

    path: Path
    error: Any = None
    unknown: str | None = None
    either: tuple[Any, list[Failure]] | None = None  # the value, and the first failure of each branch
    keyword: str = ""


class Leaf:
    """The keywords of one schema without those that contain schemas; `parts` are the others."""

    __slots__ = ("fits", "iter_errors", "parts", "patterns", "price")

    def __init__(self, schema: dict[str, Any], draft: str) -> None:
        alone = "$ref" in schema and any(mark in draft for mark in _REFERENCE_ALONE)
        plain = {} if alone else {key: item for key, item in schema.items() if key not in _APART}
        self.parts = [key for key in schema if key in _PARTS and (key == "$ref" or not alone)]
        self.price = 1 + weigh(plain).steps // _STEPS_PER_STEP
        if draft:
            plain["$schema"] = draft
        compiled = jsonschema_rs.validator_for(plain, offline=True, pattern_options=PATTERN_OPTIONS)
        self.fits, self.iter_errors = compiled.is_valid, compiled.iter_errors
        self.patterns = [(_matcher(pattern), part) for pattern, part in schema.get("patternProperties", {}).items()]


def _matcher(pattern: str) -> Callable[[Any], bool]:
    matches: Callable[[Any], bool] = jsonschema_rs.validator_for(
        {"pattern": pattern}, offline=True, pattern_options=PATTERN_OPTIONS
    ).is_valid
    return matches


class Evaluator:
    """One schema and one value. `leaves` is kept with the schema, so that each part is compiled once."""

    def __init__(self, root: dict[str, Any], leaves: dict[int, Leaf], budget: Budget) -> None:
        self._root, self._leaves, self._budget = root, leaves, budget
        self._draft = str(root.get("$schema") or "")
        self._explained: set[tuple[int, int]] = set()
        self._known: dict[tuple[int, int], tuple[bool, Any]] = {}  # with the value, so that no other gets its id

    def valid(self, value: Any, schema: Any) -> bool:
        if not isinstance(schema, dict):
            return schema is not False
        pair = (id(value), id(schema))
        known = self._known.get(pair)
        if known is not None:
            return known[0]
        leaf = self._leaf(schema)
        self._known[pair] = (True, value)  # a reference that leads back here adds nothing
        found = bool(leaf.fits(value))
        if found:
            for key in leaf.parts:  # no generators here and below: the stack must be deep enough for nested values
                if not _PARTS[key](self, value, schema, key):
                    found = False
                    break
        self._known[pair] = (found, value)
        return found

    def _leaf(self, schema: dict[str, Any]) -> Leaf:
        leaf = self._leaves.get(id(schema))
        if leaf is None:
            leaf = self._leaves[id(schema)] = Leaf(schema, self._draft)
        self._budget.spend(leaf.price)
        return leaf

    # one method for each keyword that contains schemas

    def reference(self, value: Any, schema: dict[str, Any], key: str) -> bool:
        return self.valid(value, resolved(schema[key], self._root))

    def all_of(self, value: Any, schema: dict[str, Any], key: str) -> bool:
        for part in schema[key]:  # noqa: SIM110
            if not self.valid(value, part):
                return False
        return True

    def any_of(self, value: Any, schema: dict[str, Any], key: str) -> bool:
        for part in schema[key]:  # noqa: SIM110
            if self.valid(value, part):
                return True
        return False

    def one_of(self, value: Any, schema: dict[str, Any], key: str) -> bool:
        count = 0
        for part in schema[key]:
            count += self.valid(value, part)
        return count == 1

    def negated(self, value: Any, schema: dict[str, Any], key: str) -> bool:
        return not self.valid(value, schema[key])

    def condition(self, value: Any, schema: dict[str, Any], key: str) -> bool:
        return self.valid(value, schema.get("then" if self.valid(value, schema[key]) else "else", True))

    def children(self, value: Any, schema: dict[str, Any], key: str) -> bool:
        for _, item, part in self._children(value, schema, key):  # noqa: SIM110
            if not self.valid(item, part):
                return False
        return True

    def contains(self, value: Any, schema: dict[str, Any], key: str) -> bool:
        if not isinstance(value, list):
            return True
        count = sum(self.valid(item, schema[key]) for item in value)
        return bool(schema.get("minContains", 1) <= count <= schema.get("maxContains", count))

    def names(self, value: Any, schema: dict[str, Any], key: str) -> bool:
        return not isinstance(value, dict) or all(self.valid(name, schema[key]) for name in value)

    def dependent(self, value: Any, schema: dict[str, Any], key: str) -> bool:
        if not isinstance(value, dict):
            return True
        due = [part for name, part in schema[key].items() if name in value]
        return all(all(name in value for name in part) if isinstance(part, list) else self.valid(value, part) for part in due)

    # what is wrong

    def failures(self, value: Any, schema: Any, path: Path = ()) -> Iterator[Failure]:
        """What is wrong with a value that is not valid; of each place, the simple keywords first."""
        pair = (id(value), id(schema))
        if schema is False:
            yield Failure(path, keyword="false")
        if not isinstance(schema, dict) or pair in self._explained:
            return
        self._explained.add(pair)
        leaf = self._leaf(schema)
        if not leaf.fits(value):
            for error in leaf.iter_errors(value):
                self._budget.spend()
                yield Failure(path, error)
        for key in leaf.parts:
            if not _PARTS[key](self, value, schema, key):
                yield from self._failures_of_part(value, schema, key, path)

    def _failures_of_part(self, value: Any, schema: dict[str, Any], key: str, path: Path) -> Iterator[Failure]:
        if key == "$ref":
            yield from self.failures(value, resolved(schema[key], self._root), path)
        elif key == "allOf":
            for part in schema[key]:
                if not self.valid(value, part):
                    yield from self.failures(value, part, path)
        elif key in ("anyOf", "oneOf"):
            failed = [part for part in schema[key] if not self.valid(value, part)]
            first = (next(self.failures(value, part, path), None) for part in failed)
            branches = [branch for branch in first if branch] if len(failed) == len(schema[key]) else []
            yield Failure(path, either=(value, branches))
        elif key in _CHILDREN:
            for name, item, part in self._children(value, schema, key):
                if part is False and isinstance(name, str):
                    yield Failure(path, unknown=name)
                elif not self.valid(item, part):
                    yield from self.failures(item, part, (*path, name))
        else:
            yield Failure(path, keyword=key)

    def _children(self, value: Any, schema: dict[str, Any], key: str) -> Iterator[tuple[str | int, Any, Any]]:
        """The parts of the value that a keyword applies to, each with its name and its schema."""
        part = schema[key]
        if isinstance(value, dict):
            if key not in _OF_OBJECTS:
                return
            if key == "properties":
                yield from ((name, value[name], one) for name, one in part.items() if name in value)
                return
            patterns = self._leaves[id(schema)].patterns
            self._budget.spend(len(value) * len(patterns) // _STEPS_PER_STEP)
            known = schema.get("properties", {})
            for name, item in value.items():
                if key == "patternProperties":
                    yield from ((name, item, one) for matches, one in patterns if matches(name))
                elif name not in known and not any(matches(name) for matches, _ in patterns):
                    yield name, item, part
        elif isinstance(value, list):
            if key == "prefixItems" or (key == "items" and isinstance(part, list)):
                yield from ((at, item, one) for at, (item, one) in enumerate(zip(value, part, strict=False)))
            elif key == "items":
                first = len(schema.get("prefixItems", ()))
                yield from ((at, value[at], part) for at in range(first, len(value)))
            elif key == "additionalItems" and isinstance(schema.get("items"), list):
                yield from ((at, value[at], part) for at in range(len(schema["items"]), len(value)))


_OF_OBJECTS = frozenset({"properties", "patternProperties", "additionalProperties"})
_CHILDREN = frozenset({"properties", "patternProperties", "additionalProperties", "prefixItems", "items", "additionalItems"})
_PARTS: dict[str, Callable[[Evaluator, Any, dict[str, Any], str], bool]] = {
    "$ref": Evaluator.reference,
    "allOf": Evaluator.all_of,
    "anyOf": Evaluator.any_of,
    "oneOf": Evaluator.one_of,
    "not": Evaluator.negated,
    "if": Evaluator.condition,
    "contains": Evaluator.contains,
    "propertyNames": Evaluator.names,
    "dependentSchemas": Evaluator.dependent,
    "dependencies": Evaluator.dependent,
    **dict.fromkeys(_CHILDREN, Evaluator.children),
}
