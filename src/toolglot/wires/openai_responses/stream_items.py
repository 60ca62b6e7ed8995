"""The items of a response while they stream. Each class turns its events into blocks.

The final form of an item (`output_item.done`) is authoritative. What streamed before is not repeated; what is missing
is added; if the two differ, a note is added.
"""

from __future__ import annotations

from typing import Any

from toolglot.core.messages import Extra, Opaque
from toolglot.core.neighbour_state import NEIGHBOUR_STATE, belongs_to_next
from toolglot.io.block_builder import BlockBuilder
from toolglot.io.json_codec import dumps
from toolglot.io.reply_values import identifier
from toolglot.io.request_validation import Body
from toolglot.io.streamed_call import StreamedCall
from toolglot.wires.openai_responses.content import part_state
from toolglot.wires.openai_responses.items import CALLS, call_state, message_state, read_reasoning
from toolglot.wires.openai_responses.shapes import WIRE

_UNFINISHED = ("incomplete", "in_progress")


class Item:
    """`exclusive`: others wait until it is done, so that blocks come in the order of the output."""

    exclusive = True

    def __init__(self, key: Any, first: Body, blocks: BlockBuilder, channel: str | None, beside: list[str]) -> None:
        self.key = key
        self.first = first
        self.done = False
        self.finished = False  # its final form came
        self.resting = False  # its text is complete, but its end was not sent
        self._blocks = blocks
        self._channel = channel
        self._beside = beside  # sealed state of the next text or call

    def _with_neighbour_state(self, fields: Body) -> Body:
        return {**fields, NEIGHBOUR_STATE: self._beside.pop()} if self._beside else dict(fields)

    def finish(self, body: Body, *, complete: bool = False) -> None:
        """Takes the final form. `complete`: the response is complete, so the first form is also the final one."""
        self._blocks.part(Opaque(WIRE, body))

    def cut(self) -> None:
        """The response ended before the item did."""
        self._blocks.part(Opaque(WIRE, self.first))

    def _missing(self, sent: list[str], final: object) -> str:
        """The rest of the final text that has not streamed."""
        if not isinstance(final, str) or not final:
            return ""
        if not sent:
            return final
        streamed = "".join(sent)
        sent[:] = [streamed]
        if final.startswith(streamed):
            return final[len(streamed) :]
        self._blocks.notes.append("an item's streamed form differs from its final form; the streamed form is used")
        return ""


class MessageItem(Item):
    def __init__(self, key: Any, first: Body, blocks: BlockBuilder, channel: str | None, beside: list[str]) -> None:
        super().__init__(key, first, blocks, channel, beside)
        self._extra_fields = _message_state(first)
        self._announced: Body = {}  # the extra of the Open event
        self._sent: dict[Any, list[str]] = {}
        self._parts: dict[Any, Body] = {}  # the final form of each part
        self._at: Any = None
        self._open = False
        self.refused = False

    def text(self, chunk: Body) -> None:
        self._emit(chunk.get("content_index"), chunk.get("delta"), self._channel)

    def refusal(self, chunk: Body) -> None:
        self._emit(chunk.get("content_index"), chunk.get("delta"), "refusal")

    def text_done(self, chunk: Body) -> None:
        self._complete(chunk.get("content_index"), chunk.get("text"), self._channel)
        self.resting = True

    def refusal_done(self, chunk: Body) -> None:
        self._complete(chunk.get("content_index"), chunk.get("refusal"), "refusal")
        self.resting = True

    def annotation(self, chunk: Body) -> None:
        part = self._parts.setdefault(_index(chunk.get("content_index")), {"type": "output_text", "text": None})
        part.setdefault("annotations", []).append(chunk.get("annotation"))

    def part_done(self, chunk: Body) -> None:
        if isinstance(chunk.get("part"), dict):
            self._part(_index(chunk.get("content_index")), chunk["part"])
            self.resting = True

    def finish(self, body: Body, *, complete: bool = False) -> None:
        self._extra_fields = _message_state(body)
        content = body.get("content")
        if isinstance(content, str):
            content = [{"type": "output_text", "text": content}]
        for at, part in enumerate(content if isinstance(content, list) else ()):
            if isinstance(part, dict):
                self._part(at, part)
        self._end_part()

    def cut(self) -> None:
        self._end_part()

    def _part(self, at: Any, part: Body) -> None:
        self._parts[at] = part
        if isinstance(part.get("text"), str):
            self._complete(at, part["text"], self._channel)
        elif isinstance(part.get("refusal"), str):
            self._complete(at, part["refusal"], "refusal")
        elif part.get("type") not in ("output_text", "refusal") and self._sent.get(at) is None:
            self._end_part()
            self._sent[at] = []
            self._blocks.part(Opaque(WIRE, part))

    def _complete(self, at: Any, final: object, channel: str | None) -> None:
        at = _index(at)
        missing = self._missing(self._sent.get(at, []), final)
        if missing:
            self._emit(at, missing, channel)

    def _emit(self, at: Any, piece: object, channel: str | None) -> None:
        if not isinstance(piece, str) or not piece:
            return
        at = _index(at)
        if not self._open or self._at != at or self._blocks.open_kind != "text":
            self._begin_part(at, channel)
        self.resting = False
        self._sent[at].append(piece)
        self._blocks.text(piece, channel)

    def _begin_part(self, at: Any, channel: str | None) -> None:
        self._end_part()
        self.refused = self.refused or channel == "refusal"
        self._announced = self._with_neighbour_state(self._extra_fields)
        self._blocks.open_text(channel, {WIRE: self._announced} if self._announced else {})
        self._sent.setdefault(at, [])
        self._at, self._open = at, True

    def _end_part(self) -> None:
        if self._open and self._blocks.open_kind == "text":
            _emit_changes(self._blocks, self._announced, {**self._extra_fields, **part_state(self._parts.get(self._at, {}))})
            self._blocks.end_block()
        self._open = False


class ReasoningItem(Item):
    def __init__(self, key: Any, first: Body, blocks: BlockBuilder, channel: str | None, beside: list[str]) -> None:
        super().__init__(key, first, blocks, channel, beside)
        self._announced = {key: value for key, value in read_reasoning(first)[1].items() if key == "id"}
        self._form: str | None = None  # summary or content: the one that is emitted
        self._at: Any = None
        self._sent: list[str] = []
        self._seen: set[Any] = set()
        self._open = False

    def summary(self, chunk: Body) -> None:
        self._emit("summary", chunk.get("summary_index"), chunk.get("delta"))

    def content(self, chunk: Body) -> None:
        self._emit("content", chunk.get("content_index"), chunk.get("delta"))

    def summary_done(self, chunk: Body) -> None:
        if _index(chunk.get("summary_index")) not in self._seen:
            self._emit("summary", chunk.get("summary_index"), chunk.get("text"))

    def content_done(self, chunk: Body) -> None:
        if _index(chunk.get("content_index")) not in self._seen:
            self._emit("content", chunk.get("content_index"), chunk.get("text"))

    def finish(self, body: Body, *, complete: bool = False) -> None:
        text, fields = read_reasoning(body, self._form)
        if not text and not self._open and belongs_to_next(fields.get("encrypted_content")):
            self._beside.append(fields["encrypted_content"])
            return
        missing = self._missing(self._sent, text)
        if missing or fields:
            self._begin()
        if missing:
            self._blocks.reasoning(missing)
        self._end(fields)

    def cut(self) -> None:
        self._end({})

    def _emit(self, form: str, at: Any, piece: object) -> None:
        if not isinstance(piece, str) or not piece:
            return
        self._form = self._form or form
        if form != self._form:
            return  # the other form: kept in the item's final form
        at = _index(at)
        self._begin()
        self._seen.add(at)
        if at != self._at:
            self._at = at
            if self._sent:
                piece = f"\n\n{piece}"
        self._sent.append(piece)
        self._blocks.reasoning(piece)

    def _begin(self) -> None:
        if not self._open:
            self._open = True
            self._blocks.open_reasoning({WIRE: dict(self._announced)} if self._announced else {})

    def _end(self, fields: Body) -> None:
        if self._open and self._blocks.open_kind == "reasoning":
            _emit_changes(self._blocks, self._announced, fields)
            self._blocks.end_block()


class CallItem(Item):
    """Calls may interleave: they wait only for an exclusive item."""

    exclusive = False

    def __init__(self, key: Any, first: Body, blocks: BlockBuilder, channel: str | None, beside: list[str]) -> None:
        super().__init__(key, first, blocks, channel, beside)
        self._call: StreamedCall | FreeText | None = None
        self._sent: list[str] = []
        self._announced: Body = {}
        self._open(first)

    def arguments(self, chunk: Body) -> None:
        piece = chunk.get("delta")
        if isinstance(piece, str) and piece:
            self._feed(piece)

    def arguments_done(self, chunk: Body) -> None:
        if chunk.get("name"):
            self._open({**self.first, "name": chunk["name"]})
        self._feed(self._missing(self._sent, _input_text(chunk)))

    def finish(self, body: Body, *, complete: bool = False) -> None:
        self._open({**self.first, **body})
        if self._call is None:
            self._nameless(body)
            return
        self._feed(self._missing(self._sent, _input_text(body)))
        state = call_state(body)
        state.pop("status", None)
        more = _changed(self._announced, state)
        if more:
            self._call.add_extra(more)
        if complete or body.get("status") not in _UNFINISHED or self._call.whole:
            self._call.close()  # otherwise it stays open, and the end of the stream cuts it short

    def cut(self) -> None:
        if self._call is None:
            self._nameless(self.first)  # otherwise it stays open: it may be incomplete

    def _nameless(self, body: Body) -> None:
        self._blocks.malformed("a call came without a name", body)
        self._blocks.part(Opaque(WIRE, {**body, "arguments": "".join(self._sent)} if self._sent else body))

    def _feed(self, piece: str) -> None:
        if piece:
            self._sent.append(piece)
            if self._call is not None:
                self._call.feed(piece)

    def _open(self, body: Body) -> None:
        name = body.get("name")
        if self._call is not None or not isinstance(name, str) or not name:
            return
        call_id = identifier(body.get("call_id")) or identifier(body.get("id"))
        namespace = body.get("namespace")
        namespace = namespace if isinstance(namespace, str) and namespace else None
        self._announced = call_state(body)
        self._announced.pop("status", None)
        opening = self._with_neighbour_state(self._announced)
        extra: Extra = {WIRE: opening} if opening else {}
        if CALLS.get(str(body.get("type"))):
            self._call = FreeText(self._blocks, name, call_id, namespace, extra)
        else:
            self._call = StreamedCall(self._blocks, name, call_id, namespace=namespace, extra=extra)
        for piece in self._sent:
            self._call.feed(piece)


class FreeText:
    """A custom tool's input, as the JSON text of `{"input": ...}`, our format."""

    whole = False  # the text has no end marker

    def __init__(self, blocks: BlockBuilder, name: str, call_id: str | None, namespace: str | None, extra: Extra) -> None:
        self._blocks = blocks
        self._index = blocks.open_call(name, call_id, namespace=namespace, custom=True, extra=extra)
        self._extra: Extra = {}
        blocks.call_text(self._index, '{"input":"')

    def feed(self, text: str) -> None:
        self._blocks.call_text(self._index, dumps(text)[1:-1])

    def add_extra(self, extra: Extra) -> None:
        self._extra = extra

    def close(self) -> None:
        self._blocks.call_text(self._index, '"}')
        self._blocks.close_call(self._index, extra=self._extra)


KINDS: dict[str, type[Item]] = {
    "message": MessageItem,
    "reasoning": ReasoningItem,
    "function_call": CallItem,
    "custom_tool_call": CallItem,
}


def _message_state(body: Body) -> Body:
    """The stop reason shows that it was cut short."""
    state = message_state(body)
    state.pop("status", None)
    return state


def _index(value: Any) -> Any:
    return value if isinstance(value, int) else 0


def _input_text(body: Body) -> Any:
    value = body.get("arguments")
    if value is None:
        value = body.get("input")
    return dumps(value) if isinstance(value, dict) else value


def _changed(announced: Body, state: Body) -> Extra:
    """The fields that changed since the block was opened."""
    changed = {key: value for key, value in state.items() if announced.get(key) != value} if state else {}
    return {WIRE: changed} if changed else {}


def _emit_changes(blocks: BlockBuilder, announced: Body, state: Body) -> None:
    changed = _changed(announced, state)
    if changed:
        blocks.add_extra(changed)
