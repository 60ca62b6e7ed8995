"""Repeated calls with equal results."""

from __future__ import annotations

import pytest

from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.core.request import Request
from toolglot.pipeline.request.tool_loops import end_tool_loops

USER = Message("user", (Text("Fix the test."),))


def turn(number: int, arguments: str = '{"path": "a"}', result: str = "not found") -> tuple[Message, Message]:
    call = ToolCall(f"c{number}", "read", arguments)
    return Message("assistant", (call,)), Message("tool", (ToolResult(call.id, "read", (Text(result),)),))


def results(messages: tuple[Message, ...], limit: int = 3) -> list[bool]:
    """Whether each result is replaced."""
    found = end_tool_loops(Request("m", messages), limit, []).messages
    return [part.is_error for message in found for part in message.parts if isinstance(part, ToolResult)]


def test_the_third_equal_call_with_an_equal_result_gets_an_error() -> None:
    notes: list[str] = []
    messages = (USER, *turn(1), *turn(2, '{ "path":"a" }'), *turn(3))
    request = end_tool_loops(Request("m", messages), 3, notes)
    assert request.messages[:-1] == messages[:-1]
    [part] = request.messages[-1].parts
    assert isinstance(part, ToolResult)
    assert "called read 3 times" in part.text
    assert part.call_id == "c3"
    assert notes == ["loop: read gave the same result 3 times; the model is asked to stop"]


@pytest.mark.parametrize(
    ("last", "replaced"),
    [
        (turn(4), [False, False, True, True]),
        (turn(4, '{"path": "b"}'), [False, False, True, False]),
        (turn(4, result="found"), [False, False, True, False]),
    ],
)
def test_later_messages_change_no_earlier_result(last: tuple[Message, Message], replaced: list[bool]) -> None:
    messages = (USER, *turn(1), *turn(2), *turn(3))
    assert results((*messages, *last)) == replaced
    assert results(messages) == replaced[:3]


def test_a_new_question_counts_anew_but_a_reminder_behind_a_result_does_not() -> None:
    reminder = Message("user", (Text("<system-reminder>x</system-reminder>"),))
    answer = Message("assistant", (Text("Done."),))
    assert results((USER, *turn(1), reminder, *turn(2), reminder, *turn(3))) == [False, False, True]
    assert results((USER, *turn(1), *turn(2), answer, USER, *turn(3))) == [False, False, False]


def test_nothing_repeated_is_the_same_request() -> None:
    request = Request("m", (USER, *turn(1), *turn(2)))
    assert end_tool_loops(request, 3, []) is request
