"""Streams and replies as OpenAI Chat's many copies send them: text, reasoning, heads, errors and ends."""

from __future__ import annotations

from typing import Any

import pytest

from tests.wires.chat_pieces import END, PARTIAL, chunk, events, read, stream
from toolglot.core.event_order import first_order_error
from toolglot.core.events import Fault
from toolglot.core.fold import fold
from toolglot.core.messages import Media, Opaque, Reasoning, Text, ToolCall
from toolglot.core.reply import Usage
from toolglot.wires.openai_chat import WIRE

# -- the examples of wire.md, chapters A, F and G

DETAIL = {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0}
LOOKUP = {"name": "get_weather", "arguments": '{"city":"Paris"}'}
FAILED = {"code": 502, "message": "Provider disconnected", "metadata": {"error_type": "provider_unavailable"}}
OPENROUTER = b": OPENROUTER PROCESSING\n\n" + stream(
    chunk({"role": "assistant", "content": "", "reasoning": "Need two", "reasoning_details": [{**DETAIL, "text": "Need two"}]}),
    chunk({"content": "", "reasoning_details": [{**DETAIL, "signature": "Eq0B"}]}),
    chunk({"tool_calls": [{"index": 0, "id": "toolu_a", "type": "function", "function": LOOKUP}]}),
    {**chunk({"content": "And"}, finish_reason="error"), "error": FAILED},
    done=False,
)


def test_openrouter() -> None:
    reply = read(OPENROUTER)
    detail = {**DETAIL, "text": "Need two", "signature": "Eq0B"}
    thought, call, text = reply.parts
    assert thought == Reasoning("Need two", {"openai-chat": {"reasoning_details": [detail]}})
    assert isinstance(call, ToolCall)
    assert (call.id, call.arguments) == ("toolu_a", {"city": "Paris"})
    assert text == Text("And")
    assert reply.error is not None
    assert (reply.error.status, reply.error.code, reply.error.message) == (502, "provider_unavailable", "Provider disconnected")


def test_ollama_v1() -> None:
    def ollama(delta: Any, finish: str | None = None) -> dict[str, Any]:
        return {**chunk(delta, finish_reason=finish), "system_fingerprint": "fp_ollama"}

    def call(id: str, index: int, name: str, arguments: str) -> dict[str, Any]:
        function = {"name": name, "arguments": arguments}
        return {"content": "", "tool_calls": [{"id": id, "index": index, "type": "function", "function": function}]}

    reply = read(
        stream(
            ollama({"role": "assistant", "content": "", "reasoning": "Need two lookups."}),
            ollama({"content": "Checking."}),
            ollama(call("call_ab12cd34", 0, "get_weather", '{"city":"Paris"}')),
            ollama(call("call_ef56gh78", 1, "get_time", "{}")),
            ollama({}, "tool_calls"),
        )
    )
    assert (reply.reasoning, reply.text) == ("Need two lookups.", "Checking.")
    assert [(one.id, one.name, one.arguments) for one in reply.calls] == [
        ("call_ab12cd34", "get_weather", {"city": "Paris"}),
        ("call_ef56gh78", "get_time", {}),
    ]
    assert reply.extra == {"openai-chat": {"system_fingerprint": "fp_ollama"}}


# -- text, reasoning and heads: chunks -> text, reasoning

SAID: dict[str, tuple[list[Any], str, str]] = {
    "DeepSeek": ([chunk({"reasoning_content": "hm"}), chunk({"reasoning_content": None, "content": "yes"}), END], "yes", "hm"),
    "both keys": ([chunk({"reasoning_content": "hm", "reasoning": "hm"}), chunk({"content": "yes"}), END], "yes", "hm"),
    "details alone": (
        [chunk({"reasoning_details": [{"type": "reasoning.summary", "summary": "hm"}]}), chunk({"content": "yes"}), END],
        "yes",
        "hm",
    ),
    "details that repeat": (
        [chunk({"reasoning": "hm"}), chunk({"reasoning_details": [{"type": "reasoning.text", "text": "hm"}]}), END],
        "",
        "hm",
    ),
    "Mistral": (
        [
            chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}),
            chunk({"content": [{"type": "text", "text": "yes"}, "!"]}),
            END,
        ],
        "yes!",
        "hm",
    ),
    "a role in every delta": (
        [chunk({"role": "assistant", "content": "a"}), chunk({"role": "assistant", "content": "b"}), END],
        "ab",
        "",
    ),
    "delta null": ([chunk(None), chunk({"content": "a"}), chunk(None, finish_reason="stop")], "a", ""),
    "choices missing": ([{"id": "c1"}, chunk({"content": "a"}), {"choices": None}, END], "a", ""),
    "Azure's first chunk": ([{"choices": [], "prompt_filter_results": [1]}, chunk({"content": "a"}), END], "a", ""),
    "finish_reason empty": (
        [chunk({"content": "a"}, finish_reason=""), chunk({"content": "b"}, finish_reason="stop")],
        "ab",
        "",
    ),
    "the message again at the end": (
        [chunk({"content": "a"}), chunk({}, message={"content": "a"}, finish_reason="stop")],
        "a",
        "",
    ),
    "tool_calls null": ([chunk({"content": "a", "tool_calls": None}), END], "a", ""),
    "tool_calls empty": ([chunk({"content": "a", "tool_calls": []}), END], "a", ""),
    "no index": ([{"choices": [{"delta": {"content": "a"}}]}, {"choices": [{"delta": {}, "finish_reason": "stop"}]}], "a", ""),
    "another answer beside it": (
        [chunk({"content": "a"}), {"choices": [{"index": 1, "delta": {"content": "x"}, "finish_reason": "stop"}]}, END],
        "a",
        "",
    ),
    "content as an object": ([chunk({"content": {"a": 1}}), END], '{"a":1}', ""),
    "completions of old": ([{"choices": [{"text": "a", "index": 0, "finish_reason": None}]}, END], "a", ""),
    "chunks in a list": ([[chunk({"content": "a"}), chunk({"content": "b"})], END], "ab", ""),
    "chunks that are none": ([None, 7, "x", chunk({"content": "a"}), END], "a", ""),
}


@pytest.mark.parametrize("name", SAID)
def test_what_is_said(name: str) -> None:
    chunks, text, reasoning = SAID[name]
    reply = read(stream(*chunks))
    assert (reply.text, reply.reasoning) == (text, reasoning)
    assert reply.stop is not None
    assert reply.stop.reason == "stop"


def test_the_head_is_read_whatever_its_types() -> None:
    first = {**chunk({"content": "a"}), "created": 1700000000.7}
    reply = read(stream(first, END))
    assert (reply.id, reply.model, reply.created) == ("c1", "m", 1700000000)
    odd = read(stream({**first, "id": 7, "model": None, "created": "now"}, END))
    assert (odd.id, odd.model, odd.created) == (None, None, None)


def test_the_last_usage_counts() -> None:
    usages = [{"prompt_tokens": 9, "completion_tokens": count} for count in (1, 2)]
    reply = read(
        stream({**chunk({"content": "a"}), "usage": usages[0]}, {**END, "usage": usages[1]}, {"choices": [], "usage": None})
    )
    assert reply.usage == Usage(9, 2)


def test_details_of_one_index_and_type_are_one() -> None:
    def told(*details: Any) -> dict[str, Any]:
        return chunk({"reasoning_details": list(details)})

    first, second = {"type": "reasoning.text", "index": 0}, {"type": "reasoning.encrypted", "index": 1}
    reply = read(
        stream(
            told({**first, "text": "a"}),
            told({**second, "data": "x"}),
            told({**first, "text": "b", "signature": "s"}),
            told({"type": "t"}),
            END,
        )
    )
    details = [{**first, "text": "ab", "signature": "s"}, {**second, "data": "x"}, {"type": "t"}]
    assert reply.parts == (Reasoning("ab", {"openai-chat": {"reasoning_details": details}}),)


def test_details_survive_an_error() -> None:
    reply = read(stream(chunk({"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}), {"error": "gone"}))
    assert reply.parts == (
        Reasoning("", {"openai-chat": {"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}}),
    )


def test_pictures_and_unknown_parts_are_kept() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    reply = read(
        stream(chunk({"content": "see", "images": [image]}), chunk({"content": [{"type": "reference", "ids": [1]}]}), END)
    )
    assert reply.parts == (
        Text("see"),
        Media("image", "image/png", "AA=="),
        Opaque("openai-chat", {"type": "reference", "ids": [1]}),
    )


def test_unknown_keys_are_kept_where_they_were() -> None:
    first = {
        **chunk({"content": "a", "annotations": [1]}, logprobs={"content": [{"token": "a"}]}),
        "provider": "P",
        "citations": ["u"],
    }
    second = {
        **chunk({"annotations": [2]}, logprobs={"content": [{"token": "b"}]}, finish_reason="stop", stop_reason=7),
        "citations": ["u"],
    }
    choice = {"logprobs": {"content": [{"token": "a"}, {"token": "b"}]}, "stop_reason": 7, "message": {"annotations": [1, 2]}}
    assert read(stream(first, second)).extra == {"openai-chat": {"provider": "P", "citations": ["u"], "choices": [choice]}}


# -- errors and ends

BROKEN: dict[str, tuple[bytes, str | None, str]] = {
    "an object": (stream(*PARTIAL, {"error": {"message": "no", "type": "server_error"}}), "server_error", "no"),
    "a string": (stream(*PARTIAL, {"error": "no"}), None, "no"),
    "in the last chunk": (
        stream(*PARTIAL, {**chunk({}, finish_reason="error"), "error": {"message": "no", "code": 502}}),
        "502",
        "no",
    ),
    "finish_reason error": (
        stream(*PARTIAL, chunk({}, finish_reason="error")),
        "error",
        "the provider ended the reply with an error",
    ),
    "finish_reason error and no end": (
        stream(*PARTIAL, chunk({}, finish_reason="error"), done=False),
        "error",
        "the provider ended the reply with an error",
    ),
    "a bare body": (stream(*PARTIAL, done=False) + b'{"error": {"message": "no"}}', None, "no"),
    "a bare body before the end marker": (stream(*PARTIAL, done=False) + b'{"error": "no"}\ndata: [DONE]\n\n', None, "no"),
    "a bare body over lines": (stream(*PARTIAL, done=False) + b'{\n "error": {\n  "message": "no"\n }\n}\n', None, "no"),
    "nothing more": (stream(*PARTIAL, done=False), "stream_truncated", "the stream ended early"),
    "half a chunk": (
        stream(*PARTIAL, done=False) + b'data: {"choices": [',
        "stream_truncated",
        "the stream ended early",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_streams(name: str) -> None:
    data, code, message = BROKEN[name]
    reply = read(data)
    assert reply.error is not None
    assert (reply.error.code, reply.error.message) == (code, message)
    assert reply.parts == (Text("Let me"), ToolCall("a", "f", '{"x":', sealed=False))
    assert isinstance(events(data)[-1], Fault)


@pytest.mark.parametrize("data", [b"", b"data: [DONE]\n\n", b"\n\n", b"<html>", stream({"choices": []})])
def test_a_stream_of_nothing_is_a_fault(data: bytes) -> None:
    assert read(data).error is not None


def test_a_reply_that_failed_on_the_way_keeps_what_came() -> None:
    body = {"error": {"message": "no", "code": 502}, "choices": [{"message": {"content": "half"}, "finish_reason": "error"}]}
    reply = WIRE.read_reply(body, None)
    assert reply.text == "half"
    assert reply.error is not None
    assert reply.error.status == 502


def test_an_end_without_its_marker_is_an_end() -> None:
    reply = read(stream(chunk({"content": "a"}), END, done=False))
    assert (reply.text, reply.error) == ("a", None)


def test_nothing_is_heard_behind_the_end() -> None:
    assert read(stream(chunk({"content": "a"}), END) + stream(chunk({"content": "b"}))).text == "a"


NESTED = (
    b'{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":%b}}]}}]}',
    b'{"choices":[{"delta":{"content":[{"thinking":%b}]}}]}',
    b'{"error":%b}',
)


@pytest.mark.parametrize("shape", NESTED)
def test_nesting_without_end_is_no_trap(shape: bytes) -> None:
    for depth in (400, *range(800, 1010), 3000):  # near Python's limit, what can be read can't always be worked with
        data = b"data: " + shape % (b"[" * depth + b"]" * depth) + b"\n\n"
        assert first_order_error(events(data + stream(END))) is None


def test_structured_output_is_on_its_channel() -> None:
    reader = WIRE.reader("json")
    found = reader.feed(stream(chunk({"content": "{}"}), END)) + reader.close()
    assert fold(found).parts == (Text("{}", "json"),)
    told = read(stream(chunk({"content": "{}", "kind": "json"}), chunk({"content": "so", "kind": "text"}), END))
    assert told.parts == (Text("{}", "json"), Text("so", "text"))
