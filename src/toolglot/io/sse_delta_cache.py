"""A cache for streams with chunks that differ in one string only, as most do: then only that string is decoded."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

import msgspec

from toolglot.core.events import Event
from toolglot.io.json_codec import JSON_ERRORS, decode, encode
from toolglot.io.sse import SseFrames
from toolglot.io.stream_reader import ChunkReader, StreamReader

EmitText = Callable[[str], None]

_EVENT = re.compile(rb".*?\n\n|.+", re.DOTALL)  # a stream may be cut anywhere
_MAX_MISSES = 8  # misses in a row after which the cache is no longer tried
_string = msgspec.json.Decoder(str).decode


class PlainChunks(ChunkReader, Protocol):
    plain: tuple[str, EmitText] | None  # set if the last chunk did nothing but emit this text with that function


class DeltaCache(StreamReader):
    """A Reader[bytes] like StreamReader. A chunk that differs from the last one in more than the string is fully decoded."""

    def __init__(self, frames: SseFrames, chunks: PlainChunks) -> None:
        super().__init__(frames, chunks)
        self._sse = frames
        self._plain = chunks
        self._around: tuple[bytes, bytes, EmitText] | None = None
        self._misses = 0

    def feed(self, piece: bytes) -> list[Event]:
        several = piece.find(b"\n\n", 0, -2) >= 0
        for one in _EVENT.findall(piece) if several else (piece,):
            if self._around is not None:
                before, after, emit = self._around
                if one.startswith(before) and one.endswith(after):
                    try:
                        text = _string(one[len(before) - 1 : 1 - len(after)])  # with its quotes
                    except JSON_ERRORS:
                        pass
                    else:
                        self._misses = 0
                        emit(text)
                        continue
                self._around = None
                self._misses += 1
            self._decode(one)
        return self._blocks.take_events()

    def _decode(self, piece: bytes) -> None:
        self._plain.plain = None
        alone = self._sse.between and self._misses < _MAX_MISSES
        for event, data in self._sse.feed(piece):
            self._frame(event, data)
        if alone and self._sse.between:
            self._around = _surroundings(piece, self._plain)


def _surroundings(piece: bytes, chunks: PlainChunks) -> tuple[bytes, bytes, EmitText] | None:
    """The bytes before and after the text of a chunk, quotes included; None if the text's position is ambiguous."""
    if chunks.plain is None:
        return None
    text, emit = chunks.plain
    try:
        decode(piece[piece.find(b"data:") + 5 :])  # one event, and one value in it
    except JSON_ERRORS:
        return None
    before, found, after = piece.partition(encode(text))
    return (before + b'"', b'"' + after, emit) if found and found not in after and before.rstrip().endswith(b":") else None
