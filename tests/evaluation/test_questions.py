from __future__ import annotations

import json
from typing import Any

import pytest

from toolglot.errors import CallerError
from toolglot.evaluation.questions import ExpectedCall, Question, read_questions, spread

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {"name": "weather", "description": "The weather.", "parameters": SCHEMA}
CALL = {"name": "weather", "arguments": {"city": ["Oslo"]}}
ROW: dict[str, Any] = {"id": "q", "tags": ["one"], "question": "Weather in Oslo?", "tools": ["weather"], "expected": [CALL]}


def lines(*rows: object) -> str:
    return "\n".join(json.dumps(row) for row in rows)


def read_one(**changed: object) -> Question:
    row = {key: value for key, value in {**ROW, **changed}.items() if value is not None}
    return read_questions(lines({"tool": WEATHER}, row))[0]


def test_a_question_is_read() -> None:
    question = read_one()
    assert question.messages == [{"role": "user", "content": "Weather in Oslo?"}]
    assert [tool.schema for tool in question.tools] == [SCHEMA]
    assert question.expected == ((ExpectedCall("weather", {"city": ["Oslo"]}),),)
    assert question.gold == [("weather", {"city": "Oslo"})]
    assert (question.no_call, question.loop, question.tags) == (False, None, ("one",))


def test_tools_in_a_question_may_have_any_format() -> None:
    forms = [WEATHER, {"type": "function", "function": WEATHER}, {"name": "weather", "input_schema": SCHEMA}]
    assert [read_one(tools=[form]).tools[0].schema for form in forms] == [SCHEMA] * 3


def test_arguments_beside_the_properties_are_taken_where_the_schema_is_open() -> None:
    tool = {**WEATHER, "parameters": {**SCHEMA, "additionalProperties": True}}
    call = {"name": "weather", "arguments": {"city": ["Oslo"], "unit": ["C"]}}
    assert read_one(tools=[tool], expected=[call]).gold == [("weather", {"city": "Oslo", "unit": "C"})]


def test_messages_alternatives_and_no_call() -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    assert read_one(question=None, messages=messages).messages == messages
    assert len(read_one(expected=[[CALL, {**CALL, "unordered": ["city"]}]]).expected[0]) == 2
    assert read_one(expected=None, no_call=True).no_call


def test_results_of_a_loop_are_text_for_the_model() -> None:
    question = read_one(loop={"results": {"weather": {"t": 7}}, "final": ["7", ["a", "b"]]})
    assert question.loop is not None
    assert question.loop.final == (("7",), ("a", "b"))
    assert question.result_of("weather") == '{"t":7}'
    assert question.result_of("rain").startswith("Error: rain")
    assert read_one(loop={"results": {"weather": "wet"}}).result_of("weather") == "wet"


def test_only_line_feeds_end_a_line() -> None:
    text = lines({"tool": WEATHER}) + "\n\n" + json.dumps({**ROW, "question": "a\u2028b"}, ensure_ascii=False) + "\r\n"
    assert read_questions(text)[0].messages[0]["content"] == "a\u2028b"


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"id": None}, "line 2, id: expected a string, got null"),
    ({"expcted": []}, "line 2, expcted: unknown key"),
    ({"no_call": True}, "line 2, expected: set either expected or no_call"),
    ({"expected": None}, "line 2, expected: set either"),
    ({"expected": None, "no_call": False}, "line 2, no_call: must be true"),
    ({"expected": []}, "line 2, expected: the list is empty"),
    ({"expected": [[]]}, "line 2, expected[0]: the list is empty"),
    ({"expected": [3]}, "line 2, expected[0]: expected an object, got a number"),
    (
        {"expected": [[CALL, {**CALL, "name": "rain"}]]},
        "line 2, expected[0][1].name: 'rain' is not one of the question's tools",
    ),
    ({"expected": [{**CALL, "args": {}}]}, "line 2, expected[0].args: unknown key"),
    ({"expected": [{**CALL, "arguments": {"city": "Oslo"}}]}, "line 2, expected[0].arguments.city: expected a list"),
    (
        {"expected": [{**CALL, "arguments": {"city": []}}]},
        "line 2, expected[0].arguments.city: the list of accepted values is empty",
    ),
    (
        {"expected": [{**CALL, "arguments": {"citty": ["x"], "city": ["x"]}}]},
        "expected[0].arguments.citty: weather has no such",
    ),
    ({"expected": [{**CALL, "arguments": {}}]}, "line 2, expected[0].arguments: the first accepted values do not satisfy"),
    ({"expected": [{**CALL, "arguments": {"city": [4]}}]}, "schema of weather: city: expected a string"),
    ({"expected": [{**CALL, "unordered": 3}]}, "line 2, expected[0].unordered: expected a list"),
    ({"tools": ["rain"]}, "line 2, tools[0]: no line above defines the tool 'rain'"),
    ({"tools": []}, "line 2, tools: the list is empty"),
    ({"tools": [{"description": "x"}]}, "line 2, tools[0]: "),
    ({"question": None}, "line 2, question: set either question or messages"),
    ({"question": None, "messages": []}, "line 2, messages: the list is empty"),
    ({"question": None, "messages": [{}]}, "line 2, messages[0].role: expected a string"),
    ({"question": None, "messages": [{"role": "usr", "content": "x"}]}, "line 2, messages[0].role: expected system, developer"),
    ({"question": None, "messages": [{"role": "user", "content": 5}]}, "line 2, messages[0].content: expected a string"),
    ({"tags": [1]}, "line 2, tags[0]: expected a string"),
    ({"loop": {"results": {}}}, "line 2, loop.results: weather is expected to be called and has no result"),
    ({"loop": {"results": {"weather": 1, "rain": 1}}}, "line 2, loop.results.rain: not one"),
    ({"loop": {"results": {"weather": 1}, "final": [3]}}, "line 2, loop.final[0]: expected a list"),
    ({"loop": {"result": {}}}, "line 2, loop.result: unknown key"),
]


@pytest.mark.parametrize(("changed", "message"), FAULTS, ids=[message for _, message in FAULTS])
def test_problems_are_reported_with_line_and_key(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(CallerError) as raised:
        read_one(**changed)
    assert message in str(raised.value)


WHOLE = [
    ("{", "line 1: not JSON"),
    ("[]", "line 1: expected an object"),
    (lines({"tool": {}}), "line 1, tool: "),
    (lines({"tool": WEATHER, "id": "q"}), "line 1, id: unknown key"),
    (lines({"tool": WEATHER}, ROW, ROW), "line 3, id: duplicate question id 'q'"),
]


@pytest.mark.parametrize(("text", "message"), WHOLE, ids=[message for _, message in WHOLE])
def test_lines_that_are_not_questions(text: str, message: str) -> None:
    with pytest.raises(CallerError) as raised:
        read_questions(text)
    assert message in str(raised.value)


def test_spread_takes_of_each_kind_in_turn_and_always_the_same() -> None:
    rows = [
        {**ROW, "id": f"{kind}-{at}", "tags": [kind]} for kind, count in (("a", 5), ("b", 1), ("c", 3)) for at in range(count)
    ]
    questions = read_questions(lines({"tool": WEATHER}, *rows))
    picked = [question.id for question in spread(questions, 6)]
    assert [id[0] for id in picked] == list("abcaca")
    assert picked == [question.id for question in spread(reversed(questions), 6)]
    assert len({question.id for question in spread(questions, 99)}) == 9
