"""Anthropic messages. Tool results are part of a user message here, and a message of role `tool` in our format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Media, Message, Opaque, Part, Reasoning, ToolCall, ToolResult
from toolglot.core.result_matching import match_results
from toolglot.errors import CallerError
from toolglot.io.request_validation import Body, not_one_of, read_each, wire_extra
from toolglot.io.typed_fast_path import History, TypedMessages
from toolglot.wires.anthropic.parts import read_content, write_blocks
from toolglot.wires.anthropic.reasoning import reattach
from toolglot.wires.anthropic.shapes import WIRE, rest_of
from toolglot.wires.anthropic.typed_messages import SHAPES

_KEYS = frozenset({"role", "content"})
_SYSTEM_ROLES = ("system", "developer")

# Blocks that are not allowed for a role: rejected, so that they don't get lost.
_MISPLACED: dict[str, dict[type[Part], str]] = {
    "user": {ToolCall: "tool_use", Reasoning: "thinking"},
    "system": {ToolCall: "tool_use", Reasoning: "thinking", ToolResult: "tool_result"},
    "assistant": {ToolResult: "tool_result"},
}
_ROLE_OUT = {"tool": "user", "developer": "system"}


# -- reading


def read_messages(value: list[Any]) -> tuple[Message, ...]:
    return _join_turns(read_each(value, "messages", _read_message))


def _join_turns(read: Sequence[Message]) -> tuple[Message, ...]:
    messages: list[Message] = []
    for message in read:
        if message.role == "user":
            _add_user(messages, message)
        elif message.role == "assistant" and messages and messages[-1].role == "assistant":
            messages[-1] = _joined(messages[-1], message)
        else:
            messages.append(message)
    return match_results(messages)


def _read_message(obj: Body) -> Message:
    role = obj.get("role")
    if role not in ("user", "assistant", "system"):
        raise not_one_of("role", "user, assistant or system", role)
    parts = read_content(obj.get("content"))
    misplaced = _MISPLACED[role]
    for part in parts:
        if type(part) in misplaced:
            raise CallerError(f"a {misplaced[type(part)]} block is not allowed in a message of role {role}", "content")
    if role == "assistant":
        parts = reattach(parts)
    return Message(role, tuple(parts), None, rest_of(obj, _KEYS) if len(obj) > 2 else {})


read_history = History(TypedMessages(SHAPES, _read_message), _join_turns, read_messages)


def read_system(value: Any) -> tuple[Message, ...]:
    """The separate system prompt as the conversation's first message."""
    try:
        parts = read_content(value)
    except CallerError as error:
        error.where = error.where.replace("content", "system", 1)
        raise
    return (Message("system", tuple(parts)),) if parts else ()


def _add_user(messages: list[Message], message: Message) -> None:
    """Results go to the turn that they answer, even if a client spread them over several messages."""
    if ToolResult not in map(type, message.parts):
        messages.append(message)
        return
    results = tuple([part for part in message.parts if type(part) is ToolResult])
    rest = tuple([part for part in message.parts if type(part) is not ToolResult])
    at = len(messages)
    while at and messages[at - 1].role == "user":
        at -= 1
    if at and messages[at - 1].role == "tool":
        messages[at - 1] = msgspec.structs.replace(messages[at - 1], parts=messages[at - 1].parts + results)
    else:
        messages.insert(at, Message("tool", results, extra={} if rest else message.extra))
    if rest:
        messages.append(Message("user", rest, extra=message.extra))


def _joined(first: Message, second: Message) -> Message:
    """One turn in two messages, which the API takes as one."""
    return Message("assistant", first.parts + second.parts, extra={**first.extra, **second.extra})


# -- writing


def write_messages(messages: tuple[Message, ...], notes: list[str], quirks: Quirks) -> list[Any]:
    written: list[Any] = []
    results: Body | None = None  # a message of results, to which a following user message is added
    for message in messages:
        blocks = _blocks(message, notes, quirks)
        if results is not None and message.role in ("tool", "user"):
            results["content"] += blocks
            if message.name is not None or message.extra:
                _put_rest(message, results, notes)
            if message.role == "user":
                results = None
            continue
        results = None
        if not blocks:
            notes.append(f"{message.role} message: it has no content for anthropic; left out")
            continue
        obj: Body = {"role": _ROLE_OUT.get(message.role, message.role), "content": _content(blocks)}
        if message.name is not None or message.extra:
            _put_rest(message, obj, notes)
        written.append(obj)
        if message.role == "tool":
            results = obj
    return written


def _blocks(message: Message, notes: list[str], quirks: Quirks) -> list[Body]:
    parts = message.parts
    if message.role in _SYSTEM_ROLES and Media in map(type, parts):
        notes.append(f"{message.role} message: anthropic accepts no images or files there; left out")
        parts = tuple(part for part in parts if type(part) is not Media)
    return write_blocks(parts, notes, quirks)


def _put_rest(message: Message, obj: Body, notes: list[str]) -> None:
    if message.name is not None:
        notes.append(f"{message.role} message: anthropic has no names for participants; left out")
    if message.extra:
        obj.update(wire_extra(message.extra, WIRE, f"{message.role} message", notes))


def _content(blocks: list[Body]) -> Any:
    """A string if there is only one plain text."""
    if len(blocks) == 1 and len(blocks[0]) == 2 and blocks[0].get("type") == "text":
        return blocks[0]["text"]
    return blocks


def write_system(messages: tuple[Message, ...], notes: list[str], quirks: Quirks) -> tuple[Any, tuple[Message, ...]]:
    """The system prompt, and the messages that follow it. None: there is no prompt."""
    blocks: list[Body] = []
    for at, message in enumerate(messages):
        if message.role not in _SYSTEM_ROLES or any(type(part) is Opaque for part in message.parts):
            return _content(blocks) or None, messages[at:]
        blocks += _blocks(message, notes, quirks)
        _put_rest(message, {}, notes)
    return _content(blocks) or None, ()
