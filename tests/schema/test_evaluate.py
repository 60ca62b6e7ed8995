"""The evaluator agrees with the compiled validator, and explains each value that it rejects."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.core.budget import Budget, BudgetSpent
from toolglot.schema.check import Checker

LEAVES: list[Any] = [
    *({"type": "string"}, {"type": "integer"}, {"enum": ["a", 1, True]}, {"minimum": 2}, {"pattern": "^a"}, {"const": "b"}),
    *({"required": ["a"]}, {"maxItems": 1}, {"uniqueItems": True}, True, False, {}),
]
REFERENCES = st.sampled_from([{"$ref": "#/$defs/p"}, {"$ref": "#/$defs/q"}])  # only below a value: else they may never end


def _inside(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    below = inner | REFERENCES
    few = st.lists(inner, min_size=1, max_size=3)
    return (
        st.builds(lambda word, parts: {word: parts}, st.sampled_from(["allOf", "anyOf", "oneOf"]), few)
        | st.builds(lambda one, rest: {"properties": one, **rest}, _named(below), _rest(below))
        | st.builds(lambda first, rest: {"prefixItems": first, "items": rest}, st.lists(below, min_size=1, max_size=2), below)
        | st.builds(lambda item, least: {"contains": item, "minContains": least}, below, st.integers(0, 2))
        | st.builds(lambda one, two, three: {"if": one, "then": two, "else": three}, inner, inner, inner)
        | st.builds(lambda word, one: {word: one}, st.sampled_from(["not", "items", "propertyNames"]), inner)
        | st.builds(lambda one: {"dependentSchemas": {"a": one}, "dependencies": {"b": ["c"], "c": one}}, inner)
    )


def _named(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from("abc"), inner, max_size=3)


def _rest(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    patterns = st.dictionaries(st.sampled_from(["^[bd]", "a"]), inner, max_size=2)
    return st.fixed_dictionaries({}, optional={"additionalProperties": inner, "patternProperties": patterns})


SCHEMAS = st.recursive(st.sampled_from(LEAVES), _inside, max_leaves=8)
VALUES = st.recursive(
    st.sampled_from(["a", "ab", 1, 2, 3.0, None, True]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
    max_leaves=8,
)


@given(SCHEMAS, SCHEMAS, SCHEMAS, VALUES)
def test_as_the_compiled_validator(root: Any, one: Any, other: Any, value: Any) -> None:
    check = Checker({**(root if isinstance(root, dict) else {}), "$defs": {"p": one, "q": other}})
    if not check.weight.stepwise:  # a reference to true or false
        return
    valid = check._validator.is_valid(value)
    evaluator = check.evaluator(Budget())
    assert evaluator.valid(value, check.schema) is valid
    assert bool(next(evaluator.failures(value, check.schema), None)) is not valid


def test_a_spent_budget_ends_it() -> None:
    check = Checker({"type": "array", "items": {"type": "string"}})
    with pytest.raises(BudgetSpent):
        check.evaluator(Budget(10)).valid(["a" * n for n in range(11)], check.schema)
