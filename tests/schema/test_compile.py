"""Compiling a schema holds the interpreter, so what it may cost is limited, and a schema beyond that fails closed."""

from __future__ import annotations

from typing import Any

import pytest

from toolglot.schema import compile as module
from toolglot.schema.compile import compile_schema

WORDS = r"^[\p{L}\p{N}_]{1,%d}$"


def _patterns(count: int) -> dict[str, Any]:
    return {"properties": {f"k{at}": {"pattern": WORDS % (30 + at)} for at in range(count)}}


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"properties": {f"k{at}": {"type": "string"}}} for at in range(8_000)]},
        {"properties": {f"k{at}": {"$ref": "#/$defs/a"} for at in range(4_000)}, "$defs": {"a": {}}},
        {"properties": {f"k{at}": {"pattern": f"a{at}"} for at in range(4_000)}},
    ],
)
def test_a_schema_that_takes_too_long_to_compile_is_unsupported(schema: dict[str, Any]) -> None:
    assert compile_schema(schema).unsupported == ("the schema (it is too large)",)


@pytest.mark.parametrize(
    "schema", [_patterns(500), {"patternProperties": {WORDS % (30 + at): {} for at in range(500)}}], ids=["values", "names"]
)
def test_few_large_patterns_are_compiled(schema: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    cost = module._pattern_cost

    def counted(pattern: str) -> int:
        tried.append(pattern)
        return cost(pattern)

    monkeypatch.setattr(module, "_pattern_cost", counted)
    assert compile_schema(schema).unsupported == ("the schema (its patterns are too large)",)
    assert len(tried) < 70


def test_usual_schemas_compile() -> None:
    assert not compile_schema({"properties": {f"k{at}": {"type": "string", "enum": ["a"]} for at in range(3_000)}}).unsupported
    assert not compile_schema(_patterns(2)).unsupported
    python = {"properties": {f"k{at}": {"pattern": rf"^[a-z]{{1,{at}}}\Z"} for at in range(1, 9)}}
    assert not compile_schema(python).unsupported
