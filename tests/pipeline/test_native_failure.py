"""What a conversation shows about native tools that its server declares."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from toolglot.catalog.providers import provider
from toolglot.client.exchange import new_call_id
from toolglot.core.events import WholeCall
from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.core.request import Request
from toolglot.core.tools import Tool
from toolglot.pipeline.request.fit_request import fit_request
from toolglot.pipeline.request.plan import Plan
from toolglot.pipeline.request.route import Route, resolve
from toolglot.pipeline.request.tool_mode import AS_TEXT, REPEATED, native_failure
from toolglot.pipeline.response.call_ids import TEXT_ID, AssignIds

WEATHER = Tool("get_weather", schema={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})


def made_id(source: str) -> str:
    (event,) = AssignIds(new_call_id).feed([WholeCall(0, ToolCall("get_weather_0", "get_weather", "{}", source=source))])
    assert isinstance(event, WholeCall)
    return event.call.id


def turn(call_id: str, city: str, result: str = "12", *, is_error: bool = False) -> tuple[Message, Message]:
    call = ToolCall(call_id, "get_weather", f'{{"city": "{city}"}}')
    return Message("assistant", (call,)), Message(
        "tool", (ToolResult(call_id, "get_weather", (Text(result),), is_error=is_error),)
    )


def user(text: str = "Weather?") -> Message:
    return Message("user", (Text(text),))


def test_an_id_shows_that_a_call_came_as_text() -> None:
    assert TEXT_ID.fullmatch(made_id("hermes"))
    assert len(made_id("hermes")) == len(made_id("native")) == 29
    for _ in range(50):
        assert not TEXT_ID.fullmatch(made_id("native"))
    messages = (user(), *turn(made_id("hermes"), "Rome"))
    assert native_failure(messages) == AS_TEXT
    assert native_failure((user(), *turn(made_id("native"), "Rome"))) == ""


def cases() -> Iterator[tuple[str, tuple[Message, ...], str]]:
    rome, again, paris = turn("a", "Rome"), turn("b", "Rome"), turn("c", "Paris")
    yield "another call", (user(), *rome, *paris), ""
    yield "the same call", (user(), *rome, *again), REPEATED
    yield "later", (user(), *rome, *paris, *again), REPEATED
    yield "made, not answered yet", (user(), *rome, again[0]), ""
    yield "with another result", (user(), *rome, *turn("b", "Rome", "13")), ""
    yield "with a client's reminder between", (user(), *rome, user("Reminder."), *again), REPEATED
    yield "after an error", (user(), *turn("a", "Rome", is_error=True), *again), ""
    answer = Message("assistant", (Text("12 degrees"),))
    yield "asked for again", (user(), *rome, answer, user("And now?"), *again), ""
    yield "in one turn", (user(), Message("assistant", (*rome[0].parts, *again[0].parts)), rome[1]), ""


@pytest.mark.parametrize(("messages", "found"), [case[1:] for case in cases()], ids=[case[0] for case in cases()])
def test_a_repeated_call_shows_that_the_history_is_not_understood(messages: tuple[Message, ...], found: str) -> None:
    assert native_failure(messages) == found


def planned(model: str, *messages: Message) -> Plan:
    return fit_request(Request("m", messages=(user(), *messages), tools=(WEATHER,)), resolve(model))


def test_the_conversation_is_switched_and_stays_switched() -> None:
    first = planned("llamacpp/house")
    assert (first.tool_mode.name, len(first.request.tools)) == ("native", 1)
    assert first.notes[0].startswith("tool mode: native: ")
    text = turn(made_id("fenced_json"), "Rome")
    for messages in (text, (*text, *turn("x", "Paris")), (*turn("a", "Rome"), *turn("b", "Rome"))):
        later = planned("llamacpp/house", *messages)
        assert later.tool_mode.name == "constrained"
        assert later.request.tools == ()
        assert not any(isinstance(part, ToolCall | ToolResult) for message in later.request.messages for part in message.parts)
        assert later.notes[0].startswith("tool mode: constrained: a call")
        assert later.grounding is not None, "it may be small"


def test_a_model_that_is_known_to_work_is_not_switched() -> None:
    assert planned("vllm/qwen3-32b", *turn(made_id("hermes"), "Rome")).tool_mode.name == "native"
    assert planned("vllm/qwen3-32b", *turn("a", "Rome"), *turn("b", "Rome")).tool_mode.name == "native"


def test_a_hosted_api_is_asked_natively_whatever_happened() -> None:
    assert planned("openai/gpt-5", *turn("a", "Rome"), *turn("b", "Rome")).tool_mode.name == "native"


def test_the_caller_decides() -> None:
    request = Request("m", messages=(user(), *turn("a", "Rome"), *turn("b", "Rome")), tools=(WEATHER,))
    route: Route = resolve("llamacpp/house")
    assert route.provider == provider("llamacpp")
    assert fit_request(request, route, ask="native").tool_mode.name == "native"
