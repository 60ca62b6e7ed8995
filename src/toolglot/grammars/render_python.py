"""Renders calls as Python for a prompt."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from toolglot.core.messages import ToolCall
from toolglot.core.tools import Tool
from toolglot.grammars.call_rules import CallRules
from toolglot.grammars.gbnf import Pair, Rules, join
from toolglot.grammars.gbnf import literal as literal_rule
from toolglot.grammars.schema_rules import Notation, SchemaRules, parameters_of
from toolglot.io.json_codec import dumps, loads_object

_KEYWORD = re.compile(r"[^\W\d][\w.\-]*")


class PythonCalls(msgspec.Struct, frozen=True):
    opener: str
    closer: str
    between: str

    def __call__(self, calls: tuple[ToolCall, ...]) -> str:
        return self.opener + self.between.join(map(python_call, calls)) + self.closer

    def rules(self, rules: Rules, tools: tuple[Tool, ...]) -> CallRules:
        values = SchemaRules(rules, PYTHON)
        calls = {
            tool.full_name: (f"{tool.full_name}(", join(_arguments_rule(values, tool), literal_rule(")"))) for tool in tools
        }
        return CallRules(self.opener.rstrip(), self.opener, "", calls, literal_rule(self.between), literal_rule(self.closer))


def python_calls(opener: str, closer: str, between: str = ", ") -> PythonCalls:
    return PythonCalls(opener, closer, between)


def _arguments_rule(values: SchemaRules, tool: Tool) -> str:
    """What `python_call` renders: keywords, then the other names as `**{...}`."""
    schema = parameters_of(tool, values.rules)
    properties, required = schema.get("properties", {}), schema.get("required", ())
    named = {key: value for key, value in properties.items() if _KEYWORD.fullmatch(key)}
    pairs = [Pair(join(literal_rule(f"{key}="), values.value(value)), key in required) for key, value in named.items()]
    others = {key: value for key, value in properties.items() if key not in named}
    free = schema.get("additionalProperties")
    if others or free:
        rest = {"properties": others, "required": [key for key in required if key in others]}
        unpacked = values.object({**rest, "additionalProperties": free or False})
        pairs.append(Pair(join(literal_rule("**"), unpacked), bool(rest["required"])))
    return values.rules.listed("keywords", pairs, values.comma())


def python_call(call: ToolCall) -> str:
    """`f(a=1)`. Arguments that are not a JSON object can't be rendered and are left out."""
    arguments = loads_object(call.arguments_json) or {}
    parts = [f"{key}={literal(value)}" for key, value in arguments.items() if _KEYWORD.fullmatch(key)]
    others = {key: value for key, value in arguments.items() if not _KEYWORD.fullmatch(key)}
    if others:
        parts.append(f"**{literal(others)}")
    return f"{call.full_name}({', '.join(parts)})"


def literal(value: Any) -> str:
    """A JSON value as a Python literal, with double quotes: the escapes of JSON are valid in Python."""
    if isinstance(value, str):
        return dumps(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{dumps(key)}: {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(literal, value)) + "]"
    return repr(value)


PYTHON = Notation(write=literal)
