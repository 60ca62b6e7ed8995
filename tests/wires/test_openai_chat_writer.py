"""OpenAI Chat's server side: a whole reply, a stream, an error; and that the two say the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.wires.chat_pieces import END, chunk, read, stream
from toolglot.core.envelope import unseal
from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.fold import fold, unfold
from toolglot.core.interfaces import Quirks, ResponseContext
from toolglot.core.messages import Extra, Media, Opaque, Part, Reasoning, Text, ToolCall
from toolglot.core.reply import Reply, Stop, StopReason, Usage
from toolglot.errors import UpstreamError
from toolglot.wires.openai_chat import WIRE

Body = dict[str, Any]

CONTEXT = ResponseContext("chatcmpl-1", "asked", 7)


def written(events: list[Event], context: ResponseContext = CONTEXT, notes: list[str] | None = None) -> bytes:
    writer = WIRE.writer(context, [] if notes is None else notes)
    return b"".join(map(writer.feed, events)) + writer.close()


def chunks(data: bytes) -> list[Any]:
    *lines, done, end = data.decode().split("\n\n")
    assert (done, end) == ("data: [DONE]", "")
    return [json.loads(line.removeprefix("data: ")) for line in lines]


REPLIES: dict[str, Reply] = {
    "text": Reply("chatcmpl-1", "asked", (Text("hello"),), Stop("stop", "stop"), created=7),
    "reasoning": Reply("chatcmpl-1", "asked", (Reasoning("hm"), Text("so")), Stop("stop", "stop"), created=7),
    "signed": Reply(
        "chatcmpl-1",
        "asked",
        (
            Reasoning(
                "hm", {"openai-chat": {"reasoning_details": [{"type": "reasoning.text", "text": "hm", "signature": "s"}]}}
            ),
        ),
        Stop("stop", "stop"),
        created=7,
    ),
    "sealed": Reply(
        "chatcmpl-1", "asked", (Reasoning("hm", {"anthropic": {"signature": "s"}}), Text("a")), Stop("stop", "stop"), created=7
    ),
    "refusal": Reply("chatcmpl-1", "asked", (Text("no", "refusal"),), Stop("filter", "stop"), created=7),
    "calls": Reply(
        "chatcmpl-1",
        "asked",
        (
            Text("so"),
            ToolCall("a", "f", '{"x":"\u00fc"}'),
            ToolCall("b", "g", "{}", extra={"openai-chat": {"extra_content": {"s": 1}}}),
        ),
        Stop("calls", "tool_calls"),
        Usage(9, 20, 3, 0, 5, {"openai-chat": {"cost": 0.1, "prompt_tokens_details": {"audio_tokens": 0}}}),
        7,
    ),
    "custom": Reply(
        "chatcmpl-1",
        "asked",
        (ToolCall("a", "sql", '{"input":"select \\"x\\""}', custom=True),),
        Stop("calls", "tool_calls"),
        created=7,
    ),
    "cut": Reply("chatcmpl-1", "asked", (ToolCall("a", "f", '{"x":', sealed=False),), Stop("length", "length"), created=7),
    "extras": Reply(
        "chatcmpl-1",
        "asked",
        (Text("a"),),
        Stop("stop", "stop"),
        created=7,
        extra={
            "openai-chat": {
                "system_fingerprint": "fp",
                "choices": [{"logprobs": {"content": [{"token": "a"}]}, "message": {"annotations": [1]}}],
            }
        },
    ),
    "nothing": Reply("chatcmpl-1", "asked", (), Stop("stop", "stop"), created=7),
}


@pytest.mark.parametrize("name", [name for name in REPLIES if name != "sealed"])  # a reader of replies leaves the seal
def test_what_is_written_is_read_whole_and_streamed(name: str) -> None:
    reply, notes = REPLIES[name], list[str]()
    assert WIRE.read_reply(json.loads(json.dumps(WIRE.write_reply(reply, CONTEXT, notes))), None) == reply
    assert read(written(list(unfold(reply)), notes=notes)) == reply
    assert notes == []


def test_a_whole_reply() -> None:
    assert WIRE.write_reply(REPLIES["calls"], CONTEXT, []) == {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 7,
        "model": "asked",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "so",
                    "refusal": None,
                    "annotations": [],
                    "tool_calls": [
                        {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":"\u00fc"}'}},
                        {
                            "id": "b",
                            "type": "function",
                            "function": {"name": "g", "arguments": "{}"},
                            "extra_content": {"s": 1},
                        },
                    ],
                },
                "logprobs": None,
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {
            "prompt_tokens": 9,
            "completion_tokens": 20,
            "total_tokens": 29,
            "prompt_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 0, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 5},
            "cost": 0.1,
        },
    }


def test_a_stream_as_clients_insist_on_it() -> None:
    found = chunks(written(list(unfold(REPLIES["calls"]))))
    assert all({"id", "object", "created", "model", "choices"} <= set(held) for held in found)
    assert {held["object"] for held in found} == {"chat.completion.chunk"}
    assert [held["choices"][0]["delta"] for held in found[:-1]] == [
        {"role": "assistant", "content": ""},
        {"content": "so"},
        {"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"x":"\u00fc"}'}}]},
        {
            "tool_calls": [
                {
                    "index": 1,
                    "id": "b",
                    "type": "function",
                    "function": {"name": "g", "arguments": ""},
                    "extra_content": {"s": 1},
                }
            ]
        },
        {"tool_calls": [{"index": 1, "function": {"arguments": "{}"}}]},
        {},
    ]
    assert [held["choices"][0]["finish_reason"] for held in found[:-1]] == [None] * 6 + ["tool_calls"]
    assert found[-1]["choices"] == []
    assert found[-1]["usage"]["total_tokens"] == 29


def test_usage_only_where_it_was_asked_for() -> None:
    data = written(list(unfold(REPLIES["calls"])), ResponseContext(stream_usage=False))
    assert b"usage" not in data
    assert chunks(data)[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_a_stream_without_a_start_is_given_one() -> None:
    data = written([Open(0, "text"), Delta(0, "a"), Close(0), Finish(Stop("stop"))], ResponseContext())
    assert [held["choices"][0]["delta"] for held in chunks(data)] == [
        {"role": "assistant", "content": ""},
        {"content": "a"},
        {},
    ]
    assert read(data).text == "a"
    assert read(written([Finish(Stop("stop"))])).stop == Stop("stop", "stop")


def test_interleaved_calls_stay_apart() -> None:
    events: list[Event] = [
        Start(),
        Open(0, "call", "f", "a"),
        Open(1, "call", "g", "b"),
        Delta(1, '{"y"'),
        Delta(0, '{"x"'),
        Delta(1, ":2}"),
        Delta(0, ":1}"),
        Close(1, extra={"openai-chat": {"s": 2}}),
        Close(0),
        Finish(Stop("calls")),
    ]
    assert read(written(events)).parts == fold(events).parts


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        ("stop", "stop"),
        ("calls", "tool_calls"),
        ("length", "length"),
        ("stop_sequence", "stop"),
        ("filter", "content_filter"),
        ("pause", "stop"),
        ("error", "error"),
        ("other", "stop"),
    ],
)
def test_every_reason_has_a_word(reason: StopReason, word: str) -> None:
    reply = Reply(stop=Stop(reason))
    assert WIRE.write_reply(reply, ResponseContext(), [])["choices"][0]["finish_reason"] == word
    assert chunks(written(list(unfold(reply))))[-1]["choices"][0]["finish_reason"] == word


SIGNED: Extra = {"anthropic": {"signature": "s"}}
NO_PLACE: dict[str, tuple[Reply, str]] = {
    "a picture": (Reply(parts=(Media("image", url="u"),)), "reply: openai-chat has no place for a image or file"),
    "another wire's block": (
        Reply(parts=(Opaque("gemini", {}),)),
        "reply: openai-chat has no place for a block that only gemini has",
    ),
    "another wire's text keys": (Reply(parts=(Text("a", extra=SIGNED),)), "text: signature exists only on anthropic"),
    "another wire's call keys": (
        Reply(parts=(ToolCall("a", "f", extra=SIGNED),)),
        "call a: signature exists only on anthropic",
    ),
    "another wire's reply keys": (Reply(extra=SIGNED), "reply: signature exists only on anthropic"),
}


@pytest.mark.parametrize("name", NO_PLACE)
def test_what_has_no_place_is_noted(name: str) -> None:
    reply, start = NO_PLACE[name]
    whole, streamed = list[str](), list[str]()
    WIRE.write_reply(reply, ResponseContext(), whole)
    written(list(unfold(reply)), notes=streamed)
    assert len(whole) == 1
    assert whole[0].startswith(start)
    assert streamed == whole


def test_foreign_state_goes_through_a_client_and_back() -> None:
    details = WIRE.write_reply(REPLIES["sealed"], CONTEXT, [])["choices"][0]["message"]["reasoning_details"]
    assert [unseal(detail["data"]) for detail in details] == [SIGNED]
    history = WIRE.read_messages(
        [{"role": "assistant", "content": "a", "reasoning_content": "hm", "reasoning_details": details}]
    )
    assert history[0].parts[0] == Reasoning("hm", SIGNED)
    notes: list[str] = []
    assert WIRE.write_messages(history, notes, Quirks()) == [{"role": "assistant", "content": "a"}]
    assert any("anthropic only" in note for note in notes)


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (UpstreamError("no", 400, "c"), 400, "invalid_request_error"),
        (UpstreamError("no", 401), 401, "authentication_error"),
        (UpstreamError("no", 429), 429, "rate_limit_error"),
        (UpstreamError("no", 418), 418, "invalid_request_error"),
        (UpstreamError("no", 529), 529, "server_error"),
        (UpstreamError("no"), 502, "server_error"),
    ],
)
def test_errors(error: UpstreamError, status: int, kind: str) -> None:
    body = {"error": {"message": "no", "type": kind, "param": None, "code": error.code}}
    assert WIRE.write_error(error) == (status, body)
    half: list[Event] = [Start(), Open(0, "text"), Delta(0, "a"), Close(0), Fault(error)]
    reply = read(written(half))
    assert reply.text == "a"
    assert reply.error is not None
    assert reply.error.message == "no"


PARTS: list[Part] = [Text("a\ud800"), Reasoning("\udfff"), ToolCall("a", "f", '{"x":"\ud83d"}')]


@pytest.mark.parametrize("part", PARTS)
def test_half_characters_are_no_trap(part: Part) -> None:
    assert "\ufffd".encode() in written(list(unfold(Reply(parts=(part,)))))


def test_a_stream_through_reader_and_writer_is_the_same_stream() -> None:
    reply = read(stream(chunk({"reasoning_content": "hm"}), chunk({"content": "a"}), END))
    assert read(written(list(unfold(reply)), ResponseContext())) == reply
