"""Damage done to true streams and requests: nothing raises but CallerError, order stays legal, text is not lost."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cutting import cut
from tests.wires.chat_pieces import END, PARTIAL, chunk, stream
from tests.wires.test_openai_chat import FULL
from tests.wires.test_openai_chat_stream import OPENROUTER
from toolglot.core.event_order import first_order_error
from toolglot.core.events import Event
from toolglot.core.fold import fold
from toolglot.core.interfaces import Quirks, ResponseContext
from toolglot.core.names import sanitize_names
from toolglot.core.request import Request
from toolglot.errors import CallerError
from toolglot.evaluation.counted import lines_run
from toolglot.wires.openai_chat import WIRE

STRANGE: list[Any] = [
    None,
    "",
    "x",
    0,
    -1,
    1.5,
    1e400,
    True,
    [],
    {},
    [None],
    [[]],
    {"a": 1},
    {"error": {}},
    "null",
    2**70,
    "\ud800",
]
CALLS = [
    chunk({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": piece}}]}) for piece in ('{"x"', ":1}")
]
CHUNKS: list[list[Any]] = [
    [chunk({"role": "assistant", "content": "one"}), chunk({"content": "two"}), *CALLS, {**END, "usage": {"prompt_tokens": 1}}],
    [chunk({"reasoning": "hm", "reasoning_details": [{"type": "t", "text": "hm", "index": 0}]}), chunk({"content": "so"}), END],
    [*PARTIAL, chunk({"function_call": {"name": "g", "arguments": "{}"}}), {"error": {"code": 502, "message": "gone"}}],
    [
        chunk({"tool_calls": [{"index": 0, "id": "c", "custom": {"name": "sql", "input": "x"}}]}),
        chunk({}, finish_reason="length"),
    ],
]


Path = tuple[str | int, ...]


def places(value: Any, path: Path = ()) -> list[Path]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, held in inner for found in ((*path, key), *places(held, (*path, key)))]


def hurt(value: Any, path: tuple[Any, ...], how: str, strange: Any) -> Any:
    """`value` with what is at `path` replaced, removed or doubled."""
    key, rest = path[0], path[1:]
    copy: Any = value.copy()
    if rest:
        copy[key] = hurt(copy[key], rest, how, strange)
    elif how == "remove":
        del copy[key]
    elif how == "double" and isinstance(copy, list):
        copy.insert(int(key), copy[key])
    else:
        copy[key] = strange
    return copy


def drawn(value: Any, data: st.DataObject, times: int) -> Any:
    for _ in range(times):
        path = data.draw(st.sampled_from(places(value)))
        how = data.draw(st.sampled_from(["replace", "remove", "double"]))
        value = hurt(value, path, how, data.draw(st.sampled_from(STRANGE)))
        if not value:
            break
    return value


def check(data: bytes, size: int | None) -> None:
    reader = WIRE.reader(None)
    events: list[Event] = [event for piece in cut(data, size) for event in reader.feed(piece)]
    events += reader.close()
    assert first_order_error(events) is None
    reply = fold(events)
    writer, notes = WIRE.writer(ResponseContext(), []), list[str]()
    for event in events:
        writer.feed(event)
    WIRE.write_reply(reply, ResponseContext(), notes)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(CHUNKS), st.sampled_from([1, 7, None]), st.data())
def test_damaged_chunks(chunks: list[Any], size: int | None, data: st.DataObject) -> None:
    check(stream(*drawn(chunks, data, 2)), size)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(CHUNKS), st.data())
def test_damaged_replies(chunks: list[Any], data: st.DataObject) -> None:
    for held in chunks:
        whole = json.loads(json.dumps(held).replace('"delta"', '"message"'))
        reply = WIRE.read_reply(drawn(whole, data, 2), None)
        WIRE.write_reply(reply, ResponseContext(), [])


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([OPENROUTER, *(stream(*chunks) for chunks in CHUNKS)]),
    st.lists(st.tuples(st.integers(0), st.binary(max_size=3), st.integers(0, 4)), min_size=1, max_size=4),
)
def test_damaged_bytes(data: bytes, damage: list[tuple[int, bytes, int]]) -> None:
    for at, put, taken in damage:
        at %= len(data) or 1
        data = data[:at] + put + data[at + taken :]
    check(data, None)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=12), max_size=6), st.sampled_from([1, 2, 5, None]))
def test_no_character_is_lost(pieces: list[str], size: int | None) -> None:
    reader = WIRE.reader(None)
    data = stream(*(chunk({"content": piece}) for piece in pieces), END)
    events = [event for piece in cut(data, size) for event in reader.feed(piece)] + reader.close()
    assert fold(events).text == "".join(pieces)


@settings(max_examples=500, deadline=None)
@given(st.data())
def test_damaged_requests_are_read_or_refused(data: st.DataObject) -> None:
    body = drawn(FULL, data, 2)
    try:
        request = WIRE.read_request(body)
    except CallerError as error:
        key = re.split(r"[.\[]", error.where)[0]
    else:
        key = None
        if "\ud800" not in str(body) and "inf" not in str(body):  # these can't be copied by way of JSON's types
            assert msgspec.convert(msgspec.to_builtins(request), Request) == request
        WIRE.write_request(sanitize_names(request, WIRE.names), [], Quirks())
    assert key is None or key in body


def test_many_calls_are_read_in_linear_work() -> None:
    def reply(number: int) -> dict[str, Any]:
        function = {"name": "f", "arguments": "{}"}
        calls = [{"id": f"c{at}", "type": "function", "function": function} for at in range(number)]
        return {"choices": [{"message": {"role": "assistant", "tool_calls": calls}, "finish_reason": "tool_calls"}]}

    few, many = (lines_run(partial(WIRE.read_events, reply(number))) for number in (200, 800))
    assert many < 5 * few
