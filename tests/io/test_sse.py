"""Server-sent events, as in the standard and as servers send them."""

from __future__ import annotations

import json

import pytest

from tests.cutting import SIZES, cut
from toolglot.io.sse import Frame, SseFrames, encode_sse

BOM = b"\xef\xbb\xbf"
PRETTY = json.dumps({"error": {"message": "no", "code": 500}}, indent=2).encode()
ARRAY = b'[{"a": 1}\n,\r\n{"a": 2}\n]\n'

STREAMS: dict[str, tuple[bytes, list[Frame]]] = {
    "LF": (b"data: a\n\ndata: b\n\n", [(None, b"a"), (None, b"b")]),
    "CR": (b"data: a\r\rdata: b\r\r", [(None, b"a"), (None, b"b")]),
    "CRLF": (b"data: a\r\n\r\ndata: b\r\n\r\n", [(None, b"a"), (None, b"b")]),
    "CRLF within an event": (b"data: a\r\ndata: b\r\n\r\n", [(None, b"a\nb")]),
    "mixed": (b"data: a\r\n\ndata: b\n\r\ndata: c\r\n\r", [(None, b"a"), (None, b"b"), (None, b"c")]),
    "events": (b"event: ping\ndata: {}\n\nevent:x\ndata:1\n\ndata:2\n\n", [("ping", b"{}"), ("x", b"1"), (None, b"2")]),
    "comments": (b": OPENROUTER PROCESSING\n\n:\ndata: a\n: in between\ndata: b\n\n", [(None, b"a\nb")]),
    "ids and retries": (b"id: 7\nretry: 10\ndata: a\n\n", [(None, b"a")]),
    "several data lines": (b"data: {\ndata:  1\ndata:\ndata: }\n\n", [(None, b"{\n 1\n\n}")]),
    "one space is dropped": (b"data:  a\n\ndata:a\n\n", [(None, b" a"), (None, b"a")]),
    "an event without data": (b"event: x\n\ndata: a\n\n", [(None, b"a")]),
    "no blank line at the end": (b"data: a\n\ndata: b", [(None, b"a"), (None, b"b")]),
    "end marker without space": (b"data:[DONE]\n\n", [(None, b"[DONE]")]),
    "BOM": (BOM + b"data: a\n\n", [(None, b"a")]),
    "UTF-8": ("data: \u00fc\u20ac\U0001f600\n\n".encode(), [(None, "\u00fc\u20ac\U0001f600".encode())]),
    "separators that are data": (
        "data: a\u2028b\u0085c\x0bd\x0ce\n\n".encode(),
        [(None, "a\u2028b\u0085c\x0bd\x0ce".encode())],
    ),
    "a JSON body": (b'{"error": "no"}', [(None, b'{"error": "no"}')]),
    "a JSON body over several lines": (PRETTY, [(None, PRETTY)]),
    "a JSON body before events": (b'{"error": "no"}\ndata: [DONE]\n\n', [(None, b'{"error": "no"}'), (None, b"[DONE]")]),
    "a JSON array": (ARRAY, [(None, ARRAY.replace(b"\r\n", b"\n").strip())]),
    "nothing": (b"", []),
}


def frames(data: bytes, size: int | None) -> list[Frame]:
    reader = SseFrames()
    found = [frame for piece in cut(data, size) for frame in reader.feed(piece)]
    return found + reader.close()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", STREAMS)
def test_frames_are_the_same_in_any_split(name: str, size: int | None) -> None:
    data, expected = STREAMS[name]
    assert frames(data, size) == expected


def test_a_frame_is_emitted_at_its_blank_line() -> None:
    reader = SseFrames()
    assert reader.feed(b"data: a\r\n") == []
    assert reader.feed(b"\r") == [(None, b"a")]
    assert reader.feed(b"\ndata: b\n\n") == [(None, b"b")]


def test_every_byte_is_examined_once() -> None:
    reader = SseFrames()
    data = b"data: " + b"<" * 5000 + b"\n\n"
    for piece in cut(data, 3):
        reader.feed(piece)
    assert reader.examined == len(data)


@pytest.mark.parametrize("event", [None, "message_start"])
def test_encoded_events_are_read_back(event: str | None) -> None:
    assert frames(encode_sse(b'{"a":1}', event), None) == [(event, b'{"a":1}')]
