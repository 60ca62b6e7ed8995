"""Reads Anthropic's streams and whole replies, and those of compatible servers.

Each block of the stream is an object that takes deltas and is closed; a whole reply is the same blocks, closed at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from toolglot.core.events import Event
from toolglot.core.messages import Opaque, Reasoning, ToolCall
from toolglot.io.block_builder import BlockBuilder
from toolglot.io.json_codec import dumps, loads_object
from toolglot.io.reply_values import identifier, merge_usage, non_empty_string
from toolglot.io.request_validation import Body
from toolglot.io.sse import SseFrames
from toolglot.io.sse_delta_cache import DeltaCache, EmitText
from toolglot.io.stream_reader import read_whole_reply
from toolglot.io.streamed_call import StreamedCall
from toolglot.wires.anthropic.reasoning import belongs_to_next
from toolglot.wires.anthropic.shapes import REASON_IN, WIRE, call_rest, read_usage, rest_of

_MESSAGE_KEYS = frozenset({"id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"})
_DELTA_KEYS = frozenset({"type", "delta", "usage", "stop_reason", "stop_sequence"})

# For a delta without a type.
_KIND_OF_KEY = {
    "text": "text_delta",
    "partial_json": "input_json_delta",
    "thinking": "thinking_delta",
    "signature": "signature_delta",
    "citation": "citations_delta",
}
_KEY_OF_KIND = {kind: key for key, kind in _KIND_OF_KEY.items()}  # of those that are text: a citation never is


def reader(channel: str | None = None) -> DeltaCache:
    return DeltaCache(SseFrames(), MessageChunks(channel))


def read_events(body: Body, channel: str | None = None) -> list[Event]:
    """The events of a whole reply."""
    return read_whole_reply(MessageChunks(channel), body)


class MessageChunks:
    """One event of the stream, or a whole reply, at a time."""

    def __init__(self, channel: str | None = None) -> None:
        self.blocks = BlockBuilder()
        self.channel = channel
        self.current_text: object = None  # the block that the open text or reasoning belongs to
        self._open: dict[object, _Block] = {}  # by the stream's index
        self._last: _Block | None = None
        self._stray: dict[str, _Block] = {}  # for deltas that no block was announced for
        self._beside: str | None = None  # state that belongs to the block to come
        self._seen = False
        self._reason: str | None = None
        self._sequence: str | None = None
        self._usage: Body = {}
        self._extra: Body = {}
        self.plain: tuple[str, EmitText] | None = None
        self.blocks.at_end.append(self._emit_pending)

    def take(self, chunk: Body, event: str | None = None) -> None:
        kind = chunk.get("type")
        if not isinstance(kind, str):
            kind = event if event is not None else "message"
        if kind == "content_block_delta":
            self._delta(chunk)
        elif kind in _EVENTS:  # others are pings, or unknown
            _EVENTS[kind](self, chunk)

    # -- the message around the blocks

    def _message_start(self, chunk: Body) -> None:
        message = chunk.get("message")
        self._head(message if isinstance(message, dict) else {})

    def _message(self, chunk: Body) -> None:
        """A whole reply."""
        if "content" in chunk or chunk.get("type") == "message":
            self._take_stop(chunk)
            self._head(chunk)
            self.done()

    def _head(self, message: Body) -> None:
        self._seen = True
        self.blocks.start(message.get("id"), message.get("model"))
        self._take_rest(message, _MESSAGE_KEYS)
        content = message.get("content")
        obj: Any
        found = content if isinstance(content, list) else [] if content is None else [content]
        for at, obj in enumerate(found):
            if isinstance(obj, str):
                obj = {"type": "text", "text": obj}
            cut = at + 1 == len(found) and REASON_IN.get(self._reason or "") == "length"
            if cut and isinstance(obj, dict) and obj.get("type") == "tool_use":
                self._cut_call(obj)
            else:
                self._start({"index": at, "content_block": obj})
                self._stop({"index": at})

    def _cut_call(self, obj: Body) -> None:
        """The last block of a whole reply that ran out of tokens: how much is missing is unknown."""
        name = non_empty_string(obj.get("name")) or ""
        call_id = identifier(obj.get("id")) or f"{name}_{self.blocks.calls}"
        arguments = dumps(obj.get("input") or {})
        self.blocks.part(ToolCall(call_id, name, arguments, sealed=False, extra=call_rest(obj)))

    def _message_delta(self, chunk: Body) -> None:
        delta = chunk.get("delta")
        if isinstance(delta, dict):
            self._take_stop(delta)
            self._take_rest(delta, _DELTA_KEYS)
        self._take_rest(chunk, _DELTA_KEYS)

    def _take_stop(self, obj: Body) -> None:
        self._reason = non_empty_string(obj.get("stop_reason")) or self._reason
        self._sequence = non_empty_string(obj.get("stop_sequence")) or self._sequence

    def _take_rest(self, obj: Body, known: frozenset[str]) -> None:
        merge_usage(self._usage, obj.get("usage"))
        self._extra.update(rest_of(obj, known).get(WIRE, {}))

    # -- blocks

    def _start(self, chunk: Body) -> None:
        index, obj = chunk.get("index"), chunk.get("content_block")
        if not isinstance(obj, dict):
            self.blocks.malformed("a content block is not an object", obj)
            return
        self._seen = True
        if obj.get("type") == "tool_use" and not non_empty_string(obj.get("name")):
            self.blocks.malformed("a tool_use block came without a name", obj)
            return
        key = index if isinstance(index, int) else None
        for other, block in list(self._open.items()):
            if other == key or block.complete:  # its end was not sent
                self._close(other)
        kind = non_empty_string(obj.get("type")) or ""
        begin = _BLOCKS.get(kind, _Unknown)
        if kind == "redacted_thinking" and isinstance(obj.get("data"), str) and belongs_to_next(obj["data"]):
            self._beside = obj["data"]
            return
        if self._beside is not None and kind in ("text", "tool_use"):
            obj, self._beside = {**obj, "redacted_thinking": self._beside}, None
        self._last = self._open[key] = begin(self, obj)

    def _delta(self, chunk: Body) -> None:
        delta, index = chunk.get("delta"), chunk.get("index")
        if not isinstance(delta, dict):
            return
        kind = delta.get("type")
        if not isinstance(kind, str):
            kind = next((kind for key, kind in _KIND_OF_KEY.items() if key in delta), "")
        block = self._open.get(index) if isinstance(index, int) else self._last
        if block is None or kind not in block.deltas:
            block = self._unannounced(kind)
        if block is not None:
            block.take(kind, delta)
            emit = block.emitters.get(kind)
            if emit is not None and len(delta) == 2 and len(chunk) == 3:
                text = delta.get(_KEY_OF_KIND[kind])
                self.plain = (text, emit) if text and isinstance(text, str) else None

    def _unannounced(self, kind: str) -> _Block | None:
        if kind in _Text.deltas or kind in _Thinking.deltas:
            place = "text" if kind in _Text.deltas else "thinking"
            if place not in self._stray:
                self._seen = True
                self._stray[place] = _BLOCKS[place](self, {})
            return self._stray[place]
        if kind == "input_json_delta":
            self.blocks.note_once("arguments came for a call that was never announced; they were left out")
        return None

    def _stop(self, chunk: Body) -> None:
        index = chunk.get("index")
        if not isinstance(index, int):
            index = next((key for key, block in self._open.items() if block is self._last), None)
        self._close(index)

    def _close(self, key: object) -> None:
        block = self._open.pop(key, None)
        if block is not None:
            block.close()
            if block is self._last:
                self._last = None

    def _close_blocks(self) -> None:
        for block in (*self._open.values(), *self._stray.values()):
            block.close()
        self._open, self._stray = {}, {}

    # -- ends

    def done(self) -> None:
        if self._reason is None and not self._seen:
            return
        self._close_blocks()
        if self._reason is None:
            self.blocks.notes.append("the provider sent no stop_reason")
        self.blocks.finish(
            REASON_IN.get(self._reason, "other") if self._reason is not None else "stop",
            self._reason,
            read_usage(self._usage),
            sequence=self._sequence,
            extra={WIRE: self._extra} if self._extra else {},
        )

    def cut(self) -> None:
        if self._reason is not None:  # only message_stop is missing
            self.done()

    def _emit_pending(self) -> None:
        """At any end, pending signatures and blocks are emitted; an incomplete call is not to be run."""
        for block in (*self._open.values(), *self._stray.values()):
            if not isinstance(block, _Call):
                block.close()
        self._open, self._stray = {}, {}
        if self._beside is not None:
            self.blocks.part(Reasoning("", {WIRE: {"redacted_thinking": self._beside}}))
            self._beside = None


class _Block(Protocol):
    deltas: _Kinds  # the delta types of this block
    emitters: dict[str, EmitText]  # delta types that are only text -> the function that emits it

    @property
    def complete(self) -> bool: ...  # nothing can follow, even if its end was not sent
    def take(self, kind: str, delta: Body, /) -> None: ...
    def close(self) -> None: ...


class _Kinds(Protocol):
    def __contains__(self, kind: object, /) -> bool: ...


class _Text:
    deltas: _Kinds = frozenset({"text_delta", "citations_delta"})
    _place = "text"
    _known = frozenset({"type", "text"})

    def __init__(self, chunks: MessageChunks, obj: Body) -> None:
        self._chunks = chunks
        self._blocks = chunks.blocks
        self._fields = rest_of(obj, self._known).get(WIRE, {})  # signature, citations
        self.emitters: dict[str, EmitText] = {f"{self._place}_delta": self._piece()}
        text = obj.get(self._place)
        if isinstance(text, str) and text:
            self._emit(text)

    def _piece(self) -> EmitText:
        return self._blocks.on_channel(self._chunks.channel)

    @property
    def complete(self) -> bool:
        return bool(self._fields.get("signature"))  # the last field of a thinking block

    def take(self, kind: str, delta: Body) -> None:
        if kind == "text_delta":
            piece = delta.get("text")
            if isinstance(piece, str):
                self._emit(piece)
        elif isinstance(delta.get("citation"), dict):
            self._fields["citations"] = [*self._fields.get("citations", ()), delta["citation"]]

    def _emit(self, piece: str) -> None:
        self._make_current()
        self._piece()(piece)

    def _make_current(self) -> None:
        """Each block of the stream is a block of ours: closes the text of another block."""
        if self._chunks.current_text is not self:
            self._blocks.end_block()
            self._chunks.current_text = self

    def _begin(self) -> None:
        self._blocks.open_text(self._chunks.channel)

    def close(self) -> None:
        fields = {key: value for key, value in self._fields.items() if value not in ("", [])}
        if fields:
            self._make_current()
            if self._blocks.open_kind is None:
                self._begin()
            self._blocks.add_extra({WIRE: fields})
        if self._chunks.current_text is self:
            self._blocks.end_block()
            self._chunks.current_text = None


class _Thinking(_Text):
    deltas: _Kinds = frozenset({"thinking_delta", "signature_delta"})
    _place = "thinking"
    _known = frozenset({"type", "thinking"})

    def take(self, kind: str, delta: Body) -> None:
        if kind == "signature_delta":
            if isinstance(delta.get("signature"), str):
                self._fields["signature"] = delta["signature"]
        elif isinstance(delta.get("thinking"), str):
            self._emit(delta["thinking"])

    def _piece(self) -> EmitText:
        return self._blocks.reasoning

    def _begin(self) -> None:
        self._blocks.open_reasoning()


class _Call:
    deltas: _Kinds = frozenset({"input_json_delta"})

    def __init__(self, chunks: MessageChunks, obj: Body) -> None:
        self._given = obj.get("input")
        name, call_id = non_empty_string(obj.get("name")) or "", identifier(obj.get("id"))
        self._call = StreamedCall(chunks.blocks, name, call_id, extra=call_rest(obj))
        self.emitters: dict[str, EmitText] = {"input_json_delta": self._call.feed}

    @property
    def complete(self) -> bool:
        return self._call.whole

    def take(self, kind: str, delta: Body) -> None:
        piece = delta.get("partial_json")
        if piece:
            self._call.feed(piece if isinstance(piece, str) else dumps(piece))

    def close(self) -> None:
        """The input at the start of the block counts only if none streamed: otherwise it is a placeholder."""
        given = self._given
        if isinstance(given, dict) and not self._call.begun:
            self._call.emit_whole(dumps(given))
        else:
            self._call.close(given if isinstance(given, str) else dumps(given) if given else None)


class _Anything:
    def __contains__(self, kind: object) -> bool:
        return True


class _Unknown:
    """A block that only Anthropic has: a server tool's output, or an unknown type. It is emitted at its end."""

    deltas: _Kinds = _Anything()
    emitters: dict[str, EmitText] = {}
    complete = False

    def __init__(self, chunks: MessageChunks, obj: Body) -> None:
        self._chunks = chunks
        self._block = dict(obj)
        self._input: list[str] = []

    def take(self, kind: str, delta: Body) -> None:
        if kind == "input_json_delta" and isinstance(delta.get("partial_json"), str):
            self._input.append(delta["partial_json"])
        else:
            self._block.update((key, value) for key, value in delta.items() if key != "type")

    def close(self) -> None:
        text = "".join(self._input)
        if text:
            parsed = loads_object(text)
            self._block["input"] = text if parsed is None else parsed
        if self._block:
            self._chunks.blocks.part(self._part())

    def _part(self) -> Reasoning | Opaque:
        data = self._block.get("data")
        if self._block.get("type") == "redacted_thinking" and isinstance(data, str):
            return Reasoning("", {WIRE: {"redacted_thinking": data}})
        return Opaque(WIRE, self._block)


_BLOCKS: dict[str, Callable[[MessageChunks, Body], _Block]] = {
    "text": _Text,
    "thinking": _Thinking,
    "tool_use": _Call,
}

_EVENTS: dict[str, Callable[[MessageChunks, Body], None]] = {
    "message": MessageChunks._message,
    "message_start": MessageChunks._message_start,
    "content_block_start": MessageChunks._start,
    "content_block_stop": MessageChunks._stop,
    "message_delta": MessageChunks._message_delta,
    "message_stop": lambda chunks, chunk: chunks.done(),
}
