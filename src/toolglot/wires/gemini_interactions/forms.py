"""What is Gemini Interactions' among other wires' formats. Its function tools are also those of OpenAI Responses."""

from __future__ import annotations

from typing import Any

from toolglot.core.forms import Body, Forms, has_type


def _is_call(call: Body) -> bool:
    is_own = has_type(call, "function_call") and "call_id" not in call and isinstance(call.get("arguments"), dict)
    return is_own or has_type(call, "thought", "model_output")


def _around(steps: list[Any]) -> Body:
    return {"object": "interaction", "status": "completed", "steps": steps}


FORMS = Forms(
    is_response=lambda body: body.get("object") == "interaction" or isinstance(body.get("steps"), list),
    is_message=lambda body, named: has_type(body, "model_output"),
    is_call=_is_call,
    is_tool=lambda tool, named: named and "type" in tool and not {"function", "custom", "input_schema"} & tool.keys(),
    is_choice=lambda choice: "allowed_tools" in choice and "type" not in choice,
    around_message=lambda step: _around([{"type": "model_output", **step}]),
    around_calls=_around,
)
