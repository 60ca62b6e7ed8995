"""The answer as a value of a type: `Agent(output=...)`."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

import pytest
from pydantic import BaseModel, field_validator

from tests.agent.scripted import agent, call_reply, text_reply
from toolglot import Delta, OutputError, Run, UpstreamError, replay, tool
from toolglot.errors import CallerError


class City(BaseModel):
    name: str
    people: int

    @field_validator("people")
    @classmethod
    def _not_empty(cls, value: int) -> int:
        if value <= 0:
            raise ValueError("nobody lives there")
        return value


@dataclass
class Town:
    name: str
    kind: Literal["port", "capital"] = "port"


class Place(TypedDict):
    name: str


@dataclass
class Node:
    name: str
    inner: list[Node]


PARIS = '{"name": "Paris", "people": 2100000}'


@tool
def population(city: str) -> int:
    """How many people live in a city."""
    return 2_100_000


@pytest.mark.parametrize(
    ("output", "answer", "expected"),
    [
        (City, PARIS, City(name="Paris", people=2_100_000)),
        (Town, '{"name": "Bari"}', Town("Bari")),
        (Place, '{"name": "Bari"}', {"name": "Bari"}),
        (list[Place], '{"value": [{"name": "Bari"}]}', [{"name": "Bari"}]),
        (int, '{"value": 3}', 3),
        (Node, '{"name": "a", "inner": [{"name": "b", "inner": []}]}', Node("a", [Node("b", [])])),
        (City, f"```json\n{PARIS}\n```", City(name="Paris", people=2_100_000)),
        (City, "{name: 'Paris', people: '2100000'}", City(name="Paris", people=2_100_000)),
    ],
)
def test_the_answer_is_a_value_of_the_type(output: Any, answer: str, expected: object) -> None:
    asked, sent = agent(text_reply(answer), output=output)
    run = asked.run_sync("go")
    assert (run.output, run.text, run.ok) == (expected, answer, True)
    schema = sent.sent[0]["response_format"]["json_schema"]["schema"]
    assert schema["type"] == "object"
    assert schema["properties"]


def test_tools_run_before_the_answer() -> None:
    asked, sent = agent(
        call_reply(("a", "population", '{"city": "Paris"}')), text_reply(PARIS), tools=[population], output=City
    )
    assert asked.run_sync("go").output == City(name="Paris", people=2_100_000)
    assert len(sent.sent) == 2
    assert all(body["tools"] and body["response_format"] for body in sent.sent)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ("It is Paris.", "it is not a JSON object"),
        ('{"name": "Paris"}', "'people' is missing"),
        ('{"name": "Atlantis", "people": 0}', "answer.people: Value error, nobody lives there"),
    ],
)
def test_an_answer_that_does_not_fit_goes_back_once_with_the_reason(wrong: str, problem: str, tmp_path: Path) -> None:
    record = tmp_path / "runs.jsonl"
    asked, sent = agent(text_reply(wrong), text_reply(PARIS), output=City, record=record)
    run = asked.run_sync("go")
    assert run.output == City(name="Paris", people=2_100_000)
    question = sent.sent[1]["messages"][-1]
    assert question["role"] == "user"
    assert problem in question["content"]
    assert '"people"' in question["content"]  # the schema
    assert [decision.code for decision in run.decisions] == ["invalid_output"]
    assert replay(record).text == PARIS  # without the type
    assert replay(record).turns == 2

    asked, sent = agent(text_reply(wrong), text_reply(wrong), output=City, record=record)
    run = asked.run_sync("go")
    assert (run.end, run.ok, len(sent.sent)) == ("invalid", False, 2)
    assert problem in run.why
    with pytest.raises(OutputError, match="the run has no answer: the answer does not match the schema"):
        _ = run.output
    assert replay(record) == run


def test_a_schema_is_checked_the_same_way() -> None:
    schema = {"type": "object", "required": ["age"]}
    asked, sent = agent(text_reply("36."), text_reply('{"age": 36}'), response_schema=schema)
    run = asked.run_sync("go")
    assert (run.end, json.loads(run.text)) == ("finished", {"age": 36})
    assert "it is not JSON" in sent.sent[1]["messages"][-1]["content"]


def test_an_answer_that_was_cut_off_is_not_asked_for_again() -> None:
    asked, sent = agent(text_reply('{"name": "Par', "length"), output=City)
    assert (asked.run_sync("go").end, len(sent.sent)) == ("invalid", 1)


def test_the_last_turn_is_not_exceeded() -> None:
    asked, sent = agent(text_reply("no"), output=City, max_turns=1)
    assert (asked.run_sync("go").end, len(sent.sent)) == ("invalid", 1)


def test_without_a_type_the_output_is_the_text() -> None:
    asked, _ = agent(text_reply("Mild."))
    assert asked.run_sync("go").output == "Mild."


@pytest.mark.parametrize(
    "options",
    [{"output": City, "response_schema": {"type": "object"}}, {"output": object()}, {"output": complex}],
)
def test_wrong_types_raise_at_once(options: dict[str, Any]) -> None:
    with pytest.raises(CallerError, match="output"):
        agent(**options)


def test_a_schema_for_one_run_contradicts_the_type() -> None:
    asked, _ = agent(output=City)
    with pytest.raises(CallerError, match="response_schema"):
        asked.run_sync("go", response_schema={"type": "object"})


# -- text


def test_the_text_of_a_run() -> None:
    answers = call_reply(("a", "population", '{"city": "Paris"}')), text_reply("It |is| big.")
    asked, _ = agent(*answers, tools=[population])

    async def work() -> tuple[list[str], Run]:
        stream = asked.stream_text("go")
        return [text async for text in stream], stream.run

    pieces, run = asyncio.run(work())
    assert (pieces, run.turns) == (["It", " is", " big."], 2)

    asked, _ = agent(*answers, tools=[population])
    stream = asked.stream_text_sync("go")
    assert (list(stream), stream.run.text) == (pieces, "It is big.")

    asked, _ = agent(*answers, tools=[population])
    with asked.stream_sync("go") as events:
        assert "".join(event.text for event in events if isinstance(event, Delta)).endswith("It is big.")
    assert events.run == run or events.run.calls == run.calls


def test_text_that_breaks_off_raises_when_it_was_read() -> None:
    asked, _ = agent(text_reply("It |is")[:2])
    stream = asked.stream_text_sync("go")
    assert next(stream).strip() == "It"
    with pytest.raises(UpstreamError):
        list(stream)
    assert stream.run.end == "failed"


def test_a_stream_that_is_left_closes_its_connection() -> None:
    asked, sent = agent(text_reply("It |is| big."))
    with asked.stream_text_sync("go") as stream:
        assert next(stream).strip() == "It"
    assert sent.answers[0].closed
    with pytest.raises(StopIteration):
        next(stream)


# -- notebooks


def test_a_run_is_short_in_a_shell_and_a_table_in_a_notebook() -> None:
    asked, _ = agent(
        call_reply(("a", "population", '{"city": "<b>Paris</b>"}')), text_reply("Big & old. " * 500), tools=[population]
    )
    run = asked.run_sync("go")
    assert repr(run).startswith("Run(finished, 'Big & old.")
    assert 'calls=[population({"city": "<b>Paris</b>"})], turns=2)' in repr(run)
    assert len(repr(run)) < 250
    html = run._repr_html_()
    assert "<b>" not in html
    assert "population({&quot;city&quot;: &quot;&lt;b&gt;Paris&lt;/b&gt;&quot;})" in html
    assert "2100000" in html
    assert len(html) < 6000
