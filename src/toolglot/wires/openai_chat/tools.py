"""Tools and the choice among them, as OpenAI Chat has them; the old `functions` too."""

from __future__ import annotations

from typing import Any, Literal

from toolglot.core.fold import join_extra
from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra
from toolglot.core.tools import Choice, Tool, as_function
from toolglot.errors import CallerError
from toolglot.reading.shape import a_boolean, a_string, an_object, beyond, each_object, or_none, own_extra
from toolglot.reading.tools_written import server_tool, written_once
from toolglot.wires.openai_chat.functions import MARK
from toolglot.wires.openai_chat.shapes import WIRE, own

Body = dict[str, Any]

_CHOICE_WORDS: dict[str, Literal["auto", "none", "required"]] = {
    "auto": "auto",
    "none": "none",
    "required": "required",
    "any": "required",
}


def read_tools(value: Any) -> tuple[Tool, ...]:
    return () if value is None else tuple(each_object(value, "tools", _read_tool))


def read_functions(value: Any) -> tuple[Tool, ...]:
    """The form before tools: bare function objects."""
    return () if value is None else tuple(each_object(value, "functions", lambda held: _function(held, _FLAT, {MARK: {}})))


def _read_tool(held: Body) -> Tool:
    kind = held.get("type")
    kind = "function" if kind is None else a_string(kind, "type")
    if kind == "function":
        if "function" not in held and "name" in held:  # flat, as Responses has it: sent by many all the same
            return _function({key: value for key, value in held.items() if key != "type"}, _FLAT, {})
        extra = {} if held.keys() <= _TOOL_KEYS else beyond(held, _TOOL_KEYS, WIRE)
        return _function(an_object(held.get("function"), "function"), _NESTED, extra)
    if kind == "custom":
        return _custom(an_object(held.get("custom"), "custom"), beyond(held, _CUSTOM_TOOL_KEYS, WIRE))
    return Tool(kind, kind="server", extra={WIRE: held})


_TOOL_KEYS = frozenset({"type", "function"})
_CUSTOM_TOOL_KEYS = frozenset({"type", "custom"})
_FLAT = ("name", "description", "parameters", "strict")
_NESTED = tuple(f"function.{key}" for key in _FLAT)
_FUNCTION_KEYS = frozenset(_FLAT)
_CUSTOM_KEYS = frozenset({"name", "description", "format"})


def _function(held: Body, where: tuple[str, ...], extra: Extra) -> Tool:
    """`where`: how the function's keys are called from the tool's place; `extra`: what else the tool has."""
    name = a_string(held.get("name"), where[0])
    description, schema, strict = held.get("description"), held.get("parameters"), held.get("strict")
    if description is not None:
        a_string(description, where[1])
    if schema is not None:
        an_object(schema, where[2])
    if strict is not None:
        a_boolean(strict, where[3])
    if not held.keys() <= _FUNCTION_KEYS:
        extra = _with_inner(extra, "function", held, _FUNCTION_KEYS)
    return Tool(name, description, schema, strict, extra=extra)


def _custom(held: Body, extra: Extra) -> Tool:
    return Tool(
        a_string(held.get("name"), "custom.name"),
        or_none(a_string, held.get("description"), "custom.description"),
        kind="custom",
        format=_read_format(or_none(an_object, held.get("format"), "custom.format")),
        extra=_with_inner(extra, "custom", held, _CUSTOM_KEYS),
    )


def _with_inner(extra: Extra, key: str, held: Body, known: frozenset[str]) -> Extra:
    """`extra`, and what the tool's inner object holds beyond the known keys."""
    inner = beyond(held, known, WIRE)
    return join_extra(extra, {WIRE: {key: inner[WIRE]}}) if inner else extra


def _read_format(held: Body | None) -> Body | None:
    """Nested here (`grammar: {...}`), flat in Responses; ours is flat."""
    if held is None:
        return None
    grammar = held.get("grammar")
    return {"type": held.get("type"), **grammar} if isinstance(grammar, dict) else held


def _write_format(held: Body) -> Body:
    if held.get("type") != "grammar":
        return held
    return {"type": "grammar", "grammar": {key: value for key, value in held.items() if key != "type"}}


@written_once
def write_tools(tools: tuple[Tool, ...], notes: list[str], quirks: Quirks) -> list[Any]:
    written: list[Any] = []
    for tool in tools:
        if tool.kind == "server":
            mine = server_tool(tool, WIRE, notes, quirks)
            if mine is not None:
                written.append(mine)
            continue
        if tool.kind == "custom" and not quirks.custom_tools:
            tool = as_function(tool)
            notes.append(f"tool {tool.name}: a free-text tool goes as a function with one string")
        kept = own(tool.extra, f"tool {tool.name}", notes, quirks) if tool.extra else {}
        written.append(_write_tool(tool, kept, quirks, notes))
    return written


def _write_tool(tool: Tool, kept: Body, quirks: Quirks, notes: list[str]) -> Body:
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
    if tool.strict is not None:
        if quirks.strict:
            function["strict"] = tool.strict
        else:
            notes.append(f"tool {tool.name}: strict is not known there; left out")
    if kept:
        function.update(kept.pop("function", {}))
    return {"type": "function", "function": function, **kept}


def read_choice(value: Any) -> Choice | None:
    if value is None:
        return None
    try:
        return _read_choice(value)
    except CallerError as error:
        raise error.within("tool_choice") from None


def read_function_call(value: Any) -> Choice | None:
    """The choice of old: a word, or `{"name": ...}`."""
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
    held = an_object(value, "")
    kind = held.get("type")
    if kind == "allowed_tools":
        return _read_allowed(held)
    if kind in ("function", "custom", None):
        return Choice("required", (_chosen_name(held),))
    return Choice("required", extra={WIRE: held})


def _read_allowed(held: Body) -> Choice:
    """The subset is nested here, flat in Responses."""
    nested = "allowed_tools" in held
    allowed = an_object(held["allowed_tools"], "allowed_tools") if nested else held
    names = each_object(allowed.get("tools"), "allowed_tools.tools" if nested else "tools", _chosen_name)
    return Choice("required" if allowed.get("mode") == "required" else "auto", tuple(names))


def _chosen_name(held: Body) -> str:
    for kind in ("function", "custom"):
        if held.get(kind) is not None:
            return a_string(an_object(held[kind], kind).get("name"), f"{kind}.name")
    return a_string(held.get("name"), "name")


def write_choice(choice: Choice, tools: tuple[Tool, ...], notes: list[str], quirks: Quirks) -> Any:
    if not quirks.tool_choice:
        if choice != Choice():
            notes.append(f"tool_choice {choice.mode}: the server does not know it; left out")
        return None
    mine = own_extra(choice.extra, WIRE, "tool_choice", notes) if choice.extra else None
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
        notes.append("tool_choice: the server takes no subset of tools; narrowed by leaving tools out")
        return choice.mode
    allowed = {"mode": choice.mode, "tools": [_named(name, kinds) for name in choice.names]}
    return {"type": "allowed_tools", "allowed_tools": allowed}


def _named(name: str, kinds: dict[str, Any]) -> Body:
    kind = "custom" if kinds.get(name) == "custom" else "function"
    return {"type": kind, kind: {"name": name}}
