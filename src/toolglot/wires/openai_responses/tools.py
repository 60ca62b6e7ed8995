"""OpenAI Responses tools and tool choice: flat, and in namespaces.

`strict` is always written, because without it the server tries strict schemas. On every other wire, an absent `strict`
means `false`: so `false` is read as None, and None is written as `false`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, join_name
from toolglot.core.tools import Choice, Tool
from toolglot.io.request_validation import (
    Body,
    optional,
    read_each,
    require_list,
    require_object,
    require_string,
    unknown_extra,
    wire_extra,
    wrong_type,
)
from toolglot.io.tools_writer import choice_is_supported, supported_strict, tools_writer
from toolglot.wires.openai_common import FAMILY
from toolglot.wires.openai_responses.shapes import WIRE

_DECLARING = ("additional_tools", "tool_search_output")
_FUNCTION_KEYS = frozenset({"type", "name", "description", "parameters", "strict", "defer_loading"})
_CUSTOM_KEYS = frozenset({"type", "name", "description", "format", "defer_loading"})
_NAMESPACE_KEYS = frozenset({"type", "name", "tools"})
_MODES = {"auto": "auto", "none": "none", "required": "required", "any": "required"}


# -- reading


def read_tools(value: Any) -> tuple[Tool, ...]:
    if not value:
        return ()
    return tuple(tool for tools in read_each(value, "tools", _read_tool) for tool in tools)


def declared_tools(block: Body) -> tuple[Tool, ...]:
    """Codex sends its tools in an item; a tool search gives those that it found."""
    return read_tools(block.get("tools")) if block.get("type") in _DECLARING and isinstance(block.get("tools"), list) else ()


def _read_tool(obj: Body) -> list[Tool]:
    if obj.get("type") != "namespace" or not obj.get("tools"):
        return [_read_one(obj, None)]
    namespace = require_string(obj.get("name"), "name")
    tools: list[Tool] = read_each(obj["tools"], "tools", lambda inner: _read_one(inner, namespace))
    about = {key: value for key, value in obj.items() if key not in _NAMESPACE_KEYS}
    at = next((at for at, tool in enumerate(tools) if tool.kind != "server"), None)
    if at is None:
        return [_read_one(obj, None)]
    if about:  # the namespace's fields stay with its first tool
        fields = {**tools[at].extra.get(WIRE, {}), "namespace": about}
        tools[at] = msgspec.structs.replace(tools[at], extra={WIRE: fields})
    return tools


def _read_one(obj: Body, namespace: str | None) -> Tool:
    kind, deferred = obj.get("type", "function"), obj.get("defer_loading") is True
    direct = obj.get("allowed_callers") == ["direct"]
    read = {"allowed_callers"} if direct else frozenset[str]()
    if kind == "function":
        if isinstance(obj.get("function"), dict):  # nested, as in Chat: many clients send it
            obj = {**obj["function"], "type": "function"}
        schema = obj.get("parameters")
        if schema is not None:
            require_object(schema, "parameters")
        strict = True if obj.get("strict") is True else None
        name, extra = require_string(obj.get("name"), "name"), unknown_extra(obj, _FUNCTION_KEYS | read, WIRE)
        return Tool(name, _description(obj), schema, strict, namespace=namespace, extra=extra, deferred=deferred, direct=direct)
    if kind == "custom":
        form = obj.get("format")
        return Tool(
            require_string(obj.get("name"), "name"),
            _description(obj),
            kind="custom",
            namespace=namespace,
            format=form if isinstance(form, dict) else None,
            extra=unknown_extra(obj, _CUSTOM_KEYS | read, WIRE),
            deferred=deferred,
            direct=direct,
        )
    return Tool(str(kind), kind="server", namespace=namespace, extra={WIRE: obj})


def _description(obj: Body) -> str | None:
    return optional(require_string, obj.get("description"), "description")  # type: ignore[no-any-return]


# -- writing


def _write_tool(tool: Tool, notes: list[str], quirks: Quirks) -> Body:
    obj: Body = {"type": tool.kind, "name": tool.name}
    if tool.description is not None:
        obj["description"] = tool.description
    if tool.kind == "custom":
        if tool.format is not None:
            obj["format"] = tool.format
    else:
        obj["parameters"] = tool.schema
        obj["strict"] = bool(supported_strict(tool, notes, quirks))
    if tool.deferred:
        obj["defer_loading"] = True
    if tool.direct:
        obj["allowed_callers"] = ["direct"]
    if tool.extra:
        obj.update(wire_extra(tool.extra, WIRE, f"tool {tool.name}", notes, FAMILY))
    return obj


def _group(tools: list[tuple[Tool, Body]]) -> list[Body]:
    """Tools with a namespace go into one object per namespace, at the position of the first."""
    written: list[Body] = []
    groups: dict[str, Body] = {}
    for tool, body in tools:
        name = tool.namespace
        if name is None:
            written.append(body)
            continue
        group = groups.get(name)
        if group is None:
            group = groups[name] = {"type": "namespace", "name": name, "description": name, "tools": []}
            written.append(group)
        group["tools"].append(body)
        if tool.kind != "server" and isinstance(body.get("namespace"), dict):  # see _read_tool
            group.update(body.pop("namespace"))
    return written


write_tools = tools_writer(WIRE, _write_tool, custom_tools=True, deferred_tools=True, arrange=_group)


# -- choice


def read_choice(value: Any) -> Choice | None:
    if value is None:
        return None
    if isinstance(value, str):
        mode = _MODES.get(value)
        if mode is None:
            raise wrong_type("tool_choice", "auto, none, required or a tool", value)
        return Choice(mode)  # type: ignore[arg-type]
    obj = require_object(value, "tool_choice")
    kind = obj.get("type")
    if kind == "allowed_tools":
        return _read_allowed(obj)
    if kind in ("function", "custom", None):
        return Choice("required", (_chosen_name(obj, "tool_choice"),))
    return Choice("required", extra={WIRE: obj})


def _read_allowed(obj: Body) -> Choice:
    inner = require_object(obj.get("allowed_tools", obj), "tool_choice.allowed_tools")
    tools = require_list(inner.get("tools"), "tool_choice.tools")
    names: list[str] = []
    for at, tool in enumerate(tools):
        where = f"tool_choice.tools[{at}]"
        if require_object(tool, where).get("type", "function") in ("function", "custom"):
            names.append(_chosen_name(tool, where))
    extra: Extra = {WIRE: obj} if len(names) < len(tools) else {}  # server tools among them have no name
    return Choice("required" if inner.get("mode") == "required" else "auto", tuple(names), extra)


def _chosen_name(obj: Body, where: str) -> str:
    inner = obj.get("function") or obj.get("custom") or obj
    inner = require_object(inner, where)
    namespace = inner.get("namespace")
    return join_name(namespace if isinstance(namespace, str) else None, require_string(inner.get("name"), f"{where}.name"))


def with_full_names(choice: Choice | None, tools: tuple[Tool, ...]) -> Choice | None:
    """A choice has tool names without namespaces here; our format has full names."""
    if choice is None or not choice.names or all(tool.namespace is None for tool in tools):
        return choice
    known = {tool.full_name for tool in tools}
    full = {tool.name: tool.full_name for tool in reversed(tools)}
    names = tuple(name if name in known else full.get(name, name) for name in choice.names)
    return msgspec.structs.replace(choice, names=names)


def write_choice(choice: Choice, tools: tuple[Tool, ...], notes: list[str], quirks: Quirks) -> Any:
    if not choice_is_supported(choice, notes, quirks):
        return None
    if choice.extra:
        fields = wire_extra(choice.extra, WIRE, "tool_choice", notes)
        if fields:
            return fields
    if not choice.names:
        return choice.mode
    known = {tool.full_name: tool for tool in tools} | {tool.name: tool for tool in tools}
    named = [_named(name, known.get(name), quirks) for name in choice.names]
    if choice.mode == "required" and len(named) == 1:
        return named[0]
    if not quirks.allowed_tools:
        notes.append("tool_choice: the server does not support a subset of tools; other tools were left out")
        return choice.mode
    return {"type": "allowed_tools", "mode": choice.mode, "tools": named}


def _named(name: str, tool: Tool | None, quirks: Quirks) -> Body:
    kind = "custom" if tool is not None and tool.kind == "custom" and quirks.custom_tools else "function"
    return {"type": kind, "name": tool.name if tool is not None else name}


def callable_tools(tools: tuple[Tool, ...], choice: Choice | None, quirks: Quirks) -> tuple[Tool, ...]:
    """The tools that may be called, if the server does not support the choice."""
    if choice is None or not choice.names or choice.extra.get(WIRE):
        return tools
    forced = choice.mode == "required" and len(choice.names) == 1
    if quirks.tool_choice and (forced or quirks.allowed_tools):
        return tools
    return tuple(tool for tool in tools if tool.name in choice.names or tool.full_name in choice.names)
