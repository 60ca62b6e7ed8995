"""What is Gemini's among other wires' formats."""

from __future__ import annotations

from typing import Any

from toolglot.core.forms import Body, Forms
from toolglot.wires.gemini.shapes import camel

_RESPONSE = frozenset({"candidates", "promptFeedback"})
_TOOL = frozenset({"functionDeclarations", "parametersJsonSchema"})
_BUILT_IN = frozenset({"googleSearch", "urlContext", "codeExecution", "fileSearch", "googleMaps", "computerUse", "mcpServers"})
_CHOICE = frozenset({"functionCallingConfig", "mode"})


def _is_call(call: Body) -> bool:
    """A part, or what is in one."""
    return "functionCall" in call or ("type" not in call and ("function_call" in call or "args" in call))


def _is_tool(tool: Body, named: bool) -> bool:
    keys = camel(tool).keys()
    return bool(_TOOL & keys) or (bool(_BUILT_IN & keys) and "name" not in tool)


def _around_calls(calls: list[Any]) -> Body:
    parts = [{"functionCall": call} if isinstance(call, dict) and _is_bare(call) else call for call in calls]
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]}


def _is_bare(call: Body) -> bool:
    return "args" in call and not {"functionCall", "function_call"} & call.keys()


FORMS = Forms(
    is_response=lambda body: bool(_RESPONSE & camel(body).keys()),
    is_message=lambda body, named: "parts" in body,
    is_call=_is_call,
    is_tool=_is_tool,
    is_choice=lambda choice: bool(_CHOICE & camel(choice).keys()) and "type" not in choice,
    around_message=lambda content: {"candidates": [{"content": content, "index": 0}]},
    around_calls=_around_calls,
)
