"""Anthropic's stream and whole replies, read as a client: as they should be, and as the copies make them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from toolglot.core.event_order import first_order_error
from toolglot.core.events import Event, Fault
from toolglot.core.fold import fold
from toolglot.core.messages import Opaque, Reasoning, Text, ToolCall
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.errors import UpstreamError
from toolglot.wires.anthropic import WIRE
from toolglot.wires.anthropic.shapes import write_usage

Body = dict[str, Any]

HEAD: Body = {
    "type": "message_start",
    "message": {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 9, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 0, "output_tokens": 1},
    },
}
TAIL: list[Body] = [
    {
        "type": "message_delta",
        "delta": {"stop_reason": "tool_use", "stop_sequence": None},
        "usage": {"output_tokens": 20, "output_tokens_details": {"thinking_tokens": 5}},
    },
    {"type": "message_stop"},
]


def block(index: int, start: Body, *deltas: Body) -> list[Body]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text(piece: str) -> Body:
    return {"type": "text_delta", "text": piece}


def given(piece: str) -> Body:
    return {"type": "input_json_delta", "partial_json": piece}


def use(call_id: str, name: str, **more: Any) -> Body:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {}, **more}


TEXT = {"type": "text", "text": ""}
THINKING = block(
    0,
    {"type": "thinking", "thinking": "", "signature": ""},
    {"type": "thinking_delta", "thinking": "Need two "},
    {"type": "thinking_delta", "thinking": "lookups."},
    {"type": "signature_delta", "signature": "Eq0B"},
)
EXAMPLE: list[Body] = [
    HEAD,
    {"type": "ping"},
    *THINKING,
    *block(1, TEXT, text("Chéck"), text("ing.")),
    *block(2, use("toolu_a", "get_weather"), given(""), given('{"city":'), given('"Paris"}')),
    *block(3, use("toolu_b", "get_time")),
    *TAIL,
]
MEANING = Reply(
    "msg_1",
    "m",
    (
        Reasoning("Need two lookups.", {"anthropic": {"signature": "Eq0B"}}),
        Text("Chécking."),
        ToolCall("toolu_a", "get_weather", '{"city":"Paris"}'),
        ToolCall("toolu_b", "get_time"),
    ),
    Stop("calls", "tool_use"),
    Usage(13, 20, 4, 0, 5),
)
WHOLE: Body = {
    **HEAD["message"],
    "content": [
        {"type": "thinking", "thinking": "Need two lookups.", "signature": "Eq0B"},
        {"type": "text", "text": "Chécking.", "citations": None},
        use("toolu_a", "get_weather", input={"city": "Paris"}),
        use("toolu_b", "get_time"),
    ],
    "stop_reason": "tool_use",
    "usage": {**HEAD["message"]["usage"], **TAIL[0]["usage"]},
}


def sse(chunks: list[Body], *, named: bool = True) -> bytes:
    frames = []
    for chunk in chunks:
        name = b"event: " + chunk["type"].encode() + b"\n" if named else b""
        frames.append(name + b"data: " + msgspec.json.encode(chunk) + b"\n\n")
    return b"".join(frames)


def events(data: bytes, size: int | None = None) -> list[Event]:
    reader = WIRE.reader(None)
    step = size or len(data) or 1
    found = [event for at in range(0, len(data), step) for event in reader.feed(data[at : at + step])]
    found += reader.close()
    assert first_order_error(found) is None
    return found


def read(*chunks: Body, named: bool = True) -> Reply:
    return fold(events(sse(list(chunks), named=named)))


# -- as it should be


@pytest.mark.parametrize("size", [1, 2, 3, 7, None])
def test_the_example_however_it_is_cut(size: int | None) -> None:
    assert fold(events(sse(EXAMPLE), size)) == MEANING


def test_a_whole_reply_equals_its_stream() -> None:
    assert WIRE.read_reply(WHOLE, None) == MEANING
    assert fold(events(msgspec.json.encode(WHOLE))) == MEANING  # a server that did not stream after all


def test_a_stream_cut_anywhere_ends_with_a_fault() -> None:
    data = sse(EXAMPLE)
    told = data.index(b"event: message_stop")
    for end in range(0, told - 2, 5):
        last = events(data[:end])[-1]
        assert isinstance(last, Fault)
        assert last.error.code == "stream_truncated"
    assert fold(events(data[:told])) == MEANING  # only the farewell is missing


def test_a_call_that_never_ended_is_not_run() -> None:
    reply = read(HEAD, *block(0, use("a", "f"))[:-1])
    assert reply.calls == []
    assert reply.parts == (ToolCall("a", "f", "", sealed=False),)


def test_text_is_on_the_channel_that_was_asked_for() -> None:
    reader = WIRE.reader("json")
    reply = fold([*reader.feed(sse([HEAD, *block(0, TEXT, text("{}")), *TAIL])), *reader.close()])
    assert reply.parts == (Text("{}", "json"),)
    assert WIRE.read_reply({"content": [{"type": "text", "text": "{}"}]}, "json").parts == (Text("{}", "json"),)


def test_blocks_of_anthropics_own() -> None:
    search = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}
    shrunk = {"type": "compaction", "content": None}
    told = {"type": "compaction_delta", "content": "short", "encrypted_content": "e"}
    chunks = [
        *block(0, {"type": "redacted_thinking", "data": "zzz"}),
        *block(1, search, given('{"query":'), given('"x"}')),
        *block(2, found),
        *block(3, shrunk, told),
        *block(4, search, given("{bad")),
    ]
    assert read(HEAD, *chunks, *TAIL[1:]).parts == (
        Reasoning("", {"anthropic": {"redacted_thinking": "zzz"}}),
        Opaque("anthropic", {**search, "input": {"query": "x"}}),
        Opaque("anthropic", found),
        Opaque("anthropic", {"type": "compaction", "content": "short", "encrypted_content": "e"}),
        Opaque("anthropic", {**search, "input": "{bad"}),
    )


def test_citations_are_gathered() -> None:
    cited = [{"type": "citations_delta", "citation": {"at": number}} for number in (1, 2)]
    reply = read(HEAD, *block(0, {**TEXT, "citations": []}, text("x"), *cited), *TAIL)
    assert reply.parts == (Text("x", extra={"anthropic": {"citations": [{"at": 1}, {"at": 2}]}}),)


def test_a_signature_without_text_is_kept_and_the_last_one_counts() -> None:
    start = {"type": "thinking", "thinking": "", "signature": ""}
    signatures = [{"type": "signature_delta", "signature": word} for word in ("first", "last")]
    reply = read(HEAD, *block(0, start, *signatures), *block(1, start), *TAIL[1:])
    assert reply.parts == (Reasoning("", {"anthropic": {"signature": "last"}}),)


def test_what_a_reply_tells_beside_its_parts() -> None:
    details = {"type": "refusal", "category": "bio", "explanation": None}
    delta = {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details}, "context_management": {}}
    reply = read(HEAD, delta, {"type": "message_stop"})
    assert reply.stop == Stop("filter", "refusal")
    assert reply.extra == {"anthropic": {"stop_details": details, "context_management": {}}}


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("end_turn", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "pause"),
        ("compaction", "pause"),
        ("refusal", "filter"),
        ("of_times_to_come", "other"),
    ],
)
def test_stop_reasons(word: str, reason: str) -> None:
    whole = WIRE.read_reply({"type": "message", "content": [], "stop_reason": word}, None)
    assert (whole.stop, whole.usage) == (Stop(reason, word), None)  # type: ignore[arg-type]


def test_the_stop_sequence_is_told() -> None:
    reply = WIRE.read_reply({"content": "x", "stop_reason": "stop_sequence", "stop_sequence": "END"}, None)
    assert reply.stop == Stop("stop_sequence", "stop_sequence", "END")


def test_a_call_cut_short_by_the_limit() -> None:
    stop = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}
    cut = read(HEAD, *block(0, use("a", "f"), given('{"x":"rm -rf /ho')), stop, {"type": "message_stop"})
    assert (cut.calls, cut.stop) == ([], Stop("length", "max_tokens"))
    held = [use("a", "f", input={"x": 1}), use("b", "f", input={"x": "rm -rf /ho"})]
    whole = WIRE.read_reply({"content": held, "stop_reason": "max_tokens"}, None)
    assert [call.id for call in whole.calls] == ["a"]
    assert whole.parts[1] == ToolCall("b", "f", '{"x":"rm -rf /ho"}', sealed=False)


def test_an_error_in_the_stream() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    reply = read(HEAD, *THINKING[:-1], error)
    assert reply.error == UpstreamError("busy", 529, "overloaded_error")
    assert reply.parts == MEANING.parts[:1]  # with the signature that had come
    assert WIRE.read_reply(error, None).error == reply.error


# -- as the copies make it


def test_events_without_names_and_without_types() -> None:
    assert read(*EXAMPLE, named=False) == MEANING
    untyped = b"".join(
        b"event: " + chunk["type"].encode() + b"\ndata: "
        + msgspec.json.encode({key: value for key, value in chunk.items() if key != "type"}) + b"\n\n"
        for chunk in EXAMPLE
    )  # fmt: skip
    assert fold(events(untyped)) == MEANING


def test_input_tokens_told_late_or_forgotten() -> None:
    head = {"type": "message_start", "message": {"usage": {"input_tokens": 0, "output_tokens": 0}}}
    late = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 7, "output_tokens": 3}}
    assert read(head, late, TAIL[1]).usage == Usage(7, 3)
    forgotten = {**late, "usage": {"input_tokens": 0, "cache_read_input_tokens": None, "output_tokens": 3}}
    assert read(HEAD, forgotten, TAIL[1]).usage == Usage(13, 3, 4, 0)


def test_blocks_whose_end_is_never_told() -> None:
    open_ended = [chunk for chunk in EXAMPLE if chunk["type"] != "content_block_stop"]
    assert read(*open_ended) == MEANING
    same_index = [{**chunk, "index": 0} if "index" in chunk else chunk for chunk in open_ended]
    assert read(*same_index) == MEANING
    bare = [use("a", "f"), use("b", "f"), TEXT]
    starts = [{"type": "content_block_start", "index": 0, "content_block": start} for start in bare]
    assert read(HEAD, *starts, *TAIL).calls == [ToolCall("a", "f"), ToolCall("b", "f")]
    said = [*block(0, TEXT, text("a"))[:-1], *block(1, TEXT, text("b"))[:-1]]
    assert read(HEAD, *said, *TAIL).parts == (Text("a"), Text("b"))


def test_blocks_without_an_index() -> None:
    no_index = [{key: value for key, value in chunk.items() if key != "index"} for chunk in EXAMPLE]
    assert read(*no_index) == MEANING
    late = {"type": "content_block_delta", "delta": given("1}")}
    call = [{key: value for key, value in chunk.items() if key != "index"} for chunk in block(0, use("a", "f"), given('{"x":'))]
    assert read(HEAD, *call, late, *TAIL).parts == (ToolCall("a", "f", '{"x":', sealed=False),)


def test_input_in_the_first_event_counts_only_alone() -> None:
    alone = read(HEAD, *block(0, use("a", "f", input={"x": 1})), *TAIL)
    both = read(HEAD, *block(0, use("a", "f", input={"x": 1}), given('{"x":2}')), *TAIL)
    as_text = read(HEAD, *block(0, use("a", "f", input='{"x":3}')), *TAIL)
    assert [reply.calls[0].arguments_json for reply in (alone, both, as_text)] == ['{"x":1}', '{"x":2}', '{"x":3}']


def test_interleaved_calls() -> None:
    first, second = block(0, use("a", "f"), given('{"x":'), given("1}")), block(1, use("b", "g"), given('{"y":2}'))
    mixed = [first[0], first[1], second[0], second[1], first[2], second[2], first[3]]
    assert read(HEAD, *mixed, *TAIL).calls == [ToolCall("a", "f", '{"x":1}'), ToolCall("b", "g", '{"y":2}')]


def test_deltas_that_no_block_was_announced_for() -> None:
    chunks = [*block(0, TEXT, text("a "), {"text": "b"})[1:], *block(1, TEXT, given("{"))[1:]]
    reply = read(HEAD, *chunks, *TAIL)
    assert reply.text == "a b"
    assert reply.notes[0] == "arguments came for a call that was never announced; they were left out"


def test_deltas_and_events_of_times_to_come_are_ignored() -> None:
    strange = {"type": "mood_delta", "text": "glad"}
    chunks = [{"type": "weather"}, *block(0, TEXT, text("x"), strange)]
    assert read(HEAD, *chunks, *TAIL[1:]).parts == (Text("x"),)


def test_text_in_a_calls_block_is_not_lost() -> None:
    reply = read(HEAD, *block(0, use("a", "f"), text("Wait."), given("{}")), *TAIL)
    assert (reply.text, len(reply.calls)) == ("Wait.", 1)


def test_calls_without_names_or_ids() -> None:
    reply = read(HEAD, *block(0, {"type": "tool_use", "name": "f"}), *block(1, {"type": "tool_use"}), *TAIL)
    assert [(call.id, call.name, call.arguments_json) for call in reply.calls] == [("f_0", "f", "{}")]
    assert [decision.code for decision in reply.decisions] == ["rejected_malformed"]


def test_a_reply_that_says_no_reason() -> None:
    reply = read(HEAD, *block(0, TEXT, text("x")), TAIL[1])
    assert reply.stop == Stop("stop")
    assert reply.notes == ("the provider sent no stop_reason",)
    assert WIRE.read_reply({"content": ["x", None, 3]}, None).text == "x"
    assert WIRE.read_reply({}, None).stop == Stop("other")


@pytest.mark.parametrize("strange", [None, 1, "x", [], {}, [None], {"type": []}])
def test_damaged_chunks_never_raise(strange: Any) -> None:
    for at, chunk in enumerate(EXAMPLE):
        for key in chunk:
            hurt: list[Any] = [*EXAMPLE[:at], {**chunk, key: strange}, *EXAMPLE[at + 1 :]]
            inner = chunk[key]
            hurt_inside = [
                [*EXAMPLE[:at], {**chunk, key: {**inner, name: strange}}, *EXAMPLE[at + 1 :]]
                for name in (inner if isinstance(inner, dict) else ())
            ]
            for chunks in (hurt, *hurt_inside):
                found = events(b"".join(b"data: " + msgspec.json.encode(held) + b"\n\n" for held in chunks))
                assert first_order_error(found) is None
    for key in WHOLE:
        WIRE.read_reply({**WHOLE, key: strange}, None)
    for at in range(4):
        for key in WHOLE["content"][at]:
            content = [*WHOLE["content"][:at], {**WHOLE["content"][at], key: strange}, *WHOLE["content"][at + 1 :]]
            WIRE.read_reply({**WHOLE, "content": content}, None)


def test_what_is_cached_for_an_hour_is_counted_apart_and_passed_on() -> None:
    """As the API reports it: both lifetimes, once, at the start."""
    usage = {
        "input_tokens": 9,
        "cache_read_input_tokens": 0,
        "cache_creation_input_tokens": 700,
        "cache_creation": {"ephemeral_5m_input_tokens": 200, "ephemeral_1h_input_tokens": 500},
        "output_tokens": 1,
    }
    head: Body = {"type": "message_start", "message": {**HEAD["message"], "usage": usage}}
    reply = read(head, *block(0, TEXT, text("ok")), *TAIL)
    assert reply.usage is not None
    assert (reply.usage.input, reply.usage.cache_write, reply.usage.cache_write_1h) == (709, 700, 500)
    assert write_usage(reply.usage)["cache_creation"] == usage["cache_creation"]
