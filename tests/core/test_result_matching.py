"""Which result belongs to which call."""

from __future__ import annotations

import pytest

from toolglot.core.messages import Media, Message, Part, Text, ToolCall, ToolResult
from toolglot.core.result_matching import mark_error_text, match_results


def calls(*parts: ToolCall) -> Message:
    return Message("assistant", parts)


def results(*parts: ToolResult) -> Message:
    return Message("tool", parts)


CASES: dict[str, tuple[list[Message], list[tuple[str, str | None]]]] = {
    "by id": (
        [calls(ToolCall("a", "f"), ToolCall("b", "g")), results(ToolResult("b"), ToolResult("a"))],
        [("b", "g"), ("a", "f")],
    ),
    "by name": (
        [calls(ToolCall("a", "f"), ToolCall("b", "g")), results(ToolResult("", "g"), ToolResult("", "f"))],
        [("b", "g"), ("a", "f")],
    ),
    "by order": (
        [calls(ToolCall("a", "f"), ToolCall("b", "g")), results(ToolResult(""), ToolResult(""))],
        [("a", "f"), ("b", "g")],
    ),
    "one name twice": (
        [calls(ToolCall("a", "f"), ToolCall("b", "f")), results(ToolResult("", "f"), ToolResult("", "f"))],
        [("a", "f"), ("b", "f")],
    ),
    "a name that is none of them": (
        [calls(ToolCall("a", "f")), results(ToolResult("", "other"))],
        [("a", "f")],
    ),
    "calls without ids are numbered through": (
        [
            calls(ToolCall("", "f"), ToolCall("", "g")),
            results(ToolResult("", "g"), ToolResult("", "f")),
            calls(ToolCall("", "f")),
            results(ToolResult("")),
        ],
        [("g_1", "g"), ("f_0", "f"), ("f_2", "f")],
    ),
    "an invented id goes by name": (
        [calls(ToolCall("", "f"), ToolCall("", "g")), results(ToolResult("x", "g"), ToolResult("y", "f"))],
        [("g_1", "g"), ("f_0", "f")],
    ),
    "an unknown id is not given to a call that has one": (
        [calls(ToolCall("a", "f")), results(ToolResult("x", "f"))],
        [("x", "f")],
    ),
    "a result in two messages": (
        [calls(ToolCall("", "f"), ToolCall("", "f")), results(ToolResult("")), results(ToolResult(""))],
        [("f_0", "f"), ("f_1", "f")],
    ),
    "a late result": (
        [calls(ToolCall("a", "f")), Message("user"), calls(ToolCall("b", "g")), results(ToolResult("a"), ToolResult("b"))],
        [("a", "f"), ("b", "g")],
    ),
    "each call in its own message": (
        [calls(ToolCall("", "f")), calls(ToolCall("", "g")), results(ToolResult(""), ToolResult(""))],
        [("f_0", "f"), ("g_1", "g")],
    ),
    "an unanswered turn is over": (
        [calls(ToolCall("", "f")), Message("user"), calls(ToolCall("", "g")), results(ToolResult(""))],
        [("g_1", "g")],
    ),
    "more results than calls": (
        [calls(ToolCall("a", "f")), results(ToolResult(""), ToolResult("", "g"))],
        [("a", "f"), ("", "g")],
    ),
    "a namespace": (
        [calls(ToolCall("a", "f", namespace="n")), results(ToolResult("", "n__f"))],
        [("a", "n__f")],
    ),
    "no calls at all": ([results(ToolResult("a", "f"))], [("a", "f")]),
}


@pytest.mark.parametrize("name", CASES)
def test_links(name: str) -> None:
    messages, expected = CASES[name]
    linked = match_results(messages)
    found = [part for message in linked for part in message.parts if isinstance(part, ToolResult)]
    assert [(part.call_id, part.name) for part in found] == expected


def test_matched_messages_are_unchanged() -> None:
    messages = [Message("user", (Text("hi"),)), calls(ToolCall("a", "f")), results(ToolResult("a", "f"))]
    assert all(new is old for new, old in zip(match_results(messages), messages, strict=True))


@pytest.mark.parametrize(
    ("parts", "marked"),
    [
        ([Text("no")], [Text("Error: no")]),
        ([Text("Error: no")], [Text("Error: no")]),
        ([Media("image", url="u"), Text("no"), Text("x")], [Media("image", url="u"), Text("Error: no"), Text("x")]),
        ([Media("image", url="u")], [Text("Error: the tool failed"), Media("image", url="u")]),
        ([], [Text("Error: the tool failed")]),
    ],
)
def test_an_error_is_marked_in_the_text(parts: list[Part], marked: list[Part]) -> None:
    assert mark_error_text(parts) == marked
