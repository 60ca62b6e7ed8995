"""How much work a schema can cause: an upper bound for the steps that one value needs, without its parts.

A compiled validator visits each keyword once for a value, but follows a `$ref` each time: definitions that refer to each other
multiply. It remembers results only for references that close a cycle. The bound counts it the same way.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from toolglot.schema.references import resolved

TOO_HEAVY = 1 << 40
_BACKTRACKING = 8_000  # a pattern with lookaround or back references
_MAX_VISITED = 100_000
_NEEDS_BACKTRACKING = re.compile(r"\(\?(?:[=!]|<[=!])|\\[1-9k]")
SINGLE = frozenset(
    ("items", "additionalItems", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else")
)
LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
MAPS = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies"})
_WHOLE_VALUE = frozenset({"unevaluatedProperties", "unevaluatedItems"})
_MOVES_REFERENCES = frozenset({"$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef"})


class Weight(msgspec.Struct, frozen=True):
    """`recursive`: it contains itself. `stepwise`: `schema/evaluate.py` can apply it, keyword by keyword."""

    steps: int
    recursive: bool = False
    stepwise: bool = True


def weigh(schema: Any) -> Weight:
    """The weight of a whole schema. Counting costs one visit for each part, and one more for each definition in a cycle."""
    scale = _Scale(schema)
    try:
        steps = scale.steps(schema)
        for target in scale.cycles.values():  # each is validated apart from the others, once for a value
            steps += _Scale(schema, scale).steps(target)
    except (RecursionError, _TooLarge):
        return Weight(TOO_HEAVY, recursive=True, stepwise=scale.stepwise)
    steps <<= min(scale.unknown, 40)  # each may double the work
    return Weight(min(steps, TOO_HEAVY), bool(scale.cycles), scale.stepwise)


class _TooLarge(Exception):  # noqa: N818  (only used in this file)
    pass


class _Scale:
    def __init__(self, root: Any, parent: _Scale | None = None) -> None:
        self._root = root
        self._counter: list[int] = parent._counter if parent else [0]
        self._done: dict[int, int] = {}
        self._open: set[int] = set()
        self.cycles: dict[int, Any] = {}
        self.stepwise = True
        self.unknown = 0  # references that only the compiled validator resolves: by an anchor or an id

    def steps(self, schema: Any) -> int:
        if not isinstance(schema, dict):
            return 1
        known = self._done.get(id(schema))
        if known is not None:
            return known
        if id(schema) in self._open:
            self.cycles[id(schema)] = schema
            return 1
        self._counter[0] += 1
        if self._counter[0] > _MAX_VISITED:
            raise _TooLarge
        self._open.add(id(schema))
        total = 1
        for key, item in schema.items():
            total += 1 + self._keyword(key, item)
        self._open.discard(id(schema))
        self._done[id(schema)] = total = min(total, TOO_HEAVY)
        return total

    def _keyword(self, key: str, item: Any) -> int:
        if isinstance(item, dict):
            if key in SINGLE or key in _WHOLE_VALUE:
                self.stepwise = self.stepwise and key not in _WHOLE_VALUE
                return self.steps(item)
            return sum(map(self.steps, item.values())) if key in MAPS else 0
        if isinstance(item, list):
            return sum(map(self.steps, item)) if key in LISTS or key == "items" else len(item)
        if key in _WHOLE_VALUE or (key in _MOVES_REFERENCES and item is not self._root.get("$id")):
            self.stepwise = False
        if key in ("$ref", "$dynamicRef", "$recursiveRef"):
            target = resolved(item, self._root)
            if target is not None:
                return self.steps(target)
            self.stepwise = False
            self.unknown += 1
        return _BACKTRACKING if key == "pattern" and isinstance(item, str) and _NEEDS_BACKTRACKING.search(item) else 0


def count_values(value: Any) -> int:
    """How many values are in a value: itself, and all items and members."""
    count = 1
    left: list[Any] = [value] if isinstance(value, (dict, list)) else []
    for container in left:  # `left` grows during the loop
        count += len(container)
        for item in container.values() if type(container) is dict else container:
            kind = type(item)
            if kind is dict or kind is list:
                left.append(item)
    return count
