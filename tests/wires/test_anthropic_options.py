"""Anthropic Messages: thinking, options, structured output; and where a bad shape is."""

from __future__ import annotations

from typing import Any

import pytest

from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Message, Reasoning, Text
from toolglot.core.request import Output, Request, Thinking
from toolglot.errors import CallerError
from toolglot.wires.anthropic import WIRE

Body = dict[str, Any]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
HELLO = Message("user", (Text("hello"),))


def write(request: Request, quirks: Quirks = Quirks()) -> tuple[Body, list[str]]:  # noqa: B008
    notes: list[str] = []
    return WIRE.write_request(request, notes, quirks), notes


def ask(*messages: Message, **fields: Any) -> Request:
    fields.setdefault("max_tokens", 100)
    return Request("m", messages or (HELLO,), **fields)


def read_content(content: Any, role: str = "user") -> tuple[Message, ...]:
    return WIRE.read_messages([{"role": role, "content": content}])


def written_blocks(*messages: Message) -> tuple[Any, list[str]]:
    notes: list[str] = []
    return WIRE.write_messages(messages, notes, Quirks()), notes


# -- reasoning


def test_only_reasoning_that_anthropic_signed_is_given_back() -> None:
    parts = (
        Reasoning("own", {"anthropic": {"signature": "s"}}),
        Reasoning("", {"anthropic": {"redacted_thinking": "d"}}),
        Reasoning("bare"),
        Reasoning("foreign", {"openai-responses": {"encrypted_content": "e"}}),
        Text("said"),
    )
    held, notes = written_blocks(Message("assistant", parts))
    assert held[0]["content"] == [
        {"type": "thinking", "thinking": "own", "signature": "s"},
        {"type": "redacted_thinking", "data": "d"},
        {"type": "text", "text": "said"},
    ]
    assert notes == [
        "reasoning in the history: anthropic accepts only what it signed; left out",
        "reasoning: its signature is for openai-responses only; left out",
    ]
    unsigned: list[str] = []
    kept = WIRE.write_messages((Message("assistant", (Reasoning("bare"),)),), unsigned, Quirks(reasoning_key="thinking"))
    assert kept[0]["content"] == [{"type": "thinking", "thinking": "bare", "signature": ""}]
    assert unsigned == []


@pytest.mark.parametrize(
    ("held", "config", "thinking"),
    [
        (None, {"effort": "max"}, Thinking("max")),
        ({"type": "adaptive"}, {}, Thinking(budget=-1)),
        ({"type": "adaptive", "display": "summarized"}, {"effort": "low"}, Thinking("low", -1, show=True)),
        ({"type": "disabled"}, {}, Thinking("off")),
        ({"type": "disabled"}, {"effort": "low"}, Thinking("off", extra={"anthropic": {"effort": "low"}})),
        ({"type": "enabled", "budget_tokens": 2048}, {}, Thinking(budget=2048)),
        ({"type": "between_tools"}, {}, Thinking(extra={"anthropic": {"thinking": {"type": "between_tools"}}})),
        ({"type": "adaptive", "new": 1}, {}, Thinking(budget=-1, extra={"anthropic": {"thinking": {"new": 1}}})),
    ],
)
def test_thinking(held: Body | None, config: Body, thinking: Thinking) -> None:
    body: Body = {"model": "m", "max_tokens": 4096, "messages": []}
    if held:
        body["thinking"] = held
    if config:
        body["output_config"] = config
    request = WIRE.read_request(body)
    assert request.thinking == thinking
    assert write(request) == (body, [])


@pytest.mark.parametrize(
    ("thinking", "keys", "note"),
    [
        (Thinking("minimal"), {"output_config": {"effort": "low"}}, "effort minimal"),
        (Thinking(budget=0), {"thinking": {"type": "disabled"}}, None),
        (Thinking(budget=10), {"thinking": {"type": "enabled", "budget_tokens": 1024}}, "budget 10"),
        (Thinking("high", show=True), {"thinking": {"type": "adaptive", "display": "summarized"}}, None),
        (Thinking("high", show=False), {"output_config": {"effort": "high"}}, "thinking hidden"),
    ],
)
def test_thinking_as_others_ask_for_it(thinking: Thinking, keys: Body, note: str | None) -> None:
    body, notes = write(ask(thinking=thinking, max_tokens=2000))
    assert {key: body[key] for key in keys} == keys
    assert len(notes) == (note is not None)
    assert note is None or note in notes[0]


# -- options and output


def test_options_that_are_fitted_or_left_out() -> None:
    request = Request("m", (HELLO,), temperature=1.5, stop=("\n", "END"), seed=1, user="u", output=Output())
    body, notes = write(request)
    assert (body["max_tokens"], body["temperature"], body["stop_sequences"]) == (8192, 1.0, ["END"])
    assert body["metadata"] == {"user_id": "u"}
    assert notes == [
        "seed: anthropic has no such option; left out",
        "max_tokens: anthropic requires a number; 8192 was written",
        "temperature 1.5: anthropic's maximum is 1; 1 was written",
        "stop: anthropic rejects text that is only white space; left out",
        "output: anthropic has no JSON mode without a schema; left out",
    ]


def test_structured_output() -> None:
    body, notes = write(ask(output=Output(SCHEMA, "n", "d", True)))
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}
    assert notes == ["output name, description, strict: anthropic has no such option; left out"]
    old = {"model": "m", "messages": [], "output_format": {"type": "json_schema", "schema": SCHEMA}}
    assert WIRE.read_request(old).output == Output(SCHEMA)
    unknown = {"model": "m", "max_tokens": 1, "messages": [], "output_config": {"format": {"type": "regex"}}}
    assert write(WIRE.read_request(unknown))[0] == unknown


# -- what can't be read says where


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"model": 1}, "model"),
        ({"messages": {}}, "messages"),
        ({"messages": ["x"]}, "messages[0]"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": 1}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"text": "x"}]}]}, "messages[0].content[0].type"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages[0].content[0].text"),
        ({"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "messages[0].content[0].source"),
        (
            {"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": [1]}]}]},
            "messages[0].content[0].input",
        ),
        (
            {"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": "no"}]}]},
            "messages[0].content[0].input",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]}]},
            "messages[0].content",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [{}]}]}]},
            "messages[0].content[0].content[0].type",
        ),
        ({"system": 1}, "system"),
        ({"system": [{"type": "text", "text": 1}]}, "system[0].text"),
        ({"tools": [{"input_schema": {}}]}, "tools[0].name"),
        ({"tools": [{"name": "f", "input_schema": []}]}, "tools[0].input_schema"),
        ({"tools": [{"type": 1}]}, "tools[0].type"),
        ({"tool_choice": {"type": "tool"}}, "tool_choice.name"),
        ({"tool_choice": {}}, "tool_choice.type"),
        ({"tool_choice": {"type": "auto", "disable_parallel_tool_use": 1}}, "tool_choice.disable_parallel_tool_use"),
        ({"max_tokens": "x"}, "max_tokens"),
        ({"thinking": {}}, "thinking.type"),
        ({"thinking": {"type": "enabled"}}, "thinking.budget_tokens"),
        ({"output_config": []}, "output_config"),
        ({"output_config": {"format": {"type": "json_schema"}}}, "output_config.format.schema"),
        ({"metadata": {"user_id": 1}}, "metadata.user_id"),
    ],
)
def test_a_bad_shape_says_where_it_is(body: Body, where: str) -> None:
    with pytest.raises(CallerError) as caught:
        WIRE.read_request(body)
    assert caught.value.where == where
