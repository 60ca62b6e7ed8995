"""Tools and the choice among them, as OpenAI Chat has them; the old `functions` too."""

from __future__ import annotations

from typing import Any

from toolglot.core.interfaces import Quirks
from toolglot.core.tools import Choice, Tool, as_function
from toolglot.reading.shape import a_list, a_string, an_object, each_object, misfit, own_extra
from toolglot.wires.openai_chat.shapes import FAMILY, WIRE

Body = dict[str, Any]

_CHOICE_WORDS = {"auto": "auto", "none": "none", "required": "required", "any": "required"}


def read_tools(value: Any) -> tuple[Tool, ...]:
    return tuple(each_object(value, "tools", _read_tool)) if value else ()


def read_functions(value: Any) -> tuple[Tool, ...]:
    """The form before tools: bare function objects."""
    return tuple(each_object(value, "functions", lambda held: _function(held, {}))) if value else ()


def _read_tool(held: Body) -> Tool:
    kind = held.get("type", "function")
    rest = {key: value for key, value in held.items() if key not in ("type", "function", "custom")}
    extra = {WIRE: rest} if rest else {}
    if kind == "function":
        if "function" not in held and "name" in held:  # flat, as Responses has it: sent by many all the same
            return _function(rest, {})
        return _function(an_object(held.get("function"), "function"), extra)
    if kind == "custom":
        custom = an_object(held.get("custom"), "custom")
        name = a_string(custom.get("name"), "custom.name")
        return Tool(name, custom.get("description"), kind="custom", format=_read_format(custom.get("format")), extra=extra)
    return Tool(str(kind), kind="server", extra={WIRE: held})


def _function(held: Body, extra: dict[str, Body]) -> Tool:
    schema = held.get("parameters")
    if schema is not None:
        an_object(schema, "function.parameters")
    more = {key: value for key, value in held.items() if key not in ("name", "description", "parameters", "strict")}
    if more:
        extra = {WIRE: {**extra.get(WIRE, {}), "function": more}}
    return Tool(a_string(held.get("name"), "function.name"), held.get("description"), schema, held.get("strict"), extra=extra)


def _read_format(held: Any) -> Body | None:
    """Nested here (`grammar: {...}`), flat in Responses; ours is flat."""
    if not isinstance(held, dict):
        return None
    grammar = held.get("grammar")
    return {"type": held.get("type"), **grammar} if isinstance(grammar, dict) else held


def _write_format(held: Body) -> Body:
    if held.get("type") != "grammar":
        return held
    return {"type": "grammar", "grammar": {key: value for key, value in held.items() if key != "type"}}


def write_tools(tools: tuple[Tool, ...], notes: list[str], quirks: Quirks) -> list[Any]:
    written: list[Any] = []
    for tool in tools:
        if tool.kind == "server":
            _write_server_tool(tool, notes, quirks, written)
            continue
        if tool.kind == "custom" and not quirks.custom_tools:
            tool = as_function(tool)
            notes.append(f"tool {tool.name}: a free-text tool goes as a function with one string")
        own = _own(tool, notes, quirks) if tool.extra else {}
        written.append(_write_tool(tool, own, quirks, notes))
    return written


def _write_tool(tool: Tool, own: Body, quirks: Quirks, notes: list[str]) -> Body:
    if tool.kind == "custom":
        custom: Body = {"name": tool.name}
        if tool.description is not None:
            custom["description"] = tool.description
        if tool.format is not None:
            custom["format"] = _write_format(tool.format)
        return {"type": "custom", "custom": custom, **own}
    function: Body = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.schema is not None:
        function["parameters"] = tool.schema
    if tool.strict is not None:
        if quirks.strict:
            function["strict"] = tool.strict
        else:
            notes.append(f"tool {tool.name}: strict is not known there; left out")
    if own:
        own = dict(own)
        function.update(own.pop("function", {}))
    return {"type": "function", "function": function, **own}


def _own(tool: Tool, notes: list[str], quirks: Quirks) -> Body:
    extra = tool.extra
    cache = extra.get("anthropic", {}).get("cache_control")
    if cache is not None and quirks.cache_control:
        rest = {key: value for key, value in extra["anthropic"].items() if key != "cache_control"}
        extra = {**extra, "anthropic": rest, WIRE: {**extra.get(WIRE, {}), "cache_control": cache}}
    return own_extra(extra, WIRE, f"tool {tool.name}", notes, FAMILY)


def _write_server_tool(tool: Tool, notes: list[str], quirks: Quirks, written: list[Any]) -> None:
    own = tool.extra.get(WIRE)
    if own is not None and (not quirks.server_tools or tool.name.startswith(quirks.server_tools)):
        written.append(own)
    else:
        notes.append(f"tool {tool.name}: a server tool of another vendor; left out")


def read_choice(value: Any) -> Choice | None:
    if value is None:
        return None
    if isinstance(value, str):
        mode = _CHOICE_WORDS.get(value)
        if mode is None:
            raise misfit("tool_choice", "auto, none, required or a tool", value)
        return Choice(mode)  # type: ignore[arg-type]
    held = an_object(value, "tool_choice")
    kind = held.get("type")
    if kind == "allowed_tools":
        allowed = an_object(held.get("allowed_tools", held), "tool_choice.allowed_tools")
        names = tuple(_chosen_name(an_object(tool, "tools")) for tool in a_list(allowed.get("tools"), "tool_choice.tools"))
        return Choice("required" if allowed.get("mode") == "required" else "auto", names)
    if kind in ("function", "custom", None):
        return Choice("required", (_chosen_name(held),))
    return Choice("required", extra={WIRE: held})


def _chosen_name(held: Body) -> str:
    inner = held.get("function") or held.get("custom") or held
    return a_string(an_object(inner, "tool_choice.function").get("name"), "tool_choice.name")


def write_choice(choice: Choice, tools: tuple[Tool, ...], notes: list[str], quirks: Quirks) -> Any:
    if not quirks.tool_choice and choice != Choice():
        notes.append(f"tool_choice {choice.mode}: the server does not know it; left out")
        return None
    if choice.extra:
        own = own_extra(choice.extra, WIRE, "tool_choice", notes)
        return own or choice.mode
    if not choice.names:
        return choice.mode
    kinds = {tool.name: tool.kind for tool in tools}
    if not quirks.custom_tools:
        kinds = {}
    if choice.mode == "required" and len(choice.names) == 1:
        return _named(choice.names[0], kinds)
    if not quirks.allowed_tools:
        notes.append("tool_choice: the server takes no subset of tools; narrowed by leaving tools out")
        return choice.mode
    allowed = {"mode": choice.mode, "tools": [_named(name, kinds) for name in choice.names]}
    return {"type": "allowed_tools", "allowed_tools": allowed}


def _named(name: str, kinds: dict[str, Any]) -> Body:
    kind = "custom" if kinds.get(name) == "custom" else "function"
    return {"type": kind, kind: {"name": name}}
