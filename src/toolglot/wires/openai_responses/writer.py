"""Writes OpenAI Responses' stream: every event with its number; the last one contains the whole response."""

from __future__ import annotations

from typing import Any, NamedTuple

from toolglot.core.events import Close, Delta, Fault, Finish, Open, Start
from toolglot.core.fold import fold
from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import Part, Text, ToolCall
from toolglot.core.neighbour_state import sealed_neighbour_state
from toolglot.io.event_writer import EventWriter
from toolglot.io.json_codec import encode
from toolglot.io.request_validation import Body, wire_extra
from toolglot.wires.openai_common import FAMILY
from toolglot.wires.openai_responses.items import state_item
from toolglot.wires.openai_responses.output import (
    Ids,
    cuts_text,
    ended,
    failed,
    kind_of,
    response_head,
    running,
    write_item,
)
from toolglot.wires.openai_responses.progress import first_form, progress_events
from toolglot.wires.openai_responses.shapes import WIRE, make_id
from toolglot.wires.openai_responses.vendor_tools import client_tools

_REFUSAL = {"type": "refusal", "refusal": ""}
_TEXT = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}

_ANNOUNCED = ("text", "reasoning", "call")
_ID_KINDS = {"refusal": "text"}

# kind of block -> its delta event and that event's other fields. Other kinds are written as a whole.
_DELTAS: dict[str, tuple[str, Body]] = {
    "text": ("response.output_text.delta", {"content_index": 0, "logprobs": []}),
    "refusal": ("response.refusal.delta", {"content_index": 0}),
    "reasoning": ("response.reasoning_summary_text.delta", {"summary_index": 0}),
    "call": ("response.function_call_arguments.delta", {}),
}


class ResponsesWriter(EventWriter):
    def __init__(self, context: ResponseContext, notes: list[str]) -> None:
        super().__init__(context, notes)
        self._sequence = 0
        self._head: Body = {}
        self._head_json = b""
        self._ids = Ids("")
        self._open: dict[int, _Block] = {}
        self._output: dict[int, bytes] = {}
        self._next = 0  # output_index
        self._refused = False
        self._pending: _PendingMessage | None = None
        self._client_tools = client_tools(context.request)

    # -- the response around the items

    def on_start(self, event: Start) -> bytes:
        self._head = response_head(self._context, event.id, event.model, event.created)
        self._head_json = encode(self._head)[:-1]
        self._ids = Ids(self._head["id"])
        response = self._response(running())
        return self._event("response.created", response) + self._event("response.in_progress", response)

    def _response(self, tail: Body) -> bytes:
        output = b",".join(item for _, item in sorted(self._output.items()))
        return b',"response":' + self._head_json + b',"output":[' + output + b"]," + encode(tail)[1:]

    def on_finish(self, event: Finish) -> bytes:
        extra = wire_extra(event.extra, WIRE, "reply", self._notes, FAMILY) if event.extra else {}
        tail = ended(event.stop, event.usage, self._refused, extra, self._head)
        return self._end_message(cut=cuts_text(tail, event.decisions)) + self._terminal(tail)

    def on_error(self, event: Fault) -> bytes:
        return self._end_message(cut=True) + self._terminal(failed(event.error))

    def _terminal(self, tail: Body) -> bytes:
        if "service_tier" in tail:  # known only now
            self._head_json = encode({key: value for key, value in self._head.items() if key not in tail})[:-1]
        return self._event(f"response.{tail['status']}", self._response(tail))

    def _event(self, kind: str, rest: bytes) -> bytes:
        """`rest`: the rest of the object, with a leading comma, without the closing brace."""
        name, number = kind.encode(), self._sequence
        self._sequence += 1
        return b'event: %b\ndata: {"type":"%b","sequence_number":%d%b}\n\n' % (name, name, number, rest)

    # -- items

    def on_open(self, event: Open) -> bytes:
        begun = self._end_message()
        block = self._open[event.index] = _Block(event)
        if event.kind == "call" and event.full_name in self._client_tools:
            block.kind = "item"
        if event.extra and event.kind in ("text", "call"):
            begun += self._beside(sealed_neighbour_state(event.extra, WIRE))
        return begun + self._announce(block) if event.kind in _ANNOUNCED and block.kind != "item" else begun

    def _announce(self, block: _Block) -> bytes:
        """The item's first event, and its first part's."""
        block.place, block.item_id = (
            self._next,
            self._ids.take(_ID_KINDS.get(block.kind, block.kind), block.open.extra, self._next),
        )
        written = self._item_added(_first_form(block.open, block))
        if block.kind in ("text", "refusal"):
            part = _TEXT if block.kind == "text" else _REFUSAL
            written += self._event("response.content_part.added", block.about(content_index=0, part=part))
            self._refused = self._refused or block.kind == "refusal"
        if block.kind in _DELTAS:
            name, more = _DELTAS[block.kind]
            block.delta_name = name.encode()
            block.delta_head = block.about(**more) + b',"delta":'
        return written

    def _item_added(self, item: Body) -> bytes:
        place = self._next
        self._next += 1
        return self._event("response.output_item.added", b',"output_index":%d,"item":%b' % (place, encode(item)))

    def _item_done(self, place: int, item: Body) -> bytes:
        obj = self._output[place] = encode(item)
        return self._event("response.output_item.done", b',"output_index":%d,"item":%b' % (place, obj))

    def _beside(self, sealed: str | None) -> bytes:
        """Another vendor's state on a text or a call, as a separate item."""
        if sealed is None:
            return b""
        place = self._next
        item = {**state_item(sealed), "id": self._ids.take("reasoning", {}, place)}
        return self._item_added({"type": "reasoning", "id": item["id"], "summary": []}) + self._item_done(place, item)

    def on_delta(self, index: int, text: str) -> bytes:
        block = self._open[index]
        block.pieces.append(text)
        if block.kind not in _DELTAS:
            return b""
        begun = b""
        if block.kind == "reasoning" and len(block.pieces) == 1:
            part = {"type": "summary_text", "text": ""}
            begun = self._event("response.reasoning_summary_part.added", block.about(summary_index=0, part=part))
        number = self._sequence
        self._sequence += 1
        name = block.delta_name
        return begun + b'event: %b\ndata: {"type":"%b","sequence_number":%d%b%b}\n\n' % (
            name,
            name,
            number,
            block.delta_head,
            encode(text),
        )

    def on_close(self, event: Close) -> bytes:
        return self._end_message() + self._close_block(event)

    def _close_block(self, event: Close) -> bytes:
        block = self._open.pop(event.index)
        text = "".join(block.pieces)
        part = fold((block.open, Delta(event.index, text), event)).parts[0]
        if block.open.kind not in _ANNOUNCED or block.kind == "item":
            return self._write_whole(part)
        item = write_item(part, block.item_id, self._notes) or {}
        written = self._ends(block, text, item)
        late = sealed_neighbour_state(event.extra, WIRE, "last") if isinstance(part, (Text, ToolCall)) else None  # a signature
        if isinstance(part, Text):
            self._pending = _PendingMessage(block.place, item, late)
            return written
        return written + self._item_done(block.place, item) + self._beside(late)

    def _end_message(self, *, cut: bool = False) -> bytes:
        """Ends a message. It waits for the next event, which shows whether the message was cut short."""
        pending, self._pending = self._pending, None
        if pending is None:
            return b""
        item = {**pending.item, "status": "incomplete"} if cut else pending.item
        return self._item_done(pending.place, item) + self._beside(pending.late)

    def _write_whole(self, part: Part) -> bytes:
        """An image, an opaque block or a call with an item of its own: written at its end."""
        place = self._next
        item = write_item(part, make_id(kind_of(part), self._head["id"], place), self._notes, self._client_tools)
        if item is None:
            return b""
        added = self._item_added(first_form(item))
        progress = [self._event(kind, rest) for kind, rest in progress_events(item, place)]
        return added + b"".join(progress) + self._item_done(place, item)

    def _ends(self, block: _Block, text: str, item: Body) -> bytes:
        """The events that repeat what has streamed. A custom call's text comes from its JSON, so it is written as a whole."""
        match block.kind:
            case "text":
                part = {**_TEXT, "text": text}
                written = self._event("response.output_text.done", block.about(content_index=0, text=text, logprobs=[]))
                return written + self._event("response.content_part.done", block.about(content_index=0, part=part))
            case "refusal":
                part = {**_REFUSAL, "refusal": text}
                written = self._event("response.refusal.done", block.about(content_index=0, refusal=text))
                return written + self._event("response.content_part.done", block.about(content_index=0, part=part))
            case "reasoning" if text:
                part = {"type": "summary_text", "text": text}
                written = self._event("response.reasoning_summary_text.done", block.about(summary_index=0, text=text))
                return written + self._event("response.reasoning_summary_part.done", block.about(summary_index=0, part=part))
            case "call":
                return self._event("response.function_call_arguments.done", block.about(arguments=text, name=block.open.name))
            case "custom":
                written = self._event("response.custom_tool_call_input.delta", block.about(delta=item["input"]))
                return written + self._event("response.custom_tool_call_input.done", block.about(input=item["input"]))
        return b""


class _PendingMessage(NamedTuple):
    """A message whose text is complete."""

    place: int
    item: Body
    late: str | None  # state that follows it


class _Block:
    """A block that is being written."""

    __slots__ = ("delta_head", "delta_name", "item_id", "kind", "open", "pieces", "place")

    def __init__(self, opened: Open) -> None:
        self.open = opened
        self.kind: str = opened.kind
        if opened.kind == "call" and opened.custom:
            self.kind = "custom"
        elif opened.kind == "text" and opened.channel == "refusal":
            self.kind = "refusal"
        self.pieces: list[str] = []
        self.item_id = ""
        self.place = 0
        self.delta_name = b""
        self.delta_head = b""

    def about(self, **more: Any) -> bytes:
        """The item's id and index, and an event's other fields, as the rest of its object."""
        return b"," + encode({"item_id": self.item_id, "output_index": self.place, **more})[1:-1]


def _first_form(opened: Open, block: _Block) -> Body:
    """An item as it is announced: still empty."""
    match block.kind:
        case "reasoning":
            return {"id": block.item_id, "type": "reasoning", "summary": []}
        case "call" | "custom":
            call = ToolCall(opened.call_id or "", opened.name or "", "", opened.namespace, opened.custom, extra=opened.extra)
            return {**(write_item(call, block.item_id, []) or {}), "status": "in_progress"}
        case _:
            message = write_item(Text("", opened.channel, opened.extra), block.item_id, []) or {}
            return {**message, "status": "in_progress", "content": []}
