"""Read tools and tool choices in any format: Tool objects, functions, any wire's, MCP's, or plain dicts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolglot.core.interfaces import Wire
from toolglot.core.messages import Extra
from toolglot.core.tools import Choice, Tool
from toolglot.errors import CallerError
from toolglot.io.request_validation import require_object, require_string, wrong_type
from toolglot.schema.from_function import FunctionTool, read_function
from toolglot.wires import DEFAULT, find_wire, wires

Body = dict[str, Any]

_SCHEMA_KEYS = ("schema", "inputSchema", "parameters")


def read_any_tools(tools: Any, hint: str = DEFAULT) -> tuple[Tool, ...]:
    """`hint`: the wire of server tools, if their format does not identify it."""
    if isinstance(tools, dict):
        tools = [tools]
    if isinstance(tools, (str, bytes)) or not isinstance(tools, Iterable):
        raise wrong_type("tools", "a list of tools", tools)
    found: list[Tool] = []
    for at, tool in enumerate(tools):
        try:
            found += _read_tool(tool, hint)
        except CallerError as error:
            raise CallerError(error.problem, f"tools[{at}]" + _path_below(error.where)) from None
    return tuple(found)


def _path_below(where: str) -> str:
    """The path of an inner error, without the list index that the wire's reader used."""
    inner = where.removeprefix("tools[0]").lstrip(".")
    return f".{inner}" if inner else ""


def _read_tool(tool: Any, hint: str) -> list[Tool]:
    if isinstance(tool, FunctionTool):
        tool.read.complete()
    if isinstance(tool, Tool):
        return [tool]
    if callable(tool):
        return [read_function(tool).complete().tool]
    body = require_object(tool, "")
    wire = _wire_of(body, find_wire(hint))
    return [_plain(body)] if wire is None else list(wire.read_tools([body]))


def _wire_of(body: Body, named: Wire | None) -> Wire | None:
    found = (wire for wire in wires(named) if wire.forms.is_tool(body, wire is named))
    kind = body.get("type")
    is_typed = isinstance(kind, str) and kind not in ("object", "tool")
    return next(found, named if is_typed else None)


def _plain(body: Body) -> Tool:
    """{name, description, schema}, MCP's inputSchema, or a legacy OpenAI function."""
    schema = next((body[key] for key in _SCHEMA_KEYS if body.get(key) is not None), None)
    if schema is not None:
        require_object(schema, "schema")
    if "name" not in body:
        raise CallerError("unknown tool format: it has neither a name nor a type", "")
    extra: Extra = {}
    if "inputSchema" in body:
        rest = {key: value for key, value in body.items() if key not in ("name", "description", "inputSchema")}
        extra = {"mcp": rest} if rest else {}
    return Tool(require_string(body["name"], "name"), body.get("description"), schema, body.get("strict"), extra=extra)


def read_any_choice(choice: Any, tools: tuple[Tool, ...]) -> Choice | None:
    """auto, none, required, a tool's name, or the format of any wire. None for the default."""
    if choice is None or isinstance(choice, Choice):
        return choice
    if isinstance(choice, str):
        if choice in ("auto", "none", "required", "any"):
            mode = "required" if choice == "any" else choice
            return None if mode == "auto" else Choice(mode)  # type: ignore[arg-type]
        names = [tool.full_name for tool in tools if choice in (tool.name, tool.full_name)]
        if not names:
            known = ", ".join(tool.full_name for tool in tools) or "none"
            raise CallerError(f"{choice!r} is neither auto, none, required nor one of the tools ({known})", "tool_choice")
        return Choice("required", (names[0],))
    body = require_object(choice, "tool_choice")
    found = (wire for wire in wires() if wire.forms.is_choice(body))
    wire = next(found, None)
    return wire.read_choice(body) if wire else None
