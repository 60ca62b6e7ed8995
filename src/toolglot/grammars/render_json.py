"""Calls, results and tools written into a prompt by the families that speak JSON; each dialect says how, none says it twice.

Arguments go in as they are, so that a model sees again what it wrote; what is no JSON object goes in as none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from toolglot.core.messages import ToolCall, ToolResult
from toolglot.core.tools import Tool, as_function
from toolglot.grammars.call_objects import USUAL, Keys
from toolglot.text.json_text import dumps, loads_object

RenderCalls = Callable[[tuple[ToolCall, ...]], str]
RenderResult = Callable[[ToolResult], str]
RenderTools = Callable[[tuple[Tool, ...]], str]

_NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}
_NOISE = frozenset({"$schema", "$id", "$comment", "title"})
_NAMED = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_VALUES = frozenset({"default", "const", "enum", "examples", "example"})  # data, not schemas


# -- calls


def arguments(call: ToolCall) -> str:
    return call.arguments_json if loads_object(call.arguments_json) is not None else "{}"


def call_object(call: ToolCall, keys: Keys, *, with_id: bool = False) -> str:
    """`{"name": ..., "arguments": ...}` under the dialect's own keys."""
    if keys.name_is_key:
        return f"{{{dumps(call.full_name)}: {arguments(call)}}}"
    own_id = f"{dumps(keys.id)}: {dumps(call.id)}, " if with_id and call.id else ""
    return f"{{{own_id}{dumps(keys.name)}: {dumps(call.full_name)}, {dumps(keys.arguments)}: {arguments(call)}}}"


def each_call(opener: str, closer: str, between: str = "\n", keys: Keys = USUAL, *, with_id: bool = False) -> RenderCalls:
    """One object for each call, each between its own markers."""
    return lambda calls: between.join(f"{opener}{call_object(call, keys, with_id=with_id)}{closer}" for call in calls)


def one_array(opener: str, closer: str, keys: Keys = USUAL, *, between: str = ", ", with_id: bool = False) -> RenderCalls:
    """All calls in one array between one pair of markers. `with_id`: each has its id, or else its place, from 0."""

    def one(at: int, call: ToolCall) -> str:
        return call_object(_numbered(call, at) if with_id else call, keys, with_id=with_id)

    return lambda calls: opener + between.join(one(at, call) for at, call in enumerate(calls)) + closer


def _numbered(call: ToolCall, at: int) -> ToolCall:
    return call if call.id else msgspec.structs.replace(call, id=str(at))


def named_calls(template: str, between: str = "", opener: str = "", closer: str = "") -> RenderCalls:
    """A name, then its arguments; `{name}` and `{arguments}` stand in the template."""

    def one(call: ToolCall) -> str:
        head, _, tail = template.replace("{name}", call.full_name).partition("{arguments}")
        return head + arguments(call) + tail

    return lambda calls: opener + between.join(map(one, calls)) + closer


# -- results


def result_text(before: str, after: str) -> RenderResult:
    """What the tool gave, between markers; `{name}` and `{id}` may stand in them."""

    def render(result: ToolResult) -> str:
        head, tail = (part.replace("{name}", result.name or "").replace("{id}", result.call_id) for part in (before, after))
        return head + result.text + tail

    return render


def result_object(before: str, after: str, *keys: str) -> RenderResult:
    """What the tool gave as an object; `keys` choose from name, id and content."""

    def render(result: ToolResult) -> str:
        held = {"name": result.name or "", "id": result.call_id, "content": result.text}
        return before + dumps({key: held[key] for key in keys}) + after

    return render


# For families whose template gives results a turn of their own: a turn's tokens inside a message would end that message.
PLAIN_RESULT = result_text("Result of {name}:\n", "")


# -- tools


def tool_object(tool: Tool, *, wrapped: bool = True) -> str:
    tool = as_function(tool)
    held: dict[str, Any] = {"name": tool.full_name}
    if tool.description:
        held["description"] = tool.description
    held["parameters"] = _without_noise(tool.schema) if tool.schema else _NO_PARAMETERS
    return dumps({"type": "function", "function": held} if wrapped else held)


def _without_noise(schema: Any) -> Any:
    """What only machines read is left out of a schema; a parameter that happens to be called so is not."""
    if isinstance(schema, list):
        return [_without_noise(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _inner(key, value) for key, value in schema.items() if key not in _NOISE}


def _inner(key: str, value: Any) -> Any:
    if key in _VALUES:
        return value
    if key in _NAMED and isinstance(value, dict):  # here the keys are the caller's own words
        return {name: _without_noise(held) for name, held in value.items()}
    return _without_noise(value)


def tool_lines(before: str = "<tools>\n", after: str = "\n</tools>", *, wrapped: bool = True) -> RenderTools:
    """A line of JSON for each tool."""
    return lambda tools: before + "\n".join(tool_object(tool, wrapped=wrapped) for tool in tools) + after


def tool_array(before: str = "", after: str = "", *, wrapped: bool = True) -> RenderTools:
    """All tools as one JSON array."""
    return lambda tools: f"{before}[{', '.join(tool_object(tool, wrapped=wrapped) for tool in tools)}]{after}"
