"""Renders calls and results as tags for a prompt, from templates of a dialect."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from toolglot.core.messages import ToolCall, ToolResult
from toolglot.io.json_codec import dumps, loads_object

Calls = tuple[ToolCall, ...]
RenderCalls = Callable[[Calls], str]
RenderValue = Callable[[str, Any], str]

_TYPES = {str: "string", bool: "boolean", int: "number", float: "number", dict: "object", list: "array", type(None): "null"}


def raw_text(value: Any) -> str:
    """Text as it is, everything else as JSON."""
    return value if isinstance(value, str) else dumps(value)


def tag(opener: str, closer: str) -> RenderValue:
    """A value in its tags. `{key}` is its name, `{string}` whether it is text, `{type}` its JSON type."""

    def render(key: str, value: Any) -> str:
        fields = {"key": key, "string": "true" if isinstance(value, str) else "false", "type": _TYPES[type(value)]}
        return opener.format(**fields) + raw_text(value) + closer.format(**fields)

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

    def render_call(index: int, tool_call: ToolCall) -> str:
        name = escape(tool_call.full_name) if escaped else tool_call.full_name
        arguments = loads_object(tool_call.arguments_json) or {}
        inner = "".join(value(escape(key) if escaped else key, argument) for key, argument in arguments.items())
        opener, closer = (text.format(name=name, index=index) for text in (each[0] + call[0], call[1] + each[1]))
        return opener + inner + closer

    def render(calls: Calls) -> str:
        return around[0] + between.join(render_call(index, one) for index, one in enumerate(calls, 1)) + around[1]

    return render


def nested_value(mark: str) -> RenderValue:
    """Objects as nested tags, lists as `<item>` tags; what tags can't express (empty values, unusual keys) as JSON."""

    def render(key: str, value: Any) -> str:
        if isinstance(value, dict) and value and all(name.isidentifier() and name != "item" for name in value):
            inside = "".join(render(name, item) for name, item in value.items())
        elif isinstance(value, list) and value:
            inside = "".join(render("item", item) for item in value)
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
    """A value with line breaks at either end is written on separate lines, to keep them; any other next to its tags."""
    same_line, separate_lines = tag(opener, closer), tag(opener + "\n", "\n" + closer)

    def render(key: str, value: Any) -> str:
        broken = isinstance(value, str) and value[:1] + value[-1:] != (value[:1] + value[-1:]).strip("\r\n")
        return (separate_lines if broken else same_line)(key, value)

    return render


def result_in(opener: str, closer: str) -> Callable[[ToolResult], str]:
    return lambda result: opener + result.text + closer
