"""Writing OpenAI Chat's stream. What repeats in every chunk is encoded once."""

from __future__ import annotations

from typing import Any

from toolglot.core.events import Close, Delta, Event, Fault, Finish, Open, Start
from toolglot.core.fold import join_extra
from toolglot.core.interfaces import Answering
from toolglot.core.messages import ToolCall
from toolglot.reading.shape import own_extra
from toolglot.text.json_text import encode
from toolglot.text.sse import sse
from toolglot.wires.openai_chat import signatures
from toolglot.wires.openai_chat.functions import is_of_old, no_place
from toolglot.wires.openai_chat.messages import custom_input
from toolglot.wires.openai_chat.reply import split_own, write_details
from toolglot.wires.openai_chat.shapes import WIRE, finish_reason, write_usage
from toolglot.wires.openai_family import write_fault

Body = dict[str, Any]

_PLAIN_KEYS = {"text": b'{"content":', "reasoning": b'{"reasoning_content":'}


class ChatWriter:
    def __init__(self, answering: Answering, notes: list[str]) -> None:
        self._answering = answering
        self._notes = notes
        self._head = b""
        self._open: dict[int, Open] = {}
        self._around: dict[int, tuple[bytes, bytes]] = {}  # what stands before and behind each piece of a block
        self._number: dict[int, int] = {}  # block -> position among the calls
        self._held: dict[int, list[str]] = {}  # custom calls: their input leaves whole
        self._calls = 0
        self._of_old = is_of_old(answering.request)
        self._refused = False

    def feed(self, event: Event) -> bytes:
        if isinstance(event, Delta):
            return self._delta(event.index, event.text)
        if not self._head and not isinstance(event, (Start, Fault)):
            return self._start(Start()) + self.feed(event)
        match event:
            case Open():
                return self._opened(event)
            case Close():
                return self._closed(event)
            case Start():
                return self._start(event)
            case Finish():
                return self._finish(event)
            case Fault():
                return sse(encode(write_fault(event.error)[1]))

    def close(self) -> bytes:
        return b""

    def _start(self, event: Start) -> bytes:
        answering = self._answering
        head = {
            "id": answering.id or event.id or "",
            "object": "chat.completion.chunk",
            "created": answering.created or event.created or 0,
            "model": answering.model or event.model or "",
        }
        self._head = encode(head)[:-1] + b',"choices":'
        return self._chunk(b'{"role":"assistant","content":""}')

    def _chunk(self, delta: bytes, end: bytes = b'"logprobs":null,"finish_reason":null') -> bytes:
        return b"data: " + self._head + b'[{"index":0,"delta":' + delta + b"," + end + b"}]}\n\n"

    def _opened(self, event: Open) -> bytes:
        self._open[event.index] = event
        if event.kind != "call":
            if event.kind in _PLAIN_KEYS and event.channel != "refusal":
                self._surround(event.index, _PLAIN_KEYS[event.kind], b"}")
            return b""
        number = self._number[event.index] = self._calls
        self._calls += 1
        if self._of_old:
            return self._opened_of_old(event, first=number == 0)
        if event.custom:
            self._held[event.index] = []
            return b""
        self._surround(event.index, b'{"tool_calls":[{"index":%d,"function":{"arguments":' % number, b"}}]}")
        call: Body = {
            "index": number,
            "id": event.call_id,
            "type": "function",
            "function": {"name": event.full_name, "arguments": ""},
        }
        if event.extra:
            kept = own_extra(signatures.told(event.extra), WIRE, f"call {event.call_id}", self._notes)
            call["function"].update(kept.pop("function", {}))
            call.update(kept)
        return self._chunk(encode({"tool_calls": [call]}))

    def _opened_of_old(self, event: Open, *, first: bool) -> bytes:
        if not first:
            no_place(event.full_name, self._notes)
            return b""
        self._surround(event.index, b'{"function_call":{"arguments":', b"}}")
        return self._chunk(encode({"function_call": {"name": event.full_name, "arguments": ""}}))

    def _surround(self, index: int, before: bytes, behind: bytes) -> None:
        before, _, behind = self._chunk(before + b"\0" + behind).partition(b"\0")
        self._around[index] = before, behind

    def _delta(self, index: int, text: str) -> bytes:
        around = self._around.get(index)
        if around is not None:
            return around[0] + encode(text) + around[1]
        if index in self._held:
            self._held[index].append(text)
        elif self._open[index].channel == "refusal":
            self._refused = True
            return self._chunk(b'{"refusal":' + encode(text) + b"}")
        return b""

    def _closed(self, event: Close) -> bytes:
        opened = self._open.pop(event.index)
        extra = join_extra(opened.extra, event.extra)
        if opened.kind == "call":
            return self._close_call(opened, event)
        if opened.kind == "reasoning":
            details = write_details(extra)
            return self._chunk(encode({"reasoning_details": details})) if details else b""
        if opened.kind == "text":
            own = own_extra(extra, WIRE, "text", self._notes)
            return self._chunk(encode(own)) if own else b""
        what = "picture or file" if opened.kind == "media" else f"block of {opened.name}'s own"
        self._notes.append(f"reply: openai-chat has no place for a {what}; left out")
        return b""

    def _close_call(self, opened: Open, event: Close) -> bytes:
        if self._of_old:
            return b""
        number = self._number[opened.index]
        told = join_extra(opened.extra, event.extra) if opened.custom else event.extra
        kept = own_extra(signatures.told(told), WIRE, f"call {opened.call_id}", self._notes) if told else {}
        if opened.custom:
            call = ToolCall("", "", "".join(self._held.pop(opened.index)))
            custom = {"name": opened.full_name, "input": custom_input(call)}
            held: Body = {"index": number, "id": opened.call_id, "type": "custom", "custom": custom, **kept}
            return self._chunk(encode({"tool_calls": [held]}))
        return self._chunk(encode({"tool_calls": [{"index": number, **kept}]})) if kept else b""

    def _finish(self, event: Finish) -> bytes:
        last, choice, message = split_own(event.extra, self._notes)
        reason = finish_reason(event.stop, refused=self._refused, of_old=self._of_old)
        end = {"logprobs": None, **choice, "finish_reason": reason}
        written = self._chunk(encode(message), encode(end)[1:-1])
        if event.usage and self._answering.stream_usage:
            last["usage"] = write_usage(event.usage)
        if last:
            written += b"data: " + self._head + b"[]," + encode(last)[1:] + b"\n\n"
        return written + b"data: [DONE]\n\n"
