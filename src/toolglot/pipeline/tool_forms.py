"""Tools in whatever form the caller has them: ours, any wire's, MCP's, or plain."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolglot.core.messages import Extra
from toolglot.core.tools import Choice, Tool
from toolglot.errors import CallerError
from toolglot.reading.shape import a_string, an_object, misfit
from toolglot.schema.from_function import FunctionTool, read_function
from toolglot.wires import find_wire

Body = dict[str, Any]

# keys that tell a wire's own form of a tool; the first match wins
_TELLING: tuple[tuple[str, frozenset[str]], ...] = (
    ("openai-chat", frozenset({"function", "custom"})),
    ("gemini", frozenset({"functionDeclarations", "function_declarations", "parametersJsonSchema", "parameters_json_schema"})),
    ("anthropic", frozenset({"input_schema"})),
)
_GEMINI_BUILT_IN = frozenset(
    {"googleSearch", "google_search", "urlContext", "url_context", "codeExecution", "code_execution", "fileSearch"}
    | {"file_search", "googleMaps", "google_maps", "computerUse", "computer_use", "mcpServers", "mcp_servers"}
)
_RESPONSES_TYPES = frozenset({"function", "custom", "namespace"})
_SCHEMA_KEYS = ("schema", "inputSchema", "parameters")


def read_any_tools(tools: Any, hint: str = "openai-chat") -> tuple[Tool, ...]:
    """`hint` is the wire whose server tools these would be, where the form alone does not tell."""
    if isinstance(tools, dict):
        tools = [tools]
    if isinstance(tools, (str, bytes)) or not isinstance(tools, Iterable):
        raise misfit("tools", "a list of tools", tools)
    found: list[Tool] = []
    for at, tool in enumerate(tools):
        try:
            found += _read_tool(tool, hint)
        except CallerError as error:
            raise CallerError(error.problem, f"tools[{at}]" + _below(error.where)) from None
    return tuple(found)


def _below(where: str) -> str:
    """What an inner error's place adds, without the list position that the wire's reader saw."""
    inner = where.removeprefix("tools[0]").lstrip(".")
    return f".{inner}" if inner else ""


def _read_tool(tool: Any, hint: str) -> list[Tool]:
    if isinstance(tool, FunctionTool):
        tool.read.complete()
    if isinstance(tool, Tool):
        return [tool]
    if callable(tool):
        return [read_function(tool).complete().tool]
    held = an_object(tool, "")
    wire = find_wire(_form_of(held, hint) or "")
    if wire is not None:
        return list(wire.read_tools([held]))
    return [_plain(held)]


def _form_of(held: Body, hint: str) -> str | None:
    for wire, keys in _TELLING:
        if keys & held.keys():
            return wire
    if _GEMINI_BUILT_IN & held.keys() and "name" not in held:
        return "gemini"
    kind = held.get("type")
    if kind in _RESPONSES_TYPES:
        return "openai-responses"
    if isinstance(kind, str) and kind not in ("object", "tool"):
        return hint
    return None


def _plain(held: Body) -> Tool:
    """{name, description, schema}, MCP's inputSchema, or the bare function of old."""
    schema = next((held[key] for key in _SCHEMA_KEYS if held.get(key) is not None), None)
    if schema is not None:
        an_object(schema, "schema")
    if "name" not in held:
        raise CallerError("no form of tool that is known: it has neither a name nor a type", "")
    extra: Extra = {}
    if "inputSchema" in held:
        rest = {key: value for key, value in held.items() if key not in ("name", "description", "inputSchema")}
        extra = {"mcp": rest} if rest else {}
    return Tool(a_string(held["name"], "name"), held.get("description"), schema, held.get("strict"), extra=extra)


def read_any_choice(choice: Any, tools: tuple[Tool, ...]) -> Choice | None:
    """auto, none, required, a tool's name, or any wire's own form. None where it says nothing beyond the default."""
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
    held = an_object(choice, "tool_choice")
    wire = find_wire(_choice_form(held))
    return wire.read_choice(held) if wire else None


def _choice_form(held: Body) -> str:
    if {"functionCallingConfig", "function_calling_config", "mode"} & held.keys() and "type" not in held:
        return "gemini"
    if held.get("type") in ("auto", "any", "tool", "none"):
        return "anthropic"
    nested = {"function", "custom", "allowed_tools"} & held.keys()
    return "openai-chat" if nested else "openai-responses"
