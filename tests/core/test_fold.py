"""fold and unfold: a reply is its events, and back."""

from __future__ import annotations

import pytest

from toolglot.core.event_order import first_order_error
from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.fold import fold, merge_extra, unfold
from toolglot.core.messages import Extra, Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from toolglot.core.reply import Decision, Reply, Stop, Usage
from toolglot.errors import UpstreamError

SIGNED: Extra = {"anthropic": {"signature": "s"}}
PARTS: dict[str, Part] = {
    "text": Text("hello", extra={"openai-chat": {"annotations": [1]}}),
    "json": Text('{"a":1}', "json"),
    "refusal": Text("no", "refusal"),
    "reasoning": Reasoning("hm", SIGNED),
    "signed silence": Reasoning("", SIGNED),
    "call": ToolCall("call_1", "f", '{"x":1}', extra={"gemini": {"thoughtSignature": "t"}}),
    "namespaced call": ToolCall("call_1", "f", "{}", "ns"),
    "custom call": ToolCall("call_1", "sql", '{"input":"select 1"}', custom=True),
    "cut call": ToolCall("call_1", "f", '{"x":', sealed=False),
    "rescued call": ToolCall("call_1", "f", "{}", source="hermes"),
    "image": Media("image", "image/png", "AA==", extra=SIGNED),
    "file with a name": Media("file", "application/pdf", "AA==", name="a.pdf"),
    "audio without a type": Media("audio", data="AA=="),
    "image by address": Media("image", url="https://example.org/a,b.png", name="b"),
    "file by data address": Media("file", url="data:text/plain,hello"),
    "opaque": Opaque("gemini", {"executableCode": {"code": "1"}}),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_part_is_its_events(name: str) -> None:
    reply = Reply(parts=(PARTS[name],), stop=Stop("stop"))
    events = list(unfold(reply))
    assert first_order_error(events) is None
    assert fold(events) == reply


def test_a_reply_is_its_events() -> None:
    reply = Reply(
        "id",
        "model",
        tuple(PARTS.values()),
        Stop("calls", "tool_calls"),
        Usage(1, 2, 3, 4, 5),
        7,
        ("a note",),
        (Decision("code", "message"),),
        extra={"openai-chat": {"service_tier": "default"}},
    )
    assert fold(unfold(reply)) == reply
    assert reply.text == 'hello{"a":1}no'
    assert reply.reasoning == "hm"
    assert [call.sealed for call in reply.calls] == [True] * 4


def test_a_broken_reply_keeps_the_parts_before_the_error() -> None:
    error = UpstreamError("gone", 502, "gone")
    reply = Reply("id", parts=(Text("half"),), stop=Stop("error", "gone"), error=error, notes=("n",))
    assert fold(unfold(reply)) == reply


def test_interleaved_blocks_are_put_together_by_index() -> None:
    events: list[Event] = [
        Start("id"),
        Open(0, "call", "f", "a"),
        Open(1, "call", "g", "b"),
        Delta(0, '{"x"'),
        Delta(1, "{"),
        Delta(0, ":1}"),
        Close(1, sealed=False, decisions=(Decision("d", "m"),)),
        Close(0, extra=SIGNED),
        Finish(Stop("calls"), decisions=(Decision("e", "m"),)),
    ]
    reply = fold(events)
    assert reply.parts == (ToolCall("a", "f", '{"x":1}', extra=SIGNED), ToolCall("b", "g", "{", sealed=False))
    assert [decision.code for decision in reply.decisions] == ["d", "e"]
    assert [call.id for call in reply.calls] == ["a"]


def test_a_stream_that_stops_anywhere_folds() -> None:
    events = list(unfold(Reply("id", parts=tuple(PARTS.values()), stop=Stop("stop"))))
    for end in range(len(events)):
        reply = fold(events[:end])
        assert reply.stop is None
        assert all(call.sealed for call in reply.calls)


def test_a_fault_becomes_the_error() -> None:
    error = UpstreamError("gone", code="stream_truncated")
    reply = fold([Start(), Fault(error, (Decision("d", "m"),), ("n",))])
    assert (reply.error, reply.stop, reply.notes) == (error, Stop("error", "stream_truncated"), ("n",))
    assert len(reply.decisions) == 1


def test_a_result_is_not_part_of_a_reply() -> None:
    with pytest.raises(TypeError, match="ToolResult"):
        list(unfold(Reply(parts=(ToolResult("a"),))))


def test_opaque_text_that_is_not_an_object_is_kept() -> None:
    for text, block in (("[1]", {"value": [1]}), ("{", {"text": "{"})):
        assert fold([Open(0, "opaque", "w"), Delta(0, text), Close(0)]).parts == (Opaque("w", block),)


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        ({}, {}, {}),
        ({"a": {"x": 1}}, {}, {"a": {"x": 1}}),
        ({}, {"a": {"x": 1}}, {"a": {"x": 1}}),
        ({"a": {"x": 1, "y": 1}}, {"a": {"x": 2}, "b": {"z": 3}}, {"a": {"x": 2, "y": 1}, "b": {"z": 3}}),
    ],
)
def test_join_extra(first: Extra, second: Extra, joined: Extra) -> None:
    kept = {wire: dict(fields) for wire, fields in first.items()}
    assert merge_extra(first, second) == joined
    assert first == kept
