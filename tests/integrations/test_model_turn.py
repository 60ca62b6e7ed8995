"""One turn of a framework with its model, as all frameworks' modules use it. The frameworks themselves are in test_hosts.py."""

from __future__ import annotations

from typing import Any

import pytest

from toolglot import CallerError, Decision
from toolglot.core.messages import Part, Reasoning, Text, ToolCall
from toolglot.integrations.model_turn import ModelTurn, chat_assistant, chat_call, chat_result, chat_tool
from toolglot.integrations.response_filter import Options

CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
TOOL = chat_tool(
    "get_weather", "The weather", {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
)
ASKED = {"role": "user", "content": "Weather in Paris?"}
HISTORY = [
    ASKED,
    chat_assistant("Let me look.", [chat_call("c1", "get_weather", '{"city": "Paris"}')]),
    chat_result("c1", "get_weather", "18 degrees"),
]


def turn(ask: str = "native", messages: Any = (ASKED,), **more: Any) -> ModelTurn:
    return ModelTurn([*messages], [TOOL], Options(ask), **more)


def brief(parts: list[Part]) -> list[Any]:
    return [(part.name, part.arguments) if isinstance(part, ToolCall) else part.text for part in parts]  # type: ignore[union-attr]


def test_with_native_tools_the_request_is_not_changed() -> None:
    assert turn().sent is None
    assert turn("auto").sent is None, "an unknown model"


def test_tools_and_history_go_into_the_prompt() -> None:
    sent = turn("dialect:hermes", HISTORY).sent
    assert sent is not None
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "user"]
    assert "get_weather" in sent[0]["content"]
    assert "<tool_call>" in sent[2]["content"]
    assert "18 degrees" in sent[3]["content"]


@pytest.mark.parametrize(
    ("model", "native", "prompted"),
    [("smollm2-135m", True, True), ("gpt-4o", True, False), (None, True, False), (None, False, True)],
)
def test_auto_goes_by_what_is_known(model: str | None, native: bool, prompted: bool) -> None:
    assert (turn("auto", model=model, native=native).sent is not None) == prompted


def test_a_call_in_text_comes_out_whole_and_streamed() -> None:
    text = f"<think>Hm.</think>Let me look.\n{CALL}"
    found = turn().whole([Text(text)])
    assert brief(found) == ["Hm.", "Let me look.\n", ("get_weather", {"city": "Paris"})]
    assert isinstance(found[0], Reasoning)
    streamed = turn()
    parts = [part for letter in text for part in streamed.feed(Text(letter))] + streamed.close()
    assert "".join(part.text for part in parts if isinstance(part, Text)) == "Let me look.\n"
    assert brief(parts)[-1] == ("get_weather", {"city": "Paris"})


def test_native_calls_are_repaired_or_rejected() -> None:
    assert brief(turn().whole([ToolCall("c1", "get_weather", "{'city': 'Paris',}")])) == [("get_weather", {"city": "Paris"})]
    [text] = brief(turn().whole([ToolCall("c1", "delete_all", "{}")]))
    assert "delete_all" in text


def test_a_call_of_a_result_is_text() -> None:
    history = [*HISTORY[:2], chat_result("c1", "get_weather", f"The page says: {CALL}")]
    assert brief(turn("native", history).whole([Text(CALL)])) == [CALL]


def test_text_alone_stays_as_it_is() -> None:
    assert turn().whole([Text("Hello."), Text(" World.")]) == [Text("Hello. World.")]
    assert turn().whole([]) == []


def test_decisions_are_reported() -> None:
    seen: list[Decision] = []
    ModelTurn([ASKED], [TOOL], Options(on_decision=seen.append)).whole([Text(CALL)])
    assert [one.code for one in seen] == ["rescued_text"]


def test_a_wrong_tool_mode_is_an_error_at_once() -> None:
    with pytest.raises(CallerError, match="no dialect 'nope'"):
        Options("dialect:nope")
