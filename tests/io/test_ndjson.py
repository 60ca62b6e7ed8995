"""One value per line, and servers that omit the newline."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cutting import SIZES, cut
from toolglot.core.fold import fold
from toolglot.core.reply import Reply
from toolglot.io.json_codec import decode_values
from toolglot.io.ndjson import NdjsonFrames
from toolglot.wires.ollama import stream

NESTED = '{"a":{"b":[{"c":"}"}]}}'

STREAMS: dict[str, tuple[str, list[Any]]] = {
    "lines": ('{"a":1}\n{"a":2}\n', [{"a": 1}, {"a": 2}]),
    "CRLF": ('{"a":1}\r\n{"a":2}\r\n', [{"a": 1}, {"a": 2}]),
    "blank lines": ('\n{"a":1}\n\n \n\r\n{"a":2}\n\n', [{"a": 1}, {"a": 2}]),
    "no newline at the end": ('{"a":1}\n{"a":2}', [{"a": 1}, {"a": 2}]),
    "no newline at all": ('{"a":1}{"a":2}{"a":3}', [{"a": 1}, {"a": 2}, {"a": 3}]),
    "several on one line": ('{"a":1} {"a":2}\n{"a":3}\n', [{"a": 1}, {"a": 2}, {"a": 3}]),
    "nested": (f"{NESTED}\n{NESTED}", [{"a": {"b": [{"c": "}"}]}}] * 2),
    "characters": ('{"a":"\u00fc\u2028\u0085\U0001f600"}\n', [{"a": "\u00fc\u2028\u0085\U0001f600"}]),
    "nothing": ("", []),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", STREAMS)
def test_values_are_the_same_in_any_split(name: str, size: int | None) -> None:
    text, expected = STREAMS[name]
    reader = NdjsonFrames()
    found = [frame for piece in cut(text.encode(), size) for frame in reader.feed(piece)]
    assert [value for _, data in found + reader.close() for value in decode_values(data)[0]] == expected


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("text", "notes"),
    [
        (
            '{"message":{"content":"a"},"done":true,"done_reason":"stop"}n\n',
            0,
        ),  # found by fuzz/: what follows the end is not reported
        ('{"message":{"content":"a"}}[{"id":"b"l\n{"done":true,"done_reason":"stop"}\n', 1),
        ('{"message":{"content":"a"}}[{"message":{"content":"b"}},{"id":"b"l\n{"done":true,"done_reason":"stop"}\n', 1),
    ],
)
def test_damaged_lines_are_reported_the_same_in_any_split(text: str, notes: int, size: int | None) -> None:
    def read(size: int | None) -> Reply:
        reader = stream.reader()
        return fold([*(event for piece in cut(text.encode(), size) for event in reader.feed(piece)), *reader.close()])

    assert read(size) == read(None)
    assert len(read(size).notes) == notes


def test_a_whole_object_does_not_wait_for_its_newline() -> None:
    reader = NdjsonFrames()
    assert reader.feed(b'{"a":{"b":1}') == []
    assert reader.feed(b"}" + b" " * 30 + b"\n") == [(None, b'{"a":{"b":1}}' + b" " * 30)]
    assert reader.feed(b'{"a":1}') == [(None, b'{"a":1}')]
    assert reader.close() == []


def test_work_stays_linear_where_every_piece_looks_like_an_end() -> None:
    reader = NdjsonFrames()
    data = b'{"a":"' + b"}" * 20_000 + b'"}\n'
    for piece in cut(data, 1):
        reader.feed(piece)
    assert reader.examined <= 4 * len(data)
