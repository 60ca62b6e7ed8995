"""Detect the format of a reply: which wire, and whether it is a response, a message, or a list of calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolglot.core.reply import Decision, Reply
from toolglot.errors import CallerError
from toolglot.io.json_codec import without_surrogates
from toolglot.io.request_validation import json_type
from toolglot.pipeline.request.route import wire_format
from toolglot.wires import find_wire

Body = dict[str, Any]
_NOT_JSON = (ValueError, TypeError, RecursionError)

# Wraps a message or a list of calls into a whole response of each wire.
_AROUND_MESSAGE: dict[str, Callable[[Body], Body]] = {
    "openai-chat": lambda message: {"choices": [{"index": 0, "message": message}]},
    "openai-responses": lambda item: {"object": "response", "status": "completed", "output": [item]},
    "anthropic": lambda message: {"type": "message", "role": "assistant", **message},
    "gemini": lambda content: {"candidates": [{"content": content, "index": 0}]},
    "ollama": lambda message: {"message": message, "done": True},
}
_AROUND_CALLS: dict[str, Callable[[list[Any]], Body]] = {
    "openai-chat": lambda calls: {"choices": [{"index": 0, "message": {"tool_calls": calls}}]},
    "openai-responses": lambda items: {"object": "response", "status": "completed", "output": items},
    "anthropic": lambda blocks: {"type": "message", "role": "assistant", "content": blocks},
    "gemini": lambda parts: {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]},
}


def read_any_reply(payload: Any, name: str) -> Reply:
    """`name`: the wire or provider as a hint. The format of the payload decides."""
    hint = wire_format(name).wire.name
    if isinstance(payload, list):
        wire, body = _detect_calls(payload, hint)
    elif isinstance(payload, dict):
        wire, body = _detect_object(payload, hint)
    else:
        hint = "; pass the result of its model_dump()" if hasattr(payload, "model_dump") else ""  # an SDK object
        raise CallerError(f"expected a response, a message or a list of tool calls, got {json_type(payload)}{hint}", "response")
    reader = find_wire(wire)
    if reader is None:
        raise CallerError(f"unknown wire {wire!r}")
    return reader.read_reply(body, None)


def read_any_reply_or_reject(payload: Any, name: str) -> Reply:
    """As `read_any_reply`, for a payload that may contain what JSON does not have. Half a surrogate pair becomes U+FFFD."""
    try:
        return read_any_reply(payload, name)
    except _NOT_JSON:
        pass
    try:
        return read_any_reply(without_surrogates(payload), name)
    except _NOT_JSON:
        return Reply(decisions=(Decision("rejected_malformed", "the response contains values that JSON does not have"),))


def _detect_object(body: Body, hint: str) -> tuple[str, Body]:
    whole = _detect_response(body)
    if whole is not None:
        return whole, body
    if "error" in body:
        return hint, body
    if "parts" in body:
        return "gemini", _AROUND_MESSAGE["gemini"](body)
    if "message" in body and isinstance(body["message"], dict):
        if "finish_reason" in body or "index" in body:
            return "openai-chat", {"choices": [body]}
        return "ollama", {"done": True, **body}
    if "tool_calls" in body or ("function_call" in body and "role" in body):
        wire = "ollama" if hint == "ollama" else "openai-chat"
        return wire, _AROUND_MESSAGE[wire](body)
    if isinstance(body.get("content"), list) and hint != "openai-responses":
        wire = "anthropic" if hint == "anthropic" or _any_type(body["content"], "tool_use", "thinking") else "openai-chat"
        return wire, _AROUND_MESSAGE[wire](body)
    if "role" in body or "content" in body:
        return hint, _AROUND_MESSAGE[hint](body)
    return _detect_calls([body], hint)


def _detect_response(body: Body) -> str | None:
    if "choices" in body:
        return "openai-chat"
    if "candidates" in body or "promptFeedback" in body or "prompt_feedback" in body:
        return "gemini"
    if body.get("object") == "response" or isinstance(body.get("output"), list):
        return "openai-responses"
    if body.get("type") == "message" and body.get("role") == "assistant" and "stop_reason" in body:
        return "anthropic"
    if "done" in body:
        return "ollama"
    return None


def _any_type(items: list[Any], *types: str) -> bool:
    return any(isinstance(item, dict) and item.get("type") in types for item in items)


def _detect_calls(calls: list[Any], hint: str) -> tuple[str, Body]:
    """A list of calls (or parts, blocks, items). The first recognized item decides for all."""
    for call in calls:
        if not isinstance(call, dict):
            continue
        if "functionCall" in call or ("function_call" in call and "type" not in call):
            return "gemini", _AROUND_CALLS["gemini"](calls)
        if call.get("type") in ("tool_use", "text", "thinking") and "function" not in call:
            return "anthropic", _AROUND_CALLS["anthropic"](calls)
        if call.get("type") in ("function_call", "custom_tool_call", "message", "reasoning"):
            return "openai-responses", _AROUND_CALLS["openai-responses"](calls)
        if "args" in call:
            parts = [{"functionCall": item} if isinstance(item, dict) else item for item in calls]
            return "gemini", _AROUND_CALLS["gemini"](parts)
        if "input" in call and "custom" not in call:
            blocks = [{"type": "tool_use", **item} if isinstance(item, dict) else item for item in calls]
            return "anthropic", _AROUND_CALLS["anthropic"](blocks)
        if "function" in call or "arguments" in call:
            return "openai-chat", _AROUND_CALLS["openai-chat"](calls)
    wire = hint if hint in _AROUND_CALLS else "openai-chat"
    return wire, _AROUND_CALLS[wire](calls)
