"""Tools and the choice among them, as Gemini has them."""

from __future__ import annotations

from typing import Any

from toolglot.core.interfaces import Quirks
from toolglot.core.tools import Choice, Tool, as_function
from toolglot.errors import CallerError
from toolglot.reading.shape import a_list, a_string, an_object, each_object, misfit, or_none, own_extra
from toolglot.reading.tools_written import server_tool, written_once
from toolglot.wires.gemini.schemas import is_empty, read_schema
from toolglot.wires.gemini.shapes import WIRE, camel, rest_of

Body = dict[str, Any]

_DECLARATIONS = "functionDeclarations"
_FUNCTION_KEYS = frozenset({"name", "description", "parameters", "parametersJsonSchema"})
_MODES = {"AUTO": "auto", "MODE_UNSPECIFIED": "auto", "VALIDATED": "auto", "ANY": "required", "NONE": "none"}


# -- reading


def read_tools(value: Any) -> tuple[Tool, ...]:
    """A list of tool objects, or one; each may hold functions, tools of Google's own, or both."""
    if not value:
        return ()
    listed = value if isinstance(value, list) else [value]
    return tuple(tool for held in each_object(listed, "tools", _read_tool) for tool in held)


def _read_tool(held: Body) -> list[Tool]:
    held = camel(held)
    if "name" in held and _DECLARATIONS not in held:
        return [_read_function(held)]
    found: list[Tool] = []
    for key, value in held.items():
        if value is None:
            continue
        if key == _DECLARATIONS:
            found += each_object(value, key, _read_function)
        else:
            found.append(Tool(key, kind="server", extra={WIRE: {key: value}}))
    return found


def _read_function(held: Body) -> Tool:
    held = camel(held)
    more = rest_of(held, _FUNCTION_KEYS)
    return Tool(
        a_string(held.get("name"), "name"),
        or_none(a_string, held.get("description"), "description"),
        _read_parameters(held),
        extra={WIRE: more} if more else {},
    )


def _read_parameters(held: Body) -> Body | None:
    schema = held.get("parametersJsonSchema")
    if schema is not None:
        return an_object(schema, "parametersJsonSchema")
    schema = held.get("parameters")
    return None if schema is None else read_schema(an_object(schema, "parameters"), "parameters")


def read_choice(value: Any) -> Choice | None:
    """`toolConfig`, its `functionCallingConfig`, or the mode alone."""
    if value is None:
        return None
    if isinstance(value, str):
        return _choice({"mode": value})
    held = camel(an_object(value, "toolConfig"))
    inner = held.get("functionCallingConfig", held if "mode" in held else None)
    try:
        return None if inner is None else _choice(camel(an_object(inner, "functionCallingConfig")))
    except CallerError as error:
        raise error.within("toolConfig") from None


def _choice(held: Body) -> Choice:
    word = held.get("mode") or "AUTO"
    mode = _MODES.get(word.upper()) if isinstance(word, str) else None
    if mode is None:
        raise misfit("functionCallingConfig.mode", "AUTO, ANY, NONE or VALIDATED", word)
    key = "functionCallingConfig.allowedFunctionNames"
    allowed = a_list(held.get("allowedFunctionNames") or [], key)
    names = tuple(a_string(name, f"{key}[{at}]") for at, name in enumerate(allowed))
    validated = word.upper() == "VALIDATED" and not names
    return Choice(mode, names, {WIRE: {"mode": "VALIDATED"}} if validated else {})  # type: ignore[arg-type]


# -- writing


@written_once
def write_tools(tools: tuple[Tool, ...], notes: list[str], quirks: Quirks) -> list[Any]:
    """All functions in one object, where the first of them stood; each tool of Google's own in another."""
    written: list[Any] = []
    functions: list[Body] = []
    for tool in tools:
        if tool.kind == "server":
            own = server_tool(tool, WIRE, notes, quirks)
            if own is not None:
                written.append(own)
            continue
        if tool.kind == "custom":
            tool = as_function(tool)
            notes.append(f"tool {tool.name}: a free-text tool goes as a function with one string")
        if not functions:
            written.append({_DECLARATIONS: functions})
        functions.append(_write_function(tool, notes))
    return written


def _write_function(tool: Tool, notes: list[str]) -> Body:
    function: Body = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.schema is not None and not is_empty(tool.schema):
        function["parametersJsonSchema"] = tool.schema
    if tool.extra:
        function.update(own_extra(tool.extra, WIRE, f"tool {tool.name}", notes))
    return function


def write_choice(choice: Choice | None, tools: tuple[Tool, ...], notes: list[str], quirks: Quirks) -> Body | None:
    """A functionCallingConfig. Strictness is the whole request's here: ANY has it anyway, VALIDATED is AUTO with it."""
    strict = any(tool.strict for tool in tools)
    if strict and not quirks.strict:
        notes.append("tools: strict is not known there; left out")
        strict = False
    if choice is None:
        return {"mode": "VALIDATED"} if strict else None
    if not quirks.tool_choice:
        if choice != Choice():
            notes.append(f"tool_choice {choice.mode}: the server does not know it; left out")
        return None
    own = own_extra(choice.extra, WIRE, "tool_choice", notes)
    if own:
        return own
    if choice.mode == "none":
        return {"mode": "NONE"}
    names = {"allowedFunctionNames": list(choice.names)} if choice.names else {}
    if choice.mode == "required":
        return {"mode": "ANY", **names}
    return {"mode": "VALIDATED" if names or strict else "AUTO", **names}
