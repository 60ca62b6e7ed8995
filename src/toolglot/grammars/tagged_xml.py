"""Calls in tags: a wrapper, calls named in their tag, values named in theirs. Values are raw text, typed by the tool's schema.

<tool_call> <function=f> <parameter=a> 1 </parameter> </function> </tool_call>
<minimax:tool_call> <invoke name="f"> <parameter name="a">1</parameter> </invoke> </minimax:tool_call>
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from toolglot.core.tools import Tool
from toolglot.grammars.heard import Heard, Parsed, Tools
from toolglot.grammars.tag_walk import Call, Tags, TagWalk, Value
from toolglot.grammars.unfold_tags import UnfoldTags
from toolglot.schema.typed import is_text, json_or, literal, loose_value, property_names, property_schema, typed_value
from toolglot.text.json_text import dumps

# `name>` and `"name" other="x">`, behind a tag that ends in `=`
EQUALS = re.compile(r"([^<>\n{]{1,300}?)(?P<empty>/?)>")
ATTRIBUTE = re.compile(
    r"""[ \t]*(?:"([^"<>\n]*)"|'([^'<>\n]*)'|([^\s"'<>/][^\s<>/]*))(?P<more>[^<>\n]*?)(?P<empty>/?)>""",
)
BROKEN = re.compile(r"[^<>\n]*[<\n]")
NO_EQUALS = re.compile(r"[^<>\n{]*[<\n{]")
_STRING = re.compile(r"""string\s*=\s*["']?(true|false)""")
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_PREFIXES = ("functions.", "default_api.", "tools.", "function.")

Read = Callable[
    [str, "re.Match[str]", dict[str, Any] | None, bool], Any
]  # raw, the tag's head, schema, whether the tool is known


def by_schema(raw: str, head: re.Match[str], schema: dict[str, Any] | None, known: bool) -> Any:
    """What the schema says; a tag that says whether it holds a string is believed first."""
    said = _STRING.search(head.groupdict().get("more") or "")
    if said:
        return raw if said[1] == "true" else json_or(raw, schema)
    return typed_value(raw, schema) if known else loose_value(raw)


def plainly_text(head: re.Match[str], schema: dict[str, Any] | None) -> bool:
    """Whether `by_schema` leaves the value as it is, so that it need not be whole to be handed on."""
    said = _STRING.search(head.groupdict().get("more") or "")
    return said[1] == "true" if said else is_text(schema)


def from_cdata(raw: str, head: re.Match[str], schema: dict[str, Any] | None, known: bool) -> Any:
    """As `by_schema`, but CDATA sections stand for what is in them."""
    if raw.lstrip().startswith("<![CDATA[") and raw.rstrip().endswith("]]>"):
        raw = "".join(_CDATA.findall(raw))
    return by_schema(raw, head, schema, known)


@dataclass(frozen=True, eq=False)
class TaggedXml:
    tags: Tags
    value_head: re.Pattern[str] = EQUALS
    lines: bool = False  # values stand on lines of their own: one line break on each side is none of theirs
    strong: bool = False  # a value's opening tag can't be mistaken for text
    bare: bool = True  # a call may come without its wrapper
    framed: bool = False  # neither wrapper nor call opens anything: only the headers do
    weak_name: bool = False  # the name alone is no sign of a call
    registered: bool = False  # hears only tools that are there
    headers: tuple[str, ...] = ()  # further openers, behind which the wrapper or the call must follow
    for_tool: Callable[[str], tuple[str, ...]] | None = None  # a tool's own headers, or its name and a value's opening tag
    foreign: Tags | None = None  # another dialect's wrapper, which is refused
    read: Read = by_schema
    plain: Callable[[re.Match[str], dict[str, Any] | None], bool] = plainly_text  # `read` would leave it as it is
    clean_name: Callable[[str, Tools], str] | None = None

    @property
    def openers(self) -> tuple[str, ...]:
        outer = [tags.outer[0] for tags in (self.tags, self.foreign) if tags and tags.outer]
        bare = [self.tags.call[0]] if self.bare else []
        return self.headers if self.framed else (*self.headers, *outer, *bare)

    def for_tools(self, tools: Tools) -> TaggedXml:
        """The grammar in play where these tools are: some openers hold a tool's name."""
        if self.for_tool is None or not tools:
            return self
        named = tuple(dict.fromkeys(header for name in tools for header in self.for_tool(name)))
        return replace(self, headers=self.headers + named, framed=not self.bare, for_tool=None)

    def open(self, opener: str, /) -> TagRegion:
        return TagRegion(self, opener)

    def lacks_opener(self, opener: str) -> bool:
        return self._named(opener) or (self.tags.outer is not None and opener == self.tags.call[0])

    def _named(self, opener: str) -> bool:
        """Whether an opener is a tool's name, with the tag that follows names behind it."""
        tags = self.tags
        return opener in self.headers and opener not in tags.roles and opener.endswith((*tags.values, *tags.skipped))

    def refuses(self, opener: str) -> bool:
        """Whether it is another dialect's wrapper."""
        return self.foreign is not None and self.foreign.outer is not None and opener == self.foreign.outer[0]

    def walk(self, opener: str) -> TagWalk:
        """A walk that has the opener behind it."""
        if opener in self.headers and not self._named(opener):
            return TagWalk(self.tags, at=len(opener))
        tags = self.foreign if self.foreign and self.refuses(opener) else self.tags
        walk = TagWalk(tags, in_head=self._named(opener))
        walk.feed(opener)
        return walk

    def heard(self, text: str, call: Call, tools: Tools) -> Iterator[Heard]:
        """The call (or the calls, where JSON has a list of them)."""
        raw = text[call.start : call.end]
        fixes = missing(call)
        if call.json and not call.name:
            for name, arguments in json_calls(text[call.json[0] : call.json[1]]):
                if not self.registered or find_tool(name, tools):
                    yield Heard(name, arguments, raw, fixes=fixes, closed=call.closed)
            return
        name = self.name_of(call.name, tools)
        if self._plausible(name, call, tools):
            arguments = self.arguments(text, call, find_tool(name, tools))
            yield Heard(name, arguments, raw, fixes=fixes, closed=call.closed)

    def _plausible(self, name: str, call: Call, tools: Tools) -> bool:
        if not name or (self.registered and find_tool(name, tools) is None):
            return False
        return not self.weak_name or call.body >= 0 or not tools or any(tool.startswith(name) for tool in tools)

    def name_of(self, name: str, tools: Tools) -> str:
        name = name.strip()
        if self.clean_name:
            name = self.clean_name(name, tools)
        bare = name.strip("\"'")
        return bare if bare in tools else name

    def key_of(self, head: re.Match[str], opener: str) -> str:
        return next((group for group in head.groups() if group), "")

    def key_among(self, head: re.Match[str], opener: str, names: frozenset[str]) -> str:
        """The key; without quotes where it is a parameter's name so."""
        key = self.key_of(head, opener)
        bare = key.strip("\"' ")
        return bare if bare in names else key

    def arguments(self, text: str, call: Call, tool: Tool | None) -> str:
        if call.json:
            return text[call.json[0] : call.json[1]]
        found: dict[str, Any] = {}
        schema = tool.schema if tool else None
        names = property_names(schema)
        for value in call.values:
            for head, raw in self._values(text, value, names, found):
                key = self.key_among(head, value.opener, names)
                found[key] = self.read(raw, head, property_schema(schema, key), tool is not None)
        return dumps(found)

    def _values(
        self, text: str, value: Value, names: frozenset[str], found: dict[str, Any]
    ) -> Iterator[tuple[re.Match[str], str]]:
        """The value; or the values, where one lacks its closing tag and so seems to hold all that follow."""
        head = self.value_head.match(text, value.start, value.end)
        if head is None or value.absent:
            return
        if value.closed:
            yield head, self.trimmed(text[head.end() : value.end])
            return
        at, closer = head.end(), self.tags.values[value.opener]
        tokens = re.compile(f"{re.escape(closer)}(?=\\s*(?:{re.escape(value.opener)}|\\Z))|{re.escape(value.opener)}")
        for token in tokens.finditer(text, head.end(), value.end):
            if token.start() < at:
                continue
            following = None if token[0] == closer else self.value_head.match(text, token.end(), value.end)
            if token[0] == closer or (following and self._begins(text, token, following, names, found)):
                if head:
                    yield head, self.trimmed(text[at : token.start()], implied=token[0] != closer)
                head, at = following, following.end() if following else token.end()
        if head:
            yield head, self.trimmed(text[at : value.end], implied=True)

    def _begins(self, text: str, tag: re.Match[str], head: re.Match[str], names: frozenset[str], found: dict[str, Any]) -> bool:
        """Whether an opening tag inside a value that never closes begins the next value."""
        key = self.key_of(head, tag[0])
        if names:
            return key in names and key not in found
        return self.strong or text.endswith("\n", 0, tag.start())

    def trimmed(self, raw: str, *, implied: bool = False) -> str:
        if self.lines:
            raw = raw.removeprefix("\r").removeprefix("\n")
        if self.lines or implied:
            raw = raw.removesuffix("\n").removesuffix("\r")
        return raw


class TagRegion:
    """One place where calls in tags may stand."""

    def __init__(self, grammar: TaggedXml, opener: str) -> None:
        self._grammar = grammar
        self._opener = opener
        self._walk = grammar.walk(opener)

    @property
    def examined(self) -> int:
        return self._walk.examined

    def feed(self, text: str, /) -> int:
        return self._walk.feed(text)

    def unfolding(self, tools: Tools) -> UnfoldTags | None:
        return None if self._grammar.refuses(self._opener) else UnfoldTags(self._grammar, self._walk, self._opener, tools)

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> Parsed:
        if self._walk.done and not self._walk.calls:
            return Parsed()  # as is plain by now
        grammar, walk = self._grammar, walked(self._grammar.walk(self._opener), text[len(self._opener) :], complete=complete)
        calls = tuple(heard for call in walk.calls for heard in grammar.heard(text, call, tools))
        if not calls:
            return Parsed(problem="the call breaks off before its name") if self._cut_short(walk) else Parsed()
        rest = text[walk.stop if walk.sealed else walk.calls[-1].end :]
        if grammar.refuses(self._opener):
            return Parsed(problem=f"{self._opener} is not this dialect's wrapper", rest=rest)
        if walk.wrapped:
            calls = (*calls[:-1], _fixed(calls[-1], "closed_truncated"))
        elif grammar.lacks_opener(self._opener):
            calls = (_fixed(calls[0], "missing_opener"), *calls[1:])
        return Parsed(calls, rest=rest)

    def _cut_short(self, walk: TagWalk) -> bool:
        """`<tool_call><function=` and nothing more: the wrapper says that a call was meant."""
        return bool(walk.calls) and walk.wrapped and not walk.calls[-1].closed and not self._grammar.weak_name


def missing(call: Call) -> tuple[str, ...]:
    """What the grammar had to think of itself."""
    whole = call.tagged and all(value.closed for value in call.values)
    return () if whole or not call.closed else ("closed_truncated",)


def walked(walk: TagWalk, text: str, *, complete: bool) -> TagWalk:
    """The walk, at its end."""
    walk.feed(text)
    if complete:
        walk.break_off()
    elif not walk.done:
        walk.finish()
    return walk


def find_tool(name: str, tools: Tools) -> Tool | None:
    """The tool whose schema says how the values are to be read; whether it may be called so is not judged here."""
    found = tools.get(name)
    if found is None:
        for prefix in _PREFIXES:
            if name.startswith(prefix):
                return tools.get(name.removeprefix(prefix))
    return found


def json_calls(text: str) -> Iterator[tuple[str, str]]:
    """Names and arguments (as JSON text, or as it was written) of calls that are JSON objects."""
    value = literal(text.strip())
    if isinstance(value, dict | list):
        for call in value if isinstance(value, list) else [value]:
            name = call.get("name") if isinstance(call, dict) else None
            if isinstance(name, str):
                held: Any = next((call[key] for key in ("arguments", "parameters", "args") if key in call), {})
                yield name, held if isinstance(held, str) else dumps(held)
        return
    found = _BROKEN_CALL.search(text)
    if found:
        yield found[1], text[found.end() :].strip().removesuffix("}").strip()


_BROKEN_CALL = re.compile(r"""["']name["']\s*:\s*["']([^"']+)["']\s*,\s*["'](?:arguments|parameters|args)["']\s*:""")


def _fixed(heard: Heard, code: str) -> Heard:
    if code in heard.fixes or not heard.closed:
        return heard
    return Heard(heard.name, heard.arguments, heard.raw, heard.id, (*heard.fixes, code), heard.closed)
