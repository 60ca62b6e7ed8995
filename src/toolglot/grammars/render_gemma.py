"""Tools, calls and results in Gemma's notation."""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.core.messages import ToolCall, ToolResult
from toolglot.core.tools import Tool, custom_as_function
from toolglot.grammars.call_rules import CallRules
from toolglot.grammars.gbnf import EMPTY, Rules, either, join, literal
from toolglot.grammars.gemma import Gemma
from toolglot.grammars.render_json import RenderResult, RenderTools
from toolglot.grammars.schema_rules import ESCAPE, Notation, SchemaRules, parameters_of
from toolglot.io.json_codec import loads_object

_KEY = "[a-zA-Z0-9_.$/@-]{1,64}"
_ESCAPED = rf'([^"\\<\x00-\x1F] | {ESCAPE})*'


def gemma_tools(form: Gemma, opener: str, closer: str) -> RenderTools:
    """A declaration for each tool, with types in capitals, as the models were trained."""

    def declaration(tool: Tool) -> str:
        tool = custom_as_function(tool)
        body = {"description": tool.description or "", "parameters": _capitals(tool.schema or {"type": "object"})}
        return f"{opener}declaration:{tool.full_name}{form.write(body)}{closer}"

    return lambda tools: "".join(map(declaration, tools))


def _capitals(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: value.upper() if key == "type" and isinstance(value, str) else _capitals(value)
            for key, value in schema.items()
        }
    return [_capitals(item) for item in schema] if isinstance(schema, list) else schema


class GemmaCalls(msgspec.Struct, frozen=True):
    form: Gemma

    def __call__(self, calls: tuple[ToolCall, ...]) -> str:
        return "".join(map(self._render, calls))

    def _render(self, call: ToolCall) -> str:
        body = self.form.write(loads_object(call.arguments_json) or {})
        return f"{self.form.opener}call:{call.full_name}{body}{self.form.closer}"

    def rules(self, rules: Rules, tools: tuple[Tool, ...]) -> CallRules:
        values, closer = SchemaRules(rules, _notation(self.form)), literal(self.form.closer)
        calls = {tool.full_name: (tool.full_name, join(values.object(parameters_of(tool, rules)), closer)) for tool in tools}
        return CallRules(self.form.opener, "", f"{self.form.opener}call:", calls, EMPTY)


def gemma_calls(form: Gemma) -> GemmaCalls:
    return GemmaCalls(form)


def _notation(form: Gemma) -> Notation:
    """Text is between marks; or in quotes, if it contains the closing marker: `<` is escaped there."""

    def text(rules: Rules) -> str:
        marked = rules.text_until({form.mark: EMPTY, form.closer: None, form.opener: None})
        return rules.add("text", either([join(literal(form.mark), marked), join(literal('"'), _ESCAPED, literal('"'))]))

    def key(name: str) -> str:
        return form.write({name: 0})[1:-2].removesuffix(":")

    return Notation(form.write, text, key, lambda _: _KEY, spaced=False)


def gemma_result(form: Gemma, opener: str, closer: str) -> RenderResult:
    """The tool's result: an object's members, or the text as `value`."""

    def render(result: ToolResult) -> str:
        obj = loads_object(result.text)
        return f"{opener}response:{result.name or ''}{form.write({'value': result.text} if obj is None else obj)}{closer}"

    return render
