"""Laws 2 to 4: any split gives the same fold; a whole reply equals its stream; the order is always legal."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_each import for_each
from tests.laws.conversations import CUTS, PAIRS, body, events, meaning, pieces, stream, the_wire
from tests.laws.losses import declared, differences, undeclared
from toolglot.core.event_order import first_order_error
from toolglot.core.events import Fault, Finish
from toolglot.core.fold import fold, unfold
from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import Message, Reasoning, Text, ToolCall
from toolglot.core.reply import Reply, Stop
from toolglot.core.request import Request
from toolglot.io.json_codec import encode
from toolglot.pipeline.request.request_bytes import write_request_bytes
from toolglot.pipeline.request.route import wire_format
from toolglot.pipeline.response.restore_names import restore_reply
from toolglot.wires import NAMES


def folded(wire: str, data: bytes, size: int | None = None) -> Reply:
    return fold(events(wire, pieces(data, size or len(data) or 1)))


@for_each(("case", "wire"), PAIRS)
def test_a_stream_is_read_with_its_meaning(case: str, wire: str) -> None:
    expected = meaning(case)
    reader = the_wire(wire).reader("json" if expected.request.output else None)
    read = fold([*reader.feed(stream(case, wire)), *reader.close()])
    read = restore_reply(read, expected.request.tools, the_wire(wire).names)
    assert undeclared(differences(expected.reply, read, "reply"), declared(case, wire)) == set()


@for_each(("case", "wire"), PAIRS)
def test_any_split_gives_the_same_fold(case: str, wire: str) -> None:
    whole = folded(wire, stream(case, wire))
    for size in CUTS:
        assert folded(wire, stream(case, wire), size) == whole


@for_each(("case", "wire"), PAIRS)
def test_event_by_event_gives_the_same_fold(case: str, wire: str) -> None:
    data = stream(case, wire)
    assert fold(events(wire, iter(data.splitlines(keepends=True)))) == folded(wire, data)
    assert fold(events(wire, (event + b"\n\n" for event in data.split(b"\n\n") if event))) == folded(wire, data)


@given(st.sampled_from(PAIRS), st.lists(st.integers(0, 4000), max_size=12))
def test_cuts_at_random_places_give_the_same_fold(pair: tuple[str, str], cuts: list[int]) -> None:
    case, wire = pair
    data = stream(case, wire)
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    cut = (data[a:b] for a, b in itertools.pairwise(places))
    assert fold(events(wire, cut)) == folded(wire, data)


@for_each(("case", "wire"), PAIRS)
def test_a_whole_reply_equals_its_stream(case: str, wire: str) -> None:
    whole = the_wire(wire).read_reply(body(case, wire, "reply"), None)
    streamed = folded(wire, stream(case, wire))
    assert _essence(whole) == _essence(streamed)


def _essence(reply: Reply) -> Reply:
    """Without what a provider adds to one form only (fingerprints, item ids)."""
    parts: list[Any] = [msgspec.structs.replace(part, extra={}) if hasattr(part, "extra") else part for part in reply.parts]
    parts = [
        part for part in parts if not isinstance(part, ToolCall) or part.sealed
    ]  # a call cut short: streams show more of it
    usage = msgspec.structs.replace(reply.usage, extra={}) if reply.usage else None
    return msgspec.structs.replace(reply, parts=tuple(parts), extra={}, usage=usage, created=None)


@for_each(("case", "wire"), PAIRS)
def test_what_is_written_whole_and_streamed_is_the_same(case: str, wire: str) -> None:
    reply, tools = meaning(case).reply, meaning(case).request.tools
    writer = the_wire(wire).writer(ResponseContext(), [])
    data = b"".join(writer.feed(event) for event in unfold(reply)) + writer.close()
    whole = the_wire(wire).read_reply(the_wire(wire).write_reply(reply, ResponseContext(), []), None)
    streamed = restore_reply(folded(wire, data, 7), tools, the_wire(wire).names)
    assert [call.arguments for call in whole.calls] == [call.arguments for call in streamed.calls]
    assert undeclared(differences(reply, streamed, "reply"), declared(case, wire) | {"reply.parts.*.channel"}) == set()


@for_each(("case", "wire"), PAIRS)
def test_a_stream_cut_short_is_a_fault_in_legal_order(case: str, wire: str) -> None:
    data = stream(case, wire)
    whole = folded(wire, data)
    for end in range(0, len(data), max(1, len(data) // 60)):
        found = events(wire, iter([data[:end]]))
        assert first_order_error(found) is None
        assert isinstance(found[-1], Finish | Fault)
        if isinstance(found[-1], Finish):  # only an optional end marker (`[DONE]`, a blank line) was missing
            assert _essence(fold(found)).parts == _essence(whole).parts


@pytest.mark.parametrize("wire", NAMES)
def test_nothing_that_ends_a_line_for_some_reader_is_written_raw(wire: str) -> None:
    """Line and paragraph separators: Python's splitlines ends lines there, and so do the SDKs that use it."""
    odd = "a\u2028b\u2029c\x85d"
    call = ToolCall("c1", "f", '{"x": "' + odd + '"}')
    reply = Reply("r", "m", (Reasoning(odd), Text(odd), call), Stop("calls"))
    context = ResponseContext("r", "m", 1)
    writer = the_wire(wire).writer(context, [])
    data = b"".join([*(writer.feed(event) for event in unfold(reply)), writer.close()])
    whole = encode(the_wire(wire).write_reply(reply, context, []))
    request = Request("m", (Message("user", (Text(odd),)), Message("assistant", (call,))))
    sent = write_request_bytes(request, wire_format(wire), [])
    for written in (data, whole, sent):
        text = written.decode()
        assert not set("\u2028\u2029\x85") & set(text)
    assert fold(events(wire, iter([data]))).text == odd
