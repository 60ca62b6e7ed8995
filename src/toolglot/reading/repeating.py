"""Streams whose chunks differ in one string only, as most do: what stands around it is learned, and then only that is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from toolglot.core.events import Event
from toolglot.reading.framed import Chunks, Framed
from toolglot.text.json_text import BadJson, decode, encode
from toolglot.text.sse import SseFrames

Say = Callable[[str], None]

_VAIN = 8  # times in a row that no chunk is like the one before: then this server's never are
_string = msgspec.json.Decoder(str).decode


class PlainChunks(Chunks, Protocol):
    plain: tuple[str, Say] | None  # the last chunk did nothing but say this text to that: one with another text would, too


class Repeating(Framed):
    """A Reader[bytes] like Framed. Whatever is not exactly like the chunk before is read in full."""

    def __init__(self, frames: SseFrames, chunks: PlainChunks) -> None:
        super().__init__(frames, chunks)
        self._sse = frames
        self._plain = chunks
        self._around: tuple[bytes, bytes, Say] | None = None
        self._vain = 0

    def feed(self, piece: bytes) -> list[Event]:
        if self._around is not None:
            before, behind, say = self._around
            if piece.startswith(before) and piece.endswith(behind):
                try:
                    text = _string(piece[len(before) - 1 : 1 - len(behind)])  # with its quotes
                except BadJson:
                    pass
                else:
                    self._vain = 0
                    say(text)
                    return self._blocks.drain()
            self._around = None
            self._vain += 1
        self._plain.plain = None
        alone = self._sse.between and self._vain < _VAIN
        events = super().feed(piece)
        if alone and self._sse.between:
            self._around = _surroundings(piece, self._plain)
        return events


def _surroundings(piece: bytes, chunks: PlainChunks) -> tuple[bytes, bytes, Say] | None:
    """What stands before and behind the text of a chunk, quotes included; nothing where it can't be told from others."""
    if chunks.plain is None:
        return None
    text, say = chunks.plain
    try:
        decode(piece[piece.find(b"data:") + 5 :])  # one event, and one value in it
    except BadJson:
        return None
    before, found, behind = piece.partition(encode(text))
    return (before + b'"', b'"' + behind, say) if found and found not in behind and before.endswith(b":") else None
