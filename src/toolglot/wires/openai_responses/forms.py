"""What is OpenAI Responses' among other wires' formats."""

from __future__ import annotations

from toolglot.core.forms import Body, Forms, has_type

_TOOLS = ("function", "custom", "namespace")


def _around(items: list[Body]) -> Body:
    return {"object": "response", "status": "completed", "output": items}


FORMS = Forms(
    is_response=lambda body: body.get("object") == "response" or isinstance(body.get("output"), list),
    is_message=lambda body, named: named and isinstance(body.get("content"), list),
    is_call=lambda call: has_type(call, "function_call", "custom_tool_call", "message", "reasoning"),
    is_tool=lambda tool, named: has_type(tool, *_TOOLS) and "function" not in tool and "input_schema" not in tool,
    is_choice=lambda choice: "type" in choice,
    around_message=lambda item: _around([item]),
    around_calls=_around,
)
