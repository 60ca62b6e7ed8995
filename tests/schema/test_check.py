from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolglot.schema.check import checker

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "minimum": 1},
        "unit": {"enum": ["C", "F"]},
        "near": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "stops": {"type": "array", "items": {"$ref": "#/$defs/stop"}},
    },
    "required": ["city"],
    "additionalProperties": False,
    "$defs": {"stop": {"type": "object", "properties": {"name": {"type": "string"}}}},
}
PROBLEMS = [
    ({}, "'city' is missing"),
    ({"city": 3}, "city: expected a string, got an integer (3)"),
    ({"city": "x", "days": 0}, "days: 0 is less than the minimum of 1"),
    ({"city": "x", "unit": "K"}, 'unit: expected one of "C", "F", got "K"'),
    ({"city": "x", "near": 4}, "near: expected a string or null, got an integer (4)"),
    ({"city": "x", "stops": [{"name": None}]}, "stops[0].name: expected a string, got null"),
    ({"city": "x", "when": 1}, "unknown parameter 'when'"),
]


@pytest.mark.parametrize(("value", "message"), PROBLEMS, ids=[message for _, message in PROBLEMS])
def test_problems_have_a_path(value: dict[str, Any], message: str) -> None:
    check = checker(SCHEMA)
    assert not check.fits(value)
    assert [str(problem) for problem in check.problems(value)] == [message]


def test_valid_arguments_have_no_problems() -> None:
    check = checker(SCHEMA)
    assert check.fits({"city": "x", "days": 2, "stops": [{"name": "y"}]})
    assert check.problems({"city": "x"}) == []
    assert check.notes == ()


def test_compiled_once_for_equal_schemas() -> None:
    assert checker(SCHEMA) is checker(dict(SCHEMA))


def test_no_schema_takes_any_object() -> None:
    assert checker(None).fits({"a": 1})
    assert checker({}).fits({})
    assert not checker(None).fits([])


@pytest.mark.parametrize(
    "lost",
    [
        {"$ref": "http://127.0.0.1:9/x"},
        {"$ref": "file:///etc/hostname"},
        {"$ref": "#/nowhere"},
        {"type": "string", "pattern": "("},
        {"deprecated": "since 2"},
    ],
)
def test_only_the_invalid_keyword_is_dropped(lost: dict[str, Any]) -> None:
    check = checker({"type": "object", "properties": {"a": lost, "b": {"type": "integer"}}, "required": ["b"]})
    assert check.notes
    assert check.fits({"a": "x", "b": 1})
    assert not check.fits({"b": "x"})
    assert not check.fits({})


def test_nothing_is_fetched(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"type": "integer"}')
    check = checker({"type": "object", "properties": {"a": {"$ref": (tmp_path / "x.json").as_uri()}}})
    assert check.notes
    assert check.fits({"a": "x"})


def test_an_unusable_schema_accepts_any_object() -> None:
    check = checker({"type": "object", "properties": {"a": {"default": object()}}})
    assert "any object is accepted" in check.notes[0]
    assert check.fits({"a": 1})
    assert not check.fits(3)


def test_values_that_json_does_not_have_do_not_raise() -> None:
    check = checker(SCHEMA)
    assert not check.fits({1: 2})
    assert check.problems({1: 2})
