from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.schema.check import Checker
from toolglot.schema.schema_repair import is_valid, repair_schema, repaired

MEANT: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"type": "dict", "properties": {"a": {"type": "float"}}}, {"type": "object", "properties": {"a": {"type": "number"}}}),
    ({"type": "any"}, {}),
    ({"type": ""}, {}),
    ({"type": None}, {}),
    ({"type": "tuple", "items": {"type": "int"}}, {"type": "array", "items": {"type": "integer"}}),
    ({"type": "list[str]"}, {"type": "array", "items": {"type": "string"}}),
    ({"type": "string[]"}, {"type": "array", "items": {"type": "string"}}),
    ({"type": "Optional[int]"}, {"type": ["integer", "null"]}),
    ({"type": "string | null"}, {"type": ["string", "null"]}),
    ({"type": ["str", None]}, {"type": ["string", "null"]}),
    ({"type": "STRING"}, {"type": "string"}),
    ({"type": "object", "properties": None}, {"type": "object"}),
    ({"type": "object", "required": True}, {"type": "object"}),
    (
        {"properties": {"a": {"type": "bool", "required": True}, "b": {"type": "str", "required": False}}},
        {"properties": {"a": {"type": "boolean"}, "b": {"type": "string"}}, "required": ["a"]},
    ),
    ({"properties": [{"name": "a", "type": "int"}]}, {"properties": {"a": {"type": "integer"}}}),
    ({"properties": {"a": "string"}}, {"properties": {"a": {"type": "string"}}}),
    ({"properties": {"a": {}}, "required": "a"}, {"properties": {"a": {}}, "required": ["a"]}),
    ({"anyOf": [], "enum": None, "items": None, "minLength": "3"}, {"minLength": 3}),
    ({"minimum": 2, "exclusiveMinimum": True}, {"minimum": 2, "exclusiveMinimum": 2}),
    ({"additionalProperties": "false"}, {"additionalProperties": False}),
]


@pytest.mark.parametrize(("schema", "meant"), MEANT, ids=[str(schema) for schema, _ in MEANT])
def test_invalid_schemas_are_repaired_with_a_note(schema: dict[str, Any], meant: dict[str, Any]) -> None:
    before = repr(schema)
    read, notes = repair_schema(schema)
    assert read == meant
    assert notes
    assert repr(schema) == before
    jsonschema_rs.validator_for(read)


def test_a_valid_schema_is_the_same_object() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": ["string", "null"], "enum": ["x"]},
            "b": {"type": "array", "items": {"$ref": "#/$defs/q"}},
        },
        "required": ["a"],
        "$defs": {"q": {"anyOf": [{"type": "integer", "minimum": 1}, True]}},
        "additionalProperties": False,
    }
    assert repair_schema(schema)[0] is schema
    old = {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True, "items": [{}]}
    assert repair_schema(old)[0] is old


def test_nullable_allows_null() -> None:
    read, notes = repair_schema({"type": "string", "enum": ["a"], "nullable": True})
    assert (read["type"], read["enum"], notes) == (["string", "null"], ["a", None], ())


def test_a_schema_that_contains_itself_ends() -> None:
    schema: dict[str, Any] = {"type": "object"}
    schema["properties"] = {"me": schema, "n": {"type": "int"}}
    read, notes = repair_schema(schema)
    assert read == {"type": "object", "properties": {"me": {}, "n": {"type": "integer"}}}
    assert notes
    assert Checker(schema).fits({"n": 1})
    assert not Checker(schema).fits({"n": "x"})


def test_sharing_costs_no_more_than_a_tree() -> None:
    schema: dict[str, Any] = {"type": "int"}
    for _ in range(40):
        schema = {"properties": {"a": schema, "b": schema}}
    assert repair_schema(schema)[1]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "dict", "string", "int", "any", "#/x", "("]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "required", "items", "anyOf", "enum", "$ref", "pattern", "minLength", "a", "const"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["type", "properties", "required", "items", "$ref", "allOf", "$defs"]), JSON))
def test_no_schema_raises(schema: dict[str, Any]) -> None:
    check = Checker(schema)
    check.fits({"a": 1})
    check.problems({"a": 1})


ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, False, 0, 1, -1, 2.5, "", "string", "int", "true", "3", [], ["a"], ["a", "a"], ["string"], {}]
)


def _keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Mostly valid, so that whole schemas are, too."""
    maps, lists = st.dictionaries(st.sampled_from("ab"), inner, max_size=2), st.lists(inner, max_size=2)
    number = st.sampled_from([0, 3, 2.5, -1])
    fit: dict[str, st.SearchStrategy[Any]] = {
        "type": st.sampled_from(["object", "string", ["string", "null"]]),
        "required": st.lists(st.sampled_from("abc"), max_size=3),
        "enum": st.just(["a", None]),
        "description": st.just("d"),
        "$schema": st.sampled_from(["http://json-schema.org/draft-04/schema#", "https://json-schema.org/draft/2019-09/schema"]),
        "x-own": st.just(1),
        **dict.fromkeys(("properties", "$defs"), maps),
        **dict.fromkeys(("items", "additionalProperties", "not"), inner),
        **dict.fromkeys(("anyOf", "prefixItems"), lists),
        **dict.fromkeys(("minLength", "minimum", "exclusiveMinimum"), number),
        **dict.fromkeys(("nullable", "$recursiveRef", "$ref", "pattern"), ODD),
    }
    values = [st.tuples(st.just(key), value | value | value | value | ODD) for key, value in fit.items()]
    return st.lists(st.one_of(values), max_size=4).map(dict)


SCHEMAS = _keywords(st.recursive(st.booleans() | st.just({"type": "string"}), _keywords, max_leaves=6))


@given(SCHEMAS)
def test_in_a_valid_schema_nothing_is_repaired(schema: dict[str, Any]) -> None:
    if is_valid(schema):
        read = repaired(schema)
        assert (read.schema, read.notes, read.unsupported) == (schema, (), ())
        assert read.schema is schema


@pytest.mark.parametrize("schema", [schema for schema, _ in MEANT], ids=str)
def test_a_schema_with_repairs_is_not_valid(schema: dict[str, Any]) -> None:
    assert not is_valid(schema)


def test_schemas_as_tools_have_them_are_valid() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": ["string", "null"], "enum": ["x", None], "description": "d", "default": "x"},
            "b": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/q"}, {"const": 1}]}, "minItems": 1},
        },
        "required": ["a"],
        "additionalProperties": False,
        "$defs": {"q": {"type": "number", "exclusiveMinimum": 0.5}},
    }
    assert is_valid(schema)


def test_no_more_levels_are_valid_than_are_repaired() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(70):
        schema = {"items": schema}
    assert repaired(schema).unsupported
    assert not is_valid(schema)
    schema["items"] = schema
    assert not is_valid(schema)
