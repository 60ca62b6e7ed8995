"""Gemini's wire: writing replies, streams and errors."""

from __future__ import annotations

import json

import pytest

from tests.wires.gemini_pieces import Body, events_of, model, read, signed, with_messages, write, write_events, written
from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.fold import fold
from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import Extra, Media, Opaque, Reasoning, Text, ToolCall
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.errors import UpstreamError
from toolglot.wires.gemini import WIRE


@pytest.mark.parametrize("size", [None, 1, 7])
def test_what_is_written_is_read_back(size: int | None) -> None:
    reply = Reply(
        "r",
        "m",
        (
            Reasoning("T", signed("C1==")),
            Text("a", extra=signed("C2==")),
            Text("b"),
            Media("image", "image/png", "AA=="),
            ToolCall("c1", "f", '{"a":"é"}', extra=signed("C3==")),
            ToolCall("c2", "g", "{}"),
            Opaque("gemini", {"executableCode": {"code": "1"}}),
        ),
        Stop("calls", "STOP"),
        Usage(9, 20, 3, reasoning=5),
        1794736800,
        extra={"gemini": {"candidate": {"groundingMetadata": {"x": 1}}}},
    )
    notes: list[str] = []
    assert fold(events_of(written(reply, notes), size)) == reply
    assert WIRE.read_reply(WIRE.write_reply(reply, ResponseContext(), notes), None) == reply
    assert notes == []


def test_the_stream_is_written_piece_by_piece() -> None:
    writer = WIRE.writer(ResponseContext("id", "asked-for", 1794736800), [])
    about = '"modelVersion":"asked-for","responseId":"id","createTime":"2026-11-15T10:00:00Z"}\n\n'

    def told(part: str) -> str:
        return 'data: {"candidates":[{"content":{"role":"model","parts":[' + part + ']},"index":0}],' + about

    steps: list[tuple[Event, str]] = [
        (Start("up", "upstream"), ""),
        (Open(0, "reasoning"), ""),
        (Delta(0, "hm"), told('{"text":"hm","thought":true}')),
        (Close(0), ""),
        (Open(1, "text"), ""),
        (Delta(1, "Hi"), told('{"text":"Hi"}')),
        (Close(1, extra=signed("Cg==")), told('{"text":"","thoughtSignature":"Cg=="}')),
        (Open(2, "call", "f", "c"), ""),
        (Delta(2, '{"a"'), ""),
        (Delta(2, ":1}"), ""),
        (Close(2), told('{"functionCall":{"id":"c","name":"f","args":{"a":1}}}')),
        (
            Finish(Stop("calls"), Usage(1, 2)),
            'data: {"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP","index":0}],'
            '"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2,"totalTokenCount":3},' + about,
        ),
    ]
    for event, text in steps:
        assert writer.feed(event).decode() == text


def test_interleaved_blocks_are_written_in_their_order() -> None:
    events: list[Event] = [
        Start("r", "m"),
        Open(0, "call", "f", "a"),
        Open(1, "call", "g", "b"),
        Delta(1, '{"y":'),
        Delta(0, '{"x":'),
        Delta(1, "2}"),
        Close(1),
        Open(2, "text"),
        Delta(2, "and"),
        Delta(0, "1}"),
        Close(0),
        Delta(2, " so"),
        Close(2),
        Finish(Stop("calls", "STOP")),
    ]
    assert fold(events_of(write_events(events))) == fold(events)


def test_foreign_state_travels_sealed() -> None:
    thought: Extra = {"anthropic": {"signature": "s"}}
    called: Extra = {"openai-chat": {"extra_content": {"google": 1}}}
    reply = Reply("r", "m", (Reasoning("T", thought), Reasoning("", thought), ToolCall("c", "f", extra=called)), Stop("calls"))
    notes: list[str] = []
    bodies = [
        WIRE.write_reply(reply, ResponseContext(), notes)["candidates"][0]["content"],
        {
            "role": "model",
            "parts": [
                part
                for line in written(reply, notes).splitlines()
                if line.startswith(b"data: ")
                for part in json.loads(line[6:])["candidates"][0]["content"]["parts"]
            ],
        },
    ]
    for content in bodies:
        parts = read([content]).messages[0].parts
        state = [part.extra for part in parts if isinstance(part, Reasoning | ToolCall) and part.extra]
        assert state == [thought, thought, called]
    assert notes == []


def test_geminis_own_signature_comes_before_foreign_state() -> None:
    extra: Extra = {**signed("Cg=="), "anthropic": {"signature": "s"}}
    notes: list[str] = []
    body = WIRE.write_reply(Reply("r", "m", (Reasoning("T", extra),), Stop("stop")), ResponseContext(), notes)
    assert body["candidates"][0]["content"]["parts"] == [{"text": "T", "thought": True, "thoughtSignature": "Cg=="}]
    assert notes == ["reasoning: signature exists only on anthropic; left out"]


def test_who_reads_a_sealed_reply_can_give_the_seal_back() -> None:
    thought: Extra = {"anthropic": {"signature": "s"}}
    body = WIRE.write_reply(Reply("r", "m", (Reasoning("T", thought),), Stop("stop")), ResponseContext(), [])
    (part,) = WIRE.read_reply(body, None).parts
    assert isinstance(part, Reasoning)
    assert part.extra["anthropic"] == thought["anthropic"]
    sent = write(with_messages(model(part)))[0]["contents"][0]
    assert sent == body["candidates"][0]["content"]


def test_what_a_reply_can_not_carry_is_noted() -> None:
    reply = Reply(
        None,
        None,
        (
            ToolCall("c", "f", '{"a":', sealed=False),
            ToolCall("d", "f", "[1]"),
            Opaque("anthropic", {"type": "server_tool_use"}),
            Text("x", extra={"openai-chat": {"annotations": []}}),
        ),
        Stop("length", "max_tokens"),
        extra={"openai-chat": {"system_fingerprint": "x"}},
    )
    expected = [
        "call c: it was cut short, and gemini has only complete calls; left out",
        "call d: its arguments are not a JSON object; sent as {}",
        "a block that only anthropic has (server_tool_use) was left out",
        "text: annotations exists only on openai-chat; left out",
        "reply: system_fingerprint exists only on openai-chat; left out",
    ]
    for write_it in (lambda notes: WIRE.write_reply(reply, ResponseContext(), notes), lambda notes: written(reply, notes)):
        notes: list[str] = []
        write_it(notes)
        assert notes == expected


@pytest.mark.parametrize(
    ("stop", "word"),
    [
        (Stop("stop", "end_turn"), "STOP"),
        (Stop("calls", "tool_use"), "STOP"),
        (Stop("length", "max_tokens"), "MAX_TOKENS"),
        (Stop("filter", "refusal"), "SAFETY"),
        (Stop("filter", "RECITATION"), "RECITATION"),
        (Stop("error", "MALFORMED_FUNCTION_CALL"), "MALFORMED_FUNCTION_CALL"),
        (Stop("length", "STOP"), "MAX_TOKENS"),
        (Stop("other"), "OTHER"),
    ],
)
def test_the_finish_reason_that_is_written(stop: Stop, word: str) -> None:
    body = WIRE.write_reply(Reply(None, None, (Text("x"),), stop), ResponseContext(), [])
    assert body["candidates"][0]["finishReason"] == word


def test_an_empty_reply_still_has_a_part() -> None:
    body = WIRE.write_reply(Reply(None, None, (), Stop("stop")), ResponseContext(), [])
    assert body["candidates"][0]["content"]["parts"] == [{"text": ""}]


@pytest.mark.parametrize(
    ("error", "held"),
    [
        (UpstreamError("bad", 400), {"code": 400, "message": "bad", "status": "INVALID_ARGUMENT"}),
        (UpstreamError("bad", 400, "FAILED_PRECONDITION"), {"code": 400, "message": "bad", "status": "FAILED_PRECONDITION"}),
        (UpstreamError("no", 401, "401"), {"code": 401, "message": "no", "status": "UNAUTHENTICATED"}),
        (
            UpstreamError("slow", 429, "rate_limit_error", 37.5),
            {
                "code": 429,
                "message": "slow",
                "status": "RESOURCE_EXHAUSTED",
                "details": [
                    {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "rate_limit_error"},
                    {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37.5s"},
                ],
            },
        ),
        (UpstreamError("gone"), {"code": 502, "message": "gone", "status": "UNAVAILABLE"}),
        (UpstreamError("odd", 418), {"code": 418, "message": "odd", "status": "INVALID_ARGUMENT"}),
    ],
)
def test_errors_are_written_in_geminis_shape(error: UpstreamError, held: Body) -> None:
    status, body = WIRE.write_error(error)
    assert status == held["code"]
    assert body == {"error": held}
    again = WIRE.read_error(status, {}, json.dumps([body]).encode())
    assert (again.message, again.status, again.retry_after) == (error.message, held["code"], error.retry_after)


def test_a_fault_ends_the_stream() -> None:
    error = UpstreamError("overloaded", 503, "UNAVAILABLE")
    data = write_events([Start("r", "m"), Open(0, "text"), Delta(0, "Hi"), Close(0), Fault(error)])
    reply = fold(events_of(data))
    assert (reply.text, reply.error) == ("Hi", error)
