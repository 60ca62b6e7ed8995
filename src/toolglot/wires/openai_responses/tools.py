"""Tools and the choice among them, as OpenAI Responses has them: flat, and in namespaces.

`strict` is always written, for leaving it out makes the server try strict schemas. `false` is what every other wire
means by silence, so it is read as None, and None is written as `false`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, join_name
from toolglot.core.tools import Choice, Tool, as_function
from toolglot.reading.shape import a_list, a_string, an_object, each_object, misfit, or_none, own_extra
from toolglot.reading.tools_written import server_tool, written_once
from toolglot.wires.openai_family import FAMILY
from toolglot.wires.openai_responses.shapes import WIRE, Body

_FUNCTION_KEYS = frozenset({"type", "name", "description", "parameters", "strict"})
_CUSTOM_KEYS = frozenset({"type", "name", "description", "format"})
_NAMESPACE_KEYS = frozenset({"type", "name", "tools"})
_MODES = {"auto": "auto", "none": "none", "required": "required", "any": "required"}


# -- reading


def read_tools(value: Any) -> tuple[Tool, ...]:
    if not value:
        return ()
    return tuple(tool for tools in each_object(value, "tools", _read_tool) for tool in tools)


def _read_tool(held: Body) -> list[Tool]:
    if held.get("type") != "namespace" or not held.get("tools"):
        return [_read_one(held, None)]
    namespace = a_string(held.get("name"), "name")
    tools: list[Tool] = each_object(held["tools"], "tools", lambda inner: _read_one(inner, namespace))
    about = {key: value for key, value in held.items() if key not in _NAMESPACE_KEYS}
    at = next((at for at, tool in enumerate(tools) if tool.kind != "server"), None)
    if at is None:
        return [_read_one(held, None)]
    if about:  # what is said of the namespace stays with its first tool
        own = {**tools[at].extra.get(WIRE, {}), "namespace": about}
        tools[at] = msgspec.structs.replace(tools[at], extra={WIRE: own})
    return tools


def _read_one(held: Body, namespace: str | None) -> Tool:
    kind = held.get("type", "function")
    if kind == "function":
        if isinstance(held.get("function"), dict):  # nested, as Chat has it: sent by many all the same
            held = {**held["function"], "type": "function"}
        schema = held.get("parameters")
        if schema is not None:
            an_object(schema, "parameters")
        strict = True if held.get("strict") is True else None
        name, extra = a_string(held.get("name"), "name"), _rest(held, _FUNCTION_KEYS)
        return Tool(name, _description(held), schema, strict, namespace=namespace, extra=extra)
    if kind == "custom":
        form = held.get("format")
        return Tool(
            a_string(held.get("name"), "name"),
            _description(held),
            kind="custom",
            namespace=namespace,
            format=form if isinstance(form, dict) else None,
            extra=_rest(held, _CUSTOM_KEYS),
        )
    return Tool(str(kind), kind="server", namespace=namespace, extra={WIRE: held})


def _description(held: Body) -> str | None:
    return or_none(a_string, held.get("description"), "description")  # type: ignore[no-any-return]


def _rest(held: Body, known: frozenset[str]) -> Extra:
    if held.keys() <= known:
        return {}
    return {WIRE: {key: value for key, value in held.items() if key not in known}}


# -- writing


@written_once
def write_tools(tools: tuple[Tool, ...], notes: list[str], quirks: Quirks) -> list[Any]:
    written: list[Any] = []
    groups: dict[str, Body] = {}
    for tool in tools:
        about: Body = {}
        held = _write_tool(tool, about, notes, quirks)
        if held is None:
            continue
        if tool.namespace is None:
            written.append(held)
            continue
        group = groups.get(tool.namespace)
        if group is None:
            group = groups[tool.namespace] = {
                "type": "namespace",
                "name": tool.namespace,
                "description": tool.namespace,
                "tools": [],
            }
            written.append(group)
        group["tools"].append(held)
        group.update(about)
    return written


def _write_tool(tool: Tool, about: Body, notes: list[str], quirks: Quirks) -> Body | None:
    """`about` takes what the tool knows of its namespace."""
    if tool.kind == "server":
        return server_tool(tool, WIRE, notes, quirks)
    if tool.kind == "custom" and not quirks.custom_tools:
        tool = as_function(tool)
        notes.append(f"tool {tool.name}: a free-text tool goes as a function with one string")
    held: Body = {"type": tool.kind, "name": tool.name}
    if tool.description is not None:
        held["description"] = tool.description
    if tool.kind == "custom":
        if tool.format is not None:
            held["format"] = tool.format
    else:
        held["parameters"] = tool.schema
        held["strict"] = bool(tool.strict) and quirks.strict
        if tool.strict and not quirks.strict:
            notes.append(f"tool {tool.name}: strict is not known there; left out")
    if tool.extra:
        held.update(own_extra(tool.extra, WIRE, f"tool {tool.name}", notes, FAMILY))
        if tool.namespace is not None and isinstance(held.get("namespace"), dict):
            about.update(held.pop("namespace"))
    return held


# -- choice


def read_choice(value: Any) -> Choice | None:
    if value is None:
        return None
    if isinstance(value, str):
        mode = _MODES.get(value)
        if mode is None:
            raise misfit("tool_choice", "auto, none, required or a tool", value)
        return Choice(mode)  # type: ignore[arg-type]
    held = an_object(value, "tool_choice")
    kind = held.get("type")
    if kind == "allowed_tools":
        return _read_allowed(held)
    if kind in ("function", "custom", None):
        return Choice("required", (_chosen_name(held, "tool_choice"),))
    return Choice("required", extra={WIRE: held})


def _read_allowed(held: Body) -> Choice:
    inner = an_object(held.get("allowed_tools", held), "tool_choice.allowed_tools")
    tools = a_list(inner.get("tools"), "tool_choice.tools")
    names: list[str] = []
    for at, tool in enumerate(tools):
        where = f"tool_choice.tools[{at}]"
        if an_object(tool, where).get("type", "function") in ("function", "custom"):
            names.append(_chosen_name(tool, where))
    extra: Extra = {WIRE: held} if len(names) < len(tools) else {}  # server tools among them have no name
    return Choice("required" if inner.get("mode") == "required" else "auto", tuple(names), extra)


def _chosen_name(held: Body, where: str) -> str:
    inner = held.get("function") or held.get("custom") or held
    inner = an_object(inner, where)
    namespace = inner.get("namespace")
    return join_name(namespace if isinstance(namespace, str) else None, a_string(inner.get("name"), f"{where}.name"))


def in_full(choice: Choice | None, tools: tuple[Tool, ...]) -> Choice | None:
    """A choice names tools without their namespaces here; inside, names are full."""
    if choice is None or not choice.names or all(tool.namespace is None for tool in tools):
        return choice
    known = {tool.full_name for tool in tools}
    full = {tool.name: tool.full_name for tool in reversed(tools)}
    names = tuple(name if name in known else full.get(name, name) for name in choice.names)
    return msgspec.structs.replace(choice, names=names)


def write_choice(choice: Choice, tools: tuple[Tool, ...], notes: list[str], quirks: Quirks) -> Any:
    if not quirks.tool_choice and choice != Choice():
        notes.append(f"tool_choice {choice.mode}: the server does not know it; left out")
        return None
    if choice.extra:
        own = own_extra(choice.extra, WIRE, "tool_choice", notes)
        if own:
            return own
    if not choice.names:
        return choice.mode
    known = {tool.full_name: tool for tool in tools} | {tool.name: tool for tool in tools}
    named = [_named(name, known.get(name), quirks) for name in choice.names]
    if choice.mode == "required" and len(named) == 1:
        return named[0]
    if not quirks.allowed_tools:
        notes.append("tool_choice: the server takes no subset of tools; narrowed by leaving tools out")
        return choice.mode
    return {"type": "allowed_tools", "mode": choice.mode, "tools": named}


def _named(name: str, tool: Tool | None, quirks: Quirks) -> Body:
    kind = "custom" if tool is not None and tool.kind == "custom" and quirks.custom_tools else "function"
    return {"type": kind, "name": tool.name if tool is not None else name}


def narrowed(tools: tuple[Tool, ...], choice: Choice | None, quirks: Quirks) -> tuple[Tool, ...]:
    """The tools that may be called, where the server itself can't be told which."""
    if choice is None or not choice.names or choice.extra.get(WIRE):
        return tools
    forced = choice.mode == "required" and len(choice.names) == 1
    if quirks.tool_choice and (forced or quirks.allowed_tools):
        return tools
    return tuple(tool for tool in tools if tool.name in choice.names or tool.full_name in choice.names)
