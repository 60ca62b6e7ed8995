"""Calls in tags: a wrapper, calls named in their tag, values named in theirs. Values are raw text, typed by the tool's schema.

<tool_call> <function=f> <parameter=a> 1 </parameter> </function> </tool_call>
<minimax:tool_call> <invoke name="f"> <parameter name="a">1</parameter> </invoke> </minimax:tool_call>
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from toolglot.core.tools import Tool
from toolglot.grammars.parsed_call import ParsedCall, RegionResult, Tools, with_fixes
from toolglot.grammars.tag_scanner import Call, Tags, TagScanner, Value
from toolglot.grammars.tag_streaming import TagValueStream
from toolglot.grammars.value_lines import Lines, trimmed
from toolglot.io.json_codec import dumps
from toolglot.io.marker_search import NamedForm
from toolglot.schema.coerce_text import is_text, json_or, literal, loose_value, property_names, property_schema, typed_value
from toolglot.schema.tool_names import PREFIXES

# `name>` and `"name" other="x">`, after a tag that ends in `=`
EQUALS = re.compile(r"([^<>\n{]{1,300}?)(?P<empty>/?)>")
ATTRIBUTE = re.compile(
    r"""[ \t]*(?:"([^"<>\n]*)"|'([^'<>\n]*)'|([^\s"'<>/][^\s<>/]*))(?P<more>[^<>\n]*?)(?P<empty>/?)>""",
)
BROKEN = re.compile(r"[^<>\n]*[<\n]")
NO_EQUALS = re.compile(r"[^<>\n{]*[<\n{]")
_STRING = re.compile(r"""string\s*=\s*["']?(true|false)""")
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)

Read = Callable[
    [str, "re.Match[str]", dict[str, Any] | None, bool], Any
]  # raw, the tag's head, schema, whether the tool is known


def by_schema(raw: str, head: re.Match[str], schema: dict[str, Any] | None, known: bool) -> Any:
    """A value as the schema types it, unless the tag has a `string` attribute, which comes first."""
    declared = _STRING.search(head.groupdict().get("more") or "")
    if declared:
        return raw if declared[1] == "true" else json_or(raw, schema)
    return typed_value(raw, schema) if known else loose_value(raw)


def text_by_schema(head: re.Match[str], schema: dict[str, Any] | None) -> bool:
    """Whether `by_schema` leaves the value as it is, so that it can be streamed before it is complete."""
    declared = _STRING.search(head.groupdict().get("more") or "")
    return declared[1] == "true" if declared else is_text(schema)


def from_cdata(raw: str, head: re.Match[str], schema: dict[str, Any] | None, known: bool) -> Any:
    """As `by_schema`, with the content of CDATA sections."""
    if raw.lstrip().startswith("<![CDATA[") and raw.rstrip().endswith("]]>"):
        raw = "".join(_CDATA.findall(raw))
    return by_schema(raw, head, schema, known)


class Malformed(Exception):  # noqa: N818  (only used by these grammars)
    """A call's values are not clear, with the reason."""


@dataclass(frozen=True, eq=False)
class TaggedXml:
    tags: Tags
    value_head: re.Pattern[str] = EQUALS
    lines: Lines = ""  # the line breaks around values that are not part of them
    strong: bool = False  # a value's opening tag can't be mistaken for text
    bare: bool = True  # a call may come without its wrapper
    framed: bool = False  # neither wrapper nor call opens anything: only the headers do
    weak_name: bool = False  # a name alone does not make it a call
    registered: bool = False  # parses only registered tools
    headers: tuple[str, ...] = ()  # further openers, which the wrapper or the call must follow
    behind_name: tuple[str, ...] = ()  # a tool's name with one of these opens a call too
    foreign: Tags | None = None  # another dialect's wrapper, which is rejected
    read: Read = by_schema
    plain: Callable[[re.Match[str], dict[str, Any] | None], bool] = text_by_schema  # whether `read` leaves the value as it is
    clean_name: Callable[[str, Tools], str] | None = None

    @property
    def openers(self) -> tuple[str, ...]:
        outer = [tags.outer[0] for tags in (self.tags, self.foreign) if tags and tags.outer]
        bare = [opener for opener, _ in (self.tags.call, *self.tags.variants)] if self.bare else []
        return self.headers if self.framed else tuple(dict.fromkeys((*self.headers, *outer, *bare)))

    @property
    def named_forms(self) -> tuple[NamedForm, ...]:
        return tuple(NamedForm("", after, exact=True) for after in self.behind_name)

    def open(self, opener: str, /) -> TagRegion:
        return TagRegion(self, opener)

    def lacks_opener(self, opener: str) -> bool:
        return self._named(opener) or (self.tags.outer is not None and opener == self.tags.call[0])

    def _named(self, opener: str) -> bool:
        """Whether an opener is a tool's name with what follows it."""
        return bool(self.behind_name) and opener not in self.openers and opener.endswith(self.behind_name)

    def refuses(self, opener: str) -> bool:
        """Whether it is another dialect's wrapper."""
        return self.foreign is not None and self.foreign.outer is not None and opener == self.foreign.outer[0]

    def scanner(self, opener: str) -> TagScanner:
        """A scanner that has consumed the opener."""
        if opener in self.headers:
            return TagScanner(self.tags, at=len(opener), in_header=self.tags.header is not None)
        tags = self.foreign if self.foreign and self.refuses(opener) else self.tags
        scanner = TagScanner(tags, in_head=self._named(opener))
        scanner.feed(opener)
        return scanner

    def parsed_calls(self, text: str, call: Call, tools: Tools) -> Iterator[ParsedCall]:
        """The call, or the calls of a JSON list."""
        raw = text[call.start : call.end]
        if call.json and not call.name:
            for name, arguments in json_calls(text[call.json[0] : call.json[1]]):
                if not self.registered or find_prefixed_tool(name, tools):
                    yield ParsedCall(name, arguments, raw, fixes=missing(call), closed=call.closed)
            return
        name = self.name_of(call.name, tools)
        if self._plausible(name, call, tools):
            arguments = self.arguments(text, call, find_prefixed_tool(name, tools))
            closed = call.closed and (call.tagged or bool(call.values) or call.json is not None)
            yield ParsedCall(name, arguments, raw, fixes=missing(call), closed=closed)

    def _plausible(self, name: str, call: Call, tools: Tools) -> bool:
        if not name or (self.registered and find_prefixed_tool(name, tools) is None):
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
        """The key; without quotes if that is a parameter's name."""
        key = self.key_of(head, opener)
        bare = key.strip("\"' ")
        return bare if bare in names else key

    def arguments(self, text: str, call: Call, tool: Tool | None) -> str:
        if call.json:
            return text[call.json[0] : call.json[1]]
        schema = tool.schema if tool else None
        names = property_names(schema)
        found: dict[str, Any] = {}
        before: dict[str, None] = {}
        for value in self._with_opening_tags(text, call, names):
            if any(self._ends_in(text, value, opener) for opener in before if opener != value.opener):
                raise Malformed("a value contains the end of another one")
            before[value.opener] = None
            if call.closed and not value.absent and self.value_head.match(text, value.start, value.end) is None:
                raise Malformed("the tag of a value is incomplete")
            for head, raw in self._values(text, value, names, found):
                key = self.key_among(head, value.opener, names)
                read = self.read(raw, head, property_schema(schema, key), tool is not None)
                if found.setdefault(key, read) != read:
                    raise Malformed(f"the argument {key} is given twice")
        return dumps(found)

    def _ends_in(self, text: str, value: Value, opener: str) -> bool:
        """Whether a value contains the closing tag of another one, without its opening tag but with a value behind it."""
        closer = self.tags.values[opener]
        surplus = text.count(closer, value.start, value.end) > text.count(opener, value.start, value.end)
        return surplus and self.tags.between[opener].search(text, value.start, value.end) is not None

    def _with_opening_tags(self, text: str, call: Call, names: frozenset[str]) -> list[Value]:
        """The call's values. One that seems unclosed may contain opening tags.

        This is assumed if all values are complete then, unless the repair of a missing closing tag gives more arguments.
        """
        found: list[Value] = []
        for value in call.values:
            flat = None if value.closed or value.absent else self._flat(text, value)
            if flat:
                given = {self._key(text, one, names) for one in found}
                repaired = {self.key_among(head, value.opener, names) for head, _ in self._values(text, value, names, given)}
                flat = flat if repaired <= {self._key(text, one, names) for one in flat} else None
            found += flat or [value]
        call.values = found
        return found

    def _key(self, text: str, value: Value, names: frozenset[str]) -> str:
        head = self.value_head.match(text, value.start, value.end)
        return self.key_among(head, value.opener, names) if head else ""

    def _flat(self, text: str, value: Value) -> list[Value] | None:
        """An unclosed value as values that end at the first closing tag with an opening one, or nothing, behind it."""
        found: list[Value] = []
        at, opener = value.start, value.opener
        while True:
            head = self.value_head.match(text, at, value.end)
            end = self.tags.flat_ends[opener].search(text, head.end(), value.end) if head else None
            if head is None or end is None:
                return None
            found.append(Value(opener, at, end.start(), end.end(), closed=True))
            if end[1] is None:
                return found
            at, opener = end.end(), end[1]

    def _values(
        self, text: str, value: Value, names: frozenset[str], given: Iterable[str]
    ) -> Iterator[tuple[re.Match[str], str]]:
        """The value; or several, if a missing closing tag makes one seem to contain those that follow."""
        head = self.value_head.match(text, value.start, value.end)
        if head is None or value.absent:
            return
        if value.closed:
            yield head, trimmed(text[head.end() : value.end], self.lines)
            return
        at, closer, found = head.end(), self.tags.values[value.opener], {*given, self.key_of(head, value.opener)}
        tokens = re.compile(f"{re.escape(closer)}(?=\\s*(?:{re.escape(value.opener)}|\\Z))|{re.escape(value.opener)}")
        for token in tokens.finditer(text, head.end(), value.end):
            if token.start() < at:
                continue
            following = None if token[0] == closer else self.value_head.match(text, token.end(), value.end)
            if token[0] == closer or (following and self._begins(text, token, following, names, found)):
                if head:
                    yield head, trimmed(text[at : token.start()], self.lines, implied=token[0] != closer)
                head, at = following, following.end() if following else token.end()
                found |= {self.key_of(following, value.opener)} if following else set()
        if head:
            yield head, trimmed(text[at : value.end], self.lines, implied=True)

    def value_ends(self, text: str, calls: list[Call]) -> tuple[str, ...]:
        """The closing tags of all values in these calls."""
        return tuple({self.tags.values[value.opener]: None for call in calls for value in call.values})

    def _begins(self, text: str, tag: re.Match[str], head: re.Match[str], names: frozenset[str], found: set[str]) -> bool:
        """Whether an opening tag inside an unclosed value begins the next value."""
        key = self.key_of(head, tag[0])
        if names:
            return key in names and key not in found
        return self.strong or text.endswith("\n", 0, tag.start())


class TagRegion:
    """A part of the text that may be calls in tags."""

    def __init__(self, grammar: TaggedXml, opener: str) -> None:
        self._grammar = grammar
        self._opener = opener
        self._scanner = grammar.scanner(opener)

    @property
    def examined(self) -> int:
        return self._scanner.examined

    def feed(self, text: str, /) -> int:
        return self._scanner.feed(text)

    def stream_calls(self, tools: Tools) -> TagValueStream | None:
        return (
            None if self._grammar.refuses(self._opener) else TagValueStream(self._grammar, self._scanner, self._opener, tools)
        )

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> RegionResult:
        grammar, scanner = self._grammar, self._scanner
        scanner.finish()
        ends = grammar.value_ends(text, scanner.calls)
        rest = text[scanner.stop if scanner.sealed or not scanner.calls else scanner.calls[-1].end :]
        try:
            calls = tuple(parsed for call in scanner.calls for parsed in grammar.parsed_calls(text, call, tools))
        except Malformed as reason:
            return RegionResult(problem=str(reason), rest=rest, value_ends=ends)
        if not calls:
            return (
                RegionResult(problem="the text ends before the call has a name") if self._cut_short(scanner) else RegionResult()
            )
        if grammar.refuses(self._opener):
            return RegionResult(problem=f"{self._opener} is not this dialect's wrapper", rest=rest, value_ends=ends)
        if scanner.wrapped:
            calls = (*calls[:-1], _fixed(calls[-1], "closed_truncated"))
        elif grammar.lacks_opener(self._opener):
            calls = (_fixed(calls[0], "missing_opener"), *calls[1:])
        return RegionResult(calls, rest=rest, value_ends=ends)

    def _cut_short(self, scanner: TagScanner) -> bool:
        """`<tool_call><function=` and nothing more: the wrapper shows that it is a call."""
        return bool(scanner.calls) and scanner.wrapped and not scanner.calls[-1].closed and not self._grammar.weak_name


def missing(call: Call) -> tuple[str, ...]:
    """The reason code for missing closing tags, if any are missing."""
    whole = call.tagged and all(value.closed for value in call.values)
    return () if whole or not call.closed else ("closed_truncated",)


def find_prefixed_tool(name: str, tools: Tools) -> Tool | None:
    """The tool with this name, with or without a common prefix. Its schema types the values."""
    found = tools.get(name)
    if found is None:
        for prefix in PREFIXES:
            if name.startswith(prefix):
                return tools.get(name.removeprefix(prefix))
    return found


def json_calls(text: str) -> Iterator[tuple[str, str]]:
    """Names and arguments (as JSON text, or as written) of calls that are JSON objects."""
    value = literal(text.strip())
    if isinstance(value, dict | list):
        for call in value if isinstance(value, list) else [value]:
            name = call.get("name") if isinstance(call, dict) else None
            if isinstance(name, str):
                arguments: Any = next((call[key] for key in ("arguments", "parameters", "args") if key in call), {})
                yield name, arguments if isinstance(arguments, str) else dumps(arguments)
        return
    found = _BROKEN_CALL.search(text)
    arguments = text[found.end() :].strip().removesuffix("}").strip() if found else ""
    if found and arguments:
        yield found[1], arguments


_BROKEN_CALL = re.compile(r"""["']name["']\s*:\s*["']([^"']+)["']\s*,\s*["'](?:arguments|parameters|args)["']\s*:""")


def _fixed(call: ParsedCall, code: str) -> ParsedCall:
    return with_fixes(call, code) if call.closed else call
