"""Writes OpenAI Chat's stream. What repeats in every chunk is encoded once."""

from __future__ import annotations

from toolglot.core.events import Close, Fault, Finish, Open, Start
from toolglot.core.fold import merge_extra
from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import ToolCall
from toolglot.io.event_writer import EventWriter
from toolglot.io.json_codec import encode
from toolglot.io.request_validation import Body, no_place_in_reply, wire_extra
from toolglot.io.sse import encode_sse
from toolglot.wires.openai_chat import signatures
from toolglot.wires.openai_chat.legacy_functions import note_extra_call, uses_legacy_functions
from toolglot.wires.openai_chat.messages import custom_input
from toolglot.wires.openai_chat.reply import split_extra_fields, write_details
from toolglot.wires.openai_chat.shapes import WIRE, finish_reason, write_usage
from toolglot.wires.openai_common import write_error

_PLAIN_KEYS = {"text": b'{"content":', "reasoning": b'{"reasoning_content":'}


class ChatWriter(EventWriter):
    def __init__(self, context: ResponseContext, notes: list[str]) -> None:
        super().__init__(context, notes)
        self._head = b""
        self._open: dict[int, Open] = {}
        self._around: dict[int, tuple[bytes, bytes]] = {}  # the bytes before and after each delta of a block
        self._number: dict[int, int] = {}  # block -> position among the calls
        self._buffered: dict[int, list[str]] = {}  # custom calls: their input is written as a whole
        self._calls = 0
        self._uses_functions = uses_legacy_functions(context.request)
        self._refused = False

    def on_start(self, event: Start) -> bytes:
        context = self._context
        head = {
            "id": context.id or event.id or "",
            "object": "chat.completion.chunk",
            "created": context.created or event.created or 0,
            "model": context.model or event.model or "",
        }
        self._head = encode(head)[:-1] + b',"choices":'
        return self._chunk(b'{"role":"assistant","content":""}')

    def _chunk(self, delta: bytes, end: bytes = b'"logprobs":null,"finish_reason":null') -> bytes:
        return b"data: " + self._head + b'[{"index":0,"delta":' + delta + b"," + end + b"}]}\n\n"

    def on_open(self, event: Open) -> bytes:
        self._open[event.index] = event
        if event.kind != "call":
            if event.kind in _PLAIN_KEYS and event.channel != "refusal":
                self._surround(event.index, _PLAIN_KEYS[event.kind], b"}")
            return b""
        number = self._number[event.index] = self._calls
        self._calls += 1
        if self._uses_functions:
            return self._open_function_call(event, first=number == 0)
        kind = "function"
        if event.custom:
            kind, self._buffered[event.index] = "custom", []
        else:
            self._surround(event.index, b'{"tool_calls":[{"index":%d,"function":{"arguments":' % number, b"}}]}")
        content = {"name": event.full_name, "input" if event.custom else "arguments": ""}
        call: Body = {"index": number, "id": event.call_id, "type": kind, kind: content}
        if event.extra:
            kept = wire_extra(signatures.for_client(event.extra), WIRE, f"call {event.call_id}", self._notes)
            content.update(kept.pop(kind, {}))
            call.update(kept)
        return self._chunk(encode({"tool_calls": [call]}))

    def _open_function_call(self, event: Open, *, first: bool) -> bytes:
        if not first:
            note_extra_call(event.full_name, self._notes)
            return b""
        self._surround(event.index, b'{"function_call":{"arguments":', b"}}")
        return self._chunk(encode({"function_call": {"name": event.full_name, "arguments": ""}}))

    def _surround(self, index: int, before: bytes, behind: bytes) -> None:
        before, _, behind = self._chunk(before + b"\0" + behind).partition(b"\0")
        self._around[index] = before, behind

    def on_delta(self, index: int, text: str) -> bytes:
        around = self._around.get(index)
        if around is not None:
            return around[0] + encode(text) + around[1]
        if index in self._buffered:
            self._buffered[index].append(text)
        elif self._open[index].channel == "refusal":
            self._refused = True
            return self._chunk(b'{"refusal":' + encode(text) + b"}")
        return b""

    def on_close(self, event: Close) -> bytes:
        opened = self._open.pop(event.index)
        extra = merge_extra(opened.extra, event.extra)
        if opened.kind == "call":
            return self._close_call(opened, event)
        if opened.kind == "reasoning":
            details = write_details(extra)
            return self._chunk(encode({"reasoning_details": details})) if details else b""
        if opened.kind == "text":
            fields = wire_extra(extra, WIRE, "text", self._notes)
            return self._chunk(encode(fields)) if fields else b""
        no_place_in_reply(WIRE, opened.kind, opened.name, self._notes)
        return b""

    def _close_call(self, opened: Open, event: Close) -> bytes:
        if self._uses_functions:
            return b""
        number = self._number[opened.index]
        more: Body = {}
        if opened.custom:
            more["custom"] = {"input": custom_input(ToolCall("", "", "".join(self._buffered.pop(opened.index))))}
        if event.extra:
            more.update(wire_extra(signatures.for_client(event.extra), WIRE, f"call {opened.call_id}", self._notes))
        return self._chunk(encode({"tool_calls": [{"index": number, **more}]})) if more else b""

    def on_finish(self, event: Finish) -> bytes:
        last, choice, message = split_extra_fields(event.extra, self._notes)
        reason = finish_reason(event.stop, refused=self._refused, uses_functions=self._uses_functions)
        end = {"logprobs": None, **choice, "finish_reason": reason}
        written = self._chunk(encode(message), encode(end)[1:-1])
        if event.usage and self._context.stream_usage:
            last["usage"] = write_usage(event.usage)
        if last:
            written += b"data: " + self._head + b"[]," + encode(last)[1:] + b"\n\n"
        return written + b"data: [DONE]\n\n"

    def on_error(self, event: Fault) -> bytes:
        return encode_sse(encode(write_error(event.error)[1]))
