"""Tools and tool choice."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Literal, TypeVar

import msgspec

from toolglot.core.messages import Extra, join_name


class Tool(msgspec.Struct, frozen=True, omit_defaults=True):
    """A function (`schema` is JSON Schema), a custom tool (free text in), or a vendor's server tool (`server`)."""

    name: str
    description: str | None = None
    schema: dict[str, Any] | None = None  # None: no parameters were declared
    strict: bool | None = None
    kind: Literal["function", "custom", "server"] = "function"
    namespace: str | None = None
    format: dict[str, Any] | None = None  # a custom tool's: {"type": "grammar", "syntax": ..., "definition": ...}
    extra: Extra = {}  # of a server tool: extra[wire] is its whole definition
    members: tuple[str, ...] = ()  # of a server tool: the names of its calls, if it stands for several tools
    declared_in: str | None = None  # the wire whose message block declares it, if it is not in the request's `tools`
    deferred: bool = False  # the model gets it only when a tool search found it
    examples: tuple[dict[str, Any], ...] = ()  # arguments; APIs without them get them in the description
    direct: bool = False  # no program may call it, only the model itself: the default of every API, where it is not asked for

    @property
    def full_name(self) -> str:
        return join_name(self.namespace, self.name)


class Toolset(tuple[Tool, ...]):
    """The tools of a conversation, which come again with every request. Derived values are computed once and cached here."""

    cache: dict[Hashable, Any]

    def __init__(self, tools: object = ()) -> None:
        self.cache = {}


Derived = TypeVar("Derived")
Key = TypeVar("Key", bound=Hashable)


def cached_for_toolset(tools: tuple[Tool, ...], key: Key, make: Callable[[tuple[Tool, ...], Key], Derived]) -> Derived:
    """`make(tools, key)`, cached with the tools if they are a Toolset."""
    if type(tools) is not Toolset:
        return make(tools, key)
    try:
        value: Derived = tools.cache[key]
    except KeyError:
        value = tools.cache[key] = make(tools, key)
    return value


class Choice(msgspec.Struct, frozen=True, omit_defaults=True):
    """`names` limits the tools; `required` with one name forces that tool."""

    mode: Literal["auto", "none", "required"] = "auto"
    names: tuple[str, ...] = ()
    extra: Extra = {}  # a choice that only one wire has (a server tool): other wires use `mode`


def describe_examples(tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
    """With the examples in the descriptions, where there are any. Cached."""
    return cached_for_toolset(tools, "described examples", _described) or tools


def _described(tools: tuple[Tool, ...], _: str) -> Toolset | None:
    return Toolset(map(describe_example, tools)) if any(tool.examples for tool in tools) else None


def describe_example(tool: Tool) -> Tool:
    if not tool.examples:
        return tool
    shown = "\n".join(msgspec.json.encode(example).decode() for example in tool.examples)
    description = "\n".join(filter(None, (tool.description, "Examples of arguments:", shown)))
    return msgspec.structs.replace(tool, description=description, examples=())


def custom_as_function(tool: Tool) -> Tool:
    """A custom tool for a wire without them: a function with one string, `input`. The grammar goes into the description."""
    if tool.kind != "custom":
        return tool
    field: dict[str, Any] = {"type": "string"}
    grammar = tool.format or {}
    if grammar.get("definition"):
        field["description"] = f"Must follow this {grammar.get('syntax', 'grammar')} grammar:\n{grammar['definition']}"
    schema = {"type": "object", "properties": {"input": field}, "required": ["input"]}
    return Tool(tool.name, tool.description, schema, namespace=tool.namespace, extra=tool.extra, deferred=tool.deferred)
