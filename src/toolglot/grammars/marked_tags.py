"""The notation of MiniMax M3: nested tags named after parameters, each with a mark before it that text does not contain.

]<]minimax[>[<invoke name="f">]<]minimax[>[<a>1]<]minimax[>[</a>]<]minimax[>[</invoke>
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from toolglot.core.tools import Tool
from toolglot.grammars.call_streaming import ArgumentsDelta, Step, StreamedArguments, inside
from toolglot.grammars.parsed_call import Tools
from toolglot.grammars.tag_scanner import Call, Tags, TagScanner
from toolglot.grammars.tag_streaming import TagStream
from toolglot.grammars.tagged_xml import ATTRIBUTE, BROKEN, TaggedXml, TagRegion
from toolglot.io.json_codec import dumps
from toolglot.schema.coerce_text import allows, is_text, item_schema, loose_value, property_names, property_schema, typed_value

_MAX_DEPTH = 64
_LONGEST_TAG = 400
_TAG_SO_FAR = re.compile(r"(?:<[^<>]*+)?\Z")


@dataclass(frozen=True, eq=False)
class MarkedTags(TaggedXml):
    """A value is text or further tags."""

    mark: str = ""

    def open(self, opener: str, /) -> MarkedRegion:
        return MarkedRegion(self, opener)

    def arguments(self, text: str, call: Call, tool: Tool | None) -> str:
        if call.json:
            return text[call.json[0] : call.json[1]]
        tree = _Tree(self.mark)
        tree.feed(text[max(call.body, 0) : call.end])
        schema = tool.schema if tool else None
        return dumps(
            {node.tag: _value(node, property_schema(schema, node.tag), tool is not None) for node in tree.root.children}
        )


class MarkedRegion(TagRegion):
    _grammar: MarkedTags

    def stream_calls(self, tools: Tools) -> MarkedTagStream:  # type: ignore[override]
        return MarkedTagStream(self._grammar, self._scanner, self._opener, tools)


def marked_tags(mark: str) -> MarkedTags:
    return MarkedTags(
        Tags(
            (f"{mark}<invoke name=", f"{mark}</invoke>"),
            {},
            ATTRIBUTE,
            BROKEN,
            outer=(f"{mark}<tool_call>", f"{mark}</tool_call>"),
            loose=True,
        ),
        mark=mark,
    )


@dataclass(slots=True)
class _Node:
    tag: str
    texts: list[str] = field(default_factory=list)
    children: list[_Node] = field(default_factory=list)


def _value(node: _Node, schema: dict[str, Any] | None, known: bool) -> Any:
    if node.children:
        items = {child.tag for child in node.children} == {"item"} and "item" not in property_names(schema)
        if items or (schema is not None and not allows(schema, "object")):
            inner = item_schema(schema)
            return [_value(child, inner, known) for child in node.children]
        return {child.tag: _value(child, property_schema(schema, child.tag), known) for child in node.children}
    text = "".join(node.texts)
    if not text.strip() and schema is not None and not allows(schema, "string"):
        empty: dict[str, Any] = {"array": [], "object": {}}
        return next((empty[kind] for kind in empty if allows(schema, kind)), text)
    return typed_value(text, schema) if known else loose_value(text)


@cache
def _patterns(mark: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A tag, and the beginning of a mark at the very end of a text."""
    starts = "|".join(re.escape(mark[:size]) for size in range(len(mark) - 1, 0, -1))
    return re.compile(rf"{re.escape(mark)}<(/?)([^<>]*)>"), re.compile(rf"(?:{starts})\Z")


class _Tree:
    """The tags inside one call. Text belongs to the innermost open tag."""

    def __init__(self, mark: str) -> None:
        self.root = _Node("")
        self._open = [self.root]
        self._tag, self._partial_mark = _patterns(mark)

    def feed(self, text: str) -> None:
        at = 0
        for found in self._tag.finditer(text):
            self._add(text[at : found.start()])
            at = found.end()
            if found[1]:
                self._close_tag(found)
            else:
                self._open_tag(found)
        self._add(text[at:])

    def _add(self, text: str) -> None:
        self._open[-1].texts.append(text)

    def _open_tag(self, found: re.Match[str]) -> None:
        node = _Node(found[2].strip())
        self._open[-1].children.append(node)
        if len(self._open) < _MAX_DEPTH:
            self._open.append(node)

    def _close_tag(self, found: re.Match[str]) -> None:
        """Also closes all open tags inside it. A tag that closes nothing is skipped."""
        name = found[2].strip()
        if any(node.tag == name for node in self._open[1:]):
            while self._open.pop().tag != name:
                pass


class _StreamedTree(_Tree):
    """A tree that arrives in pieces. Top-level tags are arguments: text streams as it arrives, other values once complete."""

    def __init__(self, mark: str, arguments: StreamedArguments, schema: dict[str, Any] | None, *, known: bool) -> None:
        super().__init__(mark)
        self.steps: list[Step] = []
        self.failed = False  # it can't be parsed with certainty
        self._mark = mark
        self._arguments, self._schema, self._known = arguments, schema, known
        self._rest = ""  # an incomplete tag
        self._plain = False  # the argument is text

    def feed(self, text: str) -> None:
        text = self._rest + text
        end = self._partial_tag(text)
        self._rest = text[end:]
        super().feed(text[:end])
        self.failed = self.failed or len(self._rest) > _LONGEST_TAG

    def _partial_tag(self, text: str) -> int:
        """The offset of an incomplete tag, else the end of the text."""
        last = text.rfind(self._mark)
        if last >= 0 and _TAG_SO_FAR.match(text, last + len(self._mark)):
            return last
        cut = self._partial_mark.search(text, max(0, len(text) - len(self._mark) + 1))
        return cut.start() if cut else len(text)

    def end(self) -> None:
        """The call ends here."""
        self.failed = self.failed or len(self._open) > 1
        if not self.failed:
            self._arguments.end(self.steps)

    def _add(self, text: str) -> None:
        if not self._plain:
            super()._add(text)
        elif text and not self.failed:
            self.steps.append(ArgumentsDelta(inside(text)))

    def _open_tag(self, found: re.Match[str]) -> None:
        name = found[2].strip()
        self.failed = self.failed or self._plain or len(found[0]) > _LONGEST_TAG or len(self._open) >= _MAX_DEPTH
        if len(self._open) == 1:
            self.failed = self.failed or not name or name in self._arguments
            self._plain = self._known and is_text(property_schema(self._schema, name))
            if self._plain and not self.failed:
                self._arguments.key(name, self.steps, '"')
        super()._open_tag(found)

    def _close_tag(self, found: re.Match[str]) -> None:
        inside_argument = len(self._open) > 1
        self.failed = self.failed or len(found[0]) > _LONGEST_TAG
        super()._close_tag(found)
        if inside_argument and len(self._open) == 1:
            if self._plain and not self.failed:
                self.steps.append(ArgumentsDelta('"'))
            elif not self.failed:
                node = self.root.children[-1]
                value = _value(node, property_schema(self._schema, node.tag), self._known)
                self._arguments.key(node.tag, self.steps, dumps(value))
            self._plain = False


class MarkedTagStream(TagStream):
    def __init__(self, grammar: MarkedTags, scanner: TagScanner, opener: str, tools: Tools) -> None:
        super().__init__(scanner, opener)
        self._grammar, self._tools = grammar, tools
        self._tree: _StreamedTree | None = None  # of the current call

    def _stream_call(self, call: Call, steps: list[Step]) -> bool:
        tree = self._tree = self._tree or self._begin(call)
        ended = call.end >= 0
        end = call.end - len(self._grammar.tags.call[1]) if call.tagged else call.end
        tree.feed(self._tail.upto(end if ended else self._scanner.certain))
        if ended:
            tree.failed = tree.failed or not call.tagged
            tree.end()
            self._call, self._tree = self._call + 1, None
        steps += tree.steps
        tree.steps = []
        self._failed = tree.failed
        return ended and not tree.failed

    def _begin(self, call: Call) -> _StreamedTree:
        self._tail.upto(call.body)
        name = self._grammar.name_of(call.name, self._tools)
        tool = self._tools.get(name)
        arguments = StreamedArguments(self._call, name)
        tree = _StreamedTree(self._grammar.mark, arguments, tool.schema if tool else None, known=bool(self._tools))
        tree.failed = tool is None and (bool(self._tools) or not name)
        return tree
