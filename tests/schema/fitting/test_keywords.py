"""Each keyword, on the targets that take it otherwise than it is."""

from __future__ import annotations

from typing import Any

import pytest

from toolglot.schema.fitting import TARGETS, fit_schema


def fitted(inner: Any, target: str, **root: Any) -> Any:
    schema = {"type": "object", "properties": {"x": inner}, "required": ["x"], **root}
    return fit_schema(schema, TARGETS[target]).schema["properties"]["x"]


INTEGER = {"type": "integer"}
STRING = {"type": "string"}
CASES: list[tuple[str, Any, str, Any]] = [
    ("const", {"const": "a"}, "gemini", {"type": "string", "enum": ["a"]}),
    ("const-and-enum", {"const": 1, "enum": [1, 2]}, "ollama", {"type": "number", "enum": [1]}),
    ("true", True, "ollama", {}),
    ("true-typed", True, "llamacpp", {"type": ["object", "array", "string", "number", "boolean", "null"]}),
    ("nullable", {"type": "string", "nullable": True}, "ollama", {"type": ["string", "null"]}),
    ("nullable-out", {"type": ["string", "null"]}, "gemini_openapi", {"type": "STRING", "nullable": True}),
    ("nullable-enum", {"enum": ["a", None]}, "gemini_openapi", {"type": "STRING", "enum": ["a"], "nullable": True}),
    ("types", {"type": ["string", "integer"]}, "anthropic_strict", {"anyOf": [STRING, INTEGER]}),
    ("exclusive-whole", {"type": "integer", "exclusiveMinimum": 0}, "gemini", {"type": "integer", "minimum": 1}),
    (
        "exclusive",
        {"type": "number", "exclusiveMinimum": 0},
        "gemini",
        {"type": "number", "minimum": 0, "description": "(more than 0)"},
    ),
    (
        "bounds",
        {"type": "integer", "minimum": 1, "maximum": 9},
        "ollama",
        {"type": "integer", "description": "(at least 1; at most 9)"},
    ),
    ("multiple", {"type": "number", "multipleOf": 5}, "llamacpp", {"type": "number", "description": "(a multiple of 5)"}),
    (
        "length",
        {"type": "string", "minLength": 1},
        "openai_strict",
        {"type": "string", "description": "(at least 1 character)"},
    ),
    (
        "long",
        {"type": "string", "maxLength": 65536},
        "llamacpp",
        {"type": "string", "description": "(at most 65536 characters)"},
    ),
    (
        "pattern",
        {"type": "string", "pattern": "^[a-z]{2,3}-(?:x|y)$"},
        "llamacpp",
        {"type": "string", "pattern": "^[a-z]{2,3}-(?:x|y)$"},
    ),
    ("pattern-open", {"type": "string", "pattern": "[a-z]"}, "llamacpp", {"type": "string", "description": "(matches [a-z])"}),
    (
        "pattern-class",
        {"type": "string", "pattern": "^\\d+$"},
        "llamacpp",
        {"type": "string", "description": "(matches ^\\d+$)"},
    ),
    ("pattern-or", {"type": "string", "pattern": "^a|b$"}, "llamacpp", {"type": "string", "description": "(matches ^a|b$)"}),
    (
        "pattern-look",
        {"type": "string", "pattern": "^(?!a)"},
        "openai_strict",
        {"type": "string", "description": "(matches ^(?!a))"},
    ),
    ("format-known", {"type": "string", "format": "date"}, "llamacpp", {"type": "string", "format": "date"}),
    ("format", {"type": "string", "format": "uri"}, "openai_strict", {"type": "string", "description": "(format uri)"}),
    ("default", {"type": "integer", "default": 3}, "gemini", {"type": "integer", "description": "(default 3)"}),
    ("title", {"type": "string", "title": "X"}, "ollama", STRING),
    (
        "described-once",
        {"type": "integer", "minimum": 1, "description": "at least 1"},
        "ollama",
        {"type": "integer", "description": "at least 1"},
    ),
    ("oneOf", {"oneOf": [STRING, INTEGER]}, "gemini", {"anyOf": [STRING, INTEGER]}),
    (
        "oneOf-overlap",
        {"oneOf": [{"type": "integer"}, {"type": "number"}]},
        "gemini",
        {"anyOf": [INTEGER, {"type": "number"}], "description": "(exactly one of the forms)"},
    ),
    (
        "allOf",
        {"allOf": [{"type": "integer", "minimum": 1}, {"minimum": 3, "maximum": 5}]},
        "gemini",
        {"type": "integer", "minimum": 3, "maximum": 5},
    ),
    ("allOf-types", {"allOf": [{"type": ["string", "number"]}, {"type": ["integer", "null"]}]}, "gemini", INTEGER),
    ("allOf-enum", {"allOf": [{"enum": [1, 2, 3]}, {"enum": [2.0, 3, 4]}]}, "ollama", {"type": "number", "enum": [2, 3]}),
    (
        "anyOf-beside",
        {"type": "string", "anyOf": [{"minLength": 2}, {"enum": ["a"]}]},
        "gemini_openapi",
        {"anyOf": [{"minLength": 2, "type": "STRING"}, {"enum": ["a"], "type": "STRING"}]},
    ),
    ("anyOf-any", {"type": "string", "anyOf": [{"minLength": 2}, {}]}, "ollama", STRING),
    ("not", {"type": "string", "not": {"const": "a"}}, "gemini", {"type": "string", "description": '(not {"const":"a"})'}),
    (
        "if",
        {"type": "string", "if": {"minLength": 1}, "then": {"maxLength": 2}},
        "gemini",
        {"type": "string", "description": '(if {"minLength":1} then {"maxLength":2})'},
    ),
    (
        "unique",
        {"type": "array", "items": STRING, "uniqueItems": True},
        "gemini",
        {"type": "array", "items": STRING, "description": "(no item twice)"},
    ),
    (
        "contains",
        {"type": "array", "contains": STRING},
        "gemini",
        {"type": "array", "description": '(contains {"type":"string"})'},
    ),
    (
        "tuple",
        {"type": "array", "prefixItems": [STRING, INTEGER], "maxItems": 2},
        "llamacpp",
        {
            "type": "array",
            "items": {"anyOf": [STRING, INTEGER]},
            "maxItems": 2,
            "description": "(items in order: string, integer)",
        },
    ),
    (
        "tuple-open",
        {"type": "array", "prefixItems": [STRING]},
        "llamacpp",
        {"type": "array", "description": "(items in order: string)"},
    ),
    (
        "tuple-kept",
        {"type": "array", "prefixItems": [STRING], "items": False},
        "gemini",
        {"type": "array", "prefixItems": [STRING], "maxItems": 1},
    ),
    ("items-false", {"type": "array", "items": False}, "llamacpp", {"type": "array", "maxItems": 0}),
    (
        "items-none",
        {"type": "array"},
        "openai_strict",
        {"type": "array", "items": {"anyOf": [{"type": kind} for kind in ("string", "number", "boolean", "null")]}},
    ),
    (
        "required-unknown",
        {"type": "object", "required": ["a"]},
        "gemini",
        {"type": "object", "properties": {"a": {}}, "required": ["a"]},
    ),
    (
        "dependent",
        {"type": "object", "properties": {"a": STRING}, "dependentRequired": {"a": ["b"]}},
        "ollama",
        {"type": "object", "properties": {"a": STRING}, "description": "(with a also b)"},
    ),
    (
        "patternProperties",
        {"type": "object", "patternProperties": {"^p": INTEGER}, "additionalProperties": False},
        "gemini",
        {"type": "object", "additionalProperties": True, "description": '(keys matching ^p: {"type":"integer"})'},
    ),
    (
        "forbidden-property",
        {"type": "object", "properties": {"a": STRING, "b": False}},
        "ollama",
        {"type": "object", "properties": {"a": STRING}, "description": "(without b)"},
    ),
    ("never", {"anyOf": [False, STRING]}, "ollama", STRING),
    (
        "closed",
        {"type": "object", "properties": {"a": STRING}, "additionalProperties": False},
        "ollama",
        {"type": "object", "properties": {"a": STRING}, "description": "(no other keys)"},
    ),
    (
        "map",
        {"type": "object", "additionalProperties": INTEGER},
        "openai_strict",
        {"type": "string", "description": "(a JSON object, written as text)"},
    ),
    (
        "optional",
        {"type": "object", "properties": {"a": {"enum": ["b"]}}},
        "openai_strict",
        {
            "type": "object",
            "properties": {"a": {"type": ["string", "null"], "enum": ["b", None]}},
            "required": ["a"],
            "additionalProperties": False,
        },
    ),
    (
        "empty-bounds",
        {"type": "array", "items": STRING, "minItems": 3, "maxItems": 1},
        "llamacpp",
        {"type": "array", "items": STRING},
    ),
    ("slip-type", {"type": "dict"}, "gemini", {"type": "object"}),
    ("slip-float", {"type": "float"}, "gemini", {"type": "number"}),
    ("slip-empty", {"type": ""}, "gemini", {}),
    ("slip-none", None, "gemini", {}),
    (
        "many-minimum",
        {"type": "array", "items": STRING, "minItems": 2},
        "anthropic_strict",
        {"type": "array", "items": STRING, "description": "(at least 2 items)"},
    ),
]


@pytest.mark.parametrize(
    ("inner", "target", "wanted"), [case[1:] for case in CASES], ids=[f"{case[0]}-{case[2]}" for case in CASES]
)
def test_one_keyword(inner: Any, target: str, wanted: Any) -> None:
    assert fitted(inner, target) == wanted


@pytest.mark.parametrize(
    ("reference", "defs"),
    [
        ("#/$defs/d", {"$defs": {"d": INTEGER}}),
        ("#/definitions/d", {"definitions": {"d": INTEGER}}),
        ("#/$defs/a~1b", {"$defs": {"a/b": INTEGER}}),
        ("#/$defs/one", {"$defs": {"one": {"$ref": "#/$defs/two"}, "two": INTEGER}}),
        ("#/x-parts/0", {"x-parts": [INTEGER]}),
    ],
)
def test_references_are_inlined(reference: str, defs: dict[str, Any]) -> None:
    assert fitted({"$ref": reference}, "ollama", **defs) == INTEGER
    assert fitted({"$ref": reference, "description": "Here."}, "ollama", **defs) == {**INTEGER, "description": "Here."}


def test_an_unresolvable_reference_accepts_any_value() -> None:
    made = fit_schema({"type": "object", "properties": {"x": {"$ref": "other.json#/a"}}}, TARGETS["gemini"])
    assert made.schema["properties"] == {"x": {}}
    assert made.notes == ('x: $ref "other.json#/a" does not exist; any value is accepted there',)


def test_older_drafts_ignore_siblings_of_a_reference() -> None:
    schema = {"properties": {"x": {"$ref": "#/$defs/d", "minimum": 5}}, "$defs": {"d": INTEGER}}
    drafted = {"$schema": "http://json-schema.org/draft-07/schema#", **schema}
    assert fit_schema(schema, TARGETS["gemini"]).schema["properties"]["x"] == {"type": "integer", "minimum": 5}
    assert fit_schema(drafted, TARGETS["gemini"]).schema["properties"]["x"] == INTEGER


def test_tuples_and_bounds_of_older_drafts() -> None:
    old = {"$schema": "http://json-schema.org/draft-04/schema#"}
    listed = {"type": "array", "items": [STRING], "additionalItems": False}
    assert fitted(listed, "gemini", **old) == {"type": "array", "prefixItems": [STRING], "maxItems": 1}
    assert fitted({"type": "integer", "minimum": 1, "exclusiveMinimum": True}, "gemini", **old) == {
        "type": "integer",
        "minimum": 2,
    }
