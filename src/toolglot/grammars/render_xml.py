"""Renders calls and results as tags for a prompt, from templates of a dialect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from typing import Any, Protocol

import msgspec

from toolglot.core.messages import ToolCall, ToolResult
from toolglot.core.tools import Tool
from toolglot.grammars.call_rules import INDEX, CallRules
from toolglot.grammars.gbnf import EMPTY, Pair, Rules, either, join, literal, repeated
from toolglot.grammars.schema_rules import SchemaRules, parameters_of, types_of
from toolglot.io.json_codec import dumps, loads_object
from toolglot.schema.schema_repair import Schema

Calls = tuple[ToolCall, ...]

_TYPES = {str: "string", bool: "boolean", int: "number", float: "number", dict: "object", list: "array", type(None): "null"}
_ANY_KEY = "[a-zA-Z_] [a-zA-Z0-9_]{0,63}"


def raw_text(value: Any) -> str:
    """Text as it is, everything else as JSON."""
    return value if isinstance(value, str) else dumps(value)


class ValueForm(Protocol):
    """How an argument is written."""

    def __call__(self, key: str, value: Any, /) -> str: ...
    def rules(self, values: SchemaRules, key: str, schema: Schema, /) -> str: ...
    def any_rules(self, values: SchemaRules, /) -> str: ...


class Tag(msgspec.Struct, frozen=True):
    """A value in its tags. `{key}` is its name, `{string}` whether it is text, `{type}` its JSON type."""

    opener: str
    closer: str

    def __call__(self, key: str, value: Any) -> str:
        opener, closer = self._tags(key, _TYPES[type(value)])
        return opener + raw_text(value) + closer

    def _tags(self, key: str, type_: str) -> tuple[str, str]:
        fields = {"key": key, "string": "true" if type_ == "string" else "false", "type": type_}
        return self.opener.format(**fields), self.closer.format(**fields)

    def rules(self, values: SchemaRules, key: str, schema: Schema) -> str:
        """Text ends at its closing tag, so it can't contain that."""
        typed = "{string}" in self.opener or "{type}" in self.opener
        kinds = list(_kinds(schema))
        if not typed and any(name == "string" and "enum" not in one for name, one in kinds):
            kinds = [("string", {})]  # any text, which the schema types
        return either(self._of_type(values, key, name, one) for name, one in kinds)

    def any_rules(self, values: SchemaRules) -> str:
        """With a key that the schema does not list: as text, if the tags show it."""
        opener, closer = self._tags("\0", "string")
        before, _, after = opener.partition("\0")
        return "" if "\0" in closer else join(literal(before), _ANY_KEY, literal(after), self.text(values, closer))

    def _of_type(self, values: SchemaRules, key: str, name: str, schema: Schema) -> str:
        opener, closer = self._tags(key, "number" if name == "integer" else name)
        if name == "string" and "enum" not in schema:
            return join(literal(opener), self.text(values, closer))
        plain = name == "string"
        listed = (either(map(literal, filter(_is_text, schema["enum"])))) if plain else values.of_type(name, schema)
        return join(literal(opener), listed, literal(closer))

    def text(self, values: SchemaRules, closer: str) -> str:
        end = closer.strip()
        return values.rules.text_until({end: literal(closer[closer.index(end) + len(end) :])})


def tag(opener: str, closer: str) -> Tag:
    return Tag(opener, closer)


def _kinds(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """The types that a schema allows, each with its schema."""
    for one in schema.get("anyOf", ()):
        yield from _kinds(one)
    if "anyOf" not in schema:
        yield from ((name, schema) for name in types_of(schema))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


class TagCalls(msgspec.Struct, frozen=True):
    """`{name}` in a call's tags is the tool's name, `{index}` counts from 1."""

    call: tuple[str, str]
    value: ValueForm
    each: tuple[str, str]  # around every call
    around: tuple[str, str]  # around all of them
    between: str
    escaped: bool  # names are attributes: quotes in them are written as entities
    by_name: bool  # the text before the name marks nothing: only together with a tool's name

    def __call__(self, calls: Calls) -> str:
        rendered = (self._render(index, one) for index, one in enumerate(calls, 1))
        return self.around[0] + self.between.join(rendered) + self.around[1]

    def _render(self, index: int, call: ToolCall) -> str:
        arguments = loads_object(call.arguments_json) or {}
        inner = "".join(self.value(self._name(key), argument) for key, argument in arguments.items())
        opener, closer = (text.format(name=self._name(call.full_name), index=index) for text in self._tags())
        return opener + inner + closer

    def _tags(self) -> tuple[str, str]:
        return self.each[0] + self.call[0], self.call[1] + self.each[1]

    def _name(self, name: str) -> str:
        return escape(name) if self.escaped else name

    def rules(self, rules: Rules, tools: tuple[Tool, ...]) -> CallRules:
        values = SchemaRules(rules)
        calls, start = {}, ""
        for tool in tools:
            opener, closer = (text.format(name=f"\0{self._name(tool.full_name)}", index="\1") for text in self._tags())
            start, _, head = opener.partition("\0")
            head, *rest = head.replace("\0", "").split("\1")
            inner = self._arguments(values, parameters_of(tool, rules))
            index = join(INDEX, literal(rest[0])) if rest else ""
            calls[tool.full_name] = (head, join(index, inner, literal(closer.replace("\0", ""))))
        marker = (self.around[0] or self.each[0] or start).rstrip()
        between, end = literal(self.between), literal(self.around[1])
        return CallRules(marker, self.around[0], start, calls, between, end, by_name=self.by_name)

    def _arguments(self, values: SchemaRules, schema: Schema) -> str:
        pairs = [
            Pair(self.value.rules(values, self._name(key), one), key in schema.get("required", ()))
            for key, one in schema.get("properties", {}).items()
        ]
        others = self.value.any_rules(values) if schema.get("additionalProperties") else ""
        return values.rules.listed("arguments", pairs, EMPTY, others or None)


def calls_in_tags(
    call: tuple[str, str],
    value: ValueForm,
    *,
    each: tuple[str, str] = ("", ""),
    around: tuple[str, str] = ("", ""),
    between: str = "\n",
    escaped: bool = False,
    by_name: bool = False,
) -> TagCalls:
    return TagCalls(call, value, each, around, between, escaped, by_name)


class NestedValue(msgspec.Struct, frozen=True):
    """Objects as nested tags, lists as `<item>` tags; what tags can't express (empty values, unusual keys) as JSON."""

    mark: str

    def __call__(self, key: str, value: Any) -> str:
        if isinstance(value, dict) and value and all(name.isidentifier() and name != "item" for name in value):
            inside = "".join(self(name, item) for name, item in value.items())
        elif isinstance(value, list) and value:
            inside = "".join(self("item", item) for item in value)
        else:
            inside = raw_text(value)
        return f"{self.mark}<{key}>{inside}{self.mark}</{key}>"

    def rules(self, values: SchemaRules, key: str, schema: Schema) -> str:
        opener, closer = literal(f"{self.mark}<{key}>"), literal(f"{self.mark}</{key}>")
        kinds = list(_kinds(schema))
        if any(name == "string" and "enum" not in one for name, one in kinds):
            return join(opener, values.rules.text_until({self.mark: literal(f"</{key}>")}))
        return join(opener, either(self._inside(values, name, one) for name, one in kinds), closer)

    def any_rules(self, values: SchemaRules) -> str:
        """A tag with any name, with text or such tags inside. The name in its closing tag is not compared."""
        closer = join(literal("</"), _ANY_KEY, literal(">"))
        opener = join(literal(f"{self.mark}<"), _ANY_KEY, literal(">"))
        text = values.rules.text_until({self.mark: closer})
        return values.rules.recursive(
            "nested", lambda name: join(opener, either([text, join(f"{name}+", literal(self.mark), closer)]))
        )

    def _inside(self, values: SchemaRules, name: str, schema: Schema) -> str:
        if name == "object" and schema.get("properties") and all(map(str.isidentifier, schema["properties"])):
            required = schema.get("required", ())
            pairs = [Pair(self.rules(values, key, one), key in required) for key, one in schema["properties"].items()]
            return either([values.rules.listed("nested", pairs, EMPTY), *([] if required else [literal("{}")])])
        if name == "array" and "items" in schema:
            item = self.rules(values, "item", schema["items"])
            least, most = schema.get("minItems", 0), schema.get("maxItems")
            return either([repeated(item, "", max(least, 1), most), *([] if least else [literal("[]")])])
        if name in ("object", "array") and "enum" not in schema:
            return either([f"{self.any_rules(values)}+", values.of_type(name, schema)])
        listed = map(literal, filter(_is_text, schema.get("enum", ())))
        return either(listed) if name == "string" else values.of_type(name, schema)


def nested_value(mark: str) -> NestedValue:
    return NestedValue(mark)


class CdataValue(Tag, frozen=True):
    """Text that looks like markup goes into a CDATA section."""

    def __call__(self, key: str, value: Any) -> str:
        if isinstance(value, str) and ("<" in value or "&" in value):
            inside = value.replace("]]>", "]]]]><![CDATA[>")
            return f"{self.opener.format(key=key)}<![CDATA[{inside}]]>{self.closer}"
        return super().__call__(key, value)

    def text(self, values: SchemaRules, closer: str) -> str:
        section = join(literal("<![CDATA["), values.rules.text_until({"]]>": EMPTY}))
        return join(either(["[^<&]*", f"({section})+"]), literal(closer))


def cdata_value(opener: str, closer: str) -> CdataValue:
    return CdataValue(opener, closer)


class ValueOnLines(Tag, frozen=True):
    """A value with line breaks at either end is written on separate lines, to keep them; any other next to its tags."""

    def __call__(self, key: str, value: Any) -> str:
        broken = isinstance(value, str) and value[:1] + value[-1:] != (value[:1] + value[-1:]).strip("\r\n")
        tags = Tag(self.opener + "\n", "\n" + self.closer) if broken else Tag(self.opener, self.closer)
        return tags(key, value)


def on_lines(opener: str, closer: str) -> ValueOnLines:
    return ValueOnLines(opener, closer)


def result_in(opener: str, closer: str) -> Callable[[ToolResult], str]:
    return lambda result: opener + result.text + closer
