"""Bytes to frames to chunks to events: the plumbing that all five wires' readers stand on."""

from __future__ import annotations

from typing import Any, Protocol

from toolglot.core.events import Event
from toolglot.errors import UpstreamError
from toolglot.reading.blocks import Blocks
from toolglot.reading.faults import error_in
from toolglot.text.json_text import BadJson, decode, shown, values
from toolglot.text.sse import Frame

TRUNCATED = "stream_truncated"


class Frames(Protocol):
    def feed(self, piece: bytes, /) -> list[Frame]: ...
    def close(self) -> list[Frame]: ...


class Chunks(Protocol):
    """A wire's own part: one decoded chunk at a time, said to `blocks`."""

    blocks: Blocks

    def take(self, chunk: dict[str, Any], event: str | None, /) -> None: ...
    def done(self) -> None:
        """The end marker was seen, or the whole reply was in one piece."""

    def cut(self) -> None:
        """The bytes ended without an end marker: finish if the reply was complete all the same."""


class Framed:
    """A Reader[bytes]. It never raises: what can't be read becomes a note, an early end becomes a Fault."""

    def __init__(self, frames: Frames, chunks: Chunks) -> None:
        self._frames = frames
        self._chunks = chunks
        self._blocks = chunks.blocks

    def feed(self, piece: bytes) -> list[Event]:
        for event, data in self._frames.feed(piece):
            self._frame(event, data)
        return self._blocks.drain()

    def close(self) -> list[Event]:
        for event, data in self._frames.close():
            self._frame(event, data)
        if not self._blocks.ended:
            self._chunks.cut()
            self._blocks.fault(UpstreamError("the stream broke off before its end", code=TRUNCATED))
        return self._blocks.drain()

    def _frame(self, event: str | None, data: bytes) -> None:
        if self._blocks.ended:
            return
        if data.lstrip().startswith(b"[DONE]"):
            self._chunks.done()
            return
        try:
            chunk = decode(data)
        except BadJson:
            chunk = None
        if isinstance(chunk, dict):  # as nearly all are
            _take(self._chunks, chunk, event)
            return
        found, rest = values(data)
        if rest:
            self._blocks.notes.append(f"a piece of the stream was not JSON and was skipped: {rest[:80]!r}")
        for value in found:
            for chunk in value if isinstance(value, list) else (value,):
                self._chunk(chunk, event)

    def _chunk(self, chunk: object, event: str | None) -> None:
        if self._blocks.ended:
            return
        if isinstance(chunk, dict):
            _take(self._chunks, chunk, event)
        else:
            self._blocks.notes.append(f"a piece of the stream was no object and was skipped: {shown(chunk, 80)}")


def read_whole(chunks: Chunks, body: dict[str, Any]) -> list[Event]:
    """A whole reply, read by the same code that reads its stream."""
    _take(chunks, body, None)
    if not chunks.blocks.ended:
        chunks.done()
    if not chunks.blocks.ended:
        chunks.blocks.finish("other")
    return chunks.blocks.drain()


def _take(chunks: Chunks, chunk: dict[str, Any], event: str | None) -> None:
    error = error_in(chunk)
    try:
        if error is None:
            chunks.take(chunk, event)
        elif len(chunk) > 1:  # text may stand beside the error, as in OpenRouter's last chunk
            chunks.take({key: value for key, value in chunk.items() if key != "error"}, "error")
    except RecursionError:
        chunks.blocks.notes.append("a piece of the reply was nested too deeply to be read")
    if error is not None:
        chunks.blocks.fault(error)
