"""Renders tools as signatures: `get_weather(city: string, days?: integer)`, the shortest form that has every type.

For dialects that write calls like function calls, and for the namespace of gpt-oss.
"""

from __future__ import annotations

from typing import Any

from toolglot.core.tools import Tool, custom_as_function
from toolglot.grammars.render_json import RenderTools
from toolglot.io.json_codec import dumps
from toolglot.schema.references import resolved

_MAX_DEPTH = 6  # limits schemas that refer to themselves


def signatures(tools: tuple[Tool, ...]) -> str:
    """A signature for each tool, with the descriptions of the tool and its parameters below."""
    return "\n".join(map(_signature, tools))


def _signature(tool: Tool) -> str:
    tool = custom_as_function(tool)
    schema = tool.schema or {}
    lines = [tool.description] if tool.description else []
    lines += [f"{name}: {words}" for name, words in _described(schema)]
    below = "".join(f"\n  {_one_line(words)}" for words in lines)
    return f"{tool.full_name}({_fields(schema, schema)}){below}"


def namespace(name: str) -> RenderTools:
    """TypeScript types in a namespace, with descriptions as comments above."""

    def render(tools: tuple[Tool, ...]) -> str:
        return f"## {name}\n\nnamespace {name} {{\n\n{''.join(map(_type, tools))}}} // namespace {name}"

    return render


def _type(tool: Tool) -> str:
    tool = custom_as_function(tool)
    schema = tool.schema or {}
    comments = dict(_described(schema))
    above = f"// {_one_line(tool.description)}\n" if tool.description else ""
    fields = "".join(
        f"// {_one_line(comments[key])}\n{field},\n" if key in comments else f"{field},\n"
        for key, field in _each_field(schema, schema, 0)
    )
    return f"{above}type {tool.full_name} = ({f'_: {{{chr(10)}{fields}}}' if fields else ''}) => any;\n\n"


def _described(schema: dict[str, Any]) -> list[tuple[str, str]]:
    properties = _dict(schema.get("properties"))
    return [(name, _dict(field)["description"]) for name, field in properties.items() if _dict(field).get("description")]


def _fields(schema: dict[str, Any], root: Any, depth: int = 0) -> str:
    return ", ".join(field for _, field in _each_field(schema, root, depth))


def _each_field(schema: dict[str, Any], root: Any, depth: int) -> list[tuple[str, str]]:
    needed = _list(schema.get("required"))
    return [
        (name, f"{name}{'' if name in needed else '?'}: {type_words(field, root, depth + 1)}")
        for name, field in _dict(schema.get("properties")).items()
    ]


def type_words(schema: Any, root: Any, depth: int = 0) -> str:
    """A schema's type in TypeScript. What TypeScript can't express is left to call validation."""
    schema = _dict(schema)
    if "$ref" in schema:
        schema = resolved(schema["$ref"], root) or {}
    if depth > _MAX_DEPTH:
        return "any"
    if "const" in schema or "enum" in schema:
        return " | ".join(map(dumps, [schema["const"]] if "const" in schema else _list(schema["enum"]))) or "any"
    for key, between in (("anyOf", " | "), ("oneOf", " | "), ("allOf", " & ")):
        if options := _list(schema.get(key)):
            return between.join(dict.fromkeys(type_words(option, root, depth + 1) for option in options))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(type_words({**schema, "type": option}, root, depth) for option in kind) or "any"
    return _plain_type(kind, schema, root, depth)


def _plain_type(kind: Any, schema: dict[str, Any], root: Any, depth: int) -> str:
    if kind == "array" or (kind is None and "items" in schema):
        item = type_words(schema.get("items"), root, depth + 1)
        return f"({item})[]" if " " in item and not item.startswith("{") else f"{item}[]"
    if kind == "object" or (kind is None and "properties" in schema):
        fields = _fields(schema, root, depth)
        return f"{{{fields}}}" if fields else "object"
    return kind if isinstance(kind, str) else "any"


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _one_line(words: Any) -> str:
    return " ".join(str(words).split())
