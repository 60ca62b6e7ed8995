"""Anthropic Messages as a server: whole replies, state for the client to keep, errors, and the stream's writer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from toolglot.core.envelope import seal
from toolglot.core.event_order import first_order_error
from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.fold import fold, unfold
from toolglot.core.interfaces import Quirks, ResponseContext
from toolglot.core.messages import Media, Message, Opaque, Reasoning, Text, ToolCall
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.errors import UpstreamError
from toolglot.wires.anthropic import WIRE

Body = dict[str, Any]


def read_content(content: Any, role: str) -> tuple[Message, ...]:
    return WIRE.read_messages([{"role": role, "content": content}])


# -- state for the client to keep


def test_foreign_state_comes_back_through_the_client() -> None:
    state = {"openai-responses": {"id": "rs_1", "encrypted_content": "e"}}
    signed = {"gemini": {"thoughtSignature": "c2ln"}}
    parts = (
        Reasoning("why", state),
        Reasoning("", state),
        Reasoning("plain"),
        Text("hi", extra=signed),
        ToolCall("a", "f", extra=signed),
        ToolCall("b", "f"),
        Text("", extra=signed),
    )
    notes: list[str] = []
    body = WIRE.write_reply(Reply(parts=parts), ResponseContext(), notes)
    assert body["content"][0]["signature"] == seal(state, but="anthropic")
    assert body["content"][2] == {"type": "thinking", "thinking": "plain", "signature": ""}
    assert notes == []
    assert read_content(body["content"], "assistant")[0].parts == parts


def test_state_is_not_put_on_a_neighbour_it_does_not_fit() -> None:
    lost = {"type": "redacted_thinking", "data": seal({"gemini": {"a": 1}, "toolglot": {"of": "last"}}, but="anthropic")}
    assert read_content([lost, {"type": "text", "text": "x"}], "assistant")[0].parts == (Text("x"),)
    opaque = {"type": "server_tool_use", "id": "s", "name": "n", "input": {}}
    assert read_content([opaque, lost], "assistant")[0].parts == (Opaque("anthropic", opaque),)


# -- replies


def test_a_reply_leaves_out_what_it_can_not_show() -> None:
    parts = (ToolCall("a", "f", '{"x', sealed=False), Media("image", "image/png", "AA=="), Opaque("gemini", {}), Text(""))
    notes: list[str] = []
    body = WIRE.write_reply(Reply(parts=parts, stop=Stop("length")), ResponseContext("msg_9", "mine"), notes)
    assert (body["content"], body["stop_reason"], body["id"], body["model"]) == ([], "max_tokens", "msg_9", "mine")
    assert len(notes) == 3


@pytest.mark.parametrize(
    ("stop", "word"),
    [
        (Stop("length", "model_context_window_exceeded"), "model_context_window_exceeded"),
        (Stop("length", "MAX_TOKENS"), "max_tokens"),
        (Stop("calls", "end_turn"), "tool_use"),
        (Stop("filter", "content_filter"), "refusal"),
        (Stop("pause", "compaction"), "compaction"),
        (Stop("other", "odd"), "end_turn"),
        (None, "end_turn"),
    ],
)
def test_stop_words(stop: Stop | None, word: str) -> None:
    assert WIRE.write_reply(Reply(stop=stop), ResponseContext(), [])["stop_reason"] == word


def test_the_stop_sequence_is_told() -> None:
    body = WIRE.write_reply(Reply(stop=Stop("stop_sequence", None, "END")), ResponseContext(), [])
    assert (body["stop_reason"], body["stop_sequence"]) == ("stop_sequence", "END")
    assert WIRE.write_reply(Reply(stop=Stop("calls", None, "END")), ResponseContext(), [])["stop_sequence"] is None


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (401, "authentication_error"),
        (402, "billing_error"),
        (404, "not_found_error"),
        (413, "request_too_large"),
        (422, "invalid_request_error"),
        (429, "rate_limit_error"),
        (500, "api_error"),
        (529, "overloaded_error"),
    ],
)
def test_faults(status: int, kind: str) -> None:
    told, body = WIRE.write_error(UpstreamError("no", status))
    assert (told, body["type"], body["error"]) == (status, "error", {"type": kind, "message": "no"})
    assert WIRE.write_error(UpstreamError("no"))[0] == 502


# -- the stream's writer


def streamed(events: Iterable[Event], context: ResponseContext = ResponseContext()) -> tuple[bytes, list[str]]:  # noqa: B008
    notes: list[str] = []
    writer = WIRE.writer(context, notes)
    return b"".join(writer.feed(event) for event in events) + writer.close(), notes


def frames(data: bytes) -> list[Body]:
    """What was written, checked for the form that the official SDKs insist on."""
    found: list[Body] = []
    for frame in data.decode().split("\n\n")[:-1]:
        event, body = frame.split("\n")
        found.append(msgspec.json.decode(body.removeprefix("data: ")))
        assert event == f"event: {found[-1]['type']}"
    return found


def read(data: bytes) -> Reply:
    reader = WIRE.reader(None)
    events = [*reader.feed(data), *reader.close()]
    assert first_order_error(events) is None
    return fold(events)


DIRECT = {"type": "direct"}  # what a reply must say of a call, and a request need not

WHOLE = Reply(
    "msg_1",
    "claude",
    (
        Reasoning("why", {"anthropic": {"signature": "s"}}),
        Reasoning("", {"anthropic": {"redacted_thinking": "d"}}),
        Reasoning("unsigned"),
        Text("hi\n\u2028", extra={"anthropic": {"citations": [{"type": "page_location"}, {"type": "x"}]}}),
        ToolCall(
            "a", "f", '{"x":1}', extra={"anthropic": {"caller": {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}}}
        ),
        ToolCall("b", "g"),
        Opaque("anthropic", {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": 1}}),
        Opaque("anthropic", {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}),
    ),
    Stop("calls", "tool_use"),
    Usage(30, 20, 10, 5, 7, {"anthropic": {"service_tier": "standard"}}),
    extra={"anthropic": {"container": {"id": "c"}, "context_management": {"applied_edits": []}}},
)


def test_what_is_streamed_is_read_as_it_was() -> None:
    data, notes = streamed(unfold(WHOLE))
    assert notes == []
    assert read(data) == WHOLE
    assert WIRE.read_reply(WIRE.write_reply(WHOLE, ResponseContext(), []), None) == WHOLE


def test_the_streams_grammar() -> None:
    found = frames(streamed(unfold(WHOLE), ResponseContext("msg_9", "mine"))[0])
    assert found[0]["message"]["id"] == "msg_9"
    assert found[0]["message"]["model"] == "mine"
    assert found[0]["message"]["usage"]["output_tokens"] == 0
    assert [frame["type"] for frame in found[-2:]] == ["message_delta", "message_stop"]
    assert found[-2]["delta"] == {"stop_reason": "tool_use", "stop_sequence": None, "container": {"id": "c"}}
    assert found[-2]["usage"]["input_tokens"] == 15
    starts = [frame["index"] for frame in found if frame["type"] == "content_block_start"]
    stops = [frame["index"] for frame in found if frame["type"] == "content_block_stop"]
    assert starts == stops == list(range(8))
    told = [frame["index"] for frame in found if frame["type"] == "content_block_delta"]
    assert told == sorted(told)
    search = [frame for frame in found if frame.get("index") == 6]
    assert search[0]["content_block"]["input"] == {}
    assert search[1]["delta"] == {"type": "input_json_delta", "partial_json": '{"q":1}'}


def test_every_call_has_some_input_written() -> None:
    events: list[Event] = [Start(), Open(0, "call", "f", "a"), Close(0), Finish(Stop("calls"))]
    deltas = [frame["delta"] for frame in frames(streamed(events)[0]) if frame["type"] == "content_block_delta"]
    assert deltas == [{"type": "input_json_delta", "partial_json": "{}"}]


def test_interleaved_blocks_come_one_after_another() -> None:
    events: list[Event] = [
        Start("m", "x"),
        Open(0, "call", "f", "a"),
        Open(1, "call", "g", "b"),
        Delta(0, '{"x":'),
        Delta(1, '{"y":2}'),
        Close(1),
        Delta(0, "1}"),
        Open(2, "text"),
        Delta(2, "done"),
        Close(0),
        Close(2),
        Finish(Stop("calls")),
    ]
    data, _ = streamed(events)
    assert [frame["index"] for frame in frames(data) if "index" in frame] == [0] * 4 + [1] * 3 + [2] * 3
    assert read(data).parts == (ToolCall("a", "f", '{"x":1}'), ToolCall("b", "g", '{"y":2}'), Text("done"))


def test_empty_blocks_leave_no_trace_and_no_gap() -> None:
    picture = Media("image", "image/png", "AA==")
    data, notes = streamed(unfold(Reply(parts=(Text(""), Reasoning(""), picture, Opaque("gemini", {"k": 1}), Text("x")))))
    assert [frame["index"] for frame in frames(data) if "index" in frame] == [0, 0, 0]
    assert len(notes) == 2


def test_state_known_only_at_a_blocks_end() -> None:
    signed = {"gemini": {"thoughtSignature": "c2ln"}}
    events: list[Event] = [Start(), Open(0, "text"), Delta(0, "hi"), Close(0, extra=signed)]
    events += [Open(1, "call", "f", "a"), Close(1, extra=signed), Open(2, "text"), Close(2, extra=signed)]
    data, notes = streamed([*events, Finish(Stop("calls"))])
    starts = [frame["content_block"] for frame in frames(data) if frame["type"] == "content_block_start"]
    kinds = [block["type"] for block in starts]
    assert kinds == ["text", "redacted_thinking", "tool_use", "redacted_thinking", "redacted_thinking"]
    assert notes == []
    echoed = [{**starts[0], "text": "hi"}, *starts[1:]]
    expected = (Text("hi", extra=signed), ToolCall("a", "f", extra=signed), Text("", extra=signed))
    assert read_content(echoed, "assistant")[0].parts == expected


@pytest.mark.parametrize("part", [ToolCall("a", "f"), Text("hi")])
def test_a_client_of_ours_keeps_a_neighbours_state_and_gives_it_back(part: Any) -> None:
    signed = {"gemini": {"thoughtSignature": "c2ln"}}
    part = msgspec.structs.replace(part, extra=signed)
    reply = Reply(parts=(Text("first"), part), stop=Stop("stop"))
    body = WIRE.write_reply(reply, ResponseContext(), [])
    for answer in (WIRE.read_reply(body, None), read(streamed(unfold(reply))[0])):
        assert [type(kept) for kept in answer.parts] == [Text, type(part)]
        notes: list[str] = []
        again = WIRE.write_messages((Message("assistant", answer.parts),), notes, Quirks())
        whole = [{key: value for key, value in block.items() if value not in (None, DIRECT)} for block in body["content"]]
        assert again[0]["content"] == whole
        assert WIRE.read_messages(again)[0].parts == reply.parts
        assert WIRE.write_reply(answer, ResponseContext(), notes)["content"] == body["content"]
        assert frames(streamed(unfold(answer))[0])[4]["content_block"] == body["content"][1]
        assert notes == []


def test_a_stream_without_a_start_gets_one() -> None:
    events: list[Event] = [Open(0, "text"), Delta(0, "x"), Close(0), Finish(Stop("stop"))]
    assert frames(streamed(events)[0])[0]["type"] == "message_start"
    assert frames(streamed([Finish(Stop("stop"))])[0])[0]["type"] == "message_start"


def test_a_fault_in_the_stream() -> None:
    data, _ = streamed([Start("m", "x"), Fault(UpstreamError("busy", 529, "overloaded_error"))])
    assert frames(data)[-1] == WIRE.write_error(UpstreamError("busy", 529))[1]
    assert read(data).error == UpstreamError("busy", 529, "overloaded_error")
