"""What a reader says becomes legal events."""

from __future__ import annotations

import pytest

from toolglot.core.events import Close, Delta, Fault, Finish, Open, Start
from toolglot.core.fold import fold
from toolglot.core.messages import Reasoning, Text, ToolCall
from toolglot.core.order import first_breach
from toolglot.core.reply import Reason, Stop, Usage
from toolglot.errors import UpstreamError
from toolglot.reading.blocks import Blocks

GONE = UpstreamError("gone")


def test_text_of_one_channel_is_one_block() -> None:
    blocks = Blocks()
    for piece, channel in (("", None), ("a", None), ("", None), ("b", None), ("", "json"), ("c", "json"), ("d", None)):
        blocks.text(piece, channel)
    blocks.finish("stop")
    assert fold(blocks.drain()).parts == (Text("ab"), Text("c", "json"), Text("d"))


def test_reasoning_and_text_close_each_other() -> None:
    blocks = Blocks()
    blocks.reasoning("hm")
    blocks.state({"w": {"signature": "s"}})
    blocks.text("a")
    blocks.reasoning("")
    blocks.finish("stop")
    events = blocks.drain()
    assert first_breach(events) is None
    assert fold(events).parts == (Reasoning("hm", {"w": {"signature": "s"}}), Text("a"))


def test_state_belongs_to_the_block_that_is_open() -> None:
    blocks = Blocks()
    blocks.open_text("json", {"w": {"a": 1}})
    blocks.state({"w": {"b": 2}})
    blocks.state({"w": {"b": 3}})
    blocks.end_block()
    blocks.end_block()
    blocks.text("x")
    blocks.finish("stop")
    assert fold(blocks.drain()).parts == (Text("", "json", {"w": {"a": 1, "b": 3}}), Text("x"))


def test_a_call_without_an_id_is_numbered_by_its_place() -> None:
    blocks = Blocks()
    for name, given in (("f", None), ("g", "own"), ("f", "")):
        blocks.close_call(blocks.open_call(name, given))
    blocks.part(ToolCall("whole", "h"))
    blocks.close_call(blocks.open_call("f"))
    blocks.finish("stop")
    assert [call.id for call in fold(blocks.drain()).calls] == ["f_0", "own", "f_2", "whole", "f_4"]


def test_a_call_is_closed_once() -> None:
    blocks = Blocks()
    index = blocks.open_call("f")
    blocks.close_call(index)
    blocks.close_call(index, sealed=False)
    blocks.finish("stop")
    events = blocks.drain()
    assert first_breach(events) is None
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
def test_the_reason_follows_the_calls(word: Reason, calls: list[bool], reason: Reason, notes: int) -> None:
    blocks = Blocks()
    for sealed in calls:
        blocks.close_call(blocks.open_call("f"), sealed=sealed)
    blocks.finish(word, "raw", Usage(1))
    reply = fold(blocks.drain())
    assert (reply.stop, reply.usage, len(reply.notes)) == (Stop(reason, "raw"), Usage(1), notes)


@pytest.mark.parametrize("fails", [False, True])
def test_what_is_open_at_the_end_is_cut_short(fails: bool) -> None:
    blocks = Blocks()
    blocks.text("a")
    blocks.open_call("f")
    blocks.text("b")
    blocks.fault(GONE) if fails else blocks.finish("stop")
    events = blocks.drain()
    assert first_breach(events) is None
    reply = fold(events)
    assert reply.parts == (Text("a"), ToolCall("f_0", "f", "", sealed=False), Text("b"))
    assert reply.calls == []


@pytest.mark.parametrize("fails", [False, True])
def test_who_holds_text_gives_it_before_the_end(fails: bool) -> None:
    blocks = Blocks()
    blocks.at_end.append(lambda: blocks.text("held"))
    blocks.fault(GONE) if fails else blocks.finish("stop")
    events = blocks.drain()
    assert first_breach(events) is None
    assert fold(events).text == "held"


def test_there_is_one_start_and_one_end() -> None:
    blocks = Blocks()
    blocks.start("a", "m", 1)
    blocks.start("b")
    blocks.finish("stop")
    blocks.finish("length")
    blocks.fault(GONE)
    assert blocks.drain() == [Start("a", "m", 1), Finish(Stop("stop"))]
    assert blocks.drain() == []
    assert blocks.ended


def test_a_start_is_made_up_where_none_was_told() -> None:
    blocks = Blocks()
    blocks.text("a")
    blocks.fault(GONE)
    assert blocks.drain() == [Start(), Open(0, "text"), Delta(0, "a"), Close(0), Fault(GONE)]
