"""Calls in an element that models make up or are taught: the name in an element or an attribute, arguments as JSON or in tags.

<tool_use> <name>f</name> <arguments>{"a": 1}</arguments> </tool_use>
<tool_call name="f"> {"a": 1} </tool_call>
<tool>f</tool> <tool_input>{"a": 1}</tool_input>
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from toolglot.core.tools import Tool
from toolglot.grammars.heard import Heard, Tools
from toolglot.grammars.json_calls import positional
from toolglot.grammars.nested_tags import flat_tags
from toolglot.grammars.tag_walk import Call, Tags
from toolglot.grammars.tagged_xml import ATTRIBUTE, TaggedXml, find_tool
from toolglot.schema.typed import loose_value, property_schema, typed_value
from toolglot.text.json_text import dumps

_HOLDERS = ("arguments", "parameters", "tool_input", "input", "args", "params")
_NAME = r"(?:tool_|function_)?name>"
_NAME_ELEMENT = re.compile(rf"\s*<{_NAME}\s*(?P<name>[^<>\s]{{1,200}})\s*</{_NAME}\s*(?:<(?:{'|'.join(_HOLDERS)})>|(?=</))")
_NO_NAME = re.compile(
    r"\s*(?:[^\s<]|<(?:[^tfn]|n[^a]|t[^o]|f[^u]|tool(?:[^_]|_[^n])|function(?:[^_]|_[^n]))"
    rf"|<{_NAME}[^<]*</{_NAME}\s*(?:[^\s<]|<[^/atip]))"
)
_NAME_ATTRIBUTE = re.compile(
    r"""(?:[^<>\n]*?\s)?(?:tool_|function_)?name\s*=\s*["'](?P<name>[^"'<>\n]{1,200})["'](?:\s[^<>\n/]*)?>"""
)
_NO_ATTRIBUTE = re.compile(r"[^<>]*[<>]")
_HOLDER_ENDS = tuple(f"</{holder}>" for holder in _HOLDERS)
_HOLDER_TAG = re.compile(rf"\s*</?(?:{'|'.join(_HOLDERS)})>\s*")
_VALUES = {f"<{name} name=": f"</{name}>" for name in ("parameter", "param", "argument", "arg")}


def _named(found: re.Match[str]) -> str:
    return found["name"]


@dataclass(frozen=True, eq=False)
class Elements(TaggedXml):
    """Where no value has a tag that says so, every tag inside is a value; anything else inside, and it is no call."""

    text_input: bool = False  # unless it is the argument itself

    def heard(self, text: str, call: Call, tools: Tools) -> Iterator[Heard]:
        if call.body < 0:
            return
        begun = not call.closed and self._inner(text, call).lstrip().startswith("<")
        if call.json or call.values or begun or (call.closed and self._children(text, call) is not None):
            yield from super().heard(text, call, tools)
        elif self.text_input and call.closed and (arguments := positional(call.name, self._inner(text, call).strip(), tools)):
            yield Heard(call.name, arguments, text[call.start : call.end], fixes=("positional_arguments",))

    def arguments(self, text: str, call: Call, tool: Tool | None) -> str:
        children = None if call.json or call.values else self._children(text, call)
        if children is None:
            return super().arguments(text, call, tool)
        if tool is None:
            return dumps({key: loose_value(raw) for key, raw in children})
        return dumps({key: typed_value(raw, property_schema(tool.schema, key)) for key, raw in children})

    def _children(self, text: str, call: Call) -> list[tuple[str, str]] | None:
        return flat_tags(_HOLDER_TAG.sub("", self._inner(text, call)))

    def _inner(self, text: str, call: Call) -> str:
        return text[call.body : call.end].removesuffix(self.tags.call[1]) if call.body >= 0 else ""

    def _plausible(self, name: str, call: Call, tools: Tools) -> bool:
        """A call that takes nothing says so by its whole form: half of one is none."""
        return super()._plausible(name, call, tools) and (not tools or find_tool(name, tools) is not None)


def with_name_element(tag: str) -> Elements:
    tags = Tags((f"<{tag}>", f"</{tag}>"), {}, _NAME_ELEMENT, _NO_NAME, skipped=_HOLDER_ENDS, loose=True, name_of=_named)
    return Elements(tags, ATTRIBUTE)


def with_input_element(tag: str, holder: str) -> Elements:
    """`<tool>f</tool> <tool_input>text</tool_input>`: text is the only argument of a tool that takes no other."""
    head = rf"\s*(?P<name>[^<>\s]{{1,200}})\s*</{tag}>\s*<{holder}>"
    dead = rf"\s*(?:[<{{\[]|[^<>\s]+\s+[^<\s]|[^<>\s]+\s*<[^/]|[^<>\s]+\s*</{tag}>\s*(?:[^<\s]|<[^{holder[0]}]))"
    tags = Tags((f"<{tag}>", f"</{holder}>"), {}, re.compile(head), re.compile(dead), loose=True, name_of=_named)
    return Elements(tags, ATTRIBUTE, text_input=True)


def with_name_attribute(tag: str, outer: str = "") -> Elements:
    """`outer`: the element that it stands in; without it, it is another's."""
    tags = Tags(
        (f"<{tag} ", f"</{tag}>"),
        _VALUES,
        _NAME_ATTRIBUTE,
        _NO_ATTRIBUTE,
        outer=(f"<{outer}>", f"</{outer}>") if outer else None,
        skipped=_HOLDER_ENDS,
        loose=True,
        name_of=_named,
    )
    return Elements(tags, ATTRIBUTE, bare=not outer)
