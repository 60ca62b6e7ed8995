"""Writes Gemini's stream. Text is written at once, a call when it is complete; what repeats in every chunk is encoded once."""

from __future__ import annotations

from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.fold import fold, merge_extra
from toolglot.core.interfaces import ResponseContext
from toolglot.io.event_writer import SequentialWriter
from toolglot.io.json_codec import encode
from toolglot.io.request_validation import Body, wire_extra
from toolglot.io.sse import encode_sse
from toolglot.wires.gemini.parts import reply_state
from toolglot.wires.gemini.reply import head, last_chunk, write_error, write_reply_part
from toolglot.wires.gemini.shapes import WIRE, write_usage

_HEAD = b'data: {"candidates":[{"content":{"role":"model","parts":['
_ENDS = {"text": b"}", "reasoning": b',"thought":true}'}


class GeminiWriter(SequentialWriter):
    def __init__(self, context: ResponseContext, notes: list[str]) -> None:
        super().__init__(context, notes)
        self._about: Body = {}
        self._tail = b""
        self._written = False
        self._open: Open | None = None
        self._buffered: list[Event] = []  # the events of a block that is written as a whole

    def on_start(self, event: Start) -> bytes:
        self._about = head(event, self._context)
        return b""

    def on_open(self, event: Open) -> bytes:
        self._open = event
        self._buffered = [event]
        return b""

    def _chunk(self, part: bytes) -> bytes:
        if not self._tail:
            self._tail = b']},"index":0}],' + encode(self._about)[1:] + b"\n\n"
        self._written = True
        return _HEAD + part + self._tail

    def on_delta(self, index: int, text: str) -> bytes:
        end = _ENDS.get(self._open.kind) if self._open else None
        if end is None:
            self._buffered.append(Delta(index, text))
            return b""
        return self._chunk(b'{"text":' + encode(text) + end) if text else b""

    def on_close(self, event: Close) -> bytes:
        opened, self._open = self._open, None
        if opened is None:
            return b""
        if opened.kind not in _ENDS:
            obj = write_reply_part(fold([*self._buffered, event]).parts[0], self._notes)
            return self._chunk(encode(obj)) if obj is not None else b""
        extra = merge_extra(opened.extra, event.extra)
        if not extra:
            return b""
        if opened.kind == "reasoning":
            fields = reply_state(extra, "reasoning", self._notes)
            return self._chunk(encode({"text": "", "thought": True, **fields})) if fields else b""
        fields = wire_extra(extra, WIRE, "text", self._notes)
        return self._chunk(encode({"text": "", **fields})) if fields else b""

    def on_finish(self, event: Finish) -> bytes:
        parts: list[Body] = [{"text": ""}] if self._written else []
        body = last_chunk(parts, event.stop, event.extra, self._notes)
        if event.usage:
            body["usageMetadata"] = write_usage(event.usage)
        return encode_sse(encode({**body, **self._about}))

    def on_error(self, event: Fault) -> bytes:
        return encode_sse(encode(write_error(event.error)[1]))
