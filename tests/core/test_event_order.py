"""What a legal stream is."""

from __future__ import annotations

import pytest

from toolglot.core.event_order import OrderChecker, first_order_error
from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.reply import Stop
from toolglot.errors import UpstreamError

END = Finish(Stop("stop"))
FAULT = Fault(UpstreamError("x"))
TEXT = Open(0, "text")
CALL = Open(1, "call", "f", "a")

LEGAL: dict[str, list[Event]] = {
    "empty": [Start(), END],
    "no start": [TEXT, Delta(0, "a"), Close(0), END],
    "only an end": [END],
    "a fault": [Start(), TEXT, Close(0), FAULT],
    "interleaved": [Start(), TEXT, CALL, Delta(1, "{}"), Delta(0, "a"), Close(1), Delta(0, "b"), Close(0), END],
}
ILLEGAL: dict[str, tuple[list[Event], str]] = {
    "nothing": ([], "no Finish"),
    "no end": ([Start()], "no Finish"),
    "two starts": ([Start(), Start()], "Start can't come in state running"),
    "a late start": ([TEXT, Start()], "Start can't come"),
    "a delta first": ([Delta(0, "a")], "Delta can't come in state new"),
    "a closed block": ([TEXT, Close(0), Delta(0, "a")], "Delta for block 0, which is not open"),
    "closed twice": ([TEXT, Close(0), Close(0)], "Close for block 0"),
    "a gap": ([TEXT, Open(2, "text")], "block 2 opened, 1 was expected"),
    "an index again": ([TEXT, Close(0), TEXT], "block 0 opened, 1 was expected"),
    "open at the end": ([TEXT, CALL, END], "open blocks [0, 1]"),
    "open at the fault": ([TEXT, FAULT], "open blocks [0]"),
    "after the end": ([END, END], "Finish can't come in state ended"),
    "after the fault": ([FAULT, Start()], "Start can't come in state ended"),
}


@pytest.mark.parametrize("name", LEGAL)
def test_legal(name: str) -> None:
    assert first_order_error(LEGAL[name]) is None


@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal(name: str) -> None:
    events, problem = ILLEGAL[name]
    assert problem in (first_order_error(events) or "")


def test_a_stream_may_still_be_running() -> None:
    assert first_order_error([Start(), TEXT], ended=False) is None


def test_fed_one_by_one() -> None:
    order = OrderChecker()
    assert [order.feed(event) for event in LEGAL["interleaved"]] == [None] * 9
    assert order.state == "ended"
