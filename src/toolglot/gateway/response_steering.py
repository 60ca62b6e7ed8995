"""The data of `response.steer`: user input for a running response, and what a client must add to continue."""

from __future__ import annotations

from typing import Any

import msgspec

_PARTS = ("input_text", "input_image", "input_file")
_KEYS = frozenset({"type", "role", "content"})

# output item -> the stub of the input that it waits for: its type, the field with the id, and fields that are copied
_REQUIRED: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "function_call": ("function_call_output", "call_id", ("name",)),
    "custom_tool_call": ("custom_tool_call_output", "call_id", ()),
    "computer_call": ("computer_call_output", "call_id", ()),
    "shell_call": ("shell_call_output", "call_id", ()),
    "apply_patch_call": ("apply_patch_call_output", "call_id", ()),
    "tool_search_call": ("tool_search_output", "call_id", ("execution",)),
    "mcp_approval_request": ("mcp_approval_response", "approval_request_id", ()),
}


class Steer(msgspec.Struct, frozen=True):
    id: str
    previous: str
    items: list[dict[str, Any]]
    given: msgspec.Raw  # as the client sent it

    def reference(self) -> dict[str, str]:
        return {"id": self.id, "previous_response_id": self.previous}


class SteerError(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message

    def event(self, fields: dict[str, msgspec.Raw], steer: Steer | None = None) -> dict[str, Any]:
        """The rest of `response.steer.failed`: it gives the input back."""
        about: dict[str, Any] = {"input": fields.get("input", msgspec.Raw(b'""'))}
        about["previous_response_id"] = steer.previous if steer is not None else fields.get("previous_response_id", "")
        if steer is not None:
            about["id"] = steer.id
        error = {"type": "invalid_request_error", "code": self.code, "message": self.message}
        return {"steer": about, "error": error}


def read_steer(fields: dict[str, msgspec.Raw]) -> tuple[str, list[dict[str, Any]]]:
    """The response and the input items; raises if they are not valid."""
    unknown = fields.keys() - {"type", "previous_response_id", "input"}
    if unknown:
        raise SteerError("invalid_input", f"unknown field {min(unknown)[:100]!r}")
    previous = msgspec.json.decode(fields.get("previous_response_id", b"null"))
    if not isinstance(previous, str) or not previous:
        raise SteerError("invalid_input", "previous_response_id is missing")
    return previous, user_items(msgspec.json.decode(fields.get("input", b"null")))


def user_items(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, str) and value:
        return [{"type": "message", "role": "user", "content": value}]
    if not isinstance(value, list) or not value or not all(map(_is_user_message, value)):
        raise SteerError("invalid_input", "input must be text or user messages with text, images and files")
    return value


def _is_user_message(item: Any) -> bool:
    if not isinstance(item, dict) or not item.keys() <= _KEYS:
        return False
    if item.get("role") != "user" or item.get("type", "message") != "message":
        return False
    content = item.get("content")
    return isinstance(content, str) or (isinstance(content, list) and bool(content) and all(map(_is_part, content)))


def _is_part(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in _PARTS


def input_items(value: msgspec.Raw | None) -> list[Any]:
    """The input of a request as a list of items."""
    given = None if value is None else msgspec.json.decode(value)
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}] if given else []
    return given if isinstance(given, list) else []


def required_input(item: dict[str, Any]) -> dict[str, Any] | None:
    """The stub of what the client must send for an output item; None if it needs nothing."""
    found = _REQUIRED.get(str(item.get("type")))
    if found is None or item.get("execution") == "server":
        return None
    kind, key, copied = found
    id = item.get("id") if key == "approval_request_id" else item.get(key)
    return {"type": kind, key: id, **{name: item.get(name) for name in copied}}
