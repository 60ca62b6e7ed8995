"""Schemas like those of real tools (our examples of their features), on every target."""

from __future__ import annotations

from typing import Any

import pytest

from tests.schema.fitting.refusals import refused
from tests.schema.fitting.test_laws import filled, readable
from toolglot.schema.check import checker
from toolglot.schema.fitting import TARGETS, Target, drop_filled_nulls, fit_schema

ZOD_EDIT: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "file_path": {"type": "string", "description": "The absolute path to the file"},
        "edits": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "old": {"type": "string", "minLength": 1},
                    "new": {"type": "string"},
                    "all": {"type": "boolean", "default": False},
                },
                "required": ["old", "new"],
                "additionalProperties": False,
            },
        },
        "timeout": {"type": "number", "exclusiveMinimum": 0, "maximum": 600000},
    },
    "required": ["file_path", "edits"],
    "additionalProperties": False,
}
PYDANTIC_SEARCH: dict[str, Any] = {
    "type": "object",
    "title": "SearchArguments",
    "properties": {
        "query": {"title": "Query", "type": "string"},
        "filter": {"anyOf": [{"$ref": "#/$defs/Filter"}, {"type": "null"}], "default": None},
        "order": {"$ref": "#/$defs/Order", "default": "asc"},
        "box": {
            "anyOf": [
                {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "minItems": 2, "maxItems": 2},
                {"type": "null"},
            ],
            "default": None,
        },
    },
    "required": ["query"],
    "$defs": {
        "Order": {"enum": ["asc", "desc"], "title": "Order", "type": "string"},
        "Filter": {
            "type": "object",
            "properties": {"field": {"type": "string"}, "value": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
            "required": ["field", "value"],
        },
    },
}
ONE_OF_THREE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "yaml": {"type": "string"},
        "files": {"type": "array", "items": {"type": "string"}},
        "dir": {"type": "string"},
    },
    "oneOf": [{"required": ["yaml"]}, {"required": ["files"]}, {"required": ["dir"]}],
}
NULLABLE_ISSUE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "assignee": {"type": "string", "nullable": True},
        "labels": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
        "state": {"type": "string", "enum": ["open", "closed"]},
        "due": {"type": "string", "format": "date-time"},
    },
    "required": ["state"],
}
FINE: list[tuple[str, dict[str, Any], list[dict[str, Any]]]] = [
    (
        "zod",
        ZOD_EDIT,
        [
            {"file_path": "/a", "edits": [{"old": "x", "new": ""}]},
            {"file_path": "", "edits": [{"old": "x", "new": "", "all": True}], "timeout": 0.5},
        ],
    ),
    (
        "pydantic",
        PYDANTIC_SEARCH,
        [
            {"query": "q"},
            {"query": "q", "filter": {"field": "f", "value": 3}, "box": [1, 2.5]},
            {"query": "", "filter": None, "order": "desc"},
        ],
    ),
    ("one-of", ONE_OF_THREE, [{"yaml": "x"}, {"files": []}, {"dir": "d"}]),
    (
        "nullable",
        NULLABLE_ISSUE,
        [{"state": "open", "assignee": "me"}, {"state": "closed", "labels": ["a"], "due": "2026-01-01T00:00:00Z"}],
    ),
    ("none", {"type": "object", "properties": {}}, [{}]),
]


@pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))
@pytest.mark.parametrize(("schema", "calls"), [row[1:] for row in FINE], ids=[row[0] for row in FINE])
def test_real_schemas_keep_real_calls(target: Target, schema: dict[str, Any], calls: list[dict[str, Any]]) -> None:
    made = fit_schema(schema, target)
    assert made.narrowed == ()
    assert refused(made.schema, target) == []
    after = checker(readable(made.schema, target))
    for call in calls:
        assert checker(schema).fits(call)
        sent = filled(call, made.schema) if target.filled else call
        assert after.fits(sent), after.problems(sent)
        assert checker(schema).fits(drop_filled_nulls(sent, schema)) or target.name == "gemini_openapi"
