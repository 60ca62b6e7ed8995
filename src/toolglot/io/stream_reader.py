"""Bytes to frames to chunks to events, for the readers of all wires."""

from __future__ import annotations

from typing import Any, Protocol

from toolglot.core.events import Event
from toolglot.errors import UpstreamError
from toolglot.io.block_builder import BlockBuilder
from toolglot.io.json_codec import JSON_ERRORS, decode, decode_values, preview
from toolglot.io.sse import Frame
from toolglot.io.upstream_errors import find_error

STREAM_TRUNCATED = "stream_truncated"


class Frames(Protocol):
    def feed(self, piece: bytes, /) -> list[Frame]: ...
    def close(self) -> list[Frame]: ...


class ChunkReader(Protocol):
    """The part that each wire implements: takes one decoded chunk at a time and reports it to `blocks`."""

    blocks: BlockBuilder

    def take(self, chunk: dict[str, Any], event: str | None, /) -> None: ...
    def done(self) -> None:
        """The end marker was seen, or the whole reply was in one piece."""

    def cut(self) -> None:
        """The bytes ended without an end marker: finish if the reply is complete anyway."""


class StreamReader:
    """A Reader[bytes]. Never raises: unreadable input becomes a note, an early end becomes a Fault."""

    def __init__(self, frames: Frames, chunks: ChunkReader) -> None:
        self._frames = frames
        self._chunks = chunks
        self._blocks = chunks.blocks

    def feed(self, piece: bytes) -> list[Event]:
        for event, data in self._frames.feed(piece):
            self._frame(event, data)
        return self._blocks.take_events()

    def close(self) -> list[Event]:
        if not self._blocks.ended:
            for event, data in self._frames.close():
                self._frame(event, data)
        if not self._blocks.ended:
            self._chunks.cut()
            self._blocks.fail(UpstreamError("the stream ended early", code=STREAM_TRUNCATED))
        return self._blocks.take_events()

    def _frame(self, event: str | None, data: bytes) -> None:
        if self._blocks.ended:
            return
        if data.lstrip().startswith(b"[DONE]"):
            self._chunks.done()
            return
        try:
            chunk = decode(data)
        except JSON_ERRORS:
            chunk = None
        if isinstance(chunk, dict):  # as nearly all are
            _take(self._chunks, chunk, event)
            return
        found, rest = decode_values(data)
        for value in found:
            for chunk in value if isinstance(value, list) else (value,):
                self._chunk(chunk, event)
        if rest and not self._blocks.ended:
            self._blocks.notes.append(f"a piece of the stream was not JSON and was skipped: {rest[:80]!r}")

    def _chunk(self, chunk: object, event: str | None) -> None:
        if self._blocks.ended:
            return
        if isinstance(chunk, dict):
            _take(self._chunks, chunk, event)
        else:
            self._blocks.notes.append(f"a piece of the stream was not an object and was skipped: {preview(chunk, 80)}")


def read_whole_reply(chunks: ChunkReader, body: dict[str, Any]) -> list[Event]:
    """A whole reply, read by the same code that reads its stream."""
    _take(chunks, body, None)
    if not chunks.blocks.ended:
        chunks.done()
    if not chunks.blocks.ended:
        chunks.blocks.finish("other")
    return chunks.blocks.take_events()


def _take(chunks: ChunkReader, chunk: dict[str, Any], event: str | None) -> None:
    error = find_error(chunk)
    try:
        if error is None:
            chunks.take(chunk, event)
        elif len(chunk) > 1:  # a chunk may contain text and an error, as OpenRouter's last one
            chunks.take({key: value for key, value in chunk.items() if key != "error"}, "error")
    except RecursionError:
        chunks.blocks.notes.append("a piece of the reply was nested too deeply to be read")
    if error is not None:
        chunks.blocks.fail(error)
