"""Gemini's wire: reading streams and whole replies."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.wires.gemini_pieces import REPLY, STREAM, Body, chunk, events_of, signed, stream_of, whole, written
from toolglot.core.event_order import first_order_error
from toolglot.core.events import Delta, Fault, Open, Start
from toolglot.core.fold import fold
from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import Media, Opaque, Reasoning, Text, ToolCall
from toolglot.core.reply import Stop, Usage
from toolglot.errors import UpstreamError
from toolglot.wires.gemini import WIRE


@pytest.mark.parametrize("size", [None, 1, 2, 3, 7])
def test_the_stream_however_it_is_cut(size: int | None) -> None:
    assert fold(events_of(STREAM, size)) == REPLY


def test_a_whole_reply_is_what_its_stream_is() -> None:
    bodies = [json.loads(line[6:]) for line in STREAM.splitlines() if line.startswith(b"data: ")]
    parts = [part for body in bodies for part in body["candidates"][0]["content"]["parts"]]
    body = {**bodies[0], **bodies[-1], "candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}
    assert WIRE.read_reply(body, None) == REPLY


def test_the_stream_as_one_json_array() -> None:
    bodies = [json.loads(line[6:]) for line in STREAM.splitlines() if line.startswith(b"data: ")]
    assert fold(events_of(json.dumps(bodies, indent=1).encode(), 5)) == REPLY


def test_a_stream_cut_anywhere_is_in_order_and_a_fault() -> None:
    last = STREAM.rindex(b"data: ")
    for end in range(len(STREAM)):
        events = events_of(STREAM[:end])
        assert first_order_error(events) is None
        if end < last:
            assert isinstance(events[-1], Fault)
            assert events[-1].error.code == "stream_truncated"


def test_text_flows_at_once_and_has_the_channel_asked_for() -> None:
    reader = WIRE.reader("json")
    data = b"data: " + json.dumps(chunk({"text": "{"})).encode() + b"\n\n"
    assert reader.feed(data) == [Start(), Open(0, "text", channel="json"), Delta(0, "{")]
    assert reader.feed(data) == [Delta(0, "{")]


def test_signatures_in_streams() -> None:
    events = stream_of(
        chunk({"text": "T", "thought": True}),
        chunk({"text": "", "thought": True, "thoughtSignature": "C1=="}),
        chunk({"text": "a"}),
        chunk({"text": "b", "thoughtSignature": "C2=="}),
        chunk({"text": "c"}),
        chunk({"thoughtSignature": "C3=="}),
        chunk({"functionCall": {"name": "f"}, "thought_signature": "C4=="}),
        chunk({"text": "", "thoughtSignature": "C5=="}, finishReason="STOP"),
    )
    assert fold(events).parts == (
        Reasoning("T", signed("C1==")),
        Text("ab", extra=signed("C2==")),
        Text("c", extra=signed("C3==")),
        ToolCall("f_0", "f", extra=signed("C4==")),
        Text("", extra=signed("C5==")),
    )


def test_calls_without_ids_are_numbered_by_position() -> None:
    reply = whole(
        {"functionCall": {"name": "f"}}, {"functionCall": {"name": "f", "args": None}}, {"functionCall": {"name": "g"}}
    )
    assert [call.id for call in reply.calls] == ["f_0", "f_1", "g_2"]
    assert {call.arguments_json for call in reply.calls} == {"{}"}


def test_odd_calls() -> None:
    reply = whole(
        {"functionCall": {"name": "f", "args": '{"a": 1}'}},
        {"functionCall": {"name": "f", "args": [1]}},
        {"functionCall": {"args": {}}},
        {"functionCall": "f()"},
    )
    assert [call.arguments_json for call in reply.calls] == ['{"a": 1}', "[1]"]
    assert reply.parts[2] == Opaque("gemini", {"functionCall": "f()"})
    assert [decision.code for decision in reply.decisions] == ["rejected_malformed"]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "filter"),
        ("RECITATION", "filter"),
        ("SPII", "filter"),
        ("MALFORMED_FUNCTION_CALL", "error"),
        ("OTHER", "error"),
        ("CONTINUATION", "pause"),
        ("LANGUAGE", "filter"),
        ("BRAND_NEW", "other"),
    ],
)
def test_finish_reasons(word: str, reason: str) -> None:
    assert whole({"text": "x"}, finishReason=word).stop == Stop(reason, word)  # type: ignore[arg-type]


def test_a_blocked_prompt() -> None:
    body = {
        "promptFeedback": {"blockReason": "SAFETY"},
        "usageMetadata": {"promptTokenCount": 4, "totalTokenCount": 4},
        "responseId": "r",
    }
    reply = WIRE.read_reply(body, None)
    assert reply == fold(stream_of(body))
    assert reply.stop == Stop("filter", "SAFETY")
    assert reply.usage == Usage(4)
    assert reply.id == "r"
    assert WIRE.write_reply(reply, ResponseContext(), []) == {**body, "modelVersion": ""}
    assert fold(events_of(written(reply))) == reply
    assert b"candidates" not in written(reply)


def test_usage_both_ways() -> None:
    held = {
        "promptTokenCount": 10,
        "toolUsePromptTokenCount": 3,
        "cachedContentTokenCount": 4,
        "candidatesTokenCount": 5,
        "thoughtsTokenCount": 2,
        "totalTokenCount": 20,
        "trafficType": "ON_DEMAND",
    }
    reply = WIRE.read_reply({**chunk({"text": "x"}, finishReason="STOP"), "usageMetadata": held}, None)
    assert reply.usage == Usage(
        13, 7, 4, reasoning=2, extra={"gemini": {"toolUsePromptTokenCount": 3, "trafficType": "ON_DEMAND"}}
    )
    assert WIRE.write_reply(reply, ResponseContext(), [])["usageMetadata"] == held
    snake = {"prompt_token_count": 1, "candidates_token_count": 2}
    assert fold(stream_of({**chunk({"text": "x"}, finish_reason="STOP"), "usage_metadata": snake})).usage == Usage(1, 2)


def test_what_only_gemini_says_is_kept_and_given_back() -> None:
    body = {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"text": "x"}]},
                "finishReason": "RECITATION",
                "index": 0,
                "groundingMetadata": {"a": 1},
                "finishMessage": "because",
            }
        ],
        "modelStatus": {"b": 2},
        "modelVersion": "m",
        "responseId": "r",
        "createTime": "2026-11-15T10:00:00Z",
    }
    reply = WIRE.read_reply(body, None)
    assert reply.created == 1794736800
    assert WIRE.write_reply(reply, ResponseContext(), []) == body
    assert WIRE.read_reply(WIRE.write_reply(reply, ResponseContext(), []), None) == reply


def test_media_and_blocks_of_its_own_in_replies() -> None:
    parts: list[Body] = [
        {"inlineData": {"mimeType": "image/png", "data": "AA=="}, "thoughtSignature": "Cg=="},
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"toolCall": {"id": "t"}},
        {"functionResponse": {"name": "f", "response": {}}},
        {"inlineData": {}},
        {"text": 5},
        {},
    ]
    reply = whole(*parts)
    assert reply.parts == (
        Media("image", "image/png", "AA==", extra=signed("Cg==")),
        *(Opaque("gemini", part) for part in parts[1:6]),
    )
    assert WIRE.write_reply(reply, ResponseContext(), [])["candidates"][0]["content"]["parts"] == parts[:6]


def test_several_answers_are_noted() -> None:
    body = {"candidates": [*chunk({"text": "a"}, finishReason="STOP")["candidates"], {"index": 1, "content": {"parts": []}}]}
    reply = WIRE.read_reply(body, None)
    assert reply.text == "a"
    assert reply.notes == ("the provider sent several choices; only the first is read",)


def test_replies_in_other_wrappings() -> None:
    content = {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}]}
    for body in (content, {"content": content}, {"response": {"candidates": [{"content": content}]}}):
        assert [call.arguments for call in WIRE.read_reply(body, None).calls] == [{"a": 1}]
    assert WIRE.read_reply({}, None).stop == Stop("other")


@pytest.mark.parametrize("damage", [None, 5, "x", [], [None], {"parts": "x"}, {"parts": [None, 5, {"text": None}]}])
def test_damaged_chunks_never_raise(damage: Any) -> None:
    for body in (
        {"candidates": damage},
        {"candidates": [damage]},
        {"candidates": [{"content": damage, "finishReason": damage, "index": 0}]},
        {"promptFeedback": damage, "usageMetadata": damage, "modelVersion": damage},
        chunk({"functionCall": damage}, {"functionCall": {"name": "f", "partialArgs": damage}}, {"inlineData": damage}),
    ):
        assert first_order_error(stream_of(body, chunk({"text": "x"}, finishReason="STOP"))) is None
        WIRE.read_reply(body, None)


def test_errors_in_the_stream() -> None:
    error = {"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}
    start = b"data: " + json.dumps(chunk({"text": "Hi"})).encode() + b"\n\n"
    for tail in (b"data: " + json.dumps(error).encode() + b"\n\n", json.dumps(error, indent=2).encode()):
        events = events_of(start + tail)
        assert first_order_error(events) is None
        assert events[-1] == Fault(UpstreamError("overloaded", 503, "UNAVAILABLE"))
        assert fold(events).text == "Hi"
