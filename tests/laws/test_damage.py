"""Law 5: damaged input never raises, stays in order, and loses no text. The damage is applied to real fixtures, not noise."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws.conversations import PAIRS, body, events, pieces, stream, the_wire
from toolglot import convert
from toolglot.core.event_order import first_order_error
from toolglot.core.fold import fold
from toolglot.errors import CallerError
from toolglot.wires import NAMES

# what a faulty server or proxy puts in place of a value
STRANGE: list[Any] = [None, "", "x", 0, -1, 1.5, True, [], {}, [None], [[]], {"type": "x"}, {"error": None}, "null", 2**70]


def damaged(value: Any, choose: Any) -> Any:
    """`value` with one thing inside it removed, replaced, doubled or renamed."""
    places = _places(value)
    if not places:
        return value
    path = choose(st.sampled_from(places))
    what = choose(st.sampled_from(["replace", "remove", "double", "rename"]))
    return _changed(value, path, what, choose(st.sampled_from(STRANGE)))


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in inner for found in ((*path, key), *_places(item, (*path, key)))]


def _changed(value: Any, path: tuple[Any, ...], what: str, strange: Any) -> Any:
    key, rest = path[0], path[1:]
    copy = dict(value) if isinstance(value, dict) else list(value)
    if rest:
        copy[key] = _changed(copy[key], rest, what, strange)
    elif what == "replace":
        copy[key] = strange
    elif what == "remove":
        del copy[key]
    elif isinstance(copy, list):
        copy.insert(key, copy[key])
    elif what == "rename":
        copy[f"{key}_"] = copy.pop(key)
    return copy


@settings(max_examples=600)
@given(st.sampled_from(PAIRS), st.data())
def test_a_damaged_request_is_read_or_rejected_with_a_reason(pair: tuple[str, str], data: st.DataObject) -> None:
    case, wire = pair
    hurt = damaged(damaged(body(case, wire, "request"), data.draw), data.draw)
    for target in NAMES:
        with suppress(CallerError):  # the only error that is allowed
            convert(hurt, wire, target, "request")


@settings(max_examples=600)
@given(st.sampled_from(PAIRS), st.data())
def test_a_damaged_reply_never_raises(pair: tuple[str, str], data: st.DataObject) -> None:
    case, wire = pair
    hurt = damaged(damaged(body(case, wire, "reply"), data.draw), data.draw)
    reply = the_wire(wire).read_reply(hurt, None)
    for target in NAMES:
        convert(hurt, wire, target, "response")
    assert reply.stop is not None


@settings(max_examples=600)
@given(st.sampled_from(PAIRS), st.data())
def test_a_stream_with_a_damaged_chunk_never_raises(pair: tuple[str, str], data: st.DataObject) -> None:
    case, wire = pair
    lines = stream(case, wire).splitlines(keepends=True)
    chosen = data.draw(st.sampled_from([at for at, line in enumerate(lines) if b"{" in line]))
    head, brace, tail = lines[chosen].partition(b"{")
    hurt = damaged(msgspec.json.decode((brace + tail).strip()), data.draw)
    lines[chosen] = head + msgspec.json.encode(hurt) + b"\n"
    found = events(wire, pieces(b"".join(lines), 31))
    assert first_order_error(found) is None
    assert fold(found).stop is not None


@settings(max_examples=600)
@given(st.sampled_from(PAIRS), st.data())
def test_a_stream_with_damaged_bytes_never_raises(pair: tuple[str, str], data: st.DataObject) -> None:
    case, wire = pair
    raw = bytearray(stream(case, wire))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        if data.draw(st.booleans()):
            raw[at] = data.draw(st.integers(0, 255))
        else:
            del raw[at : at + data.draw(st.integers(1, 20))]
    found = events(wire, pieces(bytes(raw), 19))
    assert first_order_error(found) is None


@settings(max_examples=200)
@given(st.sampled_from(PAIRS), st.data())
def test_text_before_the_damage_is_not_lost(pair: tuple[str, str], data: st.DataObject) -> None:
    """Events of the undamaged start of a stream are kept, whatever follows."""
    case, wire = pair
    raw = stream(case, wire)
    at = data.draw(st.integers(0, len(raw)))
    undamaged = fold(events(wire, iter([raw[:at]])))
    hurt = fold(events(wire, iter([raw[:at] + b"\n\n\xff{{{ not json\n\n"])))
    assert hurt.text.startswith(undamaged.text)
