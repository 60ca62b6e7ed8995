"""Renders calls, results and tools as JSON for a prompt, with the markers of a dialect.

Arguments are rendered unchanged, so that a model sees what it wrote. Arguments that are not a JSON object become `{}`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from toolglot.core.messages import ToolCall, ToolResult
from toolglot.core.tools import Tool, custom_as_function
from toolglot.grammars.call_objects import USUAL, Keys
from toolglot.io.json_codec import dumps, loads_object

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
    """`{"name": ..., "arguments": ...}` with the dialect's keys."""
    if keys.name_is_key:
        return f"{{{dumps(call.full_name)}: {arguments(call)}}}"
    call_id = f"{dumps(keys.id)}: {dumps(call.id)}, " if with_id and call.id else ""
    return f"{{{call_id}{dumps(keys.name)}: {dumps(call.full_name)}, {dumps(keys.arguments)}: {arguments(call)}}}"


def each_call(opener: str, closer: str, between: str = "\n", keys: Keys = USUAL, *, with_id: bool = False) -> RenderCalls:
    """One object for each call, each between markers."""
    return lambda calls: between.join(f"{opener}{call_object(call, keys, with_id=with_id)}{closer}" for call in calls)


def one_array(opener: str, closer: str, keys: Keys = USUAL, *, between: str = ", ", with_id: bool = False) -> RenderCalls:
    """All calls in one array between one pair of markers. `with_id`: each has its id, or its index from 0 if it has none."""

    def render_call(at: int, call: ToolCall) -> str:
        return call_object(_numbered(call, at) if with_id else call, keys, with_id=with_id)

    return lambda calls: opener + between.join(render_call(at, call) for at, call in enumerate(calls)) + closer


def _numbered(call: ToolCall, at: int) -> ToolCall:
    return call if call.id else msgspec.structs.replace(call, id=str(at))


def named_calls(template: str, between: str = "", opener: str = "", closer: str = "") -> RenderCalls:
    """A name, then its arguments. The template contains `{name}` and `{arguments}`."""

    def render_call(call: ToolCall) -> str:
        head, _, tail = template.replace("{name}", call.full_name).partition("{arguments}")
        return head + arguments(call) + tail

    return lambda calls: opener + between.join(map(render_call, calls)) + closer


# -- results


def result_text(before: str, after: str) -> RenderResult:
    """The tool's result between markers, which may contain `{name}` and `{id}`."""

    def render(result: ToolResult) -> str:
        head, tail = (part.replace("{name}", result.name or "").replace("{id}", result.call_id) for part in (before, after))
        return head + result.text + tail

    return render


def result_object(before: str, after: str, *keys: str) -> RenderResult:
    """The tool's result as an object; `keys` are some of name, id and content."""

    def render(result: ToolResult) -> str:
        fields = {"name": result.name or "", "id": result.call_id, "content": result.text}
        return before + dumps({key: fields[key] for key in keys}) + after

    return render


# For dialects that put results in a separate turn: the tokens of a turn inside a message would end that message.
PLAIN_RESULT = result_text("Result of {name}:\n", "")


# -- tools


def tool_object(tool: Tool, *, wrapped: bool = True) -> str:
    tool = custom_as_function(tool)
    function: dict[str, Any] = {"name": tool.full_name}
    if tool.description:
        function["description"] = tool.description
    function["parameters"] = _without_noise(tool.schema) if tool.schema else _NO_PARAMETERS
    return dumps({"type": "function", "function": function} if wrapped else function)


def _without_noise(schema: Any) -> Any:
    """A schema without keywords that mean nothing to a model. A parameter with such a name is kept."""
    if isinstance(schema, list):
        return [_without_noise(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _inner(key, value) for key, value in schema.items() if key not in _NOISE}


def _inner(key: str, value: Any) -> Any:
    if key in _VALUES:
        return value
    if key in _NAMED and isinstance(value, dict):  # here the keys are names that the caller chose
        return {name: _without_noise(item) for name, item in value.items()}
    return _without_noise(value)


def tool_lines(before: str = "<tools>\n", after: str = "\n</tools>", *, wrapped: bool = True) -> RenderTools:
    """A line of JSON for each tool."""
    return lambda tools: before + "\n".join(tool_object(tool, wrapped=wrapped) for tool in tools) + after


def tool_array(before: str = "", after: str = "", *, wrapped: bool = True) -> RenderTools:
    """All tools as one JSON array."""
    return lambda tools: f"{before}[{', '.join(tool_object(tool, wrapped=wrapped) for tool in tools)}]{after}"
