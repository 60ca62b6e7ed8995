"""Ollama's messages, both ways."""

from __future__ import annotations

from typing import Any

import pytest

from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from toolglot.wires.ollama import WIRE

PNG = "iVBORw0KGgoAAAANSUhEUg=="
HISTORY: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "hi", "images": [PNG]},
    {
        "role": "assistant",
        "content": "",
        "thinking": "Need two lookups.",
        "tool_calls": [
            {"id": "call_ab12cd34", "function": {"index": 0, "name": "get_weather", "arguments": {"city": "Paris"}}},
            {"id": "call_ef56gh78", "function": {"index": 1, "name": "get_time", "arguments": {}}},
        ],
    },
    {"role": "tool", "tool_name": "get_weather", "tool_call_id": "call_ab12cd34", "content": "18C", "images": [PNG]},
    {"role": "tool", "tool_name": "get_time", "tool_call_id": "call_ef56gh78", "content": "Error: clock offline"},
]


def write_messages(*messages: Message) -> tuple[list[Any], list[str]]:
    notes: list[str] = []
    return WIRE.write_messages(messages, notes, Quirks()), notes


def test_history_is_read_into_the_meaning() -> None:
    calls = (
        ToolCall("call_ab12cd34", "get_weather", '{"city":"Paris"}'),
        ToolCall("call_ef56gh78", "get_time", "{}"),
    )
    picture = Media("image", "image/png", PNG)
    assert WIRE.read_messages(HISTORY) == (
        Message("system", (Text("Be brief."),)),
        Message("user", (Text("hi"), picture)),
        Message("assistant", (Reasoning("Need two lookups."), *calls)),
        Message(
            "tool",
            (
                ToolResult("call_ab12cd34", "get_weather", (Text("18C"), picture)),
                ToolResult("call_ef56gh78", "get_time", (Text("Error: clock offline"),)),
            ),
        ),
    )


def test_history_is_written_as_it_was() -> None:
    notes: list[str] = []
    assert WIRE.write_messages(WIRE.read_messages(HISTORY), notes, Quirks()) == HISTORY
    assert notes == []


def test_results_without_name_and_id_are_matched_by_order() -> None:
    call = {"function": {"name": "f", "arguments": {}}}
    other = {"function": {"name": "g", "arguments": {}}}
    said = {"role": "assistant", "content": None, "tool_calls": [call, other]}
    read = WIRE.read_messages([said, {"role": "tool", "content": "one"}, {"role": "tool", "content": "two"}])
    assert read[0].parts == (ToolCall("f_0", "f"), ToolCall("g_1", "g"))
    assert read[1].parts == (ToolResult("f_0", "f", (Text("one"),)), ToolResult("g_1", "g", (Text("two"),)))


def test_a_result_may_have_its_tools_name_under_either_key() -> None:
    calls: list[Any] = [{"function": {"name": name, "arguments": {}}} for name in ("f", "g")]
    said = {"role": "assistant", "tool_calls": calls}
    results = [{"role": "tool", "name": "g", "content": "1"}, {"role": "tool", "tool_name": "f", "content": "2"}]
    read = WIRE.read_messages([said, *results])
    assert [(part.call_id, part.name) for part in read[1].parts if isinstance(part, ToolResult)] == [("g_1", "g"), ("f_0", "f")]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [({"a": 1}, '{"a":1}'), ('{"a": 1}', '{"a": 1}'), ("", "{}"), (None, "{}"), ("null", "{}"), ({}, "{}")],
)
def test_arguments_are_objects_or_text_of_one(arguments: Any, text: str) -> None:
    (message,) = WIRE.read_messages(
        [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": arguments}}]}]
    )
    assert message.parts == (ToolCall("f_0", "f", text),)


def test_pictures_come_as_base64_as_data_urls_or_as_addresses() -> None:
    images = [PNG, "/9j/4AAQSkZJRg==", "R0lGODdh", "UklGRgAA", "AA==", "!", "data:image/png;base64,AA==", "https://x/y.png"]
    (message,) = WIRE.read_messages([{"role": "user", "images": images}])
    assert [(part.mime, part.data, part.url) for part in message.parts if isinstance(part, Media)] == [
        ("image/png", PNG, None),
        ("image/jpeg", "/9j/4AAQSkZJRg==", None),
        ("image/gif", "R0lGODdh", None),
        ("image/webp", "UklGRgAA", None),
        (None, "AA==", None),
        (None, "!", None),
        ("image/png", "AA==", None),
        (None, None, "https://x/y.png"),
    ]


def test_unknown_keys_come_back_where_they_were() -> None:
    call = {"id": "a", "note": 1, "function": {"index": 0, "name": "f", "arguments": {}, "hint": 2}}
    messages = [
        {"role": "user", "content": "x", "name": "Bob"},
        {"role": "assistant", "content": "", "tool_calls": [call], "mood": "good"},
        {"role": "tool", "tool_name": "f", "tool_call_id": "a", "content": "", "took": 3},
    ]
    written, notes = write_messages(*WIRE.read_messages(messages))
    assert written == messages
    assert notes == []


def test_roles_are_lowered_and_a_developer_goes_as_system() -> None:
    assert WIRE.read_messages([{"role": "User", "content": "x"}]) == (Message("user", (Text("x"),)),)
    written, notes = write_messages(Message("developer", (Text("x"),), "Ann"))
    assert written == [{"role": "system", "content": "x"}]
    assert notes == [
        "name Ann: ollama has no names for participants; left out",
        "developer message: ollama has no such role; sent as system",
    ]


def test_several_texts_are_one_string_and_what_has_no_place_is_noted() -> None:
    parts = (
        Media("image", "image/png", PNG),
        Text("a", extra={"anthropic": {"cache_control": {}}}),
        Text("b"),
        Media("image", url="https://x/y.png"),
        Media("audio", "audio/wav", "AA=="),
        Opaque("anthropic", {"type": "document"}),
    )
    written, notes = write_messages(Message("user", parts))
    assert written == [{"role": "user", "content": "a\nb", "images": [PNG]}]
    assert notes == [
        "user message, text: cache_control exists only on anthropic; left out",
        "user message: ollama has images separate from the text; their order is lost",
        "user message: ollama has images separate from the text; their order is lost",
        "user message: ollama accepts image data, not a URL; left out",
        "user message: ollama accepts no audio; left out",
        "user message: a block that only anthropic has (document) was left out",
        "user message: ollama accepts one string; 2 texts were joined with a line break",
    ]


def test_an_error_result_says_so_in_its_text() -> None:
    result = ToolResult("a", "f", (Text("offline"),), is_error=True)
    written, notes = write_messages(Message("tool", (result,)))
    assert written == [{"role": "tool", "tool_name": "f", "tool_call_id": "a", "content": "Error: offline"}]
    assert notes == ["result a: ollama has no error flag; marked in the text"]


def test_signed_reasoning_of_others_is_left_out_of_a_request() -> None:
    signed = Reasoning("secret", {"anthropic": {"signature": "s"}})
    written, notes = write_messages(Message("assistant", (signed, Reasoning("plain"), Reasoning("more"), Text("x"))))
    assert written == [{"role": "assistant", "content": "x", "thinking": "plain\nmore"}]
    assert notes == [
        "reasoning in the history: it was signed for anthropic; left out",
        "assistant message: ollama accepts one string; 2 thoughts were joined with a line break",
    ]


def test_arguments_that_are_no_object_go_out_empty_with_a_note() -> None:
    calls = (
        ToolCall("a", "f", '{"x":'),
        ToolCall("b", "g", ""),
        ToolCall("c", "h", extra={"gemini": {"thoughtSignature": "s"}}),
    )
    written, notes = write_messages(Message("assistant", calls))
    assert [call["function"]["arguments"] for call in written[0]["tool_calls"]] == [{}, {}, {}]
    assert notes == [
        "call a: its arguments are not a JSON object; sent as {}",
        "call c: thoughtSignature exists only on gemini; left out",
    ]
