"""Roots: objects, unions, nonsense; and what must stay within bounds."""

from __future__ import annotations

from typing import Any

import pytest

from tests.schema.fitting.refusals import refused
from toolglot.evaluation.counted import lines_run
from toolglot.io.json_codec import dumps
from toolglot.schema.check import checker
from toolglot.schema.fitting import TARGETS, Target, drop_filled_nulls, fit_schema

EACH = pytest.mark.parametrize("target", TARGETS.values(), ids=list(TARGETS))
STRING = {"type": "string"}
FORMS: dict[str, Any] = {
    "oneOf": [
        {"properties": {"kind": {"const": "file"}, "path": STRING}, "required": ["kind", "path"]},
        {"properties": {"kind": {"const": "url"}, "url": STRING}, "required": ["kind", "url"]},
    ]
}


@pytest.mark.parametrize(
    "schema", [None, [], "object", {}, {"type": "object"}, {"properties": None}, {"type": ["object", "null"]}]
)
@EACH
def test_any_schema_becomes_an_object(target: Target, schema: Any) -> None:
    made = fit_schema(schema, target).schema
    assert made["type"] == ("OBJECT" if target.capitals else "object")
    assert refused(made, target) == []


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_targets_that_accept_everything_keep_the_schema(name: str) -> None:
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/d"}}, "$defs": {"d": {"not": STRING}}}
    assert fit_schema(schema, TARGETS[name]).schema is schema
    assert fit_schema({"properties": {}}, TARGETS[name]).schema == {"type": "object", "properties": {}}


def test_a_union_at_the_root_is_merged() -> None:
    made = fit_schema(FORMS, TARGETS["anthropic"])
    assert made.schema == {
        "type": "object",
        "properties": {"kind": {"type": "string", "enum": ["file", "url"]}, "path": STRING, "url": STRING},
        "required": ["kind"],
        "description": "(either kind=file, path | kind=url, url)",
    }
    assert made.notes == ("the union is merged into one object",)
    assert "anyOf" in fit_schema(FORMS, TARGETS["llamacpp"]).schema


def test_merged_branches_stay_open_if_one_is() -> None:
    silent, open_ = {"properties": {"a": STRING}}, {"properties": {"b": STRING}, "additionalProperties": {"type": "integer"}}
    shut = {"properties": {"c": STRING}, "additionalProperties": False}
    assert fit_schema({"anyOf": [silent, open_]}, TARGETS["gemini"]).schema["additionalProperties"] is True
    assert fit_schema({"anyOf": [shut, open_]}, TARGETS["gemini"]).schema["additionalProperties"] == {"type": "integer"}
    assert fit_schema({"anyOf": [silent, open_]}, TARGETS["openai_strict"]).narrowed


def test_words_go_aside_if_the_root_has_no_description() -> None:
    schema = {
        "properties": {"a": STRING, "b": STRING},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        "description": "All.",
    }
    made = fit_schema(schema, TARGETS["ollama"])
    assert made.schema == {"type": "object", "properties": {"a": STRING, "b": STRING}}
    assert made.aside == "needs one of a | b"
    assert made.moved == ("needs one of a | b",)
    assert fit_schema(schema, TARGETS["gemini"]).schema["description"] == "All. (needs one of a | b)"


def test_nulls_of_merged_branches_are_dropped() -> None:
    call = {"kind": "url", "path": None, "url": "u"}
    closed = {"oneOf": [{**form, "additionalProperties": False} for form in FORMS["oneOf"]]}
    assert drop_filled_nulls(call, closed) == {"kind": "url", "url": "u"}
    assert drop_filled_nulls({"kind": "other", "path": None}, closed) == {"kind": "other", "path": None}


TREE: dict[str, Any] = {
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/node"}},
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"v": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
        }
    },
}


@EACH
def test_recursion_is_expanded_then_left_open(target: Target) -> None:
    made = fit_schema(TREE, target)
    assert refused(made.schema, target) == []
    value: dict[str, Any] = {"v": 0}
    for depth in range(1, 8):
        value = {"v": depth, "kids": [value]}
    if target.as_is:
        return
    assert any("it contains itself" in note for note in made.notes)
    if target.closed:
        assert made.narrowed
    elif not target.capitals:
        assert checker(made.schema).fits({"root": value})
        assert not checker(made.schema).fits({"root": {"kids": [{"v": "x"}]}})


@EACH
def test_the_root_inside_itself(target: Target) -> None:
    schema = {
        "type": "object",
        "properties": {"v": STRING, "more": {"$ref": "#"}},
        "anyOf": [{"required": ["v"]}, {"$ref": "#"}],
    }
    made = fit_schema(schema, target)
    assert refused(made.schema, target) == []
    loop = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    assert fit_schema(loop, target).schema["type"] in ("object", "OBJECT")


def bomb(levels: int, width: int) -> dict[str, Any]:
    """Each level refers to the next several times: width ** levels if it were put in place."""
    defs: dict[str, Any] = {
        f"l{at}": {"type": "object", "properties": {f"p{n}": {"$ref": f"#/$defs/l{at + 1}"} for n in range(width)}}
        for at in range(levels)
    }
    defs[f"l{levels}"] = STRING
    return {"type": "object", "properties": {"boom": {"$ref": "#/$defs/l0"}, "calm": {"type": "integer"}}, "$defs": defs}


@EACH
@pytest.mark.parametrize("levels", [12, 30])
def test_a_bomb_of_references_is_cut(target: Target, levels: int) -> None:
    made = fit_schema(bomb(levels, 4), target)
    assert len(dumps(made.schema)) < 400_000
    assert refused(made.schema, target) == []
    assert str(made.schema["properties"]["calm"]["type"]).lower().find("integer") >= 0  # the rest does not suffer
    if not target.as_is:
        assert any("not followed further" in note for note in made.notes)
        assert len(made.notes) <= 20


@EACH
def test_a_bomb_of_unions_is_cut(target: Target) -> None:
    inner: Any = STRING
    for level in range(12):
        inner = {"allOf": [{"anyOf": [{"properties": {f"a{level}{n}": inner}} for n in range(4)]} for _ in range(4)]}
    schema = {"type": "object", "properties": {"x": inner, "y": inner}}
    made = fit_schema(schema, target)
    assert target.as_is or len(dumps(made.schema)) < 1_000_000
    assert refused(made.schema, target) == []


@EACH
def test_a_large_schema_is_not_cut_and_costs_in_proportion(target: Target) -> None:
    def cost(size: int) -> int:
        schema = {
            "type": "object",
            "properties": {f"p{at}": {"type": "string", "minLength": 1, "description": "x"} for at in range(size)},
        }
        assert len(fit_schema(schema, target).schema["properties"]) == size
        return lines_run(lambda: fit_schema(schema, target))

    assert cost(1600) < 4.4 * cost(400)


def test_deep_nesting_ends() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(500):
        schema = {"type": "object", "properties": {"a": schema}}
    for target in TARGETS.values():
        assert fit_schema(schema, target).schema["properties"]


def test_strict_mode_has_limits() -> None:
    target = TARGETS["openai_strict"]
    deep: dict[str, Any] = {"type": "object", "properties": {"a": STRING}}
    for _ in range(12):
        deep = {"type": "object", "properties": {"a": deep}}
    assert fit_schema(deep, target).narrowed
    listed = {"type": "object", "properties": {f"p{at}": {"enum": [f"{at}-{n}" for n in range(300)]} for at in range(5)}}
    made = fit_schema(listed, target)
    assert sum("enum" in one for one in made.schema["properties"].values()) == 3
    assert not made.narrowed
    many = {"type": "object", "properties": {f"p{at}": STRING for at in range(5001)}}
    assert fit_schema(many, target).narrowed == ("more than 5000 properties are rejected",)


def test_names_that_a_grammar_or_an_api_rejects() -> None:
    named = {"type": "object", "properties": {"a]b": STRING}, "additionalProperties": {"type": "integer"}}
    made = fit_schema({"type": "object", "properties": {"x": named}}, TARGETS["llamacpp"])
    assert "additionalProperties" not in made.schema["properties"]["x"]
    assert made.narrowed == ("x: with one of these names, only the listed keys can be passed",)
    assert fit_schema(named, TARGETS["anthropic_strict"]).notes == ("the name 'a]b' may be rejected",)
