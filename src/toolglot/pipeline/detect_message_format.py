"""Read messages in any format: Message objects, any wire's dicts, or plain {role, text}."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolglot.core.conversation import Conversation
from toolglot.core.messages import Message, Text, ToolResult
from toolglot.errors import CallerError
from toolglot.io.json_codec import dumps_or_placeholder, string_leaves
from toolglot.io.request_validation import json_type, wrong_type

_RESULT_ROLES = frozenset({"tool", "function", "ipython"})
_RESULT_TYPES = ("_output", "tool_result", "_result")  # ends of the types of blocks and items that carry results
_OWN_TYPE = "model_output"  # the model's text, though it ends like a result
_USER_TYPES = (None, "message", "user_input")
_NO_TEXT = frozenset({"id", "tool_call_id", "call_id", "tool_use_id", "type", "role", "name", "data", "media_type", "mimeType"})


def read_any_messages(messages: Iterable[Any]) -> tuple[Message, ...]:
    """The texts of the messages by their role. Only what text is compared with is kept, so any dict is accepted."""
    if type(messages) is Conversation:
        return messages
    if isinstance(messages, dict | str | bytes):
        raise wrong_type("messages", "a list of messages", messages)
    found: list[Message] = []
    for at, message in enumerate(messages):
        if isinstance(message, Message):
            found.append(message)
        elif isinstance(message, dict):
            found += _read(message)
        else:
            raise CallerError(f"expected a message, got {json_type(message)}", f"messages[{at}]")
    return tuple(found)


def _read(message: dict[str, Any]) -> list[Message]:
    role, kind = message.get("role"), message.get("type")
    if role in _RESULT_ROLES or (role is None and _is_result(kind)):
        return [_result(message)]
    if role in ("assistant", "model") or (role is None and kind not in _USER_TYPES):
        return []
    found: list[Message] = []
    for key in ("content", "text", "parts"):
        blocks = message.get(key)
        for block in blocks if isinstance(blocks, list) else [blocks]:
            if isinstance(block, dict) and (
                _is_result(block.get("type")) or {"functionResponse", "function_response"} & block.keys()
            ):
                found.append(_result(block))
            elif texts := list(string_leaves(block, _NO_TEXT)):
                found.append(Message("user", tuple(map(Text, texts))))
    return found


def _is_result(kind: Any) -> bool:
    return isinstance(kind, str) and kind.endswith(_RESULT_TYPES) and kind != _OWN_TYPE


def _result(body: dict[str, Any]) -> Message:
    """A result as text: each text in it, and the whole as JSON, because a call may stand in it as an object."""
    texts = [*string_leaves(body, _NO_TEXT), dumps_or_placeholder(body)]
    return Message("tool", tuple(ToolResult("", parts=(Text(text),)) for text in dict.fromkeys(texts)))
