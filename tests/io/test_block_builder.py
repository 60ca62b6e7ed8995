"""BlockBuilder turns a reader's calls into legal events."""

from __future__ import annotations

import pytest

from toolglot.core.event_order import first_order_error
from toolglot.core.events import Close, Delta, Fault, Finish, Open, Start
from toolglot.core.fold import fold
from toolglot.core.messages import Reasoning, Text, ToolCall
from toolglot.core.reply import Stop, StopReason, Usage
from toolglot.errors import UpstreamError
from toolglot.io.block_builder import BlockBuilder

GONE = UpstreamError("gone")


def test_text_of_one_channel_is_one_block() -> None:
    blocks = BlockBuilder()
    for piece, channel in (("", None), ("a", None), ("", None), ("b", None), ("", "json"), ("c", "json"), ("d", None)):
        blocks.text(piece, channel)
    blocks.finish("stop")
    assert fold(blocks.take_events()).parts == (Text("ab"), Text("c", "json"), Text("d"))


def test_reasoning_and_text_close_each_other() -> None:
    blocks = BlockBuilder()
    blocks.reasoning("hm")
    blocks.add_extra({"w": {"signature": "s"}})
    blocks.text("a")
    blocks.reasoning("")
    blocks.finish("stop")
    events = blocks.take_events()
    assert first_order_error(events) is None
    assert fold(events).parts == (Reasoning("hm", {"w": {"signature": "s"}}), Text("a"))


def test_extra_is_added_to_the_open_block() -> None:
    blocks = BlockBuilder()
    blocks.open_text("json", {"w": {"a": 1}})
    blocks.add_extra({"w": {"b": 2}})
    blocks.add_extra({"w": {"b": 3}})
    blocks.end_block()
    blocks.end_block()
    blocks.text("x")
    blocks.finish("stop")
    assert fold(blocks.take_events()).parts == (Text("", "json", {"w": {"a": 1, "b": 3}}), Text("x"))


def test_a_call_without_an_id_is_numbered_by_its_position() -> None:
    blocks = BlockBuilder()
    for name, call_id in (("f", None), ("g", "sent"), ("f", "")):
        blocks.close_call(blocks.open_call(name, call_id))
    blocks.part(ToolCall("whole", "h"))
    blocks.close_call(blocks.open_call("f"))
    blocks.finish("stop")
    assert [call.id for call in fold(blocks.take_events()).calls] == ["f_0", "sent", "f_2", "whole", "f_4"]


def test_a_call_is_closed_once() -> None:
    blocks = BlockBuilder()
    index = blocks.open_call("f")
    blocks.close_call(index)
    blocks.close_call(index, sealed=False)
    blocks.finish("stop")
    events = blocks.take_events()
    assert first_order_error(events) is None
    assert [call.sealed for call in fold(events).calls] == [True]


@pytest.mark.parametrize(
    ("word", "calls", "reason", "notes"),
    [
        ("stop", [], "stop", 0),
        ("stop", [True], "calls", 0),
        ("calls", [True], "calls", 0),
        ("calls", [], "stop", 1),
        ("calls", [False], "length", 0),
        ("stop", [True, False], "length", 0),
        ("stop_sequence", [], "stop_sequence", 0),
        ("length", [True], "length", 0),
        ("filter", [True], "filter", 0),
        ("other", [], "other", 0),
    ],
)
def test_the_stop_reason_follows_the_calls(word: StopReason, calls: list[bool], reason: StopReason, notes: int) -> None:
    blocks = BlockBuilder()
    for sealed in calls:
        blocks.close_call(blocks.open_call("f"), sealed=sealed)
    blocks.finish(word, "raw", Usage(1))
    reply = fold(blocks.take_events())
    assert (reply.stop, reply.usage, len(reply.notes)) == (Stop(reason, "raw"), Usage(1), notes)


@pytest.mark.parametrize("fails", [False, True])
def test_blocks_open_at_the_end_are_incomplete(fails: bool) -> None:
    blocks = BlockBuilder()
    blocks.text("a")
    blocks.open_call("f")
    blocks.text("b")
    blocks.fail(GONE) if fails else blocks.finish("stop")
    events = blocks.take_events()
    assert first_order_error(events) is None
    reply = fold(events)
    assert reply.parts == (Text("a"), ToolCall("f_0", "f", "", sealed=False), Text("b"))
    assert reply.calls == []


@pytest.mark.parametrize("fails", [False, True])
def test_buffered_text_is_emitted_before_the_end(fails: bool) -> None:
    blocks = BlockBuilder()
    blocks.at_end.append(lambda: blocks.text("buffered"))
    blocks.fail(GONE) if fails else blocks.finish("stop")
    events = blocks.take_events()
    assert first_order_error(events) is None
    assert fold(events).text == "buffered"


def test_there_is_one_start_and_one_end() -> None:
    blocks = BlockBuilder()
    blocks.start("a", "m", 1)
    blocks.start("b")
    blocks.finish("stop")
    blocks.finish("length")
    blocks.fail(GONE)
    assert blocks.take_events() == [Start("a", "m", 1), Finish(Stop("stop"))]
    assert blocks.take_events() == []
    assert blocks.ended


def test_a_missing_start_is_added() -> None:
    blocks = BlockBuilder()
    blocks.text("a")
    blocks.fail(GONE)
    assert blocks.take_events() == [Start(), Open(0, "text"), Delta(0, "a"), Close(0), Fault(GONE)]
