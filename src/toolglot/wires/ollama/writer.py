"""Writes Ollama's stream: text and thinking at once, each call when complete. What repeats in every line is encoded once."""

from __future__ import annotations

from typing import Any

from toolglot.core.events import Close, Fault, Finish, Open, Start
from toolglot.core.fold import merge_extra
from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import ToolCall
from toolglot.io.event_writer import EventWriter
from toolglot.io.json_codec import encode
from toolglot.io.media import media_from_url
from toolglot.io.request_validation import Body, no_place_in_reply, wire_extra
from toolglot.wires.ollama.messages import note_state, write_call, write_image
from toolglot.wires.ollama.reply import note_cut, write_end, write_error, write_head
from toolglot.wires.ollama.shapes import WIRE

_GOES_ON = b'},"done":false}\n'


class OllamaWriter(EventWriter):
    def __init__(self, context: ResponseContext, notes: list[str]) -> None:
        super().__init__(context, notes)
        self._open: dict[int, Open] = {}
        self._buffered: dict[int, list[str]] = {}  # calls and images are written as a whole
        self._calls: dict[int, ToolCall | None] = {}  # in the order of their opening; None: not closed yet
        self._written = 0

    def on_start(self, event: Start) -> bytes:
        self._head = write_head(event.model, event.created, self._context)
        begin = encode(self._head)[:-1] + b',"message":{"role":"assistant","content":'
        self._text = begin
        self._thinking = begin + b'"","thinking":'
        self._more = begin + b'"",'
        return b""

    def on_open(self, event: Open) -> bytes:
        self._open[event.index] = event
        if event.kind == "call":
            self._calls[event.index] = None
        if event.kind in ("call", "media", "opaque"):
            self._buffered[event.index] = []
        return b""

    def on_delta(self, index: int, text: str) -> bytes:
        buffer = self._buffered.get(index)
        if buffer is not None:
            buffer.append(text)
            return b""
        begin = self._text if self._open[index].kind == "text" else self._thinking
        return begin + encode(text) + _GOES_ON

    def on_close(self, event: Close) -> bytes:
        opened = self._open.pop(event.index)
        text = "".join(self._buffered.pop(event.index, ()))
        extra = merge_extra(opened.extra, event.extra)
        match opened.kind:
            case "text":
                wire_extra(extra, WIRE, "text", self._notes)
            case "reasoning":
                note_state(extra, self._notes)
            case "call":
                name = opened.full_name
                self._calls[event.index] = ToolCall(opened.call_id or "", name, text, sealed=event.sealed, extra=extra)
                return self._release()
            case "media":
                kind: Any = opened.channel or "file"
                images = write_image(media_from_url(kind, text, extra), "reply", self._notes)
                return self._more + b'"images":' + encode(images) + _GOES_ON if images else b""
            case "opaque":
                no_place_in_reply(WIRE, "opaque", opened.name, self._notes)
        return b""

    def _release(self) -> bytes:
        """Writes the complete calls up to the first one that is still open: clients may rely on their order."""
        written = b""
        while self._calls:
            index = next(iter(self._calls))
            call = self._calls[index]
            if call is None:
                break
            del self._calls[index]
            if call.sealed:
                obj = write_call(call, self._written, self._notes)
                written += self._more + b'"tool_calls":[' + encode(obj) + b"]" + _GOES_ON
                self._written += 1
            else:
                note_cut(call.id, self._notes)
        return written

    def on_finish(self, event: Finish) -> bytes:
        more, end = write_end(event.stop, event.usage, event.extra, self._notes)
        last: Body = {**self._head, "message": {"role": "assistant", "content": "", **more}, **end}
        return encode(last) + b"\n"

    def on_error(self, event: Fault) -> bytes:
        return encode(write_error(event.error)[1]) + b"\n"
