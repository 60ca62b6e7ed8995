"""The rules for a value that a schema describes: as JSON, as Python, or in another notation.

The schema is the one that `fit_schema` makes for the target `gbnf`: without references, and with few keywords. What they can't
express is accepted in any form, and is in the notes of the fit. Members have the order of the schema, as everywhere where
decoding is constrained. Other members may only be written where `additionalProperties` allows them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from toolglot.core.tools import Tool, custom_as_function
from toolglot.grammars.gbnf import EMPTY, Pair, Rules, either, join, literal, repeated
from toolglot.io.json_codec import dumps
from toolglot.schema.fitting import TARGETS, fit_schema
from toolglot.schema.schema_repair import Schema

_ALL = ("string", "number", "boolean", "null", "object", "array")
_SPACE = r'([ \t]{1,4} | "\n" [ \t]{0,40})?'  # bounded: a model may else write nothing else
# a character outside the first plane is written as it is, never as two escapes: one of them alone is not a character
ESCAPE = r'"\\" (["\\bfnrt] | "u" ([0-9abcefABCEF] [0-9a-fA-F]{3} | [dD] [0-7] [0-9a-fA-F]{2}))'
_CHARACTERS = rf'([^"\\\x00-\x1F] | {ESCAPE})*'
_INTEGER = r'"-"? ("0" | [1-9] [0-9]{0,17})'
_NUMBER = rf'{_INTEGER} ("." [0-9]{{1,20}})? ([eE] [-+]? [0-9]{{1,2}})?'  # nothing that overflows


def text_in_quotes(rules: Rules) -> str:
    return rules.add("string", join(literal('"'), _CHARACTERS, literal('"')))


class Notation(msgspec.Struct, frozen=True):
    """How values are written. `write` is what the renderer writes for a constant."""

    write: Callable[[Any], str] = dumps
    text: Callable[[Rules], str] = text_in_quotes
    key: Callable[[str], str] = dumps
    any_key: Callable[[Rules], str] = text_in_quotes
    spaced: bool = True  # white space between the parts means nothing


JSON = Notation()


def parameters_of(tool: Tool, rules: Rules) -> Schema:
    """The schema of a tool's arguments in the keywords that rules express; what it loses is noted."""
    tool = custom_as_function(tool)
    fitted = fit_schema(tool.schema or {}, TARGETS["gbnf"])
    lost = (*fitted.notes, *fitted.moved, *fitted.narrowed)
    rules.notes += [f"tool {tool.full_name}: not in the grammar: {note}" for note in lost]
    return fitted.schema


class SchemaRules:
    def __init__(self, rules: Rules, notation: Notation = JSON) -> None:
        self.rules, self.notation = rules, notation
        self._space = rules.add("space", _SPACE) if notation.spaced else ""

    def value(self, schema: Schema) -> str:
        if "anyOf" in schema:
            return self.rules.add("either", either(map(self.value, schema["anyOf"])))
        if not schema:
            return self.anything()
        return self.rules.add("value", either(self.of_type(name, schema) for name in types_of(schema)))

    def of_type(self, name: str, schema: Schema) -> str:
        """A value of one type."""
        if "enum" in schema:
            return either(literal(self.notation.write(value)) for value in schema["enum"] if json_type(value) == name)
        if name == "object":
            return self.object(schema)
        if name == "array":
            items = self.value(schema["items"]) if "items" in schema else self.anything()
            inside = repeated(items, self.comma(), schema.get("minItems", 0), schema.get("maxItems"))
            return self.group("[", inside, "]")
        if name == "string":
            return self.notation.text(self.rules)
        return self._plain(name)

    def object(self, schema: Schema) -> str:
        return self.group("{", self.members(schema), "}")

    def members(self, schema: Schema) -> str:
        required = schema.get("required", ())
        pairs = [
            Pair(self.pair(literal(self.notation.key(key)), self.value(value)), key in required)
            for key, value in schema.get("properties", {}).items()
        ]
        return self.rules.listed("members", pairs, self.comma(), self._others(schema, "properties" in schema))

    def pair(self, key: str, value: str) -> str:
        return join(key, self._space, literal(":"), self._space, value)

    def comma(self) -> str:
        return join(self._space, literal(","), self._space)

    def anything(self) -> str:
        return self.rules.recursive("any", self._anything)

    def _anything(self, name: str) -> str:
        member = self.pair(self.notation.any_key(self.rules), name)
        return either(
            [
                self.notation.text(self.rules),
                *map(self._plain, ("number", "boolean", "null")),
                self.group("{", repeated(member, self.comma(), 0, None), "}"),
                self.group("[", repeated(name, self.comma(), 0, None), "]"),
            ]
        )

    def _others(self, schema: Schema, known: bool) -> str | None:
        others = schema.get("additionalProperties", not known)
        if others is False:
            return None
        value = self.value(others) if isinstance(others, dict) and others else self.anything()
        return self.pair(self.notation.any_key(self.rules), value)

    def _plain(self, name: str) -> str:
        if name == "boolean":
            return self.rules.add(name, either(literal(self.notation.write(value)) for value in (True, False)))
        if name == "null":
            return literal(self.notation.write(None))
        return self.rules.add(name, _INTEGER if name == "integer" else _NUMBER)

    def group(self, opener: str, inside: str, closer: str) -> str:
        space = self._space if inside != EMPTY else ""
        return self.rules.add("group", join(literal(opener), self._space, inside, space, literal(closer)))


def types_of(schema: Schema) -> tuple[str, ...]:
    """The types that a schema without `anyOf` allows."""
    named = schema.get("type")
    if "enum" in schema:
        return tuple(dict.fromkeys(map(json_type, schema["enum"])))
    return _ALL if not named else (named,) if isinstance(named, str) else tuple(named)


def json_type(value: Any) -> str:
    if value is None:
        return "null"
    kinds = ((bool, "boolean"), (str, "string"), (dict, "object"), (list, "array"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "number")
