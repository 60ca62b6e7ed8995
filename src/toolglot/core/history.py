"""Which result answers which call: by id, else by name and order, else by order."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from toolglot.core.messages import Message, Part, Text, ToolCall, ToolResult


def link_results(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The same messages, with every call's id and every result's id and name filled in.

    Calls without an id are numbered by their position in the conversation: `Name_N`.
    """
    linked: list[Message] = []
    known: dict[str, str] = {}
    waiting: list[ToolCall] = []
    count = 0
    for message in messages:
        if message.role == "assistant":
            parts: list[Part] = []
            waiting = []
            for part in message.parts:
                if isinstance(part, ToolCall):
                    if not part.id:
                        part = msgspec.structs.replace(part, id=f"{part.name}_{count}")
                    count += 1
                    known[part.id] = part.full_name
                    waiting.append(part)
                parts.append(part)
            message = _with_parts(message, parts)
        elif message.role == "tool":
            message = _with_parts(message, [_linked(part, waiting, known) for part in message.parts])
        linked.append(message)
    return tuple(linked)


def _with_parts(message: Message, parts: list[Part]) -> Message:
    if all(new is old for new, old in zip(parts, message.parts, strict=True)):
        return message
    return msgspec.structs.replace(message, parts=tuple(parts))


def _linked(part: Part, waiting: list[ToolCall], known: dict[str, str]) -> Part:
    if not isinstance(part, ToolResult):
        return part
    call = _answered(part, waiting)
    call_id, name = part.call_id, known.get(part.call_id) or part.name
    if call is not None:
        waiting.remove(call)
        call_id, name = call.id, call.full_name
    if call_id == part.call_id and name == part.name:
        return part
    return msgspec.structs.replace(part, call_id=call_id, name=name)


def _answered(result: ToolResult, waiting: list[ToolCall]) -> ToolCall | None:
    if result.call_id:
        return next((call for call in waiting if call.id == result.call_id), None)
    by_name = (call for call in waiting if result.name in (call.name, call.full_name))
    return next(by_name, None) or next(iter(waiting), None)


def said_as_error(parts: Iterable[Part]) -> list[Part]:
    """For wires without an error flag: `Error: ` before the first text, unless the tool's own text begins so."""
    said = list(parts)
    for at, part in enumerate(said):
        if isinstance(part, Text):
            if not part.text.startswith("Error:"):
                said[at] = msgspec.structs.replace(part, text=f"Error: {part.text}")
            return said
    return [Text("Error: the tool failed"), *said]
