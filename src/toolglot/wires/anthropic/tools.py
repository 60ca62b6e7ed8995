"""Tools and the choice among them, as Anthropic has them."""

from __future__ import annotations

from typing import Any

from toolglot.core.interfaces import Quirks
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool, as_function
from toolglot.reading.shape import a_boolean, a_string, an_object, each_object, misfit, or_none, own_extra
from toolglot.reading.tools_written import server_tool, written_once
from toolglot.wires.anthropic.shapes import WIRE, Body, rest_of

_TOOL_KEYS = frozenset({"type", "name", "description", "input_schema", "strict"})
_CHOICE_KEYS = frozenset({"type", "name", "disable_parallel_tool_use"})

_MODE_IN = {"auto": "auto", "any": "required", "required": "required", "none": "none"}
_MODE_OUT = {"auto": "auto", "required": "any", "none": "none"}


# -- tools


def read_tools(value: Any) -> tuple[Tool, ...]:
    return () if value is None else tuple(each_object(value, "tools", _read_tool))


def _read_tool(held: Body) -> Tool:
    kind = held.get("type")
    if kind is not None and kind != "custom":
        return Tool(a_string(kind, "type"), kind="server", extra={WIRE: held})
    return Tool(
        a_string(held.get("name"), "name"),
        or_none(a_string, held.get("description"), "description"),
        or_none(an_object, held.get("input_schema"), "input_schema"),
        or_none(a_boolean, held.get("strict"), "strict"),
        extra=rest_of(held, _TOOL_KEYS),
    )


@written_once
def write_tools(tools: tuple[Tool, ...], notes: list[str], quirks: Quirks) -> list[Any]:
    written: list[Any] = []
    for tool in tools:
        if tool.kind == "server":
            own = server_tool(tool, WIRE, notes, quirks)
            if own is not None:
                written.append(own)
            continue
        if tool.kind == "custom":
            tool = as_function(tool)
            notes.append(f"tool {tool.name}: a free-text tool goes as a function with one string")
        written.append(_write_tool(tool, notes, quirks))
    return written


def _write_tool(tool: Tool, notes: list[str], quirks: Quirks) -> Body:
    held: Body = {"name": tool.name}
    if tool.description is not None:
        held["description"] = tool.description
    held["input_schema"] = _write_schema(tool.schema)
    if tool.strict is not None:
        if quirks.strict:
            held["strict"] = tool.strict
        else:
            notes.append(f"tool {tool.name}: strict is not known there; left out")
    if tool.extra:
        held.update(own_extra(tool.extra, WIRE, f"tool {tool.name}", notes))
    return held


def _write_schema(schema: Body | None) -> Body:
    """The API takes no tool without a schema, and no schema that does not say it is an object."""
    if schema is None:
        return {"type": "object", "properties": {}}
    return schema if "type" in schema else {"type": "object", **schema}


# -- the choice; whether several calls may come at once is said in the same object


def read_choice(value: Any) -> Choice | None:
    if value is None:
        return None
    held: Body = {"type": value} if isinstance(value, str) else an_object(value, "tool_choice")
    kind = held.get("type")
    if kind == "tool":
        name = a_string(held.get("name"), "tool_choice.name")
        return Choice("required", (name,), rest_of(held, _CHOICE_KEYS))
    mode = _MODE_IN.get(a_string(kind, "tool_choice.type"))
    if mode is not None:
        return Choice(mode, extra=rest_of(held, _CHOICE_KEYS))  # type: ignore[arg-type]
    if isinstance(value, str):
        raise misfit("tool_choice", "auto, any, none or a tool", value)
    own = {key: setting for key, setting in held.items() if key != "disable_parallel_tool_use"}
    return Choice("required", extra={WIRE: own})


def read_parallel(value: Any) -> bool | None:
    told = value.get("disable_parallel_tool_use") if isinstance(value, dict) else None
    disabled = or_none(a_boolean, told, "tool_choice.disable_parallel_tool_use")
    return None if disabled is None else not disabled


def put_tools(request: Request, body: Body, notes: list[str], quirks: Quirks) -> None:
    """`tools` and `tool_choice`; the second never without the first."""
    tools, choice = request.tools, request.choice
    if choice is not None and choice.names and not (_is_forced(choice) and quirks.tool_choice):
        tools = tuple(tool for tool in tools if _own_name(tool) in choice.names)
        notes.append("tool_choice: anthropic takes no subset of tools; narrowed by leaving tools out")
    written = write_tools(tools, notes, quirks)
    if not written:
        if choice is not None and choice.mode == "required":
            notes.append("tool_choice required: there is no tool to call; left out")
        return
    body["tools"] = written
    chosen = _write_choice(choice, request.parallel, notes, quirks)
    if chosen is not None:
        body["tool_choice"] = chosen


def _is_forced(choice: Choice) -> bool:
    return choice.mode == "required" and len(choice.names) == 1


def _own_name(tool: Tool) -> object:
    """A server tool is chosen by the name in its definition, not by its type."""
    return tool.extra.get(WIRE, {}).get("name", tool.name) if tool.kind == "server" else tool.name


def _write_choice(choice: Choice | None, parallel: bool | None, notes: list[str], quirks: Quirks) -> Body | None:
    if parallel is not None and not quirks.parallel_control:
        notes.append("parallel: the server has no switch for it; left out")
        parallel = None
    if not quirks.tool_choice:
        if choice is not None and choice.mode != "auto":
            notes.append(f"tool_choice {choice.mode}: the server does not know it; left out")
        return None
    if choice is None:
        return {"type": "auto", "disable_parallel_tool_use": True} if parallel is False else None
    held: Body = {"type": _MODE_OUT[choice.mode]}
    if _is_forced(choice):
        held = {"type": "tool", "name": choice.names[0]}
    if parallel is not None and choice.mode != "none":
        held["disable_parallel_tool_use"] = not parallel
    if choice.extra:
        held.update(own_extra(choice.extra, WIRE, "tool_choice", notes))
    return held
