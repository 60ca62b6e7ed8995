"""A conversation is a flat list of steps here. The steps of one turn are one message in our format."""

from __future__ import annotations

from typing import Any

from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Message, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult
from toolglot.core.neighbour_state import NEIGHBOUR_STATE, kept_neighbour_state, reattach
from toolglot.core.result_matching import match_results
from toolglot.io.request_validation import Body, read_each, wire_extra
from toolglot.wires.gemini_interactions.content import is_content, write_content, write_one
from toolglot.wires.gemini_interactions.shapes import WIRE
from toolglot.wires.gemini_interactions.steps import is_step, read_step, write_call, write_result, write_thought

_JOINED: frozenset[Role] = frozenset({"assistant", "tool"})


# -- reading


def read_messages(value: Any) -> tuple[Message, ...]:
    """A list of steps, or one; contents next to each other are one message of the user."""
    listed = value if isinstance(value, list) else [value]
    messages: list[Message] = []
    contents: list[Part] = []
    for item, (role, parts, extra) in zip(listed, read_each(listed, "input", read_step), strict=True):
        if is_content(item):
            contents += parts
            continue
        _end_contents(messages, contents)
        last = messages[-1] if messages else None
        if last is not None and role in _JOINED and last.role == role and not (extra and last.extra):
            messages[-1] = Message(role, (*last.parts, *parts), extra=last.extra or extra)
        else:
            messages.append(Message(role, tuple(parts), extra=extra))
    _end_contents(messages, contents)
    return match_results([_reattached(message) for message in messages])


def _end_contents(messages: list[Message], contents: list[Part]) -> None:
    if contents:
        messages.append(Message("user", tuple(contents)))
        contents.clear()


def _reattached(message: Message) -> Message:
    if message.role != "assistant":
        return message
    return Message(message.role, tuple(reattach(list(message.parts))), extra=message.extra)


# -- writing


def split_system(messages: tuple[Message, ...]) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """The leading system messages, and all others."""
    at = 0
    while at < len(messages) and messages[at].role in ("system", "developer"):
        at += 1
    return messages[:at], messages[at:]


def write_system(messages: tuple[Message, ...], notes: list[str]) -> str:
    texts: list[str] = []
    for message in messages:
        _note_rest(message, notes)
        for part in message.parts:
            if isinstance(part, Text):
                wire_extra(part.extra, WIRE, "text", notes)
                texts.append(part.text)
            else:
                notes.append(f"{message.role} message: {WIRE} accepts only text there; the rest is left out")
    return "\n\n".join(text for text in texts if text)


def write_messages(messages: tuple[Message, ...], notes: list[str], quirks: Quirks) -> list[Any]:
    written: list[Any] = []
    for message in messages:
        fields = _note_rest(message, notes)
        if message.role == "assistant":
            turn = Turn(written, notes)
            for part in message.parts:
                turn.add(part)
        elif message.role == "tool":
            written += _write_results(message, notes)
        elif message.role == "user":
            written.append({"type": "user_input", "content": write_content(message.parts, notes), **fields})
        else:
            written.append(_write_tagged(message, notes))
    return written


def _note_rest(message: Message, notes: list[str]) -> Body:
    if message.name is not None:
        notes.append(f"{message.role} message: {WIRE} has no place for the name {message.name}; left out")
    return wire_extra(message.extra, WIRE, f"{message.role} message", notes) if message.extra else {}


def _write_results(message: Message, notes: list[str]) -> list[Body]:
    """Results, and as a message of the user anything else."""
    written = [write_result(part, notes) for part in message.parts if isinstance(part, ToolResult)]
    others = [part for part in message.parts if not isinstance(part, ToolResult)]
    return [*written, {"type": "user_input", "content": write_content(others, notes)}] if others else written


def _write_tagged(message: Message, notes: list[str]) -> Body:
    """A system message inside the conversation: written as a user message with a tag."""
    notes.append(f"{message.role} message inside the conversation: {WIRE} has none; sent as a user message in a <system> tag")
    texts = [part.text for part in message.parts if isinstance(part, Text) and part.text]
    others = [obj for part in message.parts if type(part) is not Text and (obj := write_one(part, notes)) is not None]
    tagged = [{"type": "text", "text": f"<system>\n{chr(10).join(texts)}\n</system>"}] if texts else []
    return {"type": "user_input", "content": [*tagged, *others]}


class Turn:
    """One assistant's turn, being written. Texts next to each other are one step."""

    def __init__(self, written: list[Any], notes: list[str]) -> None:
        self._written = written
        self._notes = notes
        self._content: list[Body] | None = None  # of the current model_output

    def add(self, part: Part) -> None:
        if isinstance(part, Reasoning):
            self._step(self._thought(part))
            return
        if isinstance(part, Opaque) and part.wire == WIRE and is_step(part.block):
            self._step(part.block)
            return
        part = self._beside(part)
        if isinstance(part, ToolCall):
            self._step(self._call(part))
        elif (obj := write_one(part, self._notes)) is not None:
            obj.pop(NEIGHBOUR_STATE, None)
            self._output(obj)

    def _step(self, step: Body | None) -> None:
        if step is not None:
            self._content = None
            self._written.append(step)

    def _output(self, obj: Body) -> None:
        if self._content is None:
            self._content = []
            self._written.append({"type": "model_output", "content": self._content})
        self._content.append(obj)

    def _beside(self, part: Part) -> Part:
        """The thought that carried the state of this text or call goes back to where it was."""
        kept = kept_neighbour_state(part.extra, WIRE) if isinstance(part, (Text, ToolCall)) else None
        if kept is not None:
            self._step(write_thought("", {"signature": kept}))
        return part

    def _call(self, call: ToolCall) -> Body | None:
        return write_call(call, self._notes)

    def _thought(self, part: Reasoning) -> Body | None:
        """Only what this API signed."""
        if part.extra.get(WIRE):
            return write_thought(part.text, wire_extra(part.extra, WIRE, "reasoning", self._notes))
        self._notes.append(f"reasoning in the history: {WIRE} accepts only what it signed; left out")
        return None
