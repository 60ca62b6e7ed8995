"""A model that repeats a call although its result does not change gets an error result that says so."""

from __future__ import annotations

from collections import Counter

import msgspec

from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.core.request import Request
from toolglot.pipeline.response.call_validator import call_key


def end_tool_loops(request: Request, limit: int, notes: list[str]) -> Request:
    """Replace the result of a call that was made `limit` times since the user last wrote, each time with the same result.

    Only earlier messages decide about a result, so a prompt stays a prefix of the next one.
    """
    seen: Counter[tuple[str, str, bytes]] = Counter()
    calls: dict[str, ToolCall] = {}
    messages: list[Message] = []
    loops: dict[str, int] = {}
    before = ""
    for message in request.messages:
        if message.role == "user" and before != "tool":  # behind a result, clients add reminders of their own
            seen.clear()
        before = message.role
        parts: list[object] = []
        for part in message.parts:
            if type(part) is ToolCall:
                calls[part.id] = part
            elif type(part) is ToolResult and (call := calls.get(part.call_id)) is not None:
                key = (*call_key(call), msgspec.json.encode(part.parts))
                seen[key] += 1
                if seen[key] >= limit:
                    part = msgspec.structs.replace(part, parts=(Text(_sentence(call, seen[key])),), is_error=True)
                    loops[call.full_name] = seen[key]
            parts.append(part)
        messages.append(msgspec.structs.replace(message, parts=tuple(parts)) if loops else message)
    if not loops:
        return request
    notes += [f"loop: {name} gave the same result {count} times; the model is asked to stop" for name, count in loops.items()]
    return msgspec.structs.replace(request, messages=tuple(messages))


def _sentence(call: ToolCall, count: int) -> str:
    return (
        f"You called {call.full_name} {count} times with the same arguments, and the result was the same each time. "
        "Do not make this call again: use the result that you have, try something else, or answer in plain words."
    )
