"""Whether native tools failed in a conversation, by its messages alone: so every request and every gateway decides the same.

A call that the model wrote as text instead has an id that says so (`call_ids.py`). A call that is repeated although its result
is there and stays the same shows that the model does not understand the history that its template writes.
"""

from __future__ import annotations

from toolglot.core.messages import Message, Part, ToolCall, ToolResult
from toolglot.pipeline.response.call_ids import TEXT_ID, TEXT_ID_START

_COMPARED = 4  # results of the same call; more would make long conversations slow
AS_TEXT, REPEATED = "a call came as text instead", "a call with a result was made again"


def native_failure(messages: tuple[Message, ...]) -> str:
    """What failed, or an empty string."""
    calls: dict[str, ToolCall] = {}
    results: dict[tuple[str, str], list[tuple[Part, ...]]] = {}  # since the user last wrote, by tool and arguments as written
    before = ""
    for message in messages:
        if message.role == "user" and before != "tool" and not message.rejected:  # clients add reminders behind a result
            results.clear()
        before = message.role
        for part in message.parts:
            if type(part) is ToolCall and message.role == "assistant":
                if part.id.startswith(TEXT_ID_START) and TEXT_ID.fullmatch(part.id):
                    return AS_TEXT
                calls[part.id] = part
            elif type(part) is ToolResult and not part.is_error and part.call_id in calls:
                call = calls.pop(part.call_id)
                before_it = results.setdefault((call.full_name, call.arguments_json), [])
                if part.parts in before_it[-_COMPARED:]:
                    return REPEATED
                before_it.append(part.parts)
    return ""
