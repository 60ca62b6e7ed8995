"""Ollama's replies as we write them, whole and streamed."""

from __future__ import annotations

import msgspec
import pytest

from tests.wires.test_ollama_stream import MEANT, WHOLE, read
from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.fold import fold, unfold
from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import Media, Opaque, Reasoning, Text, ToolCall
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.errors import UpstreamError
from toolglot.wires.ollama import WIRE


def write(events: list[Event], context: ResponseContext | None = None) -> tuple[bytes, list[str]]:
    notes: list[str] = []
    writer = WIRE.writer(context or ResponseContext(), notes)
    return b"".join(writer.feed(event) for event in events) + writer.close(), notes


def test_a_reply_comes_back_whole_and_streamed() -> None:
    extra = {"ollama": {"total_duration": 5, "logprobs": [{"token": "a"}], "message": {"mood": "good"}}}
    reply = msgspec.structs.replace(MEANT, extra=extra)
    notes: list[str] = []
    assert WIRE.read_reply(WIRE.write_reply(reply, ResponseContext(), notes), None) == reply
    data, more = write(list(unfold(reply)))
    for size in (1, 7, None):
        assert fold(read(data, size)) == reply
    assert notes == more == []


def test_the_whole_reply_is_written_as_the_server_does() -> None:
    durations = dict.fromkeys(("total_duration", "load_duration", "prompt_eval_duration", "eval_duration"), 0)
    assert WIRE.write_reply(MEANT, ResponseContext(), []) == {**WHOLE, **durations}
    context = ResponseContext(id="x", model="asked-for", created=1700000000)
    assert WIRE.write_reply(Reply(id="r", model="m", created=1), context, []) == {
        "model": "asked-for",
        "created_at": "2023-11-14T22:13:20Z",
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": "stop",
        **durations,
    }


def test_interleaved_blocks_keep_the_order_of_the_calls() -> None:
    events: list[Event] = [
        Start(model="m"),
        Open(0, "call", "f", "a"),
        Open(1, "call", "g", "b"),
        Open(2, "text"),
        Delta(1, '{"y":'),
        Delta(2, "meanwhile"),
        Delta(0, '{"x":1}'),
        Delta(1, "2}"),
        Close(1),
        Close(2),
        Close(0),
        Finish(Stop("calls")),
    ]
    data, notes = write(events)
    written = [msgspec.json.decode(line) for line in data.splitlines()]
    assert [line["message"].get("content") for line in written] == ["meanwhile", "", "", ""]
    calls = [call for line in written for call in line["message"].get("tool_calls", ())]
    assert calls == [
        {"id": "a", "function": {"index": 0, "name": "f", "arguments": {"x": 1}}},
        {"id": "b", "function": {"index": 1, "name": "g", "arguments": {"y": 2}}},
    ]
    assert [line["done"] for line in written] == [False, False, False, True]
    assert notes == []


def test_text_and_thinking_leave_at_once() -> None:
    writer = WIRE.writer(ResponseContext(), [])
    assert writer.feed(Start(model="m")) == writer.feed(Open(0, "reasoning")) == b""
    thought = msgspec.json.decode(writer.feed(Delta(0, "hm")))
    assert thought["message"] == {"role": "assistant", "content": "", "thinking": "hm"}
    writer.feed(Close(0))
    writer.feed(Open(1, "text"))
    assert msgspec.json.decode(writer.feed(Delta(1, "so")))["message"] == {"role": "assistant", "content": "so"}


LOST = Reply(
    parts=(
        Reasoning("t", {"anthropic": {"signature": "s"}}),
        Text("no", "refusal", {"openai-chat": {"annotations": []}}),
        ToolCall("a", "f", '{"x":', sealed=False),
        ToolCall("b", "g", "[1]"),
        Media("image", "image/png", "AA=="),
        Media("image", url="https://x/y.png"),
        Opaque("gemini", {"x": 1}),
    ),
    stop=Stop("filter"),
    usage=Usage(1, 2, cache_read=3, reasoning=4),
    extra={"openai": {"service_tier": "x"}},
)
NOTED = [
    "reasoning: ollama can't carry the signature or encrypted state of anthropic; left out",
    "text: annotations exists only on openai-chat; left out",
    "call a: it was cut short, and ollama has only complete calls; left out",
    "call b: its arguments are not a JSON object; sent as {}",
    "reply: ollama accepts image data, not a URL; left out",
    "reply: ollama has no place for a block that only gemini has; left out",
    "reply: service_tier exists only on openai; left out",
    "stop reason filter: ollama has no value for it; written as stop",
    "usage cache_read, reasoning: ollama reports only input and output; left out",
]


def test_what_a_reply_can_not_carry_is_noted_alike_whole_and_streamed() -> None:
    notes: list[str] = []
    whole = WIRE.read_reply(WIRE.write_reply(LOST, ResponseContext(), notes), None)
    data, streamed = write(list(unfold(LOST)))
    assert notes == streamed == NOTED
    for reply in (whole, fold(read(data))):
        assert (reply.text, reply.reasoning, [call.id for call in reply.calls]) == ("no", "t", ["b"])
        assert [part.data for part in reply.parts if isinstance(part, Media)] == ["AA=="]


@pytest.mark.parametrize(
    ("stop", "word"),
    [
        (Stop("stop"), "stop"),
        (Stop("calls", "tool_use"), "stop"),
        (Stop("length"), "length"),
        (Stop("stop_sequence", "stop_sequence"), "stop"),
        (Stop("pause"), "stop"),
        (Stop("error"), "error"),
        (Stop("other"), "stop"),
        (Stop("other", "load"), "load"),
    ],
)
def test_every_stop_has_a_word(stop: Stop, word: str) -> None:
    assert WIRE.write_reply(Reply(stop=stop), ResponseContext(), [])["done_reason"] == word


def test_a_fault_is_one_line_with_a_string() -> None:
    data, _ = write([Start(), Open(0, "text"), Delta(0, "x"), Close(0), Fault(UpstreamError("gone", 503))])
    assert msgspec.json.decode(data.splitlines()[-1]) == {"error": "gone"}
    assert data.endswith(b"\n")


def test_separators_of_lines_are_escaped() -> None:
    odd = "a\u2028b\u2029c\u0085d\r\n\x0be"
    data, _ = write(
        list(unfold(Reply(parts=(Text(odd), ToolCall("a", "f", msgspec.json.encode({"x": odd}).decode())), stop=Stop("calls"))))
    )
    assert len(data.decode().splitlines()) == 3
    reply = fold(read(data))
    assert (reply.text, reply.calls[0].arguments) == (odd, {"x": odd})


def test_a_namespace_goes_into_the_name() -> None:
    reply = Reply(parts=(ToolCall("a", "find", namespace="crm"),), stop=Stop("calls"))
    whole = WIRE.read_reply(WIRE.write_reply(reply, ResponseContext(), []), None)
    streamed = fold(read(write(list(unfold(reply)))[0]))
    assert [call.name for call in (*whole.calls, *streamed.calls)] == ["crm__find", "crm__find"]
