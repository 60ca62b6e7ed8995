"""Streams whose chunks differ in one string only, as most do: what stands around it is learned, and then only that is read."""

from __future__ import annotations

from typing import Protocol

from toolglot.core.events import Event
from toolglot.reading.framed import Chunks, Framed
from toolglot.text.json_text import BadJson, decode, encode
from toolglot.text.sse import SseFrames

_VAIN = 8  # times in a row that no chunk is like the one before: then this server's never are


class PlainChunks(Chunks, Protocol):
    plain: str | None  # the text of the last chunk, where it did nothing but say that: one with another text would say just so

    def say(self, text: str, /) -> None:
        """What such a chunk does."""


class Repeating(Framed):
    """A Reader[bytes] like Framed. Whatever is not exactly like the chunk before is read in full."""

    def __init__(self, frames: SseFrames, chunks: PlainChunks) -> None:
        super().__init__(frames, chunks)
        self._sse = frames
        self._plain = chunks
        self._around: tuple[bytes, bytes] | None = None
        self._vain = 0

    def feed(self, piece: bytes) -> list[Event]:
        if self._around is not None:
            text = _between(piece, *self._around)
            if text is not None:
                self._vain = 0
                self._plain.say(text)
                return self._blocks.drain()
            self._around = None
            self._vain += 1
        self._plain.plain = None
        alone = self._sse.between and self._vain < _VAIN
        events = super().feed(piece)
        if alone and self._sse.between:
            self._around = _surroundings(piece, self._plain)
        return events


def _between(piece: bytes, before: bytes, behind: bytes) -> str | None:
    """The JSON string that stands between these and is all that does."""
    if not (piece.startswith(before) and piece.endswith(behind)):
        return None
    found = piece[len(before) : -len(behind)]
    if found[:1] != b'"' or found[-1:] != b'"':  # white space might hold the end of a line
        return None
    try:
        text = decode(found)
    except BadJson:
        return None
    return text if isinstance(text, str) else None


def _surroundings(piece: bytes, chunks: PlainChunks) -> tuple[bytes, bytes] | None:
    """What stands before and behind the text of a chunk; nothing where it can't be told from others."""
    if chunks.plain is None:
        return None
    try:
        decode(piece[piece.find(b"data:") + 5 :])  # one event, and one value in it
    except BadJson:
        return None
    before, found, behind = piece.partition(encode(chunks.plain))
    return (before, behind) if found and found not in behind and before.endswith(b":") else None
