"""Whether native tools failed in a conversation, by its messages alone: so every request and every gateway decides the same.

A call that the model wrote as text instead has an id that says so (`call_ids.py`). A call that is repeated although its result
is there and stays the same shows that the model does not understand the history that its template writes.
"""

from __future__ import annotations

import msgspec

from toolglot.core.messages import Message, ToolCall, ToolResult
from toolglot.pipeline.response.call_ids import TEXT_ID
from toolglot.pipeline.response.call_validator import call_key

AS_TEXT, REPEATED = "a call came as text instead", "a call with a result was made again"


def native_failure(messages: tuple[Message, ...]) -> str:
    """What failed, or an empty string."""
    calls: dict[str, ToolCall] = {}
    results: set[tuple[str, str, bytes]] = set()  # since the user last wrote
    before = ""
    for message in messages:
        if message.role == "user" and before != "tool" and not message.rejected:  # clients add reminders behind a result
            results.clear()
        before = message.role
        for part in message.parts:
            if isinstance(part, ToolCall) and message.role == "assistant":
                if TEXT_ID.fullmatch(part.id):
                    return AS_TEXT
                calls[part.id] = part
            elif isinstance(part, ToolResult) and not part.is_error and part.call_id in calls:
                result = (*call_key(calls.pop(part.call_id)), msgspec.json.encode(part.parts))
                if result in results:
                    return REPEATED
                results.add(result)
    return ""
