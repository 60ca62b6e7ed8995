"""OpenAI Responses: its stream and its whole replies, written."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.wires.responses_pieces import MEANT, read
from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.fold import fold, unfold
from toolglot.core.interfaces import Quirks, ResponseContext
from toolglot.core.messages import Media, Message, Opaque, Reasoning, Text, ToolCall
from toolglot.core.reply import Reply, Stop
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool
from toolglot.errors import UpstreamError
from toolglot.wires.openai_responses import WIRE


def streamed(reply: Reply, context: ResponseContext | None = None) -> bytes:
    writer = WIRE.writer(context or ResponseContext(), [])
    return b"".join(writer.feed(event) for event in unfold(reply)) + writer.close()


def told(data: bytes) -> list[dict[str, Any]]:
    found = []
    for frame in data.decode().strip().split("\n\n"):
        name, body = frame.split("\n")
        found.append(msgspec.json.decode(body.removeprefix("data: ")))
        assert name == f"event: {found[-1]['type']}"
    return found


def test_what_is_written_is_read_again() -> None:
    data = streamed(MEANT)
    assert fold(read(data, 5)) == MEANT
    assert WIRE.read_reply(WIRE.write_reply(MEANT, ResponseContext(), []), None) == MEANT
    events = told(data)
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[-1]["response"] == WIRE.write_reply(MEANT, ResponseContext(), [])


def test_every_event_of_every_kind() -> None:
    reply = Reply(
        "resp_1",
        "m",
        (
            Reasoning("hm"),
            Text("a"),
            Text("no", "refusal"),
            ToolCall("1", "f", "{}"),
            ToolCall("2", "g", '{"input":"x"}', custom=True),
        ),
        Stop("calls"),
    )
    assert [event["type"].removeprefix("response.") for event in told(streamed(reply))] == [
        "created", "in_progress",
        "output_item.added", "reasoning_summary_part.added", "reasoning_summary_text.delta",
        "reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done",
        "output_item.added", "content_part.added", "output_text.delta", "output_text.done", "content_part.done",
        "output_item.done",
        "output_item.added", "content_part.added", "refusal.delta", "refusal.done", "content_part.done", "output_item.done",
        "output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done",
        "output_item.added", "custom_tool_call_input.delta", "custom_tool_call_input.done", "output_item.done",
        "completed",
    ]  # fmt: skip
    assert fold(read(streamed(reply))).parts == reply.parts


def test_blocks_that_interleave_keep_their_places() -> None:
    events: list[Event] = [
        Start("resp_1", "m"),
        Open(0, "call", "f", "1", namespace="ns"),
        Open(1, "call", "g", "2", custom=True),
        Open(2, "text"),
        Delta(1, '{"input":'),
        Delta(0, '{"x":'),
        Delta(2, "a"),
        Delta(0, "1}"),
        Delta(1, '"y"}'),
        Close(0),
        Close(2),
        Close(1),
        Finish(Stop("calls")),
    ]
    writer = WIRE.writer(ResponseContext(), [])
    data = b"".join(map(writer.feed, events))
    found = fold(read(data))
    assert {(part.namespace, part.name, part.arguments_json) for part in found.calls} == {
        ("ns", "f", '{"x":1}'),
        (None, "g", '{"input":"y"}'),
    }
    assert found.text == "a"
    places = [event["output_index"] for event in told(data) if event["type"] == "response.output_item.added"]
    assert places == [0, 1, 2]
    assert [item["type"] for item in told(data)[-1]["response"]["output"]] == ["function_call", "custom_tool_call", "message"]


def test_state_of_others_travels_under_seal() -> None:
    reply = Reply("resp_1", parts=(Reasoning("hm", {"anthropic": {"signature": "s"}}),), stop=Stop("stop"))
    item = told(streamed(reply))[-1]["response"]["output"][0]
    assert WIRE.read_messages([item])[0].parts == reply.parts
    writer = WIRE.writer(ResponseContext(), [])
    late = Close(0, extra={"gemini": {"thoughtSignature": "t"}})
    events: list[Event] = [Start("resp_1"), Open(0, "text"), Delta(0, "a"), late, Finish(Stop("stop"))]
    data = b"".join(map(writer.feed, events))
    back = WIRE.read_messages(told(data)[-1]["response"]["output"])
    assert back[0].parts == (Text("a", extra={"gemini": {"thoughtSignature": "t"}}),)


def test_a_signature_seen_as_a_client_stays_with_its_call() -> None:
    signed = Reply("r", parts=(ToolCall("1", "f", extra={"gemini": {"thoughtSignature": "t"}}),), stop=Stop("calls"))
    for reply in (fold(read(streamed(signed))), WIRE.read_reply(WIRE.write_reply(signed, ResponseContext(), []), None)):
        assert [type(part) for part in reply.parts] == [ToolCall]
        items = WIRE.write_messages((Message("assistant", reply.parts),), [], Quirks())
        assert [item["type"] for item in items] == ["reasoning", "function_call"]
        assert WIRE.read_messages(items)[0].parts == signed.parts


def test_parts_of_one_item_are_items_of_their_own_in_a_reply() -> None:
    same = {"openai-responses": {"id": "msg_1"}}
    reply = Reply("resp_1", "m", (Text("a", extra=same), Text("b", extra=same)), Stop("stop"))
    items = WIRE.write_reply(reply, ResponseContext(), [])["output"]
    assert [item["id"] for item in items] == ["msg_1", "msg_tg_1_1"]
    assert told(streamed(reply))[-1]["response"]["output"] == items


def test_a_fault_ends_the_stream_as_failed() -> None:
    writer = WIRE.writer(ResponseContext(), [])
    begun = writer.feed(Start("resp_1")) + writer.feed(Open(0, "text")) + writer.feed(Delta(0, "a")) + writer.feed(Close(0))
    last = told(begun + writer.feed(Fault(UpstreamError("busy", 529, "overloaded_error"))))[-1]
    assert last["type"] == "response.failed"
    assert last["response"]["status"] == "failed"
    assert last["response"]["error"]["code"] == "server_error"
    assert last["response"]["output"][0]["content"][0]["text"] == "a"
    assert told(WIRE.writer(ResponseContext(), []).feed(Fault(UpstreamError("no", 429))))[-1]["response"]["error"]["code"] == (
        "rate_limit_exceeded"
    )


def test_what_has_no_place_in_a_reply_is_noted() -> None:
    notes: list[str] = []
    cited = Text("a", extra={"anthropic": {"citations": []}})
    reply = Reply("r", parts=(Media("file", url="http://a/b"), Opaque("gemini", {"type": "x"}), cited), stop=Stop("stop"))
    assert [item["type"] for item in WIRE.write_reply(reply, ResponseContext(), notes)["output"]] == ["message"]
    assert notes == [
        "reply: openai-responses has no place for audio, a file or a URL; left out",
        "a block that only gemini has (x) was left out",
        "text: citations exists only on anthropic; left out",
    ]
    again: list[str] = []
    writer = WIRE.writer(ResponseContext(), again)
    for event in unfold(reply):
        writer.feed(event)
    assert again == notes


def test_the_response_echoes_its_request() -> None:
    request = Request(
        "asked-for",
        (Message("system", (Text("Be brief."),)),),
        (Tool("f", schema={"type": "object"}),),
        Choice("required", ("f",)),
        parallel=False,
        max_tokens=7,
        extra={"openai": {"metadata": {"a": "b"}}},
    )
    body = WIRE.write_reply(MEANT, ResponseContext("resp_2", "shown", 5, request=request), [])
    assert (body["id"], body["model"], body["created_at"]) == ("resp_2", "shown", 5)
    assert (body["instructions"], body["max_output_tokens"], body["parallel_tool_calls"]) == ("Be brief.", 7, False)
    assert body["tool_choice"] == {"type": "function", "name": "f"}
    assert (body["tools"][0]["name"], body["metadata"]) == ("f", {"a": "b"})
    assert told(streamed(MEANT, ResponseContext("resp_2", "shown", 5, request=request)))[-1]["response"] == body


@pytest.mark.parametrize("kind", [[[]], {"type": "object"}, 7, None])
def test_an_item_of_no_known_type_is_written(kind: Any) -> None:
    written = told(streamed(Reply("resp_1", "m", (Opaque(WIRE.name, {"type": kind, "status": "completed"}),), Stop("stop"))))
    assert written[-1]["response"]["output"][0]["type"] == kind
