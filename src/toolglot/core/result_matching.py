"""Pairs tool results with their calls: by id, else by name and order, else by order.

A result with an unknown id is paired by name and order with the calls that came without an id.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_

import msgspec

from toolglot.core.messages import Message, Part, Text, ToolCall, ToolResult


def match_results(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The same messages, with every call's id and every result's id and name filled in.

    Calls without an id are numbered by their position in the conversation: `Name_N`.
    """
    linked: list[Message] = []
    calls = ResultMatcher()
    previous = ""
    for message in messages:
        role = message.role
        if role == "assistant":
            message = calls.add_assistant(message, goes_on=previous == "assistant")
        elif role == "tool":
            parts = tuple([calls.result(part) if type(part) is ToolResult else part for part in message.parts])
            if not all(map(is_, parts, message.parts)):
                message = Message(role, parts, message.name, message.extra)
        previous = role
        linked.append(message)
    return tuple(linked)


class ResultMatcher:
    """The calls without a result so far, and the ids of all earlier calls. Takes the messages in order."""

    __slots__ = ("_count", "_names", "_numbered", "_waiting")

    def __init__(self) -> None:
        self._waiting: list[ToolCall] = []
        self._names: dict[str, str] = {}
        self._numbered: set[str] = set()  # ids made here
        self._count = 0

    def add_assistant(self, message: Message, *, goes_on: bool) -> Message:
        """An assistant message. `goes_on`: it continues the turn, since some clients send each call as a message."""
        if not goes_on:
            self._waiting = []
        calls = [part for part in message.parts if type(part) is ToolCall]
        for call in calls:
            if not call.id:
                parts = tuple([self._numbered_call(part) if type(part) is ToolCall else part for part in message.parts])
                return Message(message.role, parts, message.name, message.extra)
            self._names[call.id] = call.full_name if call.namespace else call.name
        self._count += len(calls)
        self._waiting += calls
        return message

    def _numbered_call(self, part: ToolCall) -> ToolCall:
        if not part.id:
            part = msgspec.structs.replace(part, id=f"{part.name}_{self._count}")
            self._numbered.add(part.id)
        self._count += 1
        self._names[part.id] = part.full_name
        self._waiting.append(part)
        return part

    def result(self, part: ToolResult) -> ToolResult:
        waiting = self._waiting
        if waiting and waiting[0].id == part.call_id:  # in the order of the calls, as nearly all are
            call: ToolCall | None = waiting.pop(0)
        else:
            call = self._answered(part)
        if call is None:
            call_id, name = part.call_id, self._names.get(part.call_id) or part.name
        else:
            call_id, name = call.id, call.full_name if call.namespace else call.name
        if call_id == part.call_id and name == part.name:
            return part
        return ToolResult(call_id, name, part.parts, part.is_error, part.extra)

    def _answered(self, result: ToolResult) -> ToolCall | None:
        """The call that this result belongs to; it is removed from the waiting ones."""
        at = self._place(result)
        return None if at is None else self._waiting.pop(at)

    def _place(self, result: ToolResult) -> int | None:
        if result.call_id in self._names:
            for at, call in enumerate(self._waiting):
                if call.id == result.call_id:
                    return at
            return None
        free = [at for at, call in enumerate(self._waiting) if not result.call_id or call.id in self._numbered]
        by_name = (at for at in free if result.name in (self._waiting[at].name, self._waiting[at].full_name))
        return next(by_name, free[0] if free else None)


def mark_error_text(parts: Iterable[Part]) -> list[Part]:
    """For wires without an error flag: puts `Error: ` before the first text, unless it already starts with it."""
    marked = list(parts)
    for at, part in enumerate(marked):
        if isinstance(part, Text):
            if not part.text.startswith("Error:"):
                marked[at] = msgspec.structs.replace(part, text=f"Error: {part.text}")
            return marked
    return [Text("Error: the tool failed"), *marked]
