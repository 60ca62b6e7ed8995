"""Ollama's replies as we read them: streams and whole ones."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from toolglot.core.event_order import first_order_error
from toolglot.core.events import Event, Fault
from toolglot.core.fold import fold
from toolglot.core.messages import Media, Reasoning, Text, ToolCall
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.errors import UpstreamError
from toolglot.wires.ollama import WIRE

EXAMPLE = b"""\
{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","thinking":"Need two lookups."},"done":false}
{"model":"m","created_at":"2026-01-01T00:00:01Z","message":{"role":"assistant","content":"Checking \xc3\xa9."},"done":false}
{"model":"m","created_at":"2026-01-01T00:00:02Z","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_ab12cd34","function":{"index":0,"name":"get_weather","arguments":{"city":"Paris"}}}]},"done":false}
{"model":"m","created_at":"2026-01-01T00:00:03Z","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_ef56gh78","function":{"index":1,"name":"get_time","arguments":{}}}]},"done":false}
{"model":"m","created_at":"2026-01-01T00:00:04Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":20}
"""  # noqa: E501
CALLS = (ToolCall("call_ab12cd34", "get_weather", '{"city":"Paris"}'), ToolCall("call_ef56gh78", "get_time", "{}"))
MEANT = Reply(
    model="m",
    parts=(Reasoning("Need two lookups."), Text("Checking é."), *CALLS),
    stop=Stop("calls", "stop"),
    usage=Usage(9, 20),
    created=1767225600,
)
WHOLE: dict[str, Any] = {
    "model": "m",
    "created_at": "2026-01-01T00:00:00Z",
    "message": {
        "role": "assistant",
        "content": "Checking é.",
        "thinking": "Need two lookups.",
        "tool_calls": [
            {"id": "call_ab12cd34", "function": {"index": 0, "name": "get_weather", "arguments": {"city": "Paris"}}},
            {"id": "call_ef56gh78", "function": {"index": 1, "name": "get_time", "arguments": {}}},
        ],
    },
    "done": True,
    "done_reason": "stop",
    "prompt_eval_count": 9,
    "eval_count": 20,
}


def read(data: bytes, size: int | None = None, channel: str | None = None) -> list[Event]:
    reader = WIRE.reader(channel)
    step = size or max(1, len(data))
    events = [event for at in range(0, len(data), step) for event in reader.feed(data[at : at + step])]
    events += reader.close()
    assert first_order_error(events) is None
    return events


def lines(*chunks: Any) -> bytes:
    return b"".join(msgspec.json.encode(chunk) + b"\n" for chunk in chunks)


def said(content: Any = "", **more: Any) -> dict[str, Any]:
    return {"model": "m", "message": {"role": "assistant", "content": content, **more}, "done": False}


def called(*calls: Any) -> Reply:
    return fold(read(lines(said(tool_calls=list(calls)), {"model": "m", "done": True, "done_reason": "stop"})))


DONE = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}


@pytest.mark.parametrize("size", [1, 2, 3, 7, None])
def test_the_example_in_any_pieces(size: int | None) -> None:
    assert fold(read(EXAMPLE, size)) == MEANT


def test_a_whole_reply_equals_its_stream() -> None:
    assert WIRE.read_reply(WHOLE, None) == MEANT


def test_a_stream_cut_anywhere_is_in_order_and_ends_in_a_fault() -> None:
    for end in range(EXAMPLE.rindex(b"}")):
        last = read(EXAMPLE[:end])[-1]
        assert isinstance(last, Fault), end
        assert last.error.code == "stream_truncated"
    assert fold(read(EXAMPLE[:-1])) == MEANT  # the last newline is of no weight


def test_values_without_newlines_between_them() -> None:
    glued = EXAMPLE.replace(b"\n", b"")
    for size in (1, 7, None):
        assert fold(read(glued, size)) == MEANT
    assert fold(read(EXAMPLE.replace(b"\n", b"\r\n\r\n"), 5)) == MEANT


def test_a_call_on_the_last_line_is_a_call() -> None:
    reply = fold(read(lines({**DONE, "message": said(tool_calls=[{"id": "a", "function": {"name": "f"}}])["message"]})))
    assert reply.calls == [ToolCall("a", "f")]
    assert reply.stop == Stop("calls", "stop")


def test_calls_are_never_told_apart_by_index_and_get_ids_where_they_have_none() -> None:
    call = {"function": {"index": 0, "name": "f", "arguments": {"x": 1}}}
    reply = called(call, call, {"id": "", "function": {"index": 0, "name": "g", "arguments": {}}})
    assert [(part.id, part.arguments_json) for part in reply.calls] == [("f_0", '{"x":1}'), ("f_1", '{"x":1}'), ("g_2", "{}")]


def test_the_reason_follows_the_calls_that_are_there() -> None:
    call = said(tool_calls=[{"function": {"name": "f"}}])
    stops = (
        Stop("calls", "stop"),
        Stop("calls", "STOP"),
        Stop("calls", "end_turn"),
        Stop("length", "length"),
        Stop("other", "load"),
    )
    for stop in stops:
        assert fold(read(lines(call, {**DONE, "done_reason": stop.raw}))).stop == stop


def test_an_id_given_twice_is_kept_once() -> None:
    reply = called({"id": "0", "function": {"name": "f"}}, {"id": "0", "function": {"name": "f"}})
    assert [part.id for part in reply.calls] == ["0", "f_1"]
    assert reply.notes == ("two calls came with the id 0; the second got a new id",)


@pytest.mark.parametrize(
    ("arguments", "text", "codes"),
    [
        ('{"x": 1}', '{"x": 1}', []),
        ("", "{}", []),
        (None, "{}", []),
        ("null", "{}", []),
        ('"{\\"x\\":1}"', '{"x":1}', ["unwrapped_string"]),
        ([1], None, ["rejected_arguments"]),
        ("x=1", None, ["rejected_arguments"]),
        ('{"x":', None, ["rejected_arguments"]),
        ('"x"', None, ["rejected_arguments"]),
        (7, None, ["rejected_arguments"]),
    ],
)
def test_arguments_that_are_no_object(arguments: Any, text: str | None, codes: list[str]) -> None:
    reply = called({"id": "a", "function": {"name": "f", "arguments": arguments}})
    assert [part.arguments_json for part in reply.calls] == ([] if text is None else [text])
    assert [decision.code for decision in reply.decisions] == codes
    assert reply.stop == Stop("stop" if text is None else "calls", "stop")


def test_a_refused_call_stays_in_its_decision() -> None:
    (decision,) = called({"id": "a", "function": {"name": "f", "arguments": [1, 2]}}).decisions
    assert decision.message == "f: the arguments are a list; the call was skipped"
    assert decision.call == ToolCall("a", "f", "[1,2]", sealed=False)


@pytest.mark.parametrize(
    "entry", ["x", None, [], {}, {"function": None}, {"function": {"name": ""}}, {"function": {"name": 1}}]
)
def test_a_malformed_entry_is_skipped_with_a_decision(entry: Any) -> None:
    reply = called(entry, {"function": {"name": "f"}})
    assert [decision.code for decision in reply.decisions] == ["rejected_malformed"]
    assert [part.name for part in reply.calls] == ["f"]


def test_calls_that_are_flat_or_no_list_are_understood() -> None:
    assert called({"name": "f", "arguments": {"x": 1}}).calls == [ToolCall("f_0", "f", '{"x":1}')]
    alone = fold(read(lines(said(tool_calls={"function": {"name": "f"}}), DONE)))
    assert [part.name for part in alone.calls] == ["f"]


def test_what_a_call_holds_beside_is_kept() -> None:
    (call,) = called({"id": "a", "x": 1, "function": {"name": "f", "index": 0, "y": 2}}).calls
    assert call.extra == {"ollama": {"x": 1, "function": {"y": 2}}}


@pytest.mark.parametrize(
    ("end", "stop"),
    [
        ({"done": True, "done_reason": "length"}, Stop("length", "length")),
        ({"done": True, "done_reason": "load"}, Stop("other", "load")),
        ({"done": True, "done_reason": "unload"}, Stop("other", "unload")),
        ({"done": True, "done_reason": "later"}, Stop("other", "later")),
        ({"done": True, "done_reason": ""}, Stop("error", "")),
        ({"done": True, "done_reason": "tool_calls"}, Stop("stop", "tool_calls")),
        ({"done": True}, Stop("stop")),
        ({"done_reason": "stop"}, Stop("stop", "stop")),
        ({"done": False, "done_reason": "length"}, Stop("length", "length")),
    ],
)
def test_every_end(end: dict[str, Any], stop: Stop) -> None:
    reply = fold(read(lines(said("x"), end)))
    assert reply.stop == stop
    assert (reply.text, reply.error) == ("x", None)
    assert (reply.extra, reply.usage) == ({}, None)
    assert ("the provider sent no done_reason" in reply.notes) == (stop.raw is None)


def test_a_reason_before_the_end_does_not_end_it() -> None:
    early = {**said("a"), "done_reason": "stop"}
    assert fold(read(lines(early, said("b"), {"done": True, "eval_count": 3}))).text == "ab"
    empty = {**said("a"), "done_reason": ""}
    assert fold(read(lines(empty, DONE))).stop == Stop("stop", "stop")
    assert isinstance(read(lines(empty))[-1], Fault)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ({"error": "model runner has crashed"}, UpstreamError("model runner has crashed")),
        ({"error": {"message": "x", "type": "api_error"}}, UpstreamError("x", 500, "api_error")),
        (
            {"done": True, "error": {"status": 503, "code": "overloaded", "detail": "x", "retryAfterMs": 1500}},
            UpstreamError("x", 503, "overloaded", 1.5),
        ),
        ({"done": True, "done_reason": "stop", "error": "x"}, UpstreamError("x")),
        ({"model": "m", "message": "x", "error": "y"}, UpstreamError("y")),
    ],
)
def test_an_error_on_any_line_is_a_fault(line: dict[str, Any], error: UpstreamError) -> None:
    events = read(lines(said("before"), line, DONE))
    assert isinstance(events[-1], Fault)
    assert events[-1].error == error
    assert fold(events).text == "before"
    alone = WIRE.read_reply(line, None)
    assert alone.error == error


def test_text_beside_an_error_is_not_lost() -> None:
    assert fold(read(lines({**said("late"), "error": "x"}))).text == "late"


def test_counts_durations_and_logprobs() -> None:
    first = {**said("a"), "logprobs": [{"token": "a"}], "prompt_eval_count": 3}
    last = {**DONE, "logprobs": [{"token": "b"}], "eval_count": 4, "total_duration": 5, "load_duration": 0, "remote_model": "r"}
    reply = fold(read(lines(first, last)))
    assert reply.usage == Usage(3, 4)
    assert reply.extra == {"ollama": {"logprobs": [{"token": "a"}, {"token": "b"}], "total_duration": 5, "remote_model": "r"}}
    assert fold(read(lines(DONE))).usage is None
    assert fold(read(lines({**DONE, "eval_count": 4, "prompt_eval_count": "x"}))).usage == Usage(None, 4)


def test_the_channel_is_told_by_the_request_or_by_the_chunk() -> None:
    def parts(*chunks: Any, channel: str | None = None) -> tuple[Any, ...]:
        return fold(read(lines(*chunks, DONE), channel=channel)).parts

    assert parts(said("{}"), channel="json") == (Text("{}", "json"),)
    assert parts(said("{}", kind="json")) == (Text("{}", "json"),)
    assert parts({**said("x"), "kind": "text"}, channel="json") == (Text("x", "text"),)
    assert parts({**said("x"), "kind": ["json"]}) == (Text("x"),)


def test_odd_messages_lose_nothing() -> None:
    picture = "iVBORw0KGgo="
    reply = fold(
        read(
            lines(
                said(None),
                said([{"text": "a"}, "b"]),
                said({"x": 1}),
                said(thinking=7, images=[picture, 3], mood="good"),
                {"message": "hm"},
                ["x", 5],
                {"content": "c"},
                DONE,
            ).replace(b'["x",5]', b"no json")
        )
    )
    assert reply.text == 'ab{"x":1}c'
    assert reply.reasoning == "7"
    assert Media("image", "image/png", picture) in reply.parts
    assert reply.extra == {"ollama": {"message": {"mood": "good"}}}
    assert reply.notes == (
        "an image that was a number was skipped",
        "a message that was a string was skipped: hm",
        "a piece of the stream was not JSON and was skipped: 'no json'",
    )


def test_a_message_alone_and_an_empty_body_are_read() -> None:
    alone = WIRE.read_reply(WHOLE["message"], None)
    assert (alone.parts, alone.stop) == (MEANT.parts, Stop("calls"))
    assert WIRE.read_reply({}, None).stop == Stop("other")
    assert fold(read(b'{"done":true}')).stop == Stop("stop")
    loaded = WIRE.read_reply({"model": "m", "created_at": "2026-01-01T00:00:00Z", "done": True, "done_reason": "load"}, None)
    assert (loaded.model, loaded.created, loaded.stop) == ("m", 1767225600, Stop("other", "load"))
