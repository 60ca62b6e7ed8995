"""Rows in BFCL's format, written for these tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolglot.errors import CallerError
from toolglot.evaluation.bfcl import category_of, read_bfcl
from toolglot.evaluation.files import load
from toolglot.evaluation.score import score

TOOL = {
    "name": "geo.area",
    "description": "Area of a figure.",
    "parameters": {
        "type": "dict",
        "properties": {
            "size": {"type": "tuple", "items": {"type": "float"}},
            "unit": {"type": "string"},
            "options": {"type": "dict", "properties": {"round": {"type": "boolean"}}},
        },
        "required": ["size"],
    },
}
ROW: dict[str, Any] = {
    "id": "simple_python_7",
    "question": [[{"role": "user", "content": "Area of 2 by 3.5?"}]],
    "function": [TOOL],
}
GOLD: dict[str, Any] = {
    "id": "simple_python_7",
    "ground_truth": [{"geo.area": {"size": [[2, 3.5]], "unit": ["", "m2"], "options": ["", {"round": [True, ""]}]}}],
}


def test_rows_and_answers_become_questions() -> None:
    (question,) = read_bfcl(json.dumps(ROW), json.dumps(GOLD))
    assert question.tags == ("one", "bfcl", "simple_python")
    assert question.messages == ROW["question"][0]
    schema = question.tools[0].schema or {}
    assert (schema["type"], schema["properties"]["size"]["type"]) == ("object", "array")
    assert question.gold == [("geo.area", {"size": [2, 3.5]})]
    assert score(question, question.gold).right
    assert score(question, [("geo.area", {"size": [2.0, 3.5], "unit": "M2", "options": {}})]).right
    assert not score(question, [("geo.area", {"size": [3.5, 2]})]).right
    assert not score(question, [("geo.area", {"size": [2, 3.5], "options": {"round": False}})]).right


def test_kinds_are_those_of_the_builtin_questions() -> None:
    calls = [*GOLD["ground_truth"], *GOLD["ground_truth"]]
    (twice,) = read_bfcl(json.dumps(ROW), json.dumps({**GOLD, "ground_truth": calls}))
    (several,) = read_bfcl(json.dumps({**ROW, "function": [TOOL, {**TOOL, "name": "geo.length"}]}), json.dumps(GOLD))
    assert (twice.tags[0], several.tags[0]) == ("parallel", "several")
    assert score(twice, twice.gold).right
    assert not score(twice, twice.gold[:1]).right


def test_irrelevance_has_no_answers() -> None:
    (question,) = read_bfcl(json.dumps({**ROW, "id": "live_irrelevance_0-0-0"}))
    assert question.no_call
    assert question.tags == ("no_call", "bfcl", "live_irrelevance")


@pytest.mark.parametrize(
    ("changed", "gold", "message"),
    [
        ({}, None, "line 1, simple_python_7: missing answer"),
        ({"id": "live_relevance_0-0-0"}, None, "live_relevance is not supported"),
        ({"id": "simple_java_3"}, None, "simple_java is not supported"),
        ({"id": "multi_turn_base_3"}, None, "multi_turn_base is not supported"),
        ({"question": [[], []]}, GOLD, "line 1, question: expected one turn, got 2"),
        ({"question": "x"}, GOLD, "line 1, question: expected a list"),
        ({"question": [[]]}, GOLD, "line 1, messages: the list is empty"),
        ({"question": [[{"role": "usr", "content": "x"}]]}, GOLD, "line 1, messages[0].role: expected system"),
        ({"function": [3]}, GOLD, "line 1, function[0]: expected an object"),
        ({"function": [{}]}, GOLD, "line 1, function[0].name: expected a string"),
        ({}, {**GOLD, "ground_truth": [{}]}, "simple_python_7.ground_truth[0]: expected one name with its arguments"),
        ({}, {**GOLD, "ground_truth": [{"f": {"a": 3}}]}, "simple_python_7.ground_truth[0].f.a: expected a list"),
        ({}, {**GOLD, "id": []}, "possible_answer, id: expected a string"),
        ({}, {**GOLD, "ground_truth": None}, "simple_python_7.ground_truth: expected a list"),
    ],
)
def test_invalid_input_is_reported(changed: dict[str, Any], gold: dict[str, Any] | None, message: str) -> None:
    with pytest.raises(CallerError) as raised:
        read_bfcl(json.dumps({**ROW, **changed}), json.dumps(gold) if gold else None)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("id", "category"),
    [("simple_python_0", "simple_python"), ("live_parallel_multiple_3-2-0", "live_parallel_multiple"), ("7", "")],
)
def test_category(id: str, category: str) -> None:
    assert category_of(id) == category


def test_load_finds_the_answers_and_detects_the_format(tmp_path: Path) -> None:
    file, answers = tmp_path / "BFCL_v4_simple_python.json", tmp_path / "possible_answer"
    file.write_text("\n" + json.dumps(ROW))
    with pytest.raises(CallerError, match=r"simple_python\.json: line 2, simple_python_7: missing answer"):
        load(file)
    answers.mkdir()
    (answers / file.name).write_text(json.dumps(GOLD))
    assert [question.id for question in load(str(file))] == ["simple_python_7"]
    ours = tmp_path / "mine.jsonl"
    ours.write_text(json.dumps({"id": "a", "question": "Hi", "tools": [TOOL], "no_call": True}))
    assert [question.id for question in load(ours)] == ["a"]
    ours.write_text("{}")
    with pytest.raises(CallerError, match=r"mine\.jsonl: line 1, expected: "):
        load(ours)
    with pytest.raises(CallerError, match="there is no such file"):
        load(tmp_path / "nothing.jsonl")
    several = tmp_path / "BFCL_v4_multi_turn_base.json"
    several.write_text(json.dumps({"id": "multi_turn_base_0", "question": [[], []], "involved_classes": ["X"]}))
    with pytest.raises(CallerError, match="multi_turn_base is not supported"):
        load(several)
