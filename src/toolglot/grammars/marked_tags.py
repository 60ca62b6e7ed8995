"""The notation of MiniMax M3: nested tags named after parameters, each with a mark before it that text does not contain.

]<]minimax[>[<invoke name="f">]<]minimax[>[<a>1]<]minimax[>[</a>]<]minimax[>[</invoke>
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from typing import Any

from toolglot.core.tools import Tool
from toolglot.grammars.call_streaming import ArgumentsDelta, Step, StreamedArguments, inside
from toolglot.grammars.parsed_call import Tools
from toolglot.grammars.tag_scanner import Call, Tags, TagScanner
from toolglot.grammars.tag_streaming import TagStream
from toolglot.grammars.tagged_xml import ATTRIBUTE, BROKEN, Malformed, TaggedXml, TagRegion
from toolglot.io.json_codec import dumps
from toolglot.schema.coerce_text import allows, is_text, item_schema, loose_value, property_names, property_schema, typed_value

_MAX_DEPTH = 64
_LONGEST_TAG = 400
_MAX_ENDS = 32
_TAG_END = re.compile("[<>]")
_TAG_SO_FAR = re.compile(r"(?:<[^<>]*+)?\Z")


@dataclass(frozen=True, eq=False)
class MarkedTags(TaggedXml):
    """A value is text or further tags."""

    mark: str = ""

    def open(self, opener: str, /) -> MarkedRegion:
        return MarkedRegion(self, opener)

    def scanner(self, opener: str) -> TagScanner:
        scanner = _MarkedScanner(self.tags, self.mark)
        scanner.feed(opener)
        return scanner

    def arguments(self, text: str, call: Call, tool: Tool | None) -> str:
        if call.json:
            return text[call.json[0] : call.json[1]]
        tree = self._tree(text, call)
        if tree.stray or "".join(tree.root.texts).strip():
            raise Malformed("there is text between the arguments")
        return dumps(_object(tree.root, tool.schema if tool else None, tree.text, known=tool is not None))

    def _tree(self, text: str, call: Call) -> _Tree:
        tree = _Tree(self.mark)
        tree.feed(text[max(call.body, 0) : call.end - len(self.tags.call[1]) if call.tagged else call.end])
        return tree

    def value_ends(self, text: str, calls: list[Call]) -> tuple[str, ...]:
        nodes = (node for call in calls if not call.json for node in self._tree(text, call).root.children)
        return tuple({f"{self.mark}</{node.tag}>": None for node in islice(nodes, _MAX_ENDS)})


class _MarkedScanner(TagScanner):
    """Inside an argument every marked tag is part of its value, also those of calls, as far as they are balanced."""

    def __init__(self, tags: Tags, mark: str) -> None:
        super().__init__(tags)
        self._tag = _patterns(mark)[0]
        self._open: list[str] = []  # the names of the open tags
        self._count: Counter[str] = Counter()

    def _in_outer(self, role: str, found: re.Match[str]) -> int:
        if found[0] not in self._tags.skipped:
            return super()._in_outer(role, found)
        return self._stop(found.start()) if self._whole_tag(found) else self._wait(found.start())

    def _in_call(self, role: str, found: re.Match[str]) -> int:
        if not self._whole_tag(found):
            return self._wait(found.start())
        tag, of_calls = self._tag.match(found.string, found.start()), found[0] not in self._tags.skipped
        if tag is None:
            return found.end()
        name = _name_of(tag)
        if tag[1] and self._count[name]:
            while (last := self._open.pop()) != name:
                self._count[last] -= 1
            self._count[name] -= 1
        elif not tag[1] and (self._open or not of_calls):
            self._open.append(name)
            self._count[name] += 1
        elif of_calls:
            return super()._in_call(role, found)
        return tag.end()

    def _whole_tag(self, found: re.Match[str]) -> bool:
        """Whether the text shows if this is a tag."""
        text, end = found.string, found.end()
        return text[end - 1] == ">" or len(text) - end >= _LONGEST_TAG or _TAG_END.search(text, end) is not None

    def _end_call(self, end: int, *, tagged: bool) -> None:
        self._open, self._count = [], Counter()
        super()._end_call(end, tagged=tagged)


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
            skipped=(f"{mark}<", f"{mark}</"),
            loose=True,
        ),
        mark=mark,
    )


@dataclass(slots=True)
class _Node:
    tag: str
    start: int = 0
    end: int = -1
    texts: list[str] = field(default_factory=list)
    children: list[_Node] = field(default_factory=list)


def _value(node: _Node, schema: dict[str, Any] | None, text: str | None, *, known: bool) -> Any:
    """`text`: the offsets of nodes refer to it; None: it is not available. Tags are text if the schema requires text."""
    raw = "".join(node.texts)
    if node.children and (raw.strip() or (known and is_text(schema))):
        return _whole(None if text is None else text[node.start : node.end if node.end >= 0 else None], schema, known=known)
    if node.children:
        items = {child.tag for child in node.children} == {"item"} and "item" not in property_names(schema)
        if items or (schema is not None and not allows(schema, "object")):
            inner = item_schema(schema)
            return [_value(child, inner, text, known=known) for child in node.children]
        return _object(node, schema, text, known=known)
    if not raw.strip() and schema is not None and not allows(schema, "string"):
        empty: dict[str, Any] = {"array": [], "object": {}}
        return next((empty[kind] for kind in empty if allows(schema, kind)), raw)
    return typed_value(raw, schema) if known else loose_value(raw)


def _object(node: _Node, schema: dict[str, Any] | None, text: str | None, *, known: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for child in node.children:
        value = _value(child, property_schema(schema, child.tag), text, known=known)
        if found.setdefault(child.tag, value) != value:
            raise Malformed(f"{child.tag} is given twice")
    return found


def _whole(raw: str | None, schema: dict[str, Any] | None, *, known: bool) -> Any:
    """Text with tags inside: as it is, or as the JSON that it is."""
    value = None if raw is None else typed_value(raw, schema) if known else loose_value(raw)
    if raw is None or (value is raw and known and not allows(schema, "string")):
        raise Malformed("there is text between the tags of a value")
    return value


@cache
def _patterns(mark: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A tag, and the beginning of a mark at the very end of a text."""
    starts = "|".join(re.escape(mark[:size]) for size in range(len(mark) - 1, 0, -1))
    return re.compile(rf"{re.escape(mark)}<(/?)([^<>]*)>"), re.compile(rf"(?:{starts})\Z")


def _name_of(tag: re.Match[str]) -> str:
    """The name in a tag, without attributes."""
    return next(iter(tag[2].split()), "")


class _Tree:
    """The tags inside one call. Text belongs to the innermost open tag."""

    def __init__(self, mark: str) -> None:
        self.root = _Node("")
        self.text = ""  # the last piece
        self.stray = False  # there is another closing tag of an argument, or one outside all arguments
        self._open: list[tuple[str, _Node]] = [("", self.root)]
        self._tag, self._partial_mark = _patterns(mark)

    def feed(self, text: str) -> None:
        self.text = text
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
        self._open[-1][1].texts.append(text)

    def _open_tag(self, found: re.Match[str]) -> None:
        node = _Node(found[2].strip(), found.end())
        self._open[-1][1].children.append(node)
        if len(self._open) < _MAX_DEPTH:
            self._open.append((_name_of(found), node))

    def _close_tag(self, found: re.Match[str]) -> None:
        """Also closes all open tags inside it. A tag that closes nothing is skipped."""
        name = _name_of(found)
        if not any(one == name for one, _ in self._open[1:]):
            self.stray = self.stray or len(self._open) == 1 or any(name == child.tag for child in self.root.children)
            return
        closed = ""
        while closed != name:
            closed, node = self._open.pop()
            node.end = found.start()


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
                self._add_value(self.root.children[-1])
            self._plain = False

    def _add_value(self, node: _Node) -> None:
        try:
            value = _value(node, property_schema(self._schema, node.tag), None, known=self._known)
        except Malformed:
            self.failed = True
        else:
            self._arguments.key(node.tag, self.steps, dumps(value))


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
