"""Writing Ollama's stream: text and thinking at once, each call whole. What repeats in every line is encoded once."""

from __future__ import annotations

from typing import Any

from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.fold import join_extra
from toolglot.core.interfaces import Answering
from toolglot.core.messages import ToolCall
from toolglot.reading.media import from_url
from toolglot.reading.shape import Body, own_extra
from toolglot.text.json_text import encode
from toolglot.wires.ollama.messages import note_state, write_call, write_image
from toolglot.wires.ollama.reply import note_cut, note_opaque, write_end, write_fault, write_head
from toolglot.wires.ollama.shapes import WIRE

_GOES_ON = b'},"done":false}\n'
# Legal inside JSON, and yet the ends of lines to clients that split as Python's str.splitlines does (Ollama's own SDK).
_LINE_ENDS = ((b"\xc2\x85", rb"\u0085"), (b"\xe2\x80\xa8", rb"\u2028"), (b"\xe2\x80\xa9", rb"\u2029"))


class OllamaWriter:
    def __init__(self, answering: Answering, notes: list[str]) -> None:
        self._answering = answering
        self._notes = notes
        self._open: dict[int, Open] = {}
        self._held: dict[int, list[str]] = {}  # calls and pictures leave whole
        self._calls: dict[int, ToolCall | None] = {}  # in the order of their opening; None: not closed yet
        self._written = 0
        self._start(Start())

    def feed(self, event: Event) -> bytes:
        match event:
            case Delta(index, text):
                return self._delta(index, text)
            case Open():
                return self._opened(event)
            case Close():
                return self._closed(event)
            case Start():
                return self._start(event)
            case Finish():
                return self._finish(event)
            case Fault():
                return _json(write_fault(event.error)[1]) + b"\n"

    def close(self) -> bytes:
        return b""

    def _start(self, event: Start) -> bytes:
        self._head = write_head(event.model, event.created, self._answering)
        begin = _json(self._head)[:-1] + b',"message":{"role":"assistant","content":'
        self._text = begin
        self._thinking = begin + b'"","thinking":'
        self._more = begin + b'"",'
        return b""

    def _opened(self, event: Open) -> bytes:
        self._open[event.index] = event
        if event.kind == "call":
            self._calls[event.index] = None
        if event.kind in ("call", "media", "opaque"):
            self._held[event.index] = []
        return b""

    def _delta(self, index: int, text: str) -> bytes:
        held = self._held.get(index)
        if held is not None:
            held.append(text)
            return b""
        begin = self._text if self._open[index].kind == "text" else self._thinking
        return begin + _json(text) + _GOES_ON

    def _closed(self, event: Close) -> bytes:
        opened = self._open.pop(event.index)
        text = "".join(self._held.pop(event.index, ()))
        extra = join_extra(opened.extra, event.extra)
        match opened.kind:
            case "text":
                own_extra(extra, WIRE, "text", self._notes)
            case "reasoning":
                note_state(extra, self._notes)
            case "call":
                name = opened.full_name
                self._calls[event.index] = ToolCall(opened.call_id or "", name, text, sealed=event.sealed, extra=extra)
                return self._release()
            case "media":
                kind: Any = opened.channel or "file"
                images = write_image(from_url(kind, text, extra), "reply", self._notes)
                return self._more + b'"images":' + _json(images) + _GOES_ON if images else b""
            case "opaque":
                note_opaque(opened.name, self._notes)
        return b""

    def _release(self) -> bytes:
        """The calls that are whole, as far as no earlier one is still open: a client may count on their order."""
        written = b""
        while self._calls:
            index = next(iter(self._calls))
            call = self._calls[index]
            if call is None:
                break
            del self._calls[index]
            if call.sealed:
                held = write_call(call, self._written, self._notes)
                written += self._more + b'"tool_calls":[' + _json(held) + b"]" + _GOES_ON
                self._written += 1
            else:
                note_cut(call.id, self._notes)
        return written

    def _finish(self, event: Finish) -> bytes:
        more, end = write_end(event.stop, event.usage, event.extra, self._notes)
        last: Body = {**self._head, "message": {"role": "assistant", "content": "", **more}, **end}
        return _json(last) + b"\n"


def _json(value: Any) -> bytes:
    data = encode(value)
    if not data.isascii():
        for raw, escaped in _LINE_ENDS:
            if raw in data:
                data = data.replace(raw, escaped)
    return data
