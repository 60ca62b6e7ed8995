"""Telling replies apart: whose shape is it, and is it a whole response, a message alone, or a bare list of calls?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolglot.core.reply import Reply
from toolglot.errors import CallerError
from toolglot.pipeline.route import speech
from toolglot.reading.shape import say
from toolglot.wires import find_wire

Body = dict[str, Any]

# How each wire's whole reply is rebuilt around a piece of it.
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
    """`name`: the wire or provider that it is said to be from; the shape itself has the last word."""
    hint = speech(name).wire.name
    if isinstance(payload, list):
        wire, body = _calls(payload, hint)
    elif isinstance(payload, dict):
        wire, body = _object(payload, hint)
    else:
        hint = "; give what its model_dump() gives" if hasattr(payload, "model_dump") else ""  # an SDK's own object
        raise CallerError(f"expected a response, a message or a list of tool calls, got {say(payload)}{hint}", "response")
    reader = find_wire(wire)
    if reader is None:
        raise CallerError(f"there is no wire {wire!r}")
    return reader.read_reply(body, None)


def _object(held: Body, hint: str) -> tuple[str, Body]:
    whole = _whole(held)
    if whole is not None:
        return whole, held
    if "error" in held:
        return hint, held
    if "parts" in held:
        return "gemini", _AROUND_MESSAGE["gemini"](held)
    if "message" in held and isinstance(held["message"], dict):
        if "finish_reason" in held or "index" in held:
            return "openai-chat", {"choices": [held]}
        return "ollama", {"done": True, **held}
    if "tool_calls" in held or ("function_call" in held and "role" in held):
        wire = "ollama" if hint == "ollama" else "openai-chat"
        return wire, _AROUND_MESSAGE[wire](held)
    if isinstance(held.get("content"), list) and hint != "openai-responses":
        wire = "anthropic" if hint == "anthropic" or _any_type(held["content"], "tool_use", "thinking") else "openai-chat"
        return wire, _AROUND_MESSAGE[wire](held)
    if "role" in held or "content" in held:
        return hint, _AROUND_MESSAGE[hint](held)
    return _calls([held], hint)


def _whole(held: Body) -> str | None:
    if "choices" in held:
        return "openai-chat"
    if "candidates" in held or "promptFeedback" in held or "prompt_feedback" in held:
        return "gemini"
    if held.get("object") == "response" or isinstance(held.get("output"), list):
        return "openai-responses"
    if held.get("type") == "message" and held.get("role") == "assistant" and "stop_reason" in held:
        return "anthropic"
    if "done" in held:
        return "ollama"
    return None


def _any_type(items: list[Any], *types: str) -> bool:
    return any(isinstance(item, dict) and item.get("type") in types for item in items)


def _calls(calls: list[Any], hint: str) -> tuple[str, Body]:
    """A bare list of calls (or parts, blocks, items): the first that tells decides for all."""
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
            parts = [{"functionCall": held} if isinstance(held, dict) else held for held in calls]
            return "gemini", _AROUND_CALLS["gemini"](parts)
        if "input" in call and "custom" not in call:
            blocks = [{"type": "tool_use", **held} if isinstance(held, dict) else held for held in calls]
            return "anthropic", _AROUND_CALLS["anthropic"](blocks)
        if "function" in call or "arguments" in call:
            return "openai-chat", _AROUND_CALLS["openai-chat"](calls)
    wire = hint if hint in _AROUND_CALLS else "openai-chat"
    return wire, _AROUND_CALLS[wire](calls)
