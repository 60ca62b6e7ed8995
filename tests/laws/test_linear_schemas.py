"""Law 8 for schemas: the work to validate, repair and explain arguments grows linearly; beyond the budget, it is rejected."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from toolglot.core.budget import STEPS, Budget
from toolglot.core.messages import ToolCall
from toolglot.core.tools import Tool, Toolset
from toolglot.evaluation.counted import lines_run
from toolglot.pipeline.response.call_validator import Verdict, validate_call
from toolglot.schema.coerce_text import property_names, property_schema, typed_value
from toolglot.schema.fitting.fit import fit_schema
from toolglot.schema.fitting.targets import TARGETS

SIZES = (300, 1200)
DEPTHS = (12, 48)


def _assert_linear(work: Callable[[int], object], sizes: tuple[int, int]) -> None:
    """Twice the work for each part is allowed: large input may take a slower path."""
    small, large = (lines_run(lambda size=size: work(size)) / size for size in sizes)  # type: ignore[misc]
    assert large <= 2 * small


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _floats(n: int) -> tuple[dict[str, Any], Any]:
    return _object(v={"type": "array", "items": {"type": "string"}}), {"v": [at + 0.5 for at in range(n)]}


def _choices(n: int) -> tuple[dict[str, Any], Any]:
    words = [f"Choice_{at}" for at in range(n)]
    return _object(v={"type": "array", "items": {"enum": words}}), {"v": [word.lower() for word in words]}


def _numbers_as_text(n: int) -> tuple[dict[str, Any], Any]:
    return _object(v={"type": "array", "items": {"enum": list(range(n))}}), {"v": [str(at) for at in range(n)]}


def _keys(n: int) -> tuple[dict[str, Any], Any]:
    return _object(**{f"some_key_{at}": {"type": "string"} for at in range(n)}) | {"additionalProperties": False}, {
        f"Some-Key-{at}": "x" for at in range(n)
    }


def _unknown_keys(n: int) -> tuple[dict[str, Any], Any]:
    return _object(a={"type": "string"}) | {"additionalProperties": False}, {f"k{at}": "x" for at in range(n)}


def _nulls(n: int) -> tuple[dict[str, Any], Any]:
    names = {f"k{at}": {"type": "string"} for at in range(n)}
    return {**_object(**names), "required": [f"r{at}" for at in range(n)]}, dict.fromkeys(names)


def _many_branches(n: int) -> tuple[dict[str, Any], Any]:
    return _object(v={"anyOf": [{"type": "object", "required": [f"k{at}"]} for at in range(n)]}), {"v": {"x": "1"}}


def _wide_unions(n: int) -> tuple[dict[str, Any], Any]:
    either = {"anyOf": [{"type": "integer", "minimum": 10}, {"type": "boolean"}]}
    return _object(v={"type": "array", "items": either}), {"v": ["5"] * n}


FAMILIES = [_floats, _choices, _numbers_as_text, _keys, _unknown_keys, _nulls, _many_branches, _wide_unions]


def _validated(schema: dict[str, Any], value: Any) -> Callable[[], Verdict]:
    tools = Toolset([Tool("f", None, schema)])
    call = ToolCall("a", "f", json.dumps(value))
    return lambda: validate_call(call, tools)


@pytest.mark.parametrize("family", FAMILIES)
def test_arguments(family: Callable[[int], tuple[dict[str, Any], Any]]) -> None:
    _assert_linear(lambda size: _validated(*family(size))(), SIZES)


def _nested(depth: int, bottom: Any) -> Any:
    for _ in range(depth):
        bottom = {"a": bottom}
    return bottom


def _recursive_union(depth: int) -> tuple[dict[str, Any], Any]:
    branch = {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "required": ["a"]}
    node = {"anyOf": [branch, {**branch, "required": ["a", "b"]}, {"type": "integer"}]}
    return {**_object(v={"$ref": "#/$defs/n"}), "$defs": {"n": node}}, {"v": _nested(depth, "x")}


def _mutual_unions(depth: int) -> tuple[dict[str, Any], Any]:
    branches = [{"properties": {"a": {"$ref": f"#/$defs/d{at}"}}, "required": [f"k{at}"]} for at in range(12)]
    return {**_object(v={"$ref": "#/$defs/d0"}), "$defs": {f"d{at}": {"anyOf": branches} for at in range(12)}}, {
        "v": _nested(depth, 1)
    }


@pytest.mark.parametrize("family", [_recursive_union, _mutual_unions])
def test_nested_unions(family: Callable[[int], tuple[dict[str, Any], Any]]) -> None:
    _assert_linear(lambda depth: _validated(*family(depth))(), DEPTHS)


def test_work_beyond_the_budget_is_rejected() -> None:
    schema, value = _wide_unions(3 * STEPS)
    verdict = _validated(schema, value)()
    assert [one.code for one in verdict.decisions] == ["rejected_limit"]


def test_all_calls_of_a_request_share_the_budget() -> None:
    schema, value = _wide_unions(STEPS // 100)
    tools, budget = Toolset([Tool("f", None, schema)]), Budget()
    call = ToolCall("a", "f", json.dumps(value))
    codes = [validate_call(call, tools, budget=budget).decisions[0].code for _ in range(100)]
    assert codes[0] == "rejected_schema"
    assert codes[-1] == "rejected_limit"
    assert codes == sorted(codes, reverse=True)


def _all_of(n: int) -> dict[str, Any]:
    return {"type": "object", "allOf": [_object(**{f"k{at}": {"type": "string"}}) for at in range(n)]}


def _in_one_branch(n: int) -> dict[str, Any]:
    return {"type": "object", "allOf": [{"required": [f"k{at}"]} for at in range(n)]}


@pytest.mark.parametrize("family", [_all_of, _in_one_branch])
@pytest.mark.parametrize("target", ["openai_strict", "gemini"])
def test_schemas_are_fitted(family: Callable[[int], dict[str, Any]], target: str) -> None:
    _assert_linear(lambda size: fit_schema(family(size), TARGETS[target]), SIZES)


def test_references_to_itself_are_read_once() -> None:
    def read(width: int) -> None:
        schema = {"anyOf": [{"$ref": "#"}] * width, "properties": {"v": {"anyOf": [{"$ref": "#"}] * width}}}
        property_schema(schema, "other")
        property_names(schema)
        typed_value("x", schema)

    _assert_linear(read, (4, 16))
