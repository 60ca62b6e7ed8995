"""Calls in XML elements: the name in an element or an attribute, the arguments as JSON or in tags.

<tool_use> <name>f</name> <arguments>{"a": 1}</arguments> </tool_use>
<tool_call name="f"> {"a": 1} </tool_call>
<tool>f</tool> <tool_input>{"a": 1}</tool_input>
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from toolglot.core.tools import Tool
from toolglot.grammars.json_calls import positional
from toolglot.grammars.nested_tags import flat_tags
from toolglot.grammars.parsed_call import ParsedCall, Tools
from toolglot.grammars.tag_scanner import Call, Tags
from toolglot.grammars.tagged_xml import ATTRIBUTE, TaggedXml, find_prefixed_tool
from toolglot.io.json_codec import dumps
from toolglot.schema.coerce_text import loose_value, property_schema, typed_value

_MAX_ENDS = 32
_CONTAINERS = ("arguments", "parameters", "tool_input", "input", "args", "params")
_NAME = r"(?:tool_|function_)?name>"
_NAME_ELEMENT = re.compile(rf"\s*<{_NAME}\s*(?P<name>[^<>\s]{{1,200}})\s*</{_NAME}\s*(?:<(?:{'|'.join(_CONTAINERS)})>|(?=</))")
_NO_NAME = re.compile(
    r"\s*(?:[^\s<]|<(?:[^tfn]|n[^a]|t[^o]|f[^u]|tool(?:[^_]|_[^n])|function(?:[^_]|_[^n]))"
    rf"|<{_NAME}[^<]*</{_NAME}\s*(?:[^\s<]|<[^/atip]))"
)
_NAME_ATTRIBUTE = re.compile(
    r"""(?:[^<>\n]*?\s)?(?:tool_|function_)?name\s*=\s*["'](?P<name>[^"'<>\n]{1,200})["'](?:\s[^<>\n/]*)?>"""
)
_NO_ATTRIBUTE = re.compile(r"[^<>]*[<>]")
_CONTAINER_ENDS = tuple(f"</{container}>" for container in _CONTAINERS)
_CONTAINER_TAG = re.compile(rf"\s*</?(?:{'|'.join(_CONTAINERS)})>\s*")
_VALUES = {f"<{name} name=": f"</{name}>" for name in ("parameter", "param", "argument", "arg")}


def _named(found: re.Match[str]) -> str:
    return found["name"]


@dataclass(frozen=True, eq=False)
class Elements(TaggedXml):
    """If there are no parameter tags, every tag inside is a value. With any other content it is not a call."""

    text_input: bool = False  # text inside is the value of the only argument

    def parsed_calls(self, text: str, call: Call, tools: Tools) -> Iterator[ParsedCall]:
        if call.body < 0:
            return
        cut_off = not call.closed and self._inner(text, call).lstrip().startswith("<")
        if call.json or call.values or cut_off or (call.closed and self._children(text, call) is not None):
            yield from super().parsed_calls(text, call, tools)
        elif self.text_input and call.closed and (arguments := positional(call.name, self._inner(text, call).strip(), tools)):
            yield ParsedCall(call.name, arguments, text[call.start : call.end], fixes=("positional_arguments",))

    def arguments(self, text: str, call: Call, tool: Tool | None) -> str:
        children = None if call.json or call.values else self._children(text, call)
        if children is None:
            return super().arguments(text, call, tool)
        if tool is None:
            return dumps({key: loose_value(raw) for key, raw in children})
        return dumps({key: typed_value(raw, property_schema(tool.schema, key)) for key, raw in children})

    def value_ends(self, text: str, calls: list[Call]) -> tuple[str, ...]:
        children = (child for call in calls if not call.json for child in self._children(text, call) or ())
        return (*super().value_ends(text, calls), *{f"</{key}>": None for key, _ in islice(children, _MAX_ENDS)})

    def _children(self, text: str, call: Call) -> list[tuple[str, str]] | None:
        return flat_tags(_CONTAINER_TAG.sub("", self._inner(text, call)))

    def _inner(self, text: str, call: Call) -> str:
        return text[call.body : call.end].removesuffix(self.tags.call[1]) if call.body >= 0 else ""

    def _plausible(self, name: str, call: Call, tools: Tools) -> bool:
        """A name alone is a weak sign, so it must be a registered tool's."""
        return super()._plausible(name, call, tools) and (not tools or find_prefixed_tool(name, tools) is not None)


def with_name_element(tag: str) -> Elements:
    tags = Tags((f"<{tag}>", f"</{tag}>"), {}, _NAME_ELEMENT, _NO_NAME, skipped=_CONTAINER_ENDS, loose=True, name_of=_named)
    return Elements(tags, ATTRIBUTE)


def with_input_element(tag: str, container: str) -> Elements:
    """`<tool>f</tool> <tool_input>text</tool_input>`: text is the value of the tool's only argument."""
    head = rf"\s*(?P<name>[^<>\s]{{1,200}})\s*</{tag}>\s*<{container}>"
    not_head = rf"\s*(?:[<{{\[]|[^<>\s]+\s+[^<\s]|[^<>\s]+\s*<[^/]|[^<>\s]+\s*</{tag}>\s*(?:[^<\s]|<[^{container[0]}]))"
    tags = Tags((f"<{tag}>", f"</{container}>"), {}, re.compile(head), re.compile(not_head), loose=True, name_of=_named)
    return Elements(tags, ATTRIBUTE, text_input=True)


def with_name_attribute(tag: str, outer: str = "") -> Elements:
    """`outer`: the element around it, which is then required."""
    tags = Tags(
        (f"<{tag} ", f"</{tag}>"),
        _VALUES,
        _NAME_ATTRIBUTE,
        _NO_ATTRIBUTE,
        outer=(f"<{outer}>", f"</{outer}>") if outer else None,
        skipped=_CONTAINER_ENDS,
        loose=True,
        name_of=_named,
    )
    return Elements(tags, ATTRIBUTE, bare=not outer)
