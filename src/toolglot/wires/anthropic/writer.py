"""Writes Anthropic's stream: one block at a time, numbered without gaps, each event with its name.

A block begins with its first delta, so that an empty one is not written; what repeats in every delta of a
block is encoded once.
"""

from __future__ import annotations

from toolglot.core.events import Close, Fault, Finish, Open, Start
from toolglot.core.fold import merge_extra
from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import Extra
from toolglot.io.event_writer import SequentialWriter
from toolglot.io.json_codec import dumps, encode, loads_object
from toolglot.io.request_validation import Body, no_place_in_reply, wire_extra
from toolglot.io.sse import encode_sse
from toolglot.wires.anthropic.reasoning import redacted, take_signed, take_state_blocks, write_signature, write_state_block
from toolglot.wires.anthropic.reply import write_error
from toolglot.wires.anthropic.shapes import DIRECT, WIRE, stop_fields, write_usage

# kind of block -> how its content begins, and how a delta's does
_PLAIN: dict[str, tuple[Body, bytes]] = {
    "text": ({"type": "text", "text": ""}, b'{"type":"text_delta","text":'),
    "reasoning": ({"type": "thinking", "thinking": "", "signature": ""}, b'{"type":"thinking_delta","thinking":'),
}
_INPUT = b'{"type":"input_json_delta","partial_json":'
_IN_DELTA = ("stop_details", "container")  # other fields of a reply go next to `delta`


class MessagesWriter(SequentialWriter):
    def __init__(self, context: ResponseContext, notes: list[str]) -> None:
        super().__init__(context, notes)
        self._next = 0  # the next block's number
        self._open: Open | None = None  # the current block
        self._begun = False  # it has been announced
        self._has_content = False  # some of its content was written
        self._head = b""  # of its deltas
        self._buffered: list[str] = []  # an opaque block, which is written as a whole

    # -- the message around the blocks

    def on_start(self, event: Start) -> bytes:
        message: Body = {
            "id": self._context.id or event.id or "",
            "type": "message",
            "role": "assistant",
            "model": self._context.model or event.model or "",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": write_usage(None),
        }
        return _event({"type": "message_start", "message": message})

    def on_finish(self, event: Finish) -> bytes:
        reason, sequence = stop_fields(event.stop)
        delta: Body = {"stop_reason": reason, "stop_sequence": sequence}
        fields = wire_extra(event.extra, WIRE, "reply", self._notes) if event.extra else {}
        for key in _IN_DELTA if fields else ():
            if key in fields:
                delta[key] = fields.pop(key)
        last = {"type": "message_delta", "delta": delta, "usage": write_usage(event.usage), **fields}
        return _event(last) + _event({"type": "message_stop"})

    def on_error(self, event: Fault) -> bytes:
        return encode_sse(encode(write_error(event.error)[1]), "error")

    # -- blocks

    def on_open(self, event: Open) -> bytes:
        self._open, self._begun, self._has_content = event, False, False
        self._buffered = []
        if event.kind != "call":
            return b""
        beside, extra = take_state_blocks(event.extra) if event.extra else ((), {})
        call: Body = {"type": "tool_use", "id": event.call_id or "", "name": event.full_name, "input": {}, "caller": DIRECT}
        if extra:
            call.update(wire_extra(extra, WIRE, f"call {event.call_id}", self._notes))
        return b"".join(map(self._whole, beside)) + self._begin(call, _INPUT)

    def _begin(self, content: Body, delta: bytes) -> bytes:
        self._begun = True
        number = self._next
        self._next += 1
        self._head = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":' % number + delta
        return _event({"type": "content_block_start", "index": number, "content_block": content})

    def on_delta(self, index: int, text: str) -> bytes:
        opened = self._open
        if opened is None or opened.kind == "media":
            return b""
        if self._begun:
            self._has_content = True
            return self._head + encode(text) + b"}}\n\n"
        if opened.kind == "opaque":
            self._buffered.append(text)
            return b""
        beside = take_state_blocks(opened.extra)[0] if opened.extra and opened.kind == "text" else ()
        return b"".join(map(self._whole, beside)) + self._begin(*_PLAIN[opened.kind]) + self.on_delta(index, text)

    def on_close(self, event: Close) -> bytes:
        opened, self._open = self._open, None
        if opened is None:
            return b""
        match opened.kind:
            case "reasoning":
                return self._close_reasoning(merge_extra(opened.extra, event.extra))
            case "text":
                return self._close_text(opened, event)
            case "call":
                return self._close_call(opened, event)
            case _:
                block = loads_object("".join(self._buffered)) if opened.name == WIRE else None
                if block is not None:
                    return self._whole(block)
                no_place_in_reply(WIRE, opened.kind, opened.name, self._notes)
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
        extra = merge_extra(opened.extra, event.extra)
        if not self._begun:
            return b"".join(map(self._whole, take_state_blocks(extra, "alone")[0]))
        signed, rest = take_signed(extra)
        citations = wire_extra(rest, WIRE, "text", self._notes).get("citations", ())
        written = [self._loose_delta({"type": "citations_delta", "citation": citation}) for citation in citations]
        return b"".join(written) + self._end() + self._late(signed, opened)

    def _close_call(self, opened: Open, event: Close) -> bytes:
        written = b"" if self._has_content else self._head + b'"{}"}}\n\n'
        if not event.extra:
            return written + self._end()
        signed, rest = take_signed(event.extra)
        if rest:
            wire_extra(rest, WIRE, f"call {opened.call_id}", self._notes)
        return written + self._end() + self._late(signed, opened)

    def _late(self, signed: Extra, opened: Open) -> bytes:
        """State that came only with the block's end, and so follows it."""
        fresh = {wire: extras for wire, extras in signed.items() if extras != opened.extra.get(wire)}
        return self._whole(write_state_block(fresh, "last")) if fresh else b""

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
    return encode_sse(encode(body), body["type"])
