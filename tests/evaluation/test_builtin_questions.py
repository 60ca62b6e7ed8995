"""The data is sound: each gold fits its tool, is accepted by the scorer, and what is nearly right is not."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from toolglot.evaluation.accepted import ABSENT, plain
from toolglot.evaluation.files import builtin_questions
from toolglot.evaluation.questions import Question, read_questions
from toolglot.evaluation.score import Called, mentions, score
from toolglot.io.json_codec import dumps
from toolglot.schema.check import checker

DRAWN = Path(__file__).parents[2] / "bench/questions"
QUESTIONS = builtin_questions()
EVERYDAY = read_questions((DRAWN / "everyday.jsonl").read_text())
DUE = [question for question in QUESTIONS if question.expected]
LOOPS = [question for question in QUESTIONS if question.loop]
by_id = pytest.mark.parametrize("question", DUE, ids=lambda question: question.id)


def test_there_are_enough_of_each_kind() -> None:
    kinds = Counter(question.tags[0] for question in QUESTIONS)
    assert len(QUESTIONS) >= 75
    assert kinds["one"] >= 16
    assert kinds["several"] >= 16
    assert kinds["parallel"] >= 12
    assert kinds["nested"] >= 12
    assert kinds["no_call"] >= 22
    assert kinds["loop"] >= 10
    assert sum(kinds.values()) == sum(kinds[kind] for kind in ("one", "several", "parallel", "nested", "no_call", "loop"))
    assert sum(len(question.tools) == 1 for question in QUESTIONS) >= len(QUESTIONS) * 0.3
    assert sum("synonyms" in question.tags for question in QUESTIONS) >= 12
    assert all(1 <= len(question.tools) <= 5 for question in QUESTIONS)


def test_tags_are_correct() -> None:
    for question in QUESTIONS:
        kind = question.tags[0]
        assert (kind == "no_call") is question.no_call, question.id
        assert (kind == "loop") is (question.loop is not None), question.id
        assert (kind == "parallel") is (len(question.expected) > 1 and not question.loop), question.id
        assert kind != "one" or len(question.tools) == 1, question.id
        assert kind != "several" or len(question.tools) > 1, question.id
        assert len(set(question.tags)) == len(question.tags), question.id


def test_no_question_is_asked_twice() -> None:
    counts = Counter(dumps(question.messages) for question in QUESTIONS)
    assert [text for text, count in counts.items() if count > 1] == []


def test_schemas_are_clean() -> None:
    for tool in {tool.name: tool for question in QUESTIONS for tool in question.tools}.values():
        assert checker(tool.schema).notes == (), tool.name
        assert tool.description, tool.name


@by_id
def test_each_accepted_value_is_valid_and_right(question: Question) -> None:
    for calls in _accepted(question):
        assert score(question, calls, _ending(question)).right, calls


@by_id
def test_near_misses_are_wrong(question: Question) -> None:
    missed = list(_near_misses(question))
    assert missed
    for calls in missed:
        assert not score(question, calls, _ending(question)).right, calls


@by_id
def test_the_order_of_calls_does_not_matter(question: Question) -> None:
    assert score(question, question.gold[::-1], _ending(question)).right


@pytest.mark.parametrize("question", LOOPS, ids=lambda question: question.id)
def test_the_final_words_of_loops_are_in_the_results(question: Question) -> None:
    assert question.loop
    results = " ".join(question.result_of(name) for name, _ in question.gold)
    question_text = " ".join(str(message["content"]) for message in question.messages)
    assert not mentions(question_text, question.loop.final)  # else an echo of the question would do
    assert mentions(results + " " + _ending(question), question.loop.final)
    assert not score(question, question.gold, "I have done what you asked for.").right


def test_expected_values_are_in_the_question_or_tagged() -> None:
    """A number that a question does not write in digits needs a light normalisation, and the question is tagged so."""
    for question in DUE:
        digits = set(re.findall(r"\d+(?:\.\d+)?", str(question.messages[-1]["content"])))
        result_numbers = set(re.findall(r"\d+(?:\.\d+)?", json.dumps(question.loop.results))) if question.loop else set()
        values = (value for _, arguments in question.gold for value in _leaves(arguments))
        numbers = {f"{value:g}" for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)}
        missing = {number for number in numbers if float(number) not in {float(one) for one in digits | result_numbers}}
        assert not missing or "normalise" in question.tags, (question.id, missing)


@pytest.mark.parametrize(("which", "beside"), [("bfcl", QUESTIONS), ("classic", EVERYDAY)])
def test_the_drawn_ids_are_half(which: str, beside: list[Question]) -> None:
    drawn = json.loads((DRAWN / f"{which}.json").read_text())
    ids = [id for item in drawn["ids"].values() for id in item]
    assert len(ids) == len(set(ids)) == len(beside)
    assert all(id.startswith(category) for category, item in drawn["ids"].items() for id in item)
    assert set(drawn) == {"package", "version", "seed", "ids"}  # ids alone: none of BFCL's text


def _ending(question: Question) -> str:
    return " ".join(group[0] for group in question.loop.final) if question.loop else ""


def _accepted(question: Question) -> Iterator[list[Called]]:
    """The gold, and the gold with each other value that one argument may have."""
    yield list(question.gold)
    for at, slot in enumerate(question.expected):
        for key, allowed in slot[0].arguments.items():
            for value in allowed:
                calls = deepcopy(question.gold)
                if value == ABSENT:
                    calls[at][1].pop(key, None)
                else:
                    calls[at][1][key] = plain(value)
                yield list(calls)


def _near_misses(question: Question) -> Iterator[list[Called]]:
    gold = question.gold
    others = [tool.name for tool in question.tools if tool.name not in {name for name, _ in gold}]
    for at, (name, arguments) in enumerate(gold):
        yield [*gold[:at], *gold[at + 1 :]]
        yield [*gold, (name, arguments)]
        yield [*gold[:at], (name, {**arguments, "note": "x"}), *gold[at + 1 :]]
        for other in others:
            yield [*gold[:at], (other, arguments), *gold[at + 1 :]]
        for key, value in arguments.items():
            for wrong in _spoilt(value):
                yield [*gold[:at], (name, {**arguments, key: wrong}), *gold[at + 1 :]]
            if ABSENT not in question.expected[at][0].arguments[key]:
                yield [*gold[:at], (name, {one: item for one, item in arguments.items() if one != key}), *gold[at + 1 :]]


def _spoilt(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from (value + 1, -value or 1, value * 10 or 10, str(value))
    elif isinstance(value, str):
        yield from (value + " Q", value[:-2], [value])
    elif isinstance(value, list):
        yield from ([*value, "Q"], value[1:], value * 2)
        for at, inner in enumerate(value):
            yield from ([*value[:at], wrong, *value[at + 1 :]] for wrong in _spoilt(inner))
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield {one: item for one, item in value.items() if one != key}
            yield from ({**value, key: wrong} for wrong in _spoilt(inner))


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    else:
        yield value
