"""OpenAI Chat tools and tool choice, and the older `functions`."""

from __future__ import annotations

from typing import Any, Literal

from toolglot.core.fold import merge_extra
from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra
from toolglot.core.tools import Choice, Tool
from toolglot.errors import CallerError
from toolglot.io.request_validation import (
    Body,
    optional,
    read_each,
    require_boolean,
    require_object,
    require_string,
    unknown_extra,
    unknown_keys,
    wire_extra,
)
from toolglot.io.tools_writer import choice_is_supported, supported_strict, tools_writer
from toolglot.wires.openai_chat.legacy_functions import MARK
from toolglot.wires.openai_chat.shapes import WIRE, chat_extra

_CHOICE_WORDS: dict[str, Literal["auto", "none", "required"]] = {
    "auto": "auto",
    "none": "none",
    "required": "required",
    "any": "required",
}


def read_tools(value: Any) -> tuple[Tool, ...]:
    return () if value is None else tuple(read_each(value, "tools", _read_tool))


def read_functions(value: Any) -> tuple[Tool, ...]:
    """The older API: plain function objects."""
    return () if value is None else tuple(read_each(value, "functions", lambda obj: _function(obj, _FLAT, {MARK: {}})))


def _read_tool(obj: Body) -> Tool:
    kind = obj.get("type")
    kind = "function" if kind is None else require_string(kind, "type")
    if kind == "function":
        if "function" not in obj and "name" in obj:  # flat, as in Responses: many clients send it
            return _function({key: value for key, value in obj.items() if key != "type"}, _FLAT, {})
        extra = {} if obj.keys() <= _TOOL_KEYS else unknown_extra(obj, _TOOL_KEYS, WIRE)
        return _function(require_object(obj.get("function"), "function"), _NESTED, extra)
    if kind == "custom":
        return _custom(require_object(obj.get("custom"), "custom"), unknown_extra(obj, _CUSTOM_TOOL_KEYS, WIRE))
    return Tool(kind, kind="server", extra={WIRE: obj})


_TOOL_KEYS = frozenset({"type", "function"})
_CUSTOM_TOOL_KEYS = frozenset({"type", "custom"})
_FLAT = ("name", "description", "parameters", "strict")
_NESTED = tuple(f"function.{key}" for key in _FLAT)
_FUNCTION_KEYS = frozenset(_FLAT)
_CUSTOM_KEYS = frozenset({"name", "description", "format"})


def _function(obj: Body, where: tuple[str, ...], extra: Extra) -> Tool:
    """`where`: the function's keys, for error messages; `extra`: the tool's other fields."""
    name = require_string(obj.get("name"), where[0])
    description, schema, strict = obj.get("description"), obj.get("parameters"), obj.get("strict")
    if description is not None:
        require_string(description, where[1])
    if schema is not None:
        require_object(schema, where[2])
    if strict is not None:
        require_boolean(strict, where[3])
    if not obj.keys() <= _FUNCTION_KEYS:
        extra = _with_inner(extra, "function", obj, _FUNCTION_KEYS)
    return Tool(name, description, schema, strict, extra=extra)


def _custom(obj: Body, extra: Extra) -> Tool:
    return Tool(
        require_string(obj.get("name"), "custom.name"),
        optional(require_string, obj.get("description"), "custom.description"),
        kind="custom",
        format=_read_format(optional(require_object, obj.get("format"), "custom.format")),
        extra=_with_inner(extra, "custom", obj, _CUSTOM_KEYS),
    )


def _with_inner(extra: Extra, key: str, obj: Body, known: frozenset[str]) -> Extra:
    """`extra`, with the unknown keys of the tool's inner object."""
    inner = unknown_keys(obj, known)
    return merge_extra(extra, {WIRE: {key: inner}}) if inner else extra


def _read_format(obj: Body | None) -> Body | None:
    """Nested here (`grammar: {...}`), flat in Responses; ours is flat."""
    if obj is None:
        return None
    grammar = obj.get("grammar")
    return {"type": obj.get("type"), **grammar} if isinstance(grammar, dict) else obj


def _write_format(obj: Body) -> Body:
    if obj.get("type") != "grammar":
        return obj
    return {"type": "grammar", "grammar": {key: value for key, value in obj.items() if key != "type"}}


def _write_tool(tool: Tool, notes: list[str], quirks: Quirks) -> Body:
    kept = chat_extra(tool.extra, f"tool {tool.name}", notes, quirks) if tool.extra else {}
    if tool.kind == "custom":
        custom: Body = {"name": tool.name}
        if tool.description is not None:
            custom["description"] = tool.description
        if tool.format is not None:
            custom["format"] = _write_format(tool.format)
        custom.update(kept.pop("custom", {}))
        return {"type": "custom", "custom": custom, **kept}
    function: Body = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.schema is not None:
        function["parameters"] = tool.schema
    strict = supported_strict(tool, notes, quirks)
    if strict is not None:
        function["strict"] = strict
    if kept:
        function.update(kept.pop("function", {}))
    return {"type": "function", "function": function, **kept}


write_tools = tools_writer(WIRE, _write_tool, custom_tools=True)


def read_choice(value: Any) -> Choice | None:
    if value is None:
        return None
    try:
        return _read_choice(value)
    except CallerError as error:
        raise error.within("tool_choice") from None


def read_function_call(value: Any) -> Choice | None:
    """The older tool choice: a string, or `{"name": ...}`."""
    try:
        return None if value is None else _read_choice(value)
    except CallerError as error:
        raise error.within("function_call") from None


def _read_choice(value: Any) -> Choice:
    if isinstance(value, str):
        mode = _CHOICE_WORDS.get(value)
        if mode is None:
            raise CallerError(f"expected auto, none, required or a tool, got {value!r}")
        return Choice(mode)
    obj = require_object(value, "")
    kind = obj.get("type")
    if kind == "allowed_tools":
        return _read_allowed(obj)
    if kind in ("function", "custom", None):
        return Choice("required", (_chosen_name(obj),))
    return Choice("required", extra={WIRE: obj})


def _read_allowed(obj: Body) -> Choice:
    """The subset is nested here, flat in Responses."""
    nested = "allowed_tools" in obj
    allowed = require_object(obj["allowed_tools"], "allowed_tools") if nested else obj
    names = read_each(allowed.get("tools"), "allowed_tools.tools" if nested else "tools", _chosen_name)
    return Choice("required" if allowed.get("mode") == "required" else "auto", tuple(names))


def _chosen_name(obj: Body) -> str:
    for kind in ("function", "custom"):
        if obj.get(kind) is not None:
            return require_string(require_object(obj[kind], kind).get("name"), f"{kind}.name")
    return require_string(obj.get("name"), "name")


def write_choice(choice: Choice, tools: tuple[Tool, ...], notes: list[str], quirks: Quirks) -> Any:
    if not choice_is_supported(choice, notes, quirks):
        return None
    mine = wire_extra(choice.extra, WIRE, "tool_choice", notes) if choice.extra else None
    if mine:
        return mine
    if not choice.names:
        return choice.mode
    kinds = {tool.name: tool.kind for tool in tools}
    if not quirks.custom_tools:
        kinds = {}
    if choice.mode == "required" and len(choice.names) == 1:
        return _named(choice.names[0], kinds)
    if not quirks.allowed_tools:
        notes.append("tool_choice: the server does not support a subset of tools; other tools were left out")
        return choice.mode
    allowed = {"mode": choice.mode, "tools": [_named(name, kinds) for name in choice.names]}
    return {"type": "allowed_tools", "allowed_tools": allowed}


def _named(name: str, kinds: dict[str, Any]) -> Body:
    kind = "custom" if kinds.get(name) == "custom" else "function"
    return {"type": kind, kind: {"name": name}}
