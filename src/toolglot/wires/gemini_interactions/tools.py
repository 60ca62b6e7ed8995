"""Tools and tool choice of Gemini Interactions."""

from __future__ import annotations

from typing import Any

from toolglot.core.interfaces import Quirks
from toolglot.core.tools import Choice, Tool
from toolglot.io.request_validation import (
    Body,
    not_one_of,
    optional,
    read_each,
    require_list,
    require_object,
    require_string,
    unknown_keys,
    wire_extra,
    wrong_type,
)
from toolglot.io.tools_writer import choice_is_supported, tools_writer
from toolglot.wires.gemini_interactions.shapes import WIRE

_FUNCTION_KEYS = frozenset({"type", "name", "description", "parameters"})
_MODES = {"auto": "auto", "validated": "auto", "any": "required", "none": "none"}
_ALLOWED = "allowed_tools"


# -- reading


def read_tools(value: Any) -> tuple[Tool, ...]:
    if not value:
        return ()
    return tuple(read_each(value if isinstance(value, list) else [value], "tools", _read_tool))


def _read_tool(obj: Body) -> Tool:
    kind = obj.get("type", "function")
    if not isinstance(kind, str):
        raise wrong_type("type", "the tool's type", kind)
    if kind != "function":
        return Tool(kind, kind="server", extra={WIRE: obj})
    more = unknown_keys(obj, _FUNCTION_KEYS)
    return Tool(
        require_string(obj.get("name"), "name"),
        optional(require_string, obj.get("description"), "description"),
        optional(require_object, obj.get("parameters"), "parameters"),
        extra={WIRE: more} if more else {},
    )


def read_choice(value: Any) -> Choice | None:
    """`generation_config.tool_choice`: a mode, or the allowed tools and a mode."""
    if value is None:
        return None
    if isinstance(value, str):
        mode = _mode(value, "tool_choice")
        return Choice(mode, extra={WIRE: {"mode": value}} if value == "validated" else {})  # type: ignore[arg-type]
    allowed = require_object(require_object(value, "tool_choice").get(_ALLOWED) or {}, f"tool_choice.{_ALLOWED}")
    key = f"tool_choice.{_ALLOWED}.tools"
    names = tuple(require_string(name, f"{key}[{at}]") for at, name in enumerate(require_list(allowed.get("tools") or [], key)))
    return Choice(_mode(allowed.get("mode") or "auto", f"tool_choice.{_ALLOWED}.mode"), names)  # type: ignore[arg-type]


def _mode(word: Any, key: str) -> str:
    mode = _MODES.get(word) if isinstance(word, str) else None
    if mode is None:
        raise not_one_of(key, "auto, any, none or validated", word)
    return mode


# -- writing


def _write_function(tool: Tool, notes: list[str], quirks: Quirks) -> Body:
    function: Body = {"type": "function", "name": tool.full_name}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.schema is not None:
        function["parameters"] = tool.schema
    if tool.extra:
        function.update(wire_extra(tool.extra, WIRE, f"tool {tool.name}", notes))
    return function


write_tools = tools_writer(WIRE, _write_function)


def write_choice(choice: Choice | None, tools: tuple[Tool, ...], notes: list[str], quirks: Quirks) -> Any:
    """Strict applies to the whole request: `any` always is, `validated` is a strict `auto`."""
    strict = any(tool.strict for tool in tools)
    if strict and not quirks.strict:
        notes.append("tools: the server does not support strict; left out")
        strict = False
    if choice is None:
        return "validated" if strict else None
    if not choice_is_supported(choice, notes, quirks):
        return None
    fields = wire_extra(choice.extra, WIRE, "tool_choice", notes)
    if fields.get("mode"):
        return fields["mode"]
    if choice.mode == "none":
        return "none"
    mode = "any" if choice.mode == "required" else "validated" if choice.names or strict else "auto"
    return {_ALLOWED: {"mode": mode, "tools": list(choice.names)}} if choice.names else mode
