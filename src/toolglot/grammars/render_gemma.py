"""Tools, calls and results in Gemma's notation."""

from __future__ import annotations

from typing import Any

from toolglot.core.messages import ToolCall, ToolResult
from toolglot.core.tools import Tool, custom_as_function
from toolglot.grammars.gemma import Gemma
from toolglot.grammars.render_json import RenderCalls, RenderResult, RenderTools
from toolglot.io.json_codec import loads_object


def gemma_tools(form: Gemma, opener: str, closer: str) -> RenderTools:
    """A declaration for each tool, with types in capitals, as the models were trained."""

    def declaration(tool: Tool) -> str:
        tool = custom_as_function(tool)
        body = {"description": tool.description or "", "parameters": _capitals(tool.schema or {"type": "object"})}
        return f"{opener}declaration:{tool.full_name}{form.write(body)}{closer}"

    return lambda tools: "".join(map(declaration, tools))


def _capitals(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: value.upper() if key == "type" and isinstance(value, str) else _capitals(value)
            for key, value in schema.items()
        }
    return [_capitals(item) for item in schema] if isinstance(schema, list) else schema


def gemma_calls(form: Gemma) -> RenderCalls:
    def render_call(call: ToolCall) -> str:
        return f"{form.opener}call:{call.full_name}{form.write(loads_object(call.arguments_json) or {})}{form.closer}"

    return lambda calls: "".join(map(render_call, calls))


def gemma_result(form: Gemma, opener: str, closer: str) -> RenderResult:
    """The tool's result: an object's members, or the text as `value`."""

    def render(result: ToolResult) -> str:
        obj = loads_object(result.text)
        return f"{opener}response:{result.name or ''}{form.write({'value': result.text} if obj is None else obj)}{closer}"

    return render
