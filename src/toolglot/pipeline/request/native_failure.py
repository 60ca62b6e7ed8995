"""Whether native tools failed in a conversation, by its messages alone: so every request and every gateway decides the same.

A call that the model wrote as text instead has an id that says so (`call_ids.py`). A call that repeats one with a result shows
that the model does not understand the history that its template writes.
"""

from __future__ import annotations

from toolglot.core.messages import Message, ToolCall, ToolResult
from toolglot.pipeline.response.call_ids import TEXT_ID
from toolglot.pipeline.response.call_validator import call_key

AS_TEXT, REPEATED = "a call came as text instead", "a call with a result was made again"


def native_failure(messages: tuple[Message, ...], *, counts_text: bool) -> str:
    """What failed, or an empty string. `counts_text`: a call as text is a failure; not for models that were seen to work."""
    answered: set[str] = set()
    seen: dict[tuple[str, str], str] = {}  # calls since the user last wrote, with their ids
    for message in messages:
        if message.role == "user" and not message.rejected:
            answered, seen = set(), {}
        for part in message.parts:
            if isinstance(part, ToolResult) and not part.is_error:
                answered.add(part.call_id)
            elif isinstance(part, ToolCall) and message.role == "assistant":
                if counts_text and TEXT_ID.fullmatch(part.id):
                    return AS_TEXT
                key = call_key(part)
                if seen.get(key) in answered:
                    return REPEATED
                seen[key] = part.id
    return ""
