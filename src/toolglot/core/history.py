"""Which result answers which call: by id, else by name and order, else by order.

An id that no call has is a client's invention: its result goes by name and order among the calls that came without one.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_

import msgspec

from toolglot.core.messages import Message, Part, Text, ToolCall, ToolResult


def link_results(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The same messages, with every call's id and every result's id and name filled in.

    Calls without an id are numbered by their position in the conversation: `Name_N`.
    """
    linked: list[Message] = []
    turn = _Turn()
    previous = ""
    for message in messages:
        role = message.role
        if role == "assistant":
            if previous != "assistant":  # several in a row are one turn: some clients send each call as its own message
                turn.waiting = []
            if not turn.all_named(message.parts):
                parts = tuple(turn.call(part) if type(part) is ToolCall else part for part in message.parts)
                message = Message(role, parts, message.name, message.extra)
        elif role == "tool":
            parts = tuple([turn.result(part) if type(part) is ToolResult else part for part in message.parts])
            if not all(map(is_, parts, message.parts)):
                message = Message(role, parts, message.name, message.extra)
        previous = role
        linked.append(message)
    return tuple(linked)


class _Turn:
    """The calls that wait for their results, and the ids of all before."""

    def __init__(self) -> None:
        self.waiting: list[ToolCall] = []
        self._names: dict[str, str] = {}
        self._numbered: set[str] = set()  # ids made here
        self._count = 0

    def all_named(self, parts: tuple[Part, ...]) -> bool:
        """Whether every call has its id, as most have: then they are taken up as they are."""
        calls = [part for part in parts if type(part) is ToolCall]
        for call in calls:
            if not call.id:
                return False
        for call in calls:
            self._names[call.id] = call.full_name if call.namespace else call.name
        self._count += len(calls)
        self.waiting += calls
        return True

    def call(self, part: ToolCall) -> ToolCall:
        if not part.id:
            part = msgspec.structs.replace(part, id=f"{part.name}_{self._count}")
            self._numbered.add(part.id)
        self._count += 1
        self._names[part.id] = part.full_name
        self.waiting.append(part)
        return part

    def result(self, part: ToolResult) -> ToolResult:
        waiting = self.waiting
        if waiting and waiting[0].id == part.call_id:  # in the order of the calls, as nearly all are
            call: ToolCall | None = waiting.pop(0)
        else:
            call = self._answered(part)
        if call is None:
            call_id, name = part.call_id, self._names.get(part.call_id) or part.name
        else:
            call_id, name = call.id, call.full_name
        if call_id == part.call_id and name == part.name:
            return part
        return ToolResult(call_id, name, part.parts, part.is_error, part.extra)

    def _answered(self, result: ToolResult) -> ToolCall | None:
        """The call that this result is for; it waits no longer."""
        at = self._place(result)
        return None if at is None else self.waiting.pop(at)

    def _place(self, result: ToolResult) -> int | None:
        if result.call_id in self._names:
            for at, call in enumerate(self.waiting):
                if call.id == result.call_id:
                    return at
            return None
        free = [at for at, call in enumerate(self.waiting) if not result.call_id or call.id in self._numbered]
        by_name = (at for at in free if result.name in (self.waiting[at].name, self.waiting[at].full_name))
        return next(by_name, free[0] if free else None)


def said_as_error(parts: Iterable[Part]) -> list[Part]:
    """For wires without an error flag: `Error: ` before the first text, unless the tool's own text begins so."""
    said = list(parts)
    for at, part in enumerate(said):
        if isinstance(part, Text):
            if not part.text.startswith("Error:"):
                said[at] = msgspec.structs.replace(part, text=f"Error: {part.text}")
            return said
    return [Text("Error: the tool failed"), *said]
