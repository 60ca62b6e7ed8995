"""Tools, as Ollama has them. There is no choice among them: what must not be called is left out of the request."""

from __future__ import annotations

from typing import Any

from toolglot.core.interfaces import Quirks
from toolglot.core.tools import Choice, Tool, as_function
from toolglot.reading.shape import Body, a_string, an_object, each_object, misfit, or_none, own_extra
from toolglot.reading.tools_written import server_tool, written_once
from toolglot.wires.ollama.shapes import WIRE

_FUNCTION_KEYS = frozenset({"name", "description", "parameters", "strict"})


# -- reading


def read_tools(value: Any) -> tuple[Tool, ...]:
    return () if value is None else tuple(each_object(value, "tools", _read_tool))


def _read_tool(held: Body) -> Tool:
    kind = held.get("type") or "function"
    if "function" in held:
        rest: Body = {}
        if len(held) > 2 or held.get("type") != "function":
            rest = {key: value for key, value in held.items() if key != "function" and (key, value) != ("type", "function")}
        return _function(an_object(held["function"], "function"), rest)
    if kind != "function":
        return Tool(str(kind), kind="server", extra={WIRE: held})
    if "name" in held:  # flat, as other APIs have it: sent all the same
        return _function({key: value for key, value in held.items() if key != "type"}, {})
    raise misfit("function", "an object", None)


def _function(held: Body, rest: Body) -> Tool:
    strict = held.get("strict")
    more: Body = {}
    if not _FUNCTION_KEYS.issuperset(held):
        more = {key: value for key, value in held.items() if key not in _FUNCTION_KEYS}
    if not isinstance(strict, bool) and strict is not None:
        more["strict"] = strict
    if more:
        rest = {**rest, "function": more}
    return Tool(
        a_string(held.get("name"), "function.name"),
        or_none(a_string, held.get("description"), "function.description"),
        or_none(an_object, held.get("parameters"), "function.parameters"),
        strict if isinstance(strict, bool) else None,
        extra={WIRE: rest} if rest else {},
    )


def read_choice(value: Any) -> Choice | None:
    """Ollama has no choice of its own; the words that all others share are understood."""
    if value is None:
        return None
    if value in ("auto", "none", "required"):
        return Choice(value)
    raise misfit("tool_choice", "auto, none or required", value)


# -- writing


@written_once
def write_tools(tools: tuple[Tool, ...], notes: list[str], quirks: Quirks) -> list[Any]:
    written: list[Any] = []
    for tool in tools:
        if tool.kind == "server":
            own = server_tool(tool, WIRE, notes, quirks)
            if own is not None:
                written.append(own)
        else:
            written.append(_write_tool(tool, notes))
    return written


def _write_tool(tool: Tool, notes: list[str]) -> Body:
    if tool.kind == "custom":
        tool = as_function(tool)
        notes.append(f"tool {tool.name}: a free-text tool goes as a function with one string")
    if tool.strict is not None:
        notes.append(f"tool {tool.name}: strict is not known to ollama; left out")
    function: Body = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    function["parameters"] = {"type": "object", "properties": {}} if tool.schema is None else tool.schema
    if not tool.extra:
        return {"type": "function", "function": function}
    own = own_extra(tool.extra, WIRE, f"tool {tool.name}", notes)
    function.update(own.pop("function", {}))
    return {"type": "function", "function": function, **own}


def chosen(tools: tuple[Tool, ...], choice: Choice | None, notes: list[str]) -> tuple[Tool, ...]:
    """The tools that remain of a choice, for leaving tools out is the only choice this wire has."""
    if choice is None or not tools:
        return tools
    if choice.extra:
        own_extra(choice.extra, WIRE, "tool_choice", notes)
    if choice.mode == "none":
        notes.append("tool_choice none: ollama has no such option; the tools were left out")
        return ()
    if choice.mode == "required":
        notes.append("tool_choice required: ollama can't be made to call a tool; left out")
    if not choice.names:
        return tools
    notes.append(f"tool_choice {', '.join(choice.names)}: ollama takes no choice; the other tools were left out")
    return tuple(tool for tool in tools if tool.name in choice.names)
