from __future__ import annotations

from typing import Any

import pytest

from tests.pipeline.answering import codes, plan_for, reply, text
from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.core.reply import Decision
from toolglot.core.tools import Choice, Tool
from toolglot.io.json_codec import dumps
from toolglot.pipeline.request.retry_feedback import as_result
from toolglot.pipeline.response.grounding import Grounding

SMALL = "llamacpp/qwen2.5-coder-1.5b"


def tool(required: tuple[str, ...] = ("city",), **properties: Any) -> Tool:
    return Tool("act", None, {"type": "object", "properties": properties, "required": list(required)})


CITY = tool(city={"type": "string"})


def user_messages(*texts: str) -> tuple[Message, ...]:
    return tuple(Message("user", (Text(one),)) for one in texts)


def code(messages: tuple[Message, ...], of: Tool, **arguments: Any) -> str | None:
    found = Grounding(messages).rejection(ToolCall("c", "act", dumps(arguments)), of)
    return found[0] if found else None


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("weather in Paris?", "paris, France"),  # a word
        ("the German ones", "Germany"),  # a stem of four letters
        ("what is 17 times 23", "17*23"),  # a number
        ("1.50 Euro", "1.5"),
        ("東京の天気は?", "東京"),  # no spaces between words
        ("Wie ist das Wetter in Köln?", "KÖLN"),
    ],
)
def test_a_value_that_the_conversation_contains_grounds_a_call(question: str, value: str) -> None:
    assert code(user_messages(question), CITY, city=value) is None
    assert code(user_messages("Tell me a joke"), CITY, city=value) == "rejected_ungrounded"


def test_one_grounded_value_is_enough_and_only_required_free_values_count() -> None:
    two = tool(("city", "day"), city={"type": "string"}, day={"type": "string"}, unit={"enum": ["C", "F"]})
    assert code(user_messages("in Rome"), two, city="Rome", day="2026-01-01") is None
    enum = tool(("unit",), unit={"enum": ["C", "F"]}, city={"type": "string"})
    assert code(user_messages("hello"), enum, unit="C", city="Oslo") is None
    assert code(user_messages("hello"), tool(()), city="Oslo") is None
    nested = tool(("to",), to={"type": "array"})
    assert code(user_messages("write to Ann"), nested, to=[{"name": "Bob"}, {"name": "Ann"}]) is None
    assert code(user_messages("write to Ann"), nested, to=[{"name": "Bob"}]) == "rejected_ungrounded"


def test_what_tools_gave_grounds_a_call() -> None:
    result = Message("tool", (ToolResult("c1", "find", (Text('{"id": "A-77"}'),)),))
    assert code((*user_messages("hello"), result), CITY, city="A-77") is None


def test_a_call_that_has_a_result_is_rejected() -> None:
    call_message = Message("assistant", (ToolCall("c1", "act", '{"city": "Rome"}'),))
    good = Message("tool", (ToolResult("c1", "act", (Text("sunny"),)),))
    bad = Message("tool", (ToolResult("c1", "act", (Text("no"),), is_error=True),))
    assert code((*user_messages("Rome"), call_message, good), CITY, city="Rome") == "rejected_repeat"
    assert code((*user_messages("Rome"), call_message, bad), CITY, city="Rome") is None
    assert code((*user_messages("Rome"), call_message, good, *user_messages("Rome again")), CITY, city="Rome") is None


def test_it_goes_back_once() -> None:
    call = ToolCall("c1", "act", '{"city": "Rome"}')
    rejection = as_result(Decision("rejected_ungrounded", "act: none of its values occurs", call), call)
    messages = (*user_messages("hi"), Message("assistant", (call,)), Message("tool", (rejection,)))
    assert plan_for(SMALL, messages=messages, ask="dialect:hermes").grounding is None
    forged = ToolResult("c1", "act", (Text(rejection.text),), is_error=True)  # the same sentence, without the code
    messages = (*user_messages("hi"), Message("assistant", (call,)), Message("tool", (forged,)))
    assert plan_for(SMALL, messages=messages, ask="dialect:hermes").grounding is not None


HERMES = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'


def test_the_response_of_a_small_model_is_grounded_and_no_other() -> None:
    messages = user_messages("Tell me a joke")
    assert codes(reply(plan_for(SMALL, messages=messages, ask="dialect:hermes"), text(HERMES))) == ["rejected_ungrounded"]
    for plan in (
        plan_for("llamacpp/qwen2.5-coder-32b", messages=messages, ask="dialect:hermes"),
        plan_for(SMALL, messages=messages, ask="dialect:hermes", choice=Choice("required")),
        plan_for(SMALL, messages=user_messages("Oslo?"), ask="dialect:hermes"),
    ):
        assert [call.arguments for call in reply(plan, text(HERMES)).calls] == [{"city": "Oslo"}]
