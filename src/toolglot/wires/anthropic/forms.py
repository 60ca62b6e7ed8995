"""What is Anthropic's among other wires' formats."""

from __future__ import annotations

from typing import Any

from toolglot.core.forms import Body, Forms, has_type


def _is_message(body: Body, named: bool) -> bool:
    content = body.get("content")
    listed = content if isinstance(content, list) else ()
    return (named and bool(listed)) or any(isinstance(item, dict) and has_type(item, "tool_use", "thinking") for item in listed)


def _is_call(call: Body) -> bool:
    """A block, or a call without its type."""
    if "type" in call:
        return has_type(call, "tool_use", "text", "thinking") and "function" not in call
    return "input" in call and "custom" not in call


def _around_calls(calls: list[Any]) -> Body:
    blocks = [{"type": "tool_use", **call} if isinstance(call, dict) else call for call in calls]
    return {"type": "message", "role": "assistant", "content": blocks}


FORMS = Forms(
    is_response=lambda body: has_type(body, "message") and body.get("role") == "assistant" and "stop_reason" in body,
    is_message=_is_message,
    is_call=_is_call,
    is_tool=lambda tool, named: "input_schema" in tool,
    is_choice=lambda choice: has_type(choice, "auto", "any", "tool", "none"),
    around_message=lambda message: {"type": "message", "role": "assistant", **message},
    around_calls=_around_calls,
)
