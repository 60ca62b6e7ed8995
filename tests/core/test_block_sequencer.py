"""Interleaved blocks, one after another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolglot.core.event_order import first_order_error
from toolglot.core.events import Close, Delta, Event, Finish, Open, Start
from toolglot.core.fold import fold
from toolglot.core.reply import Stop
from toolglot.io.event_writer import BlockSequencer

END = Finish(Stop("calls"))


def through(events: list[Event]) -> list[Event]:
    stage = BlockSequencer()
    return [event for fed in events for event in stage.feed(fed)] + stage.close()


def test_the_first_block_is_emitted_and_the_others_wait() -> None:
    stage = BlockSequencer()
    a, b, c = (Open(index, "call", "f", str(index)) for index in range(3))
    assert stage.feed(Start()) == [Start()]
    assert stage.feed(a) == [a]
    assert stage.feed(b) == []
    assert stage.feed(Delta(0, "x")) == [Delta(0, "x")]
    assert stage.feed(Delta(1, "y")) == []
    assert stage.feed(Close(1)) == []
    assert stage.feed(c) == []
    assert stage.feed(Close(0)) == [Close(0), b, Delta(1, "y"), Close(1), c]
    assert stage.feed(Delta(2, "z")) == [Delta(2, "z")]
    assert stage.feed(Close(2)) == [Close(2)]
    assert stage.feed(END) == [END]
    assert stage.close() == []


def test_sequential_blocks_are_unchanged() -> None:
    events: list[Event] = [Start(), Open(0, "text"), Delta(0, "a"), Close(0), Open(1, "call", "f", "a"), Close(1), END]
    assert through(events) == events


def test_close_emits_everything() -> None:
    events: list[Event] = [Open(0, "text"), Open(1, "text"), Delta(1, "a"), Delta(0, "b")]
    assert sorted(map(repr, through(events))) == sorted(map(repr, events))


def interleaved(steps: list[tuple[int, bool]]) -> list[Event]:
    """Each step opens a block (0), or continues or closes one that is open."""
    events: list[Event] = [Start()]
    running: list[int] = []
    opened = 0
    for pick, closes in steps:
        if pick == 0 or not running:
            events.append(Open(opened, "call", "f", str(opened)))
            running.append(opened)
            opened += 1
        elif closes:
            events.append(Close(running.pop(pick % len(running))))
        else:
            events.append(Delta(running[pick % len(running)], f"{pick}."))
    return [*events, *map(Close, running), END]


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=40))
def test_any_interleaving(steps: list[tuple[int, bool]]) -> None:
    events = interleaved(steps)
    ordered = through(events)
    assert first_order_error(ordered) is None
    assert fold(ordered) == fold(events)
    edges = [event for event in ordered if isinstance(event, Open | Close)]
    assert all(isinstance(event, Open) == (at % 2 == 0) for at, event in enumerate(edges))
