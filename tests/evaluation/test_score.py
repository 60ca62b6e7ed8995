from __future__ import annotations

import json

import pytest

from toolglot.evaluation.intervals import Rate
from toolglot.evaluation.questions import Question, read_questions
from toolglot.evaluation.score import MEASURES, Called, Outcome, mentions, score, summary

TOOLS = [
    {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}},
    {
        "name": "light",
        "parameters": {
            "type": "object",
            "properties": {"on": {"type": "boolean"}, "level": {"type": "integer", "default": 100}},
        },
    },
]


def ask(**row: object) -> Question:
    return read_questions(json.dumps({"id": "q", "question": "?", "tools": TOOLS, **row}))[0]


ONE = ask(expected=[{"name": "weather", "arguments": {"city": ["Oslo"]}}])
TWO = ask(expected=[{"name": "weather", "arguments": {"city": ["Oslo"]}}, {"name": "light", "arguments": {"on": [True]}}])
EITHER = ask(expected=[[{"name": "weather", "arguments": {"city": ["Oslo"]}}, {"name": "light", "arguments": {"on": [True]}}]])
NONE = ask(no_call=True)
OSLO, ROME, LIGHT = ("weather", {"city": "oslo"}), ("weather", {"city": "Rome"}), ("light", {"on": True})

# question, calls -> valid, right tool, right arguments, missing, extra
CASES: list[tuple[Question, list[Called], tuple[bool, bool, bool], tuple[int, int]]] = [
    (ONE, [OSLO], (True, True, True), (0, 0)),
    (ONE, [ROME], (True, True, False), (0, 0)),
    (ONE, [LIGHT], (True, False, False), (1, 1)),
    (ONE, [], (False, False, False), (1, 0)),
    (ONE, [OSLO, OSLO], (True, False, False), (0, 1)),
    (ONE, [("rain", {"city": "Oslo"})], (False, False, False), (1, 1)),
    (ONE, [("weather", {"city": 1})], (False, True, False), (0, 0)),
    (ONE, [("weather", {})], (False, True, False), (0, 0)),
    (ONE, [("weather", "Oslo")], (False, True, False), (0, 0)),
    (ONE, [("weather", {"city": "Oslo", "unit": "C"})], (True, True, False), (0, 0)),
    (TWO, [LIGHT, OSLO], (True, True, True), (0, 0)),
    (TWO, [OSLO], (True, False, False), (1, 0)),
    (TWO, [OSLO, ROME], (True, False, False), (1, 1)),
    (TWO, [("light", {"on": True, "level": 100}), OSLO], (True, True, True), (0, 0)),
    (TWO, [("light", {"on": True, "level": 50}), OSLO], (True, True, False), (0, 0)),
    (TWO, [("light", {"on": 1}), OSLO], (False, True, False), (0, 0)),
    (EITHER, [LIGHT], (True, True, True), (0, 0)),
    (EITHER, [OSLO], (True, True, True), (0, 0)),
    (EITHER, [OSLO, LIGHT], (True, False, False), (0, 1)),
]


@pytest.mark.parametrize(("question", "calls", "verdict", "count"), CASES)
def test_calls(question: Question, calls: list[Called], verdict: tuple[bool, ...], count: tuple[int, int]) -> None:
    found = score(question, calls)
    assert (found.valid, found.right_tool, found.right_arguments) == verdict
    assert (found.missing, found.extra) == count
    assert found.right is verdict[2]
    assert (found.false_call, found.final) == (None, None)


def test_arguments_are_an_object_even_where_the_schema_does_not_say_so() -> None:
    question = ask(
        tools=[{"name": "f", "parameters": {"properties": {"a": {}}}}], expected=[{"name": "f", "arguments": {"a": ["", 1]}}]
    )
    assert score(question, [("f", {})]).right
    assert score(question, [("f", "a")]).valid is False


def test_questions_without_an_expected_call() -> None:
    assert score(NONE, []) == Outcome(false_call=False)
    assert score(NONE, []).right
    assert score(NONE, [OSLO]) == Outcome(false_call=True, extra=1)
    assert not score(NONE, [OSLO]).right


def test_a_loop_is_right_when_its_end_is() -> None:
    loop = {"results": {"weather": {"temperature": 7}}, "final": ["7", ["rain", "rainy"]]}
    question = ask(expected=[{"name": "weather", "arguments": {"city": ["Oslo"]}}], loop=loop)
    assert score(question, [OSLO], "It is **rainy** at 7°C.").right
    assert score(question, [OSLO], "It is 17 and rainy.").final is False
    assert not score(question, [OSLO], "It is sunny at 7.").right
    outcome = score(question, [ROME], "7, rain")
    assert (outcome.final, outcome.right_tool, outcome.right) == (True, True, False)


WORDS = [
    ("7", "7 degrees", True),
    ("7", "7km", True),
    ("7", "€7.", True),
    ("7", "7.5", False),
    ("7", "17", False),
    ("7", "1.7", False),
    ("7", "72", False),
    ("4718", "4,718 rows", True),
    ("4718", "4718", True),
    ("-7", "it is −7 °C", True),
    ("-7", "it is 7", False),
    ("-7", "2-7", False),
    ("rain", "brain", False),
    ("rain", "_Rain_", True),
    ("snow", "snowy", False),
    ("couldn't", "I couldn’t", True),
    ("budget review", "Budget\nreview", True),
    ("marta", "Marta's", True),
]


@pytest.mark.parametrize(("word", "text", "found"), WORDS)
def test_only_whole_words_match(word: str, text: str, found: bool) -> None:
    assert mentions(text, [[word]]) is found


def test_summary_counts_each_question_where_it_belongs() -> None:
    one = ask(tags=["one", "weather", "weather"], expected=[{"name": "weather", "arguments": {"city": ["Oslo"]}}])
    none = ask(tags=["no_call", "weather"], no_call=True)
    found = summary(
        [(one, score(one, [OSLO])), (one, score(one, [ROME])), (none, score(none, [OSLO])), (none, score(none, []))]
    )
    assert found.overall == {
        "valid": Rate(2, 2),
        "right_tool": Rate(2, 2),
        "right_arguments": Rate(1, 2),
        "false_calls": Rate(1, 2),
        "final": Rate(0, 0),
        "right": Rate(2, 4),
    }
    assert found.by_tag["weather"]["right"] == Rate(2, 4)
    assert found.by_tag["one"]["false_calls"] == Rate(0, 0)
    assert list(found.by_tag) == ["no_call", "one", "weather"]
    assert set(found.overall) == set(MEASURES)
