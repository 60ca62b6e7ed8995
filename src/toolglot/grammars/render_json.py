"""Renders calls, results and tools as JSON for a prompt, with the markers of a dialect.

Arguments are rendered unchanged, so that a model sees what it wrote. Arguments that are not a JSON object become `{}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from toolglot.core.messages import ToolCall, ToolResult
from toolglot.core.tools import Tool, custom_as_function
from toolglot.grammars.call_objects import USUAL, Keys
from toolglot.grammars.call_rules import ID, INDEX, CallRules
from toolglot.grammars.gbnf import EMPTY, Pair, Rules, join, literal
from toolglot.grammars.schema_rules import SchemaRules, parameters_of
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


class EachCall(msgspec.Struct, frozen=True):
    """One object for each call, each between markers."""

    opener: str
    closer: str
    between: str
    keys: Keys

    def __call__(self, calls: tuple[ToolCall, ...]) -> str:
        return self.between.join(f"{self.opener}{call_object(call, self.keys)}{self.closer}" for call in calls)

    def rules(self, rules: Rules, tools: tuple[Tool, ...]) -> CallRules:
        values, end = SchemaRules(rules), self.closer.rstrip()
        last = literal(self.closer[len(end) :])
        closer = join(literal(end), "" if last == EMPTY else f"({last})?")
        calls = {tool.full_name: ("", join(object_rule(values, tool, self.keys), closer)) for tool in tools}
        return CallRules(self.opener.rstrip(), "", self.opener, calls, literal(self.between))


def each_call(opener: str, closer: str, between: str = "\n", keys: Keys = USUAL) -> EachCall:
    return EachCall(opener, closer, between, keys)


class OneArray(msgspec.Struct, frozen=True):
    """All calls in one array between one pair of markers.

    `with_id`: each has its id, or its index from 0 if it has none. `alone`: one call is written without the array.
    """

    opener: str
    closer: str
    keys: Keys
    between: str
    with_id: bool
    alone: bool

    def __call__(self, calls: tuple[ToolCall, ...]) -> str:
        if self.alone and len(calls) == 1:
            return self._render(0, calls[0])
        return self.opener + self.between.join(self._render(at, call) for at, call in enumerate(calls)) + self.closer

    def _render(self, at: int, call: ToolCall) -> str:
        return call_object(_numbered(call, at) if self.with_id else call, self.keys, with_id=self.with_id)

    def rules(self, rules: Rules, tools: tuple[Tool, ...]) -> CallRules:
        values = SchemaRules(rules)
        calls = {tool.full_name: ("", object_rule(values, tool, self.keys, with_id=self.with_id)) for tool in tools}
        return CallRules(self.opener.rstrip(), self.opener, "", calls, values.comma(), literal(self.closer), alone=self.alone)


def one_array(
    opener: str, closer: str, keys: Keys = USUAL, *, between: str = ", ", with_id: bool = False, alone: bool = False
) -> OneArray:
    return OneArray(opener, closer, keys, between, with_id, alone)


def _numbered(call: ToolCall, at: int) -> ToolCall:
    return call if call.id else msgspec.structs.replace(call, id=str(at))


class NamedCalls(msgspec.Struct, frozen=True):
    """A name, then its arguments. The template contains `{name}` and `{arguments}`."""

    template: str
    between: str
    opener: str
    closer: str
    keys: Keys | None  # the arguments are the whole call, as an object with these keys
    by_name: bool  # the text before the name marks nothing: only together with a tool's name
    label: str  # what is written for `{name}`, from `{name}` and `{index}`
    own_label: re.Pattern[str] | None  # an id of this form is written instead

    def __call__(self, calls: tuple[ToolCall, ...]) -> str:
        return self.opener + self.between.join(self._render(at, call) for at, call in enumerate(calls)) + self.closer

    def _render(self, at: int, call: ToolCall) -> str:
        own = self.own_label is not None and self.own_label.fullmatch(call.id)
        label = call.id if own else self.label.replace("{index}", str(at)).replace("{name}", call.full_name)
        head, _, tail = self.template.replace("{name}", label).partition("{arguments}")
        return head + (arguments(call) if self.keys is None else call_object(call, self.keys)) + tail

    def rules(self, rules: Rules, tools: tuple[Tool, ...]) -> CallRules:
        values = SchemaRules(rules)
        start, _, rest = self.template.replace("{name}", self.label).partition("{name}")
        after, _, tail = rest.partition("{arguments}")
        before_index, _, after_index = after.partition("{index}")
        calls = {}
        for tool in tools:
            body = arguments_rule(values, tool) if self.keys is None else object_rule(values, tool, self.keys)
            index = join(INDEX, literal(after_index)) if "{index}" in after else ""
            calls[tool.full_name] = (tool.full_name + before_index, join(index, body, literal(tail)))
        opener, closer = self.opener, literal(self.closer)
        between = literal(self.between)
        return CallRules((opener or start).rstrip(), opener, start, calls, between, closer, by_name=self.by_name)


def named_calls(
    template: str,
    between: str = "",
    opener: str = "",
    closer: str = "",
    *,
    keys: Keys | None = None,
    by_name: bool = False,
    label: str = "{name}",
    own_label: re.Pattern[str] | None = None,
) -> NamedCalls:
    return NamedCalls(template, between, opener, closer, keys, by_name, label, own_label)


def arguments_rule(values: SchemaRules, tool: Tool) -> str:
    return values.object(parameters_of(tool, values.rules))


def object_rule(values: SchemaRules, tool: Tool, keys: Keys, *, with_id: bool = False) -> str:
    """What `call_object` renders, with free white space."""
    name, body = literal(dumps(tool.full_name)), arguments_rule(values, tool)
    if keys.name_is_key:
        pairs = [Pair(values.pair(name, body), required=True)]
    else:
        pairs = [Pair(values.pair(literal(dumps(keys.id)), ID), required=False)] if with_id else []
        pairs += [Pair(values.pair(literal(dumps(keys.name)), name), required=True)]
        pairs += [Pair(values.pair(literal(dumps(keys.arguments)), body), required=True)]
    return values.group("{", values.rules.listed("call", pairs, values.comma()), "}")


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
