"""A conversation is a flat list of items here. The items of one turn are one message in our format."""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Message, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult
from toolglot.core.neighbour_state import NEIGHBOUR_STATE, kept_neighbour_state, reattach
from toolglot.core.result_matching import match_results
from toolglot.io.request_validation import Body, read_each, wire_extra
from toolglot.wires.openai_responses.content import PART_KEYS, is_part, write_content, write_output_text
from toolglot.wires.openai_responses.items import (
    read_item,
    state_item,
    write_call,
    write_opaque,
    write_output,
    write_reasoning,
)
from toolglot.wires.openai_responses.shapes import WIRE

_JOINED: frozenset[Role] = frozenset({"assistant", "tool"})


# -- reading


def read_messages(value: list[Any]) -> tuple[Message, ...]:
    messages: list[Message] = []
    turn: list[Part] = []  # the parts of the current message
    role: Role | None = None
    customs: set[str] = set()
    for item_role, parts, extra in read_each(value, "input", read_item):
        if item_role != role or role not in _JOINED:
            _end_turn(messages, role, turn)
            role, turn = item_role, []
        for part in parts:
            if isinstance(part, ToolCall) and part.custom:
                customs.add(part.id)
            elif isinstance(part, ToolResult) and part.call_id in customs:
                part = _without_type(part)
            turn.append(part)
        if item_role not in _JOINED:
            messages.append(Message(item_role, tuple(turn), extra=extra))
            role, turn = None, []
    _end_turn(messages, role, turn)
    return match_results(messages)


def _end_turn(messages: list[Message], role: Role | None, turn: list[Part]) -> None:
    if role is not None and turn:
        messages.append(Message(role, tuple(reattach(turn))))


def _without_type(result: ToolResult) -> ToolResult:
    """The call already shows that the result is a custom tool's."""
    fields = {key: value for key, value in result.extra.get(WIRE, {}).items() if key != "type"}
    return msgspec.structs.replace(result, extra={WIRE: fields} if fields else {})


# -- writing


def write_messages(messages: tuple[Message, ...], notes: list[str], quirks: Quirks) -> list[Any]:
    written: list[Any] = []
    customs: set[str] = set()
    for message in messages:
        if message.name is not None:
            notes.append(f"{message.role} message: openai-responses has no place for a name; left out")
        if message.role == "assistant":
            if message.extra:
                wire_extra(message.extra, WIRE, "assistant message", notes)
            turn = _Turn(written, notes, quirks)
            for part in message.parts:
                turn.add(part)
                if isinstance(part, ToolCall) and part.custom:
                    customs.add(part.id)
        elif message.role == "tool":
            for part in message.parts:
                if isinstance(part, ToolResult):
                    written.append(write_output(part, part.call_id in customs, notes, quirks))
                elif isinstance(part, Opaque):
                    written += write_opaque(part, notes)
        else:
            _write_plain(message, written, notes, quirks)
    return written


def _write_plain(message: Message, written: list[Any], notes: list[str], quirks: Quirks) -> None:
    content: list[Part] = []
    items: list[Body] = []
    for part in message.parts:
        if isinstance(part, Opaque) and not is_part(part.block):
            items += write_opaque(part, notes)
        else:
            content.append(part)
    if content or not message.parts:
        role = message.role
        if role == "developer" and not quirks.developer_role:
            role = "system"
        obj: Body = {"type": "message", "role": role, "content": write_content(content, notes, quirks)}
        if message.extra:
            obj.update(wire_extra(message.extra, WIRE, f"{role} message", notes))
        written.append(obj)
    written += items


class _Turn:
    """One assistant's turn, being written. Texts of one item become one item again."""

    def __init__(self, written: list[Any], notes: list[str], quirks: Quirks) -> None:
        self._written = written
        self._notes = notes
        self._quirks = quirks
        self._alone = False  # reasoning was left out: then the next items must not have ids
        self._content: list[Body] | None = None  # of the current message item
        self._state: Body = {}  # the other fields of that item

    def add(self, part: Part) -> None:
        match part:
            case Text():
                self._add_text(part)
            case ToolCall():
                self._call(part)
            case Reasoning():
                self._think(part)
            case Opaque(wire=wire, block=block):
                if wire == WIRE and is_part(block):
                    self._message(self._state if self._content is not None else {}).append(block)
                else:
                    self._items(write_opaque(part, self._notes))
            case _:
                self._notes.append("assistant message: openai-responses has no place for its images and files; left out")

    def _items(self, items: list[Body]) -> None:
        if items:
            self._content = None
            self._written += items

    def _extra_fields(self, part: Text | ToolCall, where: str) -> Body:
        if not part.extra:
            return {}
        kept = kept_neighbour_state(part.extra, WIRE)
        self._items([state_item(kept)] if kept else [])
        fields = wire_extra(part.extra, WIRE, where, self._notes)
        fields.pop(NEIGHBOUR_STATE, None)
        if self._alone:
            fields.pop("id", None)
        return fields

    def _add_text(self, part: Text) -> None:
        state = {key: value for key, value in self._extra_fields(part, "text").items() if key not in PART_KEYS}
        self._message(state).append(write_output_text(part))

    def _message(self, state: Body) -> list[Body]:
        """The content of a message item with this state: the current one, or a new one."""
        if self._content is None or state != self._state:
            content: list[Body] = []
            self._items([{"type": "message", "role": "assistant", "content": content, **state}])
            self._content, self._state = content, state
        return self._content

    def _call(self, call: ToolCall) -> None:
        fields = self._extra_fields(call, f"call {call.id}")
        self._items([write_call(call, fields, self._quirks)])

    def _think(self, part: Reasoning) -> None:
        fields = part.extra.get(WIRE)
        if fields:
            self._items([write_reasoning(part.text, fields)])
            return
        self._alone = True
        foreign = ", ".join(sorted(part.extra))
        why = f"its signature is for {foreign} only" if foreign else "openai-responses accepts only what it signed"
        self._notes.append(f"reasoning: {why}; left out")
