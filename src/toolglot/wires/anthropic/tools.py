"""Anthropic tools and tool choice."""

from __future__ import annotations

from typing import Any

from toolglot.core.interfaces import Quirks
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool
from toolglot.io.request_validation import (
    Body,
    optional,
    read_each,
    require_boolean,
    require_object,
    require_string,
    wire_extra,
    wrong_type,
)
from toolglot.io.tools_writer import choice_is_supported, supported_strict, tools_writer
from toolglot.wires.anthropic.shapes import TOOLSETS, WIRE, rest_of

_TOOL_KEYS = frozenset({"type", "name", "description", "input_schema", "strict", "defer_loading", "input_examples"})
_CHOICE_KEYS = frozenset({"type", "name", "disable_parallel_tool_use"})

_MODE_IN = {"auto": "auto", "any": "required", "required": "required", "none": "none"}
_MODE_OUT = {"auto": "auto", "required": "any", "none": "none"}


# -- tools


def read_tools(value: Any) -> tuple[Tool, ...]:
    return () if value is None else tuple(read_each(value, "tools", _read_tool))


def _read_tool(obj: Body) -> Tool:
    kind = obj.get("type")
    if kind is not None and kind != "custom":
        return Tool(require_string(kind, "type"), kind="server", extra={WIRE: obj}, members=TOOLSETS.get(kind, ()))
    direct = obj.get("allowed_callers") == ["direct"]
    return Tool(
        require_string(obj.get("name"), "name"),
        optional(require_string, obj.get("description"), "description"),
        optional(require_object, obj.get("input_schema"), "input_schema"),
        optional(require_boolean, obj.get("strict"), "strict"),
        extra=rest_of(obj, _TOOL_KEYS | {"allowed_callers"} if direct else _TOOL_KEYS),
        deferred=obj.get("defer_loading") is True,
        examples=_read_examples(obj.get("input_examples")),
        direct=direct,
    )


def _read_examples(value: Any) -> tuple[Body, ...]:
    return tuple(example for example in value if isinstance(example, dict)) if isinstance(value, list) else ()


def declared_tools(block: Body) -> tuple[Tool, ...]:
    """`tool_addition` with a definition, also in the `tool_changes` of a `compaction` block. A reference declares nothing."""
    changes = block.get("tool_changes") if block.get("type") == "compaction" else [block]
    found: list[Tool] = []
    for change in changes if isinstance(changes, list) else ():
        tool = change.get("tool") if isinstance(change, dict) and change.get("type") == "tool_addition" else None
        definition = tool.get("definition") if isinstance(tool, dict) else None
        if isinstance(definition, dict):
            found.append(_read_tool(definition))
    return tuple(found)


def _write_tool(tool: Tool, notes: list[str], quirks: Quirks) -> Body:
    obj: Body = {"name": tool.name}
    if tool.description is not None:
        obj["description"] = tool.description
    obj["input_schema"] = _write_schema(tool.schema)
    strict = supported_strict(tool, notes, quirks)
    if strict is not None:
        obj["strict"] = strict
    if tool.deferred:
        obj["defer_loading"] = True
    if tool.examples:
        obj["input_examples"] = list(tool.examples)
    if tool.direct:
        obj["allowed_callers"] = ["direct"]
    if tool.extra:
        obj.update(wire_extra(tool.extra, WIRE, f"tool {tool.name}", notes))
    return obj


def _write_schema(schema: Body | None) -> Body:
    """The API requires a schema for each tool, with a type."""
    if schema is None:
        return {"type": "object", "properties": {}}
    return schema if "type" in schema else {"type": "object", **schema}


write_tools = tools_writer(WIRE, _write_tool, deferred_tools=True, examples=True)


# -- tool choice; the same object also limits parallel calls


def read_choice(value: Any) -> Choice | None:
    if value is None:
        return None
    obj: Body = {"type": value} if isinstance(value, str) else require_object(value, "tool_choice")
    kind = obj.get("type")
    if kind == "tool":
        name = require_string(obj.get("name"), "tool_choice.name")
        return Choice("required", (name,), rest_of(obj, _CHOICE_KEYS))
    mode = _MODE_IN.get(require_string(kind, "tool_choice.type"))
    if mode is not None:
        return Choice(mode, extra=rest_of(obj, _CHOICE_KEYS))  # type: ignore[arg-type]
    if isinstance(value, str):
        raise wrong_type("tool_choice", "auto, any, none or a tool", value)
    fields = {key: setting for key, setting in obj.items() if key != "disable_parallel_tool_use"}
    return Choice("required", extra={WIRE: fields})


def read_parallel(value: Any) -> bool | None:
    setting = value.get("disable_parallel_tool_use") if isinstance(value, dict) else None
    disabled = optional(require_boolean, setting, "tool_choice.disable_parallel_tool_use")
    return None if disabled is None else not disabled


def put_tools(request: Request, body: Body, notes: list[str], quirks: Quirks) -> None:
    """`tools` and `tool_choice`; the second never without the first."""
    tools, choice = request.tools, request.choice
    if choice is not None and choice.names and not (_is_forced(choice) and quirks.tool_choice):
        tools = tuple(tool for tool in tools if _name_in_choice(tool) in choice.names)
        notes.append("tool_choice: anthropic does not support a subset of tools; other tools were left out")
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


def _name_in_choice(tool: Tool) -> object:
    """A server tool is chosen by the name in its definition, not by its type."""
    return tool.extra.get(WIRE, {}).get("name", tool.name) if tool.kind == "server" else tool.name


def _write_choice(choice: Choice | None, parallel: bool | None, notes: list[str], quirks: Quirks) -> Body | None:
    if parallel is not None and not quirks.parallel_control:
        notes.append("parallel: the server does not support it; left out")
        parallel = None
    if not choice_is_supported(choice or Choice(), notes, quirks):
        return None
    if choice is None:
        return {"type": "auto", "disable_parallel_tool_use": True} if parallel is False else None
    obj: Body = {"type": _MODE_OUT[choice.mode]}
    if _is_forced(choice):
        obj = {"type": "tool", "name": choice.names[0]}
    if parallel is not None and choice.mode != "none":
        obj["disable_parallel_tool_use"] = not parallel
    if choice.extra:
        obj.update(wire_extra(choice.extra, WIRE, "tool_choice", notes))
    return obj
