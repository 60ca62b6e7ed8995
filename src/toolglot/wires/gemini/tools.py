"""Gemini tools and tool choice."""

from __future__ import annotations

from typing import Any

from toolglot.core.interfaces import Quirks
from toolglot.core.tools import Choice, Tool
from toolglot.errors import CallerError
from toolglot.io.request_validation import (
    Body,
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
from toolglot.wires.gemini.schemas import is_empty, read_schema
from toolglot.wires.gemini.shapes import WIRE, camel

_DECLARATIONS = "functionDeclarations"
_FUNCTION_KEYS = frozenset({"name", "description", "parameters", "parametersJsonSchema"})
_MODES = {"AUTO": "auto", "MODE_UNSPECIFIED": "auto", "VALIDATED": "auto", "ANY": "required", "NONE": "none"}


# -- reading


def read_tools(value: Any) -> tuple[Tool, ...]:
    """A list of tool objects, or one; each may contain functions, server tools, or both."""
    if not value:
        return ()
    listed = value if isinstance(value, list) else [value]
    return tuple(tool for obj in read_each(listed, "tools", _read_tool) for tool in obj)


def _read_tool(obj: Body) -> list[Tool]:
    obj = camel(obj)
    if "name" in obj and _DECLARATIONS not in obj:
        return [_read_function(obj)]
    found: list[Tool] = []
    for key, value in obj.items():
        if value is None:
            continue
        if key == _DECLARATIONS:
            found += read_each(value, key, _read_function)
        else:
            found.append(Tool(key, kind="server", extra={WIRE: {key: value}}))
    return found


def _read_function(obj: Body) -> Tool:
    obj = camel(obj)
    more = unknown_keys(obj, _FUNCTION_KEYS)
    return Tool(
        require_string(obj.get("name"), "name"),
        optional(require_string, obj.get("description"), "description"),
        _read_parameters(obj),
        extra={WIRE: more} if more else {},
    )


def _read_parameters(obj: Body) -> Body | None:
    schema = obj.get("parametersJsonSchema")
    if schema is not None:
        return require_object(schema, "parametersJsonSchema")
    schema = obj.get("parameters")
    return None if schema is None else read_schema(require_object(schema, "parameters"), "parameters")


def read_choice(value: Any) -> Choice | None:
    """`toolConfig`, its `functionCallingConfig`, or the mode alone."""
    if value is None:
        return None
    if isinstance(value, str):
        return _choice({"mode": value})
    obj = camel(require_object(value, "toolConfig"))
    inner = obj.get("functionCallingConfig", obj if "mode" in obj else None)
    try:
        return None if inner is None else _choice(camel(require_object(inner, "functionCallingConfig")))
    except CallerError as error:
        raise error.within("toolConfig") from None


def _choice(obj: Body) -> Choice:
    word = obj.get("mode") or "AUTO"
    mode = _MODES.get(word.upper()) if isinstance(word, str) else None
    if mode is None:
        raise wrong_type("functionCallingConfig.mode", "AUTO, ANY, NONE or VALIDATED", word)
    key = "functionCallingConfig.allowedFunctionNames"
    allowed = require_list(obj.get("allowedFunctionNames") or [], key)
    names = tuple(require_string(name, f"{key}[{at}]") for at, name in enumerate(allowed))
    validated = word.upper() == "VALIDATED" and not names
    return Choice(mode, names, {WIRE: {"mode": "VALIDATED"}} if validated else {})  # type: ignore[arg-type]


# -- writing


def _write_function(tool: Tool, notes: list[str], quirks: Quirks) -> Body:
    function: Body = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.schema is not None and not is_empty(tool.schema):
        function["parametersJsonSchema"] = tool.schema
    if tool.extra:
        function.update(wire_extra(tool.extra, WIRE, f"tool {tool.name}", notes))
    return function


def _group(tools: list[tuple[Tool, Body]]) -> list[Body]:
    """All functions in one object, at the position of the first; each server tool separately."""
    written: list[Body] = []
    functions: list[Body] = []
    for tool, body in tools:
        if tool.kind == "server":
            written.append(body)
            continue
        if not functions:
            written.append({_DECLARATIONS: functions})
        functions.append(body)
    return written


write_tools = tools_writer(WIRE, _write_function, arrange=_group)


def write_choice(choice: Choice | None, tools: tuple[Tool, ...], notes: list[str], quirks: Quirks) -> Body | None:
    """A functionCallingConfig. Strict applies to the whole request: ANY always is, VALIDATED is a strict AUTO."""
    strict = any(tool.strict for tool in tools)
    if strict and not quirks.strict:
        notes.append("tools: the server does not support strict; left out")
        strict = False
    if choice is None:
        return {"mode": "VALIDATED"} if strict else None
    if not choice_is_supported(choice, notes, quirks):
        return None
    fields = wire_extra(choice.extra, WIRE, "tool_choice", notes)
    if fields:
        return fields
    if choice.mode == "none":
        return {"mode": "NONE"}
    names = {"allowedFunctionNames": list(choice.names)} if choice.names else {}
    if choice.mode == "required":
        return {"mode": "ANY", **names}
    return {"mode": "VALIDATED" if names or strict else "AUTO", **names}
