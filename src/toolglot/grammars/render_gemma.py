"""Tools, calls and results in Gemma's notation."""

from __future__ import annotations

from typing import Any

from toolglot.core.messages import ToolCall, ToolResult
from toolglot.core.tools import Tool, as_function
from toolglot.grammars.gemma import Gemma
from toolglot.grammars.render_json import RenderCalls, RenderResult, RenderTools
from toolglot.text.json_text import loads_object


def gemma_tools(form: Gemma, opener: str, closer: str) -> RenderTools:
    """A declaration for each tool; its types in capitals, as the families were trained on."""

    def one(tool: Tool) -> str:
        tool = as_function(tool)
        held = {"description": tool.description or "", "parameters": _capitals(tool.schema or {"type": "object"})}
        return f"{opener}declaration:{tool.full_name}{form.write(held)}{closer}"

    return lambda tools: "".join(map(one, tools))


def _capitals(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: value.upper() if key == "type" and isinstance(value, str) else _capitals(value)
            for key, value in schema.items()
        }
    return [_capitals(item) for item in schema] if isinstance(schema, list) else schema


def gemma_calls(form: Gemma) -> RenderCalls:
    def one(call: ToolCall) -> str:
        return f"{form.opener}call:{call.full_name}{form.write(loads_object(call.arguments_json) or {})}{form.closer}"

    return lambda calls: "".join(map(one, calls))


def gemma_result(form: Gemma, opener: str, closer: str) -> RenderResult:
    """What the tool gave: an object's members, or else the text as `value`."""

    def render(result: ToolResult) -> str:
        held = loads_object(result.text)
        return f"{opener}response:{result.name or ''}{form.write({'value': result.text} if held is None else held)}{closer}"

    return render
