"""Writing Anthropic's stream: one block at a time, numbered without gaps, each event under its name.

A block begins with its first piece, so that one with nothing in it leaves no trace; what repeats in every delta of a
block is encoded once.
"""

from __future__ import annotations

from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.fold import join_extra
from toolglot.core.interfaces import Answering
from toolglot.core.messages import Extra
from toolglot.core.sequence import Sequence
from toolglot.reading.shape import own_extra
from toolglot.text.json_text import dumps, encode, loads_object
from toolglot.text.sse import sse
from toolglot.wires.anthropic.reasoning import redacted, take_beside, take_signed, write_beside, write_signature
from toolglot.wires.anthropic.reply import no_place, write_fault
from toolglot.wires.anthropic.shapes import WIRE, Body, stop_words, write_usage

# kind of block -> how its content begins, and how a delta's does
_PLAIN: dict[str, tuple[Body, bytes]] = {
    "text": ({"type": "text", "text": ""}, b'{"type":"text_delta","text":'),
    "reasoning": ({"type": "thinking", "thinking": "", "signature": ""}, b'{"type":"thinking_delta","thinking":'),
}
_INPUT = b'{"type":"input_json_delta","partial_json":'
_IN_DELTA = ("stop_details", "container")  # the rest of what a reply tells stands beside `delta`


class MessagesWriter:
    def __init__(self, answering: Answering, notes: list[str]) -> None:
        self._answering = answering
        self._notes = notes
        self._sequence = Sequence()
        self._started = False
        self._next = 0  # the next block's number
        self._open: Open | None = None  # the block at hand
        self._begun = False  # it has been announced
        self._poured = False  # some of its content was written
        self._head = b""  # of its deltas
        self._held: list[str] = []  # a block of Anthropic's own, which leaves whole

    def feed(self, event: Event) -> bytes:
        if type(event) is Delta and event.index == self._sequence.current:
            return self._delta(event.text)
        released = self._sequence.feed(event)
        if len(released) == 1:
            return self._write(released[0])
        return b"".join(map(self._write, released))

    def close(self) -> bytes:
        return b"".join(map(self._write, self._sequence.close()))

    def _write(self, event: Event) -> bytes:
        match event:
            case Delta(_, text):
                return self._delta(text)
            case Open():
                return self._opened(event)
            case Close():
                return self._closed(event)
            case Start():
                return self._start(event)
            case Finish():
                return self._finish(event)
            case Fault():
                return sse(encode(write_fault(event.error)[1]), "error")

    # -- the message around the blocks

    def _start(self, event: Start) -> bytes:
        self._started = True
        message: Body = {
            "id": self._answering.id or event.id or "",
            "type": "message",
            "role": "assistant",
            "model": self._answering.model or event.model or "",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": write_usage(None),
        }
        return _event({"type": "message_start", "message": message})

    def _finish(self, event: Finish) -> bytes:
        reason, sequence = stop_words(event.stop)
        delta: Body = {"stop_reason": reason, "stop_sequence": sequence}
        told = own_extra(event.extra, WIRE, "reply", self._notes) if event.extra else {}
        delta.update((key, told.pop(key)) for key in _IN_DELTA if key in told)
        last = {"type": "message_delta", "delta": delta, "usage": write_usage(event.usage), **told}
        begun = b"" if self._started else self._start(Start())
        return begun + _event(last) + _event({"type": "message_stop"})

    # -- blocks

    def _opened(self, event: Open) -> bytes:
        self._open, self._begun, self._poured = event, False, False
        begun = b"" if self._started else self._start(Start())
        self._held = []
        if event.kind != "call":
            return begun
        beside, extra = take_beside(event.extra)
        call: Body = {"type": "tool_use", "id": event.call_id or "", "name": event.full_name, "input": {}}
        if extra:
            call.update(own_extra(extra, WIRE, f"call {event.call_id}", self._notes))
        return begun + b"".join(map(self._whole, beside)) + self._begin(call, _INPUT)

    def _begin(self, content: Body, delta: bytes) -> bytes:
        self._begun = True
        number = self._next
        self._next += 1
        self._head = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":' % number + delta
        return _event({"type": "content_block_start", "index": number, "content_block": content})

    def _delta(self, text: str) -> bytes:
        opened = self._open
        if opened is None or opened.kind == "media":
            return b""
        if self._begun:
            self._poured = True
            return self._head + encode(text) + b"}}\n\n"
        if opened.kind == "opaque":
            self._held.append(text)
            return b""
        beside = take_beside(opened.extra)[0] if opened.kind == "text" else ()
        return b"".join(map(self._whole, beside)) + self._begin(*_PLAIN[opened.kind]) + self._delta(text)

    def _closed(self, event: Close) -> bytes:
        opened, self._open = self._open, None
        if opened is None:
            return b""
        match opened.kind:
            case "reasoning":
                return self._close_reasoning(join_extra(opened.extra, event.extra))
            case "text":
                return self._close_text(opened, event)
            case "call":
                return self._close_call(opened, event)
            case _:
                block = loads_object("".join(self._held)) if opened.name == WIRE else None
                if block is not None:
                    return self._whole(block)
                self._notes.append(no_place(opened.kind, opened.name))
                return b""

    def _close_reasoning(self, extra: Extra) -> bytes:
        data = redacted(extra)
        if data is not None and not self._begun:
            return self._whole({"type": "redacted_thinking", "data": data})
        signature = write_signature(extra)
        if not signature:
            return self._end()
        begun = b"" if self._begun else self._begin(*_PLAIN["reasoning"])
        return begun + self._loose_delta({"type": "signature_delta", "signature": signature}) + self._end()

    def _close_text(self, opened: Open, event: Close) -> bytes:
        if not opened.extra and not event.extra:
            return self._end()
        extra = join_extra(opened.extra, event.extra)
        if not self._begun:
            return b"".join(map(self._whole, take_beside(extra, "alone")[0]))
        signed, rest = take_signed(extra)
        citations = own_extra(rest, WIRE, "text", self._notes).get("citations", ())
        written = [self._loose_delta({"type": "citations_delta", "citation": citation}) for citation in citations]
        return b"".join(written) + self._end() + self._late(signed, opened)

    def _close_call(self, opened: Open, event: Close) -> bytes:
        written = b"" if self._poured else self._head + b'"{}"}}\n\n'
        signed, rest = take_signed(event.extra) if event.extra else ({}, {})
        if rest:
            own_extra(rest, WIRE, f"call {opened.call_id}", self._notes)
        return written + self._end() + self._late(signed, opened)

    def _late(self, signed: Extra, opened: Open) -> bytes:
        """State that came only with the block's end, and so stands behind it."""
        fresh = {wire: own for wire, own in signed.items() if own != opened.extra.get(wire)}
        return self._whole(write_beside(fresh, "last")) if fresh else b""

    def _end(self) -> bytes:
        if not self._begun:
            return b""
        return _event({"type": "content_block_stop", "index": self._next - 1})

    def _loose_delta(self, delta: Body) -> bytes:
        return _event({"type": "content_block_delta", "index": self._next - 1, "delta": delta})

    def _whole(self, block: Body) -> bytes:
        """A block that arrives in one piece; a server tool's input still comes as a delta, as it does from the API."""
        given = block.get("input")
        streams = isinstance(given, dict) and bool(given)
        written = self._begin({**block, "input": {}} if streams else block, _INPUT)
        if streams:
            written += self._head + encode(dumps(given)) + b"}}\n\n"
        return written + self._end()


def _event(body: Body) -> bytes:
    return sse(encode(body), body["type"])
