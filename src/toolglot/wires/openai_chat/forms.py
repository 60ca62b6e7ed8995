"""What is OpenAI Chat's among other wires' formats."""

from __future__ import annotations

from toolglot.core.forms import Body, Forms, has_type


def _is_message(body: Body, named: bool) -> bool:
    """A message, or a choice."""
    if isinstance(body.get("message"), dict):
        return "finish_reason" in body or "index" in body
    is_call = "tool_calls" in body or ("function_call" in body and "role" in body)
    return is_call or isinstance(body.get("content"), list)


def _around_message(body: Body) -> Body:
    return {"choices": [body if isinstance(body.get("message"), dict) else {"index": 0, "message": body}]}


FORMS = Forms(
    is_response=lambda body: "choices" in body,
    is_message=_is_message,
    is_call=lambda call: "function" in call or ("arguments" in call and not has_type(call, "function_call")),
    is_tool=lambda tool, named: bool({"function", "custom"} & tool.keys()),
    is_choice=lambda choice: bool({"function", "custom", "allowed_tools"} & choice.keys()) and "type" in choice,
    around_message=_around_message,
    around_calls=lambda calls: {"choices": [{"index": 0, "message": {"tool_calls": calls}}]},
)
