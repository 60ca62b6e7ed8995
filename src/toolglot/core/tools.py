"""What can be called, and whether it must be."""

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
    extra: Extra = {}  # a server tool's own definition is extra[wire] as a whole

    @property
    def full_name(self) -> str:
        return join_name(self.namespace, self.name)


class Toolset(tuple[Tool, ...]):
    """Tools that come again with every turn of a conversation: what is made of them is made once, and kept here."""

    made: dict[Hashable, Any]

    def __init__(self, tools: object = ()) -> None:
        self.made = {}


Made = TypeVar("Made")
Key = TypeVar("Key", bound=Hashable)


def made_once(tools: tuple[Tool, ...], key: Key, make: Callable[[tuple[Tool, ...], Key], Made]) -> Made:
    """`make(tools, key)`, kept with the tools where they are a Toolset."""
    if type(tools) is not Toolset:
        return make(tools, key)
    try:
        made: Made = tools.made[key]
    except KeyError:
        made = tools.made[key] = make(tools, key)
    return made


class Choice(msgspec.Struct, frozen=True, omit_defaults=True):
    """`names` narrows the tools; required and one name is the forced tool."""

    mode: Literal["auto", "none", "required"] = "auto"
    names: tuple[str, ...] = ()
    extra: Extra = {}  # a choice of one wire's own (a server tool): mode is what it comes down to elsewhere


def as_function(tool: Tool) -> Tool:
    """A custom tool for a wire without them: a function with one string, `input`. The grammar goes into words."""
    if tool.kind != "custom":
        return tool
    field: dict[str, Any] = {"type": "string"}
    held = tool.format or {}
    if held.get("definition"):
        field["description"] = f"Must follow this {held.get('syntax', 'grammar')} grammar:\n{held['definition']}"
    schema = {"type": "object", "properties": {"input": field}, "required": ["input"]}
    return Tool(tool.name, tool.description, schema, namespace=tool.namespace, extra=tool.extra)
