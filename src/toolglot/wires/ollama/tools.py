"""Ollama tools. There is no tool choice: tools that must not be called are left out of the request."""

from __future__ import annotations

from typing import Any

from toolglot.core.interfaces import Quirks
from toolglot.core.tools import Choice, Tool
from toolglot.io.request_validation import Body, optional, read_each, require_object, require_string, wire_extra, wrong_type
from toolglot.io.tools_writer import tools_writer
from toolglot.wires.ollama.shapes import WIRE

_FUNCTION_KEYS = frozenset({"name", "description", "parameters", "strict"})


# -- reading


def read_tools(value: Any) -> tuple[Tool, ...]:
    return () if value is None else tuple(read_each(value, "tools", _read_tool))


def _read_tool(obj: Body) -> Tool:
    kind = obj.get("type") or "function"
    if "function" in obj:
        rest: Body = {}
        if len(obj) > 2 or obj.get("type") != "function":
            rest = {key: value for key, value in obj.items() if key != "function" and (key, value) != ("type", "function")}
        return _function(require_object(obj["function"], "function"), rest)
    if kind != "function":
        return Tool(str(kind), kind="server", extra={WIRE: obj})
    if "name" in obj:  # flat, as in other APIs: clients send it anyway
        return _function({key: value for key, value in obj.items() if key != "type"}, {})
    raise wrong_type("function", "an object", None)


def _function(obj: Body, rest: Body) -> Tool:
    strict = obj.get("strict")
    more: Body = {}
    if not _FUNCTION_KEYS.issuperset(obj):
        more = {key: value for key, value in obj.items() if key not in _FUNCTION_KEYS}
    if not isinstance(strict, bool) and strict is not None:
        more["strict"] = strict
    if more:
        rest = {**rest, "function": more}
    return Tool(
        require_string(obj.get("name"), "function.name"),
        optional(require_string, obj.get("description"), "function.description"),
        optional(require_object, obj.get("parameters"), "function.parameters"),
        strict if isinstance(strict, bool) else None,
        extra={WIRE: rest} if rest else {},
    )


def read_choice(value: Any) -> Choice | None:
    """Ollama has no tool choice; the values that all other APIs share are accepted."""
    if value is None:
        return None
    if value in ("auto", "none", "required"):
        return Choice(value)
    raise wrong_type("tool_choice", "auto, none or required", value)


# -- writing


def _write_tool(tool: Tool, notes: list[str], quirks: Quirks) -> Body:
    if tool.strict is not None:
        notes.append(f"tool {tool.name}: ollama does not support strict; left out")
    function: Body = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    function["parameters"] = {"type": "object", "properties": {}} if tool.schema is None else tool.schema
    if not tool.extra:
        return {"type": "function", "function": function}
    fields = wire_extra(tool.extra, WIRE, f"tool {tool.name}", notes)
    function.update(fields.pop("function", {}))
    return {"type": "function", "function": function, **fields}


write_tools = tools_writer(WIRE, _write_tool)


def allowed_tools(tools: tuple[Tool, ...], choice: Choice | None, notes: list[str]) -> tuple[Tool, ...]:
    """The tools that a choice allows: leaving tools out is the only way to express it here."""
    if choice is None or not tools:
        return tools
    if choice.extra:
        wire_extra(choice.extra, WIRE, "tool_choice", notes)
    if choice.mode == "none":
        notes.append("tool_choice none: ollama has no such option; the tools were left out")
        return ()
    if choice.mode == "required":
        notes.append("tool_choice required: ollama can't force a call; left out")
    if not choice.names:
        return tools
    notes.append(f"tool_choice {', '.join(choice.names)}: ollama has no tool choice; the other tools were left out")
    return tuple(tool for tool in tools if tool.name in choice.names)
