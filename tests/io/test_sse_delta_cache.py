"""Cached chunks, which differ in one string only, give the same events as decoded ones."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.core.events import Delta, Event
from toolglot.evaluation.counted import lines_run
from toolglot.wires import find_wire

# raw JSON between the start and the end of a chunk; some look like other strings in it, or make it invalid
TEXTS = [
    '"a"',
    '"delta"',
    '"content"',
    '"m"',
    '"text_delta"',
    '"\\u00e9\\n"',
    '"\\ud83d"',
    '""',
    "null",
    "1",
    '"a","x":"b"',
    '"a"}',
    ' "a"\n',
    '"é"',
]


def chat(string: str, key: str = "content") -> bytes:
    delta = f'{{"{key}":{string}}}'
    if key == "arguments":
        delta = f'{{"tool_calls":[{{"index":0,"function":{delta}}}]}}'
    return f'data: {{"id":"1","model":"m","choices":[{{"index":0,"delta":{delta},"finish_reason":null}}]}}\n\n'.encode()


def anthropic(string: str, key: str = "text") -> bytes:
    kind = {"text": "text_delta", "partial_json": "input_json_delta", "thinking": "thinking_delta"}[key]
    data = f'{{"type":"content_block_delta","index":0,"delta":{{"type":"{kind}","{key}":{string}}}}}'
    return f"event: content_block_delta\ndata: {data}\n\n".encode()


FORMS: dict[str, Any] = {
    "openai-chat": (chat, ("content", "arguments", "reasoning")),
    "anthropic": (anthropic, ("text", "partial_json", "thinking")),
}


def read(wire: str, pieces: list[bytes]) -> list[Event]:
    """Consecutive deltas of one block are joined, so that splits don't matter."""
    found = find_wire(wire)
    assert found is not None
    reader = found.reader(None)
    events: list[Event] = []
    for event in [left for piece in pieces for left in reader.feed(piece)] + reader.close():
        last = events[-1] if events else None
        if isinstance(event, Delta) and isinstance(last, Delta) and last.index == event.index:
            events[-1] = Delta(event.index, last.text + event.text)
        else:
            events.append(event)
    return events


def assert_same(wire: str, chunks: list[bytes]) -> None:
    """Each event in a read of its own, all in one read, and each in two reads, which are never cached."""
    halves = [half for chunk in chunks for half in (chunk[:9], chunk[9:])]
    assert read(wire, chunks) == read(wire, [b"".join(chunks)]) == read(wire, halves)


@pytest.mark.parametrize("wire", FORMS)
@given(data=st.data())
def test_chunk_by_chunk_equals_one_piece(wire: str, data: st.DataObject) -> None:
    form, keys = FORMS[wire]
    chunks = data.draw(st.lists(st.builds(form, st.sampled_from(TEXTS), st.sampled_from(keys)), max_size=12))
    assert_same(wire, chunks)


BEGUN = {
    "openai-chat": [
        chat('[{"index":0,"id":"c","function":{"name":"f"}}]', "tool_calls"),
        chat('[{"index":0,"id":"c","type":"custom","custom":{"name":"f","input":"x"}}]', "tool_calls"),
    ],
    "anthropic": [
        b'data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"f"}}\n\n',
        b'data: {"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"c","name":"f"}}\n\n',
        b'data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking"}}\n\n',
    ],
}


@pytest.mark.parametrize("wire", BEGUN)
@given(data=st.data())
def test_chunks_that_continue_a_block_are_equal_too(wire: str, data: st.DataObject) -> None:
    form, keys = FORMS[wire]
    more = st.builds(form, st.sampled_from(['"{"', '"}"', '"a"', '""', '"\\""']), st.sampled_from(keys))
    chunks = [data.draw(st.sampled_from(BEGUN[wire])), *data.draw(st.lists(more, max_size=12))]
    assert_same(wire, chunks)


@pytest.mark.parametrize(
    ("wire", "key", "begun"),
    [
        ("openai-chat", "content", chat('""')),
        ("openai-chat", "arguments", chat('[{"index":0,"id":"c","function":{"name":"f"}}]', "tool_calls")),
        ("anthropic", "text", b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text"}}\n\n'),
        (
            "anthropic",
            "partial_json",
            b'data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"f"}}\n\n',
        ),
    ],
)
@pytest.mark.parametrize("colon", [b":", b": "], ids=["compact", "spaced"])  # Python's json writes a space
def test_after_the_first_chunk_only_the_string_is_decoded(wire: str, key: str, begun: bytes, colon: bytes) -> None:
    form, _ = FORMS[wire]
    found = find_wire(wire)
    assert found is not None
    reader = found.reader(None)
    reader.feed(begun)
    chunks = [form(json.dumps(text), key).replace(b'":', b'"' + colon) for text in ('{"a"', "12", ",34", "5")]
    costs = [lines_run(lambda chunk=chunk: reader.feed(chunk)) for chunk in chunks]  # type: ignore[misc]
    assert costs[2] == costs[3] < costs[0] * 0.7


def test_events_that_come_in_one_read_are_cached_too() -> None:
    found = find_wire("openai-chat")
    assert found is not None
    costs = []
    for number in (4, 8):
        reader = found.reader(None)
        reader.feed(chat('""'))
        costs.append(lines_run(lambda: reader.feed(b"".join(chat(json.dumps(f"text{at}")) for at in range(number)))))  # noqa: B023
    reader = found.reader(None)
    reader.feed(chat('"text"')[:9])
    decoded = lines_run(lambda: reader.feed(chat('"text"')[9:]))
    assert (costs[1] - costs[0]) / 4 < decoded / 3


def test_the_cache_stops_after_too_many_misses() -> None:
    found = find_wire("openai-chat")
    assert found is not None
    reader = found.reader(None)
    costs = [
        lines_run(lambda number=number: reader.feed(chat('"a"').replace(b'"id"', b'"obfuscation":"%d","id"' % number)))  # type: ignore[misc]
        for number in range(30)
    ]
    assert costs[-1] < costs[2]
