"""Calls and results as the families with tags have them in their prompts: filled from a few templates."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from toolglot.core.messages import ToolCall, ToolResult
from toolglot.text.json_text import dumps, loads_object

Calls = tuple[ToolCall, ...]
RenderCalls = Callable[[Calls], str]
RenderValue = Callable[[str, Any], str]

_TYPES = {str: "string", bool: "boolean", int: "number", float: "number", dict: "object", list: "array", type(None): "null"}


def raw_text(value: Any) -> str:
    """Text as it is, everything else as JSON."""
    return value if isinstance(value, str) else dumps(value)


def tag(opener: str, closer: str) -> RenderValue:
    """A value in its tags; `{key}` is its name, `{string}` says whether it is text, `{type}` which JSON type it is."""

    def render(key: str, value: Any) -> str:
        said = {"key": key, "string": "true" if isinstance(value, str) else "false", "type": _TYPES[type(value)]}
        return opener.format(**said) + raw_text(value) + closer.format(**said)

    return render


def calls_in_tags(
    call: tuple[str, str],
    value: RenderValue,
    *,
    each: tuple[str, str] = ("", ""),  # around every call
    around: tuple[str, str] = ("", ""),  # around all of them
    between: str = "\n",
    escaped: bool = False,  # names are attributes: quotes in them are written as entities
) -> RenderCalls:
    """`{name}` in a call's tags is the tool's name, `{index}` counts from 1."""

    def one(index: int, made: ToolCall) -> str:
        name = escape(made.full_name) if escaped else made.full_name
        arguments = loads_object(made.arguments_json) or {}
        inner = "".join(value(escape(key) if escaped else key, held) for key, held in arguments.items())
        opener, closer = (text.format(name=name, index=index) for text in (each[0] + call[0], call[1] + each[1]))
        return opener + inner + closer

    def render(calls: Calls) -> str:
        return around[0] + between.join(one(index, made) for index, made in enumerate(calls, 1)) + around[1]

    return render


def nested_value(mark: str) -> RenderValue:
    """Objects as tags in tags, lists as `<item>`s; what tags can't say (empty ones, odd keys) as JSON."""

    def render(key: str, value: Any) -> str:
        if isinstance(value, dict) and value and all(held.isidentifier() and held != "item" for held in value):
            inside = "".join(render(name, held) for name, held in value.items())
        elif isinstance(value, list) and value:
            inside = "".join(render("item", held) for held in value)
        else:
            inside = raw_text(value)
        return f"{mark}<{key}>{inside}{mark}</{key}>"

    return render


def cdata_value(opener: str, closer: str) -> RenderValue:
    """Text that looks like markup goes into a CDATA section."""
    plain = tag(opener, closer)

    def render(key: str, value: Any) -> str:
        if isinstance(value, str) and ("<" in value or "&" in value):
            inside = value.replace("]]>", "]]]]><![CDATA[>")
            return f"{opener.format(key=key)}<![CDATA[{inside}]]>{closer}"
        return plain(key, value)

    return render


def on_lines(opener: str, closer: str) -> RenderValue:
    """A value whose own line breaks at its ends must be kept stands on lines of its own; any other beside its tags."""
    beside, apart = tag(opener, closer), tag(opener + "\n", "\n" + closer)

    def render(key: str, value: Any) -> str:
        broken = isinstance(value, str) and value[:1] + value[-1:] != (value[:1] + value[-1:]).strip("\r\n")
        return (apart if broken else beside)(key, value)

    return render


def result_in(opener: str, closer: str) -> Callable[[ToolResult], str]:
    return lambda result: opener + result.text + closer
