"""Writing Gemini's stream. Text leaves at once, a call when it is whole; what repeats in every chunk is encoded once."""

from __future__ import annotations

from typing import Any

from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.fold import fold, join_extra
from toolglot.core.interfaces import Answering
from toolglot.core.sequence import Sequence
from toolglot.reading.shape import own_extra
from toolglot.text.json_text import encode
from toolglot.text.sse import sse
from toolglot.wires.gemini.parts import reply_state
from toolglot.wires.gemini.reply import head, last_chunk, write_fault, write_reply_part
from toolglot.wires.gemini.shapes import WIRE, write_usage

Body = dict[str, Any]

_HEAD = b'data: {"candidates":[{"content":{"role":"model","parts":['
_ENDS = {"text": b"}", "reasoning": b',"thought":true}'}


class GeminiWriter:
    def __init__(self, answering: Answering, notes: list[str]) -> None:
        self._answering = answering
        self._notes = notes
        self._sequence = Sequence()  # there is no index by which blocks could interleave
        self._about = head(Start(), answering)
        self._tail = b""
        self._written = False
        self._open: Open | None = None
        self._held: list[Event] = []  # the block that leaves whole

    def feed(self, event: Event) -> bytes:
        if isinstance(event, Start):
            self._about = head(event, self._answering)
            return b""
        return b"".join([self._write(each) for each in self._sequence.feed(event)])

    def close(self) -> bytes:
        return b""

    def _write(self, event: Event) -> bytes:
        match event:
            case Delta():
                return self._delta(event)
            case Open():
                self._open = event
                self._held = [event]
            case Close():
                return self._closed(event)
            case Finish():
                return self._finish(event)
            case Fault():
                return sse(encode(write_fault(event.error)[1]))
        return b""

    def _chunk(self, part: bytes) -> bytes:
        if not self._tail:
            self._tail = b']},"index":0}],' + encode(self._about)[1:] + b"\n\n"
        self._written = True
        return _HEAD + part + self._tail

    def _delta(self, event: Delta) -> bytes:
        end = _ENDS.get(self._open.kind) if self._open else None
        if end is None:
            self._held.append(event)
            return b""
        return self._chunk(b'{"text":' + encode(event.text) + end) if event.text else b""

    def _closed(self, event: Close) -> bytes:
        opened, self._open = self._open, None
        if opened is None:
            return b""
        if opened.kind not in _ENDS:
            held = write_reply_part(fold([*self._held, event]).parts[0], self._notes)
            return self._chunk(encode(held)) if held is not None else b""
        extra = join_extra(opened.extra, event.extra)
        if not extra:
            return b""
        if opened.kind == "reasoning":
            own = reply_state(extra, "reasoning", self._notes)
            return self._chunk(encode({"text": "", "thought": True, **own})) if own else b""
        own = own_extra(extra, WIRE, "text", self._notes)
        return self._chunk(encode({"text": "", **own})) if own else b""

    def _finish(self, event: Finish) -> bytes:
        parts: list[Body] = [{"text": ""}] if self._written else []
        body = last_chunk(parts, event.stop, event.extra, self._notes)
        if event.usage:
            body["usageMetadata"] = write_usage(event.usage)
        return sse(encode({**body, **self._about}))
