from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolglot.schema import check as check_module
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
    ("part", "keyword"),
    [
        ({"$ref": "http://127.0.0.1:9/x"}, "$ref"),
        ({"$ref": "file:///etc/hostname"}, "$ref"),
        ({"$ref": "#/nowhere"}, "$ref"),
        ({"type": "string", "pattern": "("}, "properties.a.pattern"),
        ({"type": "object", "patternProperties": {"(": {}}}, "properties.a.patternProperties.("),
        ({"type": "string", "pattern": r"^(?>a)\h"}, "properties.a.pattern"),
        ({"type": "string", "pattern": 5}, "pattern 5 at a"),
        ({"type": "polygon"}, "type 'polygon' at a"),
        ({"type": "string", "minLength": "many"}, "minLength 'many' at a"),
        ({"enum": "a, b"}, "enum 'a, b' at a"),
        ({"multipleOf": 0}, "properties.a.multipleOf"),
        (5, "5 in place of a schema at a"),
    ],
)
def test_a_keyword_that_cannot_be_compiled_is_named(part: Any, keyword: str) -> None:
    check = checker({"type": "object", "properties": {"a": part, "b": {"type": "integer"}}, "required": ["b"]})
    assert [one.split(" (")[0] for one in check.unsupported] == [keyword]
    assert not check.fits({"b": "x"})  # the rest is still checked
    assert not check.fits({})


@pytest.mark.parametrize(
    "part", [{"deprecated": "since 2"}, {"description": 3}, {"type": "any"}, {"enum": None}, {"format": "x"}, {"anyOf": []}]
)
def test_what_says_nothing_about_values_is_supported(part: dict[str, Any]) -> None:
    check = checker({"type": "object", "properties": {"a": part}})
    assert not check.unsupported
    assert check.fits({"a": 1})


TRANSLATED: list[tuple[dict[str, Any], Any, Any]] = [
    ({"pattern": r"^[a-z]+\.txt\Z"}, "notes.txt", "../../etc/passwd"),
    ({"pattern": r"\A[\w-.]+\Z"}, "a-b.c", "a b"),
    ({"pattern": "^{[a-z]{2}}$"}, "{ab}", "{abc}"),
    ({"pattern": "^(?#a letter)[a-z]$"}, "a", "1"),
    ({"patternProperties": {r"^x\Z": {"type": "integer"}}}, {"x": 1, "xy": "z"}, {"x": "z"}),
    ({"items": [{"type": "string"}, {"type": "integer"}]}, ["a", 1, None], ["a", "b"]),
    ({"items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False}, ["a", 1], ["a", 1, 2]),
    ({"items": [{"type": "string"}]}, ["a", "b"], [1]),
    ({"minimum": 2, "exclusiveMinimum": True}, 3, 2),
    ({"dependencies": {"a": ["b"]}}, {"b": 1}, {"a": 1}),
    ({"definitions": {"k": {"type": "null"}}, "$ref": "#/properties/v/definitions/k"}, None, 1),
    ({"properties": {"v": {"$recursiveRef": "#"}}}, {"v": {"v": {}}}, {"v": 1}),
]


@pytest.mark.parametrize(("part", "good", "bad"), TRANSLATED, ids=[str(part) for part, _, _ in TRANSLATED])
@pytest.mark.parametrize("draft", ["", "http://json-schema.org/draft-03/schema#", "http://127.0.0.1/my-draft"])
def test_other_spellings_are_translated(part: dict[str, Any], good: Any, bad: Any, draft: str) -> None:
    check = checker({**({"$schema": draft} if draft else {}), "type": "object", "properties": {"v": part}})
    assert check.unsupported == ()
    assert check.fits({"v": good})
    assert not check.fits({"v": bad})


@pytest.mark.parametrize("draft", ["draft-04", "draft-06", "draft-07"])
def test_older_drafts_are_validated_by_their_rules(draft: str) -> None:
    tuple_of_two = {"items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False}
    check = checker({"$schema": f"http://json-schema.org/{draft}/schema#", "properties": {"v": tuple_of_two}})
    assert check.unsupported == ()
    assert check.fits({"v": ["a", 1]})
    assert not check.fits({"v": ["a", 1, 2]})


def test_nothing_is_fetched(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"type": "integer"}')
    check = checker({"type": "object", "properties": {"a": {"$ref": (tmp_path / "x.json").as_uri()}}})
    assert "not present in a registry" in check.unsupported[0]


def test_a_schema_that_is_not_json_is_unsupported() -> None:
    assert checker({"type": "object", "properties": {"a": {"default": object()}}}).unsupported


@pytest.mark.parametrize("depth", [8, 30, 60])
def test_recursive_unions_are_explained(depth: int) -> None:
    """The compiled validator would list two to the power of `depth` errors."""
    branch = {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "required": ["a"]}
    node = {"anyOf": [branch, {**branch, "title": "other"}, {"type": "string"}]}
    value: Any = 3
    for _ in range(depth):
        value = {"a": value}
    check = checker({"type": "object", "properties": {"v": {"$ref": "#/$defs/n"}}, "$defs": {"n": node}})
    assert not check.fits({"v": value})
    assert check.problems({"v": value})[0].path == "v"


def test_shared_definitions_are_not_followed_again_and_again() -> None:
    """The compiled validator would take two to the power of 60 steps."""
    definitions: dict[str, Any] = {f"d{at}": {"allOf": [{"$ref": f"#/$defs/d{at + 1}"}] * 2} for at in range(60)}
    check = checker({"$ref": "#/$defs/d0", "$defs": {**definitions, "d60": {"required": ["a"]}}})
    assert check.fits({"a": 1})
    assert not check.fits({"b": 1})
    assert [str(one) for one in check.problems({"b": 1})] == ["'a' is missing"]


def test_compiled_schemas_are_bounded_in_bytes() -> None:
    for at in range(40):
        checker({"type": "object", "description": f"{at}" * 100_000, "properties": {"a": {"type": "string"}}})
    assert check_module._CACHE.size <= 32 << 20
    assert len(check_module._CACHE) < 40


def test_values_that_json_does_not_have_do_not_raise() -> None:
    check = checker(SCHEMA)
    assert not check.fits({1: 2})
    assert check.problems({1: 2})
