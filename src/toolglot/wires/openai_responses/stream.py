"""Reads OpenAI Responses' streams, and whole replies, which have the form of the last event."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from toolglot.core.events import Event
from toolglot.core.messages import Extra, Reasoning
from toolglot.errors import UpstreamError
from toolglot.io.block_builder import BlockBuilder
from toolglot.io.reply_values import merge_usage
from toolglot.io.request_validation import Body
from toolglot.io.sse import SseFrames
from toolglot.io.stream_reader import StreamReader, read_whole_reply
from toolglot.io.upstream_errors import find_error
from toolglot.wires.openai_common import split_extra
from toolglot.wires.openai_responses.shapes import ECHOES, REASON_IN, STATUS_IN, WIRE, read_usage
from toolglot.wires.openai_responses.stream_items import KINDS, CallItem, Item, MessageItem, ReasoningItem

Doing = tuple[str | None, type[Item], Callable[[Any, Body], None]]

# event -> the item type it creates if none was announced, the class it applies to, and its method
_EVENTS: dict[str, Doing] = {
    "response.output_text.delta": ("message", MessageItem, MessageItem.text),
    "response.output_text.done": ("message", MessageItem, MessageItem.text_done),
    "response.output_text.annotation.added": (None, MessageItem, MessageItem.annotation),
    "response.content_part.done": (None, MessageItem, MessageItem.part_done),
    "response.refusal.delta": ("message", MessageItem, MessageItem.refusal),
    "response.refusal.done": ("message", MessageItem, MessageItem.refusal_done),
    "response.reasoning_summary_text.delta": ("reasoning", ReasoningItem, ReasoningItem.summary),
    "response.reasoning_summary_text.done": ("reasoning", ReasoningItem, ReasoningItem.summary_done),
    "response.reasoning_text.delta": ("reasoning", ReasoningItem, ReasoningItem.content),
    "response.reasoning_text.done": ("reasoning", ReasoningItem, ReasoningItem.content_done),
    "response.reasoning.delta": ("reasoning", ReasoningItem, ReasoningItem.content),
    "response.function_call_arguments.delta": ("function_call", CallItem, CallItem.arguments),
    "response.function_call_arguments.done": ("function_call", CallItem, CallItem.arguments_done),
    "response.custom_tool_call_input.delta": ("custom_tool_call", CallItem, CallItem.arguments),
    "response.custom_tool_call_input.done": ("custom_tool_call", CallItem, CallItem.arguments_done),
}
_ADDED, _DONE = "response.output_item.added", "response.output_item.done"
_PARTIAL_IMAGE = "response.image_generation_call.partial_image"
_NO_PARTIAL_IMAGES = "partial images are left out; the whole image follows"
_HEADS = frozenset({"response.created", "response.in_progress", "response.queued"})
_TERMINAL = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}


def reader(channel: str | None = None) -> StreamReader:
    return StreamReader(SseFrames(), ResponseChunks(channel))


def read_events(body: Body, channel: str | None = None) -> list[Event]:
    """The events of a whole reply."""
    return read_whole_reply(ResponseChunks(channel), body)


class ResponseChunks:
    """One event, or a whole response, at a time."""

    def __init__(self, channel: str | None = None) -> None:
        self.blocks = BlockBuilder()
        self._channel = channel
        self._items: dict[Any, Item] = {}  # by output_index; by id where that is missing
        self._key_of_id: dict[str, Any] = {}
        self._order: list[Item] = []
        self._current: Item | None = None
        self._waiting: dict[Any, list[tuple[str, Body]]] = {}  # events of items that wait for the current one
        self._beside: list[str] = []  # sealed state of an item to come
        self.blocks.at_end.append(self._release)

    def take(self, chunk: Body, event: str | None = None) -> None:
        kind = chunk.get("type") or event
        if not isinstance(kind, str):
            self._whole(chunk, event)
        elif kind in _EVENTS or kind in (_ADDED, _DONE):
            self._route(kind, chunk)
        elif kind in _HEADS:
            if isinstance(chunk.get("response"), dict):
                self._start(chunk["response"])
        elif kind in _TERMINAL:
            response = chunk.get("response")
            self._terminal(response if isinstance(response, dict) else {}, _TERMINAL[kind])
        elif not kind.startswith("response."):
            self._whole(chunk, event)
        elif kind == _PARTIAL_IMAGE and _NO_PARTIAL_IMAGES not in self.blocks.notes:
            self.blocks.notes.append(_NO_PARTIAL_IMAGES)

    def _start(self, response: Body) -> None:
        self.blocks.start(response.get("id"), response.get("model"), response.get("created_at"))

    # -- items: one at a time

    def _route(self, kind: str, chunk: Body) -> None:
        key = self._key(chunk)
        current = self._current
        if current is not None and current.key != key:
            if not current.resting:
                self._waiting.setdefault(key, []).append((kind, chunk))
                return
            self._conclude(current, None, complete=False)
        self._do(kind, key, chunk)
        if self._waiting and self._current is None:
            self._advance()

    def _key(self, chunk: Body) -> Any:
        index = chunk.get("output_index")
        if type(index) is int:
            return index
        item = chunk.get("item")
        found = chunk.get("item_id") or (item.get("id") if isinstance(item, dict) else None)
        if isinstance(found, str):
            return self._key_of_id.get(found, found)
        return self._order[-1].key if self._order and "item" not in chunk else len(self._order)

    def _advance(self) -> None:
        """The next items: complete ones are emitted as a whole, the first incomplete one becomes current."""
        while self._waiting and self._current is None:
            key = next(iter(self._waiting))
            for kind, chunk in self._waiting.pop(key):
                self._do(kind, key, chunk)

    def _do(self, kind: str, key: Any, chunk: Body) -> None:
        item = self._items.get(key)
        if kind in (_ADDED, _DONE):
            body = chunk.get("item")
            if isinstance(body, dict):
                self._announced(kind, key, item, body)
            return
        makes, wanted, act = _EVENTS[kind]
        if makes is not None and (item is None or (item.done and not isinstance(item, wanted))):
            made: Body = {"type": makes}
            if isinstance(chunk.get("item_id"), str):
                made["id"] = chunk["item_id"]
            item = self._create(key, made)
        if isinstance(item, wanted) and not item.done:
            act(item, chunk)

    def _announced(self, kind: str, key: Any, item: Item | None, body: Body) -> None:
        finishing = kind == _DONE
        if item is not None and not _same(item, body, finishing=finishing):
            if not item.done:  # another item has its index: then it is complete
                self._conclude(item, None, complete=True)
            item = None
        if item is None:
            item = self._create(key, body)
        if finishing:
            if not item.done:
                self._conclude(item, body, complete=True)
            item.finished = True

    def _create(self, key: Any, body: Body) -> Item:
        item = KINDS.get(str(body.get("type")), Item)(key, body, self.blocks, self._channel, self._beside)
        self._items[key] = item
        self._order.append(item)
        if isinstance(body.get("id"), str):
            self._key_of_id[body["id"]] = key
        if item.exclusive:
            self._current = item
        return item

    def _conclude(self, item: Item, final: Body | None, *, complete: bool) -> None:
        """Ends an item with its final form or, if the response is complete, with its first one."""
        if final is not None:
            item.finish(final)
        elif complete:
            item.finish(item.first, complete=True)
        else:
            item.cut()
        item.done = True
        if self._current is item:
            self._current = None

    # -- the end

    def _whole(self, chunk: Body, event: str | None) -> None:
        if isinstance(chunk.get("output"), list) or chunk.get("object") == "response":
            status = chunk.get("status")
            self._terminal(chunk, status if isinstance(status, str) else "completed", event)
        elif str(chunk.get("type")) in KINDS or str(chunk.get("type")).endswith("_call"):  # an item alone
            self._do(_DONE, len(self._order), {"item": chunk})

    def _terminal(self, response: Body, status: str, event: str | None = None) -> None:
        self._start(response)
        output = response.get("output")
        bodies: list[Body] = []
        for body in output if isinstance(output, list) else ():
            if isinstance(body, dict):
                bodies.append(body)
            else:
                self.blocks.malformed("an item of the output is not an object", body)
        self._settle(bodies, complete=status == "completed")
        if event == "error":
            return  # the caller reports the error
        if status == "failed":
            error = find_error({"error": response.get("error")})
            self.blocks.fail(error or UpstreamError("the response failed", code="server_error"))
            return
        usage: Body = {}
        merge_usage(usage, response.get("usage"))
        reason, raw = self._reason(response, status)
        self.blocks.finish(reason, raw, read_usage(usage), extra=_kept(response))

    def _reason(self, response: Body, status: str) -> tuple[Any, str]:
        if status == "incomplete":
            details = response.get("incomplete_details")
            raw = details.get("reason") if isinstance(details, dict) else None
            return (REASON_IN.get(raw, "other"), raw) if isinstance(raw, str) and raw else ("length", status)
        if status == "completed":
            refused = any(isinstance(item, MessageItem) and item.refused for item in self._order)
            return ("filter" if refused and not self.blocks.calls else "stop"), status
        return STATUS_IN.get(status, "other"), status

    def _settle(self, output: list[Body], *, complete: bool) -> None:
        """Ends every item; `output` may contain its final form, or items that never streamed."""
        finals = _Finals(output)
        while self._current is not None or self._waiting:
            if self._current is not None:
                self._conclude(self._current, finals.of(self._current), complete=complete)
            self._advance()
        for item in self._order:
            final = finals.of(item)
            if not item.done:
                self._conclude(item, final, complete=complete)
        for body in finals.unread():
            self._conclude(self._create(len(self._order), body), body, complete=complete)

    def _release(self) -> None:
        """At any end of the stream, everything that waits is emitted."""
        self._settle([], complete=False)
        while self._beside:
            self.blocks.part(Reasoning("", {WIRE: {"encrypted_content": self._beside.pop(0)}}))

    def done(self) -> None:
        """An end marker, which this API does not have: accepted if nothing is open."""
        if self._order and not self.blocks.ended and all(item.done for item in self._order) and not self._waiting:
            self.blocks.notes.append("the provider sent no terminal event")
            self.blocks.finish("stop")

    def cut(self) -> None:
        """What still waits is emitted at the end."""


class _Finals:
    """Matches items of the final output with those that streamed: by id, by call id, by position."""

    def __init__(self, output: list[Body]) -> None:
        self._output = output
        self._seen: set[int] = set()
        self._by_word: dict[str, int] = {}
        for at, body in enumerate(output):
            for key in ("id", "call_id"):
                if isinstance(body.get(key), str):
                    self._by_word[body[key]] = at

    def of(self, item: Item) -> Body | None:
        if not self._output:
            return None
        words = (word for key in ("id", "call_id") if isinstance(word := item.first.get(key), str))
        at = next((self._by_word[word] for word in words if word in self._by_word), item.key)
        if not isinstance(at, int) or not 0 <= at < len(self._output):
            return None
        body = self._output[at]
        if body.get("type") != item.first.get("type"):
            return None
        self._seen.add(at)
        return body

    def unread(self) -> Iterator[Body]:
        return (body for at, body in enumerate(self._output) if at not in self._seen)


def _same(item: Item, body: Body, *, finishing: bool) -> bool:
    """Whether an event is about the known item at that index, and not about another one."""
    if item.first.get("type") != body.get("type"):
        return False
    if finishing and not item.finished:
        return True
    known = item.first.get("id")
    return known == body.get("id") if known is not None else item.first == body


def _kept(response: Body) -> Extra:
    fields = {key: value for key, value in response.items() if key not in ECHOES and value is not None}
    if fields.get("service_tier") == "default":
        del fields["service_tier"]
    return split_extra(fields, WIRE)
