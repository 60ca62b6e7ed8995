"""Raw text by its schema."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.schema.coerce_text import item_schema, loose_value, property_names, property_schema, typed_value

LIST = {"type": "array", "items": {"type": "integer"}}
ROWS: list[tuple[str, dict[str, Any] | None, Any]] = [
    # a string is text, to the last space
    ("03106", {"type": "string"}, "03106"),
    (" 1 \n", {"type": "string"}, " 1 \n"),
    ("true", {"type": "string"}, "true"),
    ('{"a": 1}', {"type": "string"}, '{"a": 1}'),
    ("&lt;b&gt;", {"type": "string"}, "&lt;b&gt;"),
    ("", {"type": "string"}, ""),
    # everything else is read; what can't be stays text
    ("42", {"type": "integer"}, 42),
    (" -7\n", {"type": "integer"}, -7),
    ("12345678901234567890123", {"type": "integer"}, 12345678901234567890123),
    ("3.0", {"type": "integer"}, 3.0),
    ("007", {"type": "integer"}, "007"),
    ("many", {"type": "integer"}, "many"),
    ("1e3", {"type": "number"}, 1000.0),
    ("1e999", {"type": "number"}, "1e999"),
    ("1,000", {"type": "number"}, "1,000"),
    ("NaN", {"type": "number"}, "NaN"),
    ("5", {"type": "number"}, 5),
    ("true", {"type": "boolean"}, True),
    ("False", {"type": "boolean"}, False),
    ("yes", {"type": "boolean"}, "yes"),
    ("1", {"type": "boolean"}, "1"),
    ("null", {"type": "null"}, None),
    ("None", {"type": ["string", "null"]}, None),
    ("[1, 2]", LIST, [1, 2]),
    ("(1, 2)", LIST, [1, 2]),
    ("[1, 2", LIST, "[1, 2"),
    ("{'k': None, 'b': True}", {"type": "object"}, {"k": None, "b": True}),
    ("{'k': null, 'b': true, 't': 'not true'}", {"type": "object"}, {"k": None, "b": True, "t": "not true"}),
    ("{'a': {1, 2}}", {"type": "object"}, "{'a': {1, 2}}"),
    (r"{'re': '\d'}", {"type": "object"}, {"re": r"\d"}),
    ("[1]", {"type": "object"}, "[1]"),
    # several types: the one that matches, else text
    ("[1]", {"type": ["array", "string"]}, [1]),
    ("Error: none", {"type": ["array", "string"]}, "Error: none"),
    ("hello", {"type": ["null", "string"]}, "hello"),
    ("null", {"anyOf": [{"type": "null"}, {"type": "string"}]}, None),
    ("42", {"oneOf": [{"type": "integer"}, {"type": "null"}]}, 42),
    ("42", {"anyOf": [{"type": "string"}, {"type": "object"}]}, "42"),
    ("03106", {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "03106"),
    ("5", {"allOf": [{"type": "integer"}, {"minimum": 1}]}, 5),
    # values that are listed
    ("celsius", {"enum": ["celsius", "fahrenheit"]}, "celsius"),
    (" celsius\n", {"enum": ["celsius"]}, "celsius"),
    ("2", {"enum": [1, 2]}, 2),
    ("2", {"enum": ["1", "2"]}, "2"),
    ("1", {"const": 1}, 1),
    # references
    ("5", {"$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}, 5),
    ("5", {"$ref": "#/$defs/s", "$defs": {"s": {"type": "string"}}}, "5"),
    ("5", {"$ref": "#/$defs/loop", "$defs": {"loop": {"$ref": "#/$defs/loop"}}}, 5),
    ("5", {"$ref": "elsewhere.json"}, 5),
    # invalid type names with an obvious meaning
    ("5.5", {"type": "float"}, 5.5),
    ("{}", {"type": "dict"}, {}),
    ("5", {"type": "any"}, 5),
    ("5", {"type": ""}, 5),
    # no schema: JSON literals
    ("42", None, 42),
    ("-0.5", {}, -0.5),
    ("042", None, "042"),
    ("+1", None, "+1"),
    ("1.", None, "1."),
    ("true", None, True),
    ("null", None, None),
    ('{"a": [1]}', None, {"a": [1]}),
    ('"quoted"', None, '"quoted"'),
    ("plain words", None, "plain words"),
    ("", None, ""),
]


@pytest.mark.parametrize(("raw", "schema", "value"), ROWS)
def test_typed_value(raw: str, schema: dict[str, Any] | None, value: Any) -> None:
    found = typed_value(raw, schema)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("raw", "schema", "value"),
    [
        (r"[{\"id\": \"1\", \"done\": false}]", {"type": "array"}, [{"id": "1", "done": False}]),
        (r"[ {\"say\": \"a \\\"b\\\"\"} ]", {"type": "array"}, [{"say": 'a "b"'}]),
        (r"{\"a\": 1}", {"type": "object"}, {"a": 1}),
        (r"{\"a\": 1}", {"type": "string"}, r"{\"a\": 1}"),
        (r"[{\"id\": \"1\"", {"type": "array"}, r"[{\"id\": \"1\""),
    ],
)
def test_json_that_was_escaped_once_too_often(raw: str, schema: dict[str, Any], value: Any) -> None:
    assert typed_value(raw, schema) == value


@pytest.mark.parametrize(("raw", "value"), [("1", "1"), ("true", "true"), ("[1]", [1]), (' {"a": 1}', {"a": 1}), ("{x", "{x")])
def test_loose_value(raw: str, value: Any) -> None:
    assert loose_value(raw) == value


@given(st.text(), st.sampled_from([None, *(row[1] for row in ROWS)]))
def test_any_text_is_some_value(raw: str, schema: dict[str, Any] | None) -> None:
    typed_value(raw, schema)
    loose_value(raw)


@pytest.mark.parametrize("deep", ["[" * 100_000, "{'a':" * 50_000, "(" * 3000 + ")" * 3000])
def test_deep_text_stays_text(deep: str) -> None:
    assert typed_value(deep, None) == deep


SCHEMA = {
    "properties": {"a": {"$ref": "#/$defs/A"}, "l": {"type": "array", "items": {"$ref": "#/$defs/A"}}},
    "additionalProperties": {"type": "boolean"},
    "anyOf": [{"properties": {"b": {"type": "integer"}}}],
    "$defs": {"A": {"type": "object", "properties": {"n": {"type": "number"}}}},
}


def test_properties_are_found_through_references_and_unions() -> None:
    assert typed_value("1", property_schema(SCHEMA, "b")) == 1
    assert typed_value("true", property_schema(SCHEMA, "other")) is True
    assert typed_value("2.5", property_schema(property_schema(SCHEMA, "a"), "n")) == 2.5
    assert typed_value("2.5", property_schema(item_schema(property_schema(SCHEMA, "l")), "n")) == 2.5
    assert property_names(SCHEMA) == {"a", "l", "b"}


@pytest.mark.parametrize(
    "schema", [None, {}, {"properties": None}, {"properties": {"a": True}}, {"anyOf": "x"}, {"$ref": 3}, {"items": [1]}]
)
def test_odd_schemas_are_ignored(schema: dict[str, Any] | None) -> None:
    assert property_schema(schema, "a") is None
    assert item_schema(schema) is None
    assert typed_value("x", schema) == "x"
