"""Streams calls in tags as the scanner finds them: text as a JSON string piece by piece, other values once complete."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from toolglot.core.tools import Tool
from toolglot.grammars.call_streaming import ArgumentsDelta, Step, StreamedArguments, Tail, inside
from toolglot.grammars.parsed_call import Tools
from toolglot.grammars.tag_scanner import Call, TagScanner
from toolglot.grammars.value_lines import closing_break, leading_break, trimmed
from toolglot.io.json_codec import dumps
from toolglot.schema.coerce_text import property_names, property_schema

if TYPE_CHECKING:
    from toolglot.grammars.tagged_xml import TaggedXml

_LONGEST_HEAD = 400
_TAG_SO_FAR = re.compile(r"(?:\\|<[^<>]{0,60}+)\Z")
_BREAKS = ("\r\n", "\n", "\r")
_CDATA = ("<![CDATA[", "]]>")  # searched outside a section, and inside


class TagStream:
    """Emits calls one after the other. Subclasses know the tags inside a call."""

    def __init__(self, scanner: TagScanner, opener: str) -> None:
        self._scanner = scanner
        self._tail = Tail(opener)
        self._call = 0  # index of the next call
        self._failed = False

    def feed(self, piece: str, /) -> list[Step]:
        steps: list[Step] = []
        if not self._failed:
            self._tail.add(piece)
            while not self._failed and self._step(steps):
                pass
        return steps

    def _step(self, steps: list[Step]) -> bool:
        """Emits the next part. Returns whether there may be more to emit now."""
        scanner = self._scanner
        if self._call >= len(scanner.calls):
            self._tail.upto(scanner.certain)
            return False
        call = scanner.calls[self._call]
        if call.body < 0 or call.json is not None:
            self._failed = call.json is not None
            return False
        return self._stream_call(call, steps)

    def _stream_call(self, call: Call, steps: list[Step]) -> bool:
        """As `_step`, for a call with a known head."""
        raise NotImplementedError


class _Sections:
    """Text that may be in CDATA sections: its beginning decides. Pieces never split a section's markers."""

    __slots__ = ("_blank", "_place", "failed")

    def __init__(self) -> None:
        self._place: Literal["start", "plain", "inside", "outside"] = "start"
        self._blank: list[str] = []  # white space at the beginning
        self.failed = False

    def feed(self, text: str, *, ended: bool) -> str:
        """The part of the text to emit."""
        if self._place == "start":
            self._blank.append(text)
            if not ended and not text.strip():
                return ""
            text = "".join(self._blank)
            self._place = "outside" if text.lstrip().startswith(_CDATA[0]) else "plain"
        if self._place == "plain":
            return text
        emitted, at = list[str](), 0
        while at < len(text):
            inside = self._place == "inside"
            found = text.find(_CDATA[inside], at)
            end = found if found >= 0 else len(text)
            if inside:
                emitted.append(text[at:end])
            elif text[at:end].strip():
                self.failed = True
                break
            if found < 0:
                break
            at, self._place = found + len(_CDATA[inside]), "outside" if inside else "inside"
        return "".join(emitted)


class TagValueStream(TagStream):
    def __init__(self, grammar: TaggedXml, scanner: TagScanner, opener: str, tools: Tools) -> None:
        super().__init__(scanner, opener)
        self._grammar, self._tools = grammar, tools
        self._value = 0  # index of the next value
        self._arguments: StreamedArguments | None = None  # of the current call
        self._tool: Tool | None = None  # of the current call
        self._known = False  # whether the current call's name is known
        self._head: re.Match[str] | None = None  # of the current value
        self._schema: dict[str, Any] | None = None
        self._plain = False  # the value is text, and emitted as it arrives
        self._buffer: list[str] = []  # text of the value that is not emitted yet
        self._lead: str | None = None  # the line break at the beginning that is not part of the value, once known
        self._sections = _Sections()

    def _stream_call(self, call: Call, steps: list[Step]) -> bool:
        if self._arguments is None:
            self._arguments = self._begin_call(call)
        if self._head is not None:
            return self._go_on(call, steps)
        if self._value < len(call.values):
            return self._begin_value(call, self._arguments, steps)
        if call.end >= 0:
            return self._end_call(call, self._arguments, steps)
        self._pass_over(self._scanner.certain)
        return False

    def _begin_call(self, call: Call) -> StreamedArguments:
        self._tail.upto(call.body)
        name = self._grammar.name_of(call.name, self._tools)
        self._tool = self._tools.get(name)
        self._known = self._tool is not None or (not self._tools and bool(name))
        return StreamedArguments(self._call, name)

    def _end_call(self, call: Call, arguments: StreamedArguments, steps: list[Step]) -> bool:
        self._pass_over(call.end - len(self._grammar.tags.call[1]) if call.tagged else call.end)
        if call.tagged or arguments:
            self._failed = self._failed or not self._known
            if not self._failed:
                arguments.end(steps)
        self._call, self._value, self._arguments = self._call + 1, 0, None
        return True

    def _pass_over(self, end: int) -> None:
        """Skips the text between values. In loose calls, any text there may mean that this is not a call."""
        between = self._tail.upto(end)
        self._failed = self._failed or (self._grammar.tags.loose and bool(between) and not between.isspace())

    def _begin_value(self, call: Call, arguments: StreamedArguments, steps: list[Step]) -> bool:
        grammar, value = self._grammar, call.values[self._value]
        schema = self._tool.schema if self._tool else None
        self._pass_over(value.start - len(value.opener))
        self._tail.upto(value.start)
        ended = value.end >= 0
        available = self._tail.peek(value.end if ended else self._scanner.certain)
        head = grammar.value_head.match(available)
        self._failed = self._failed or not self._known
        if not ended and (head is None or self._may_grow(head, available)):
            self._failed = self._failed or len(available) > _LONGEST_HEAD
            return False
        key = grammar.key_among(head, value.opener, property_names(schema)) if head else ""
        if self._failed or head is None or value.absent or key in arguments:
            self._failed = True
            return False
        self._tail.upto(value.start + head.end())
        self._schema = property_schema(schema, key)
        self._head, self._lead, self._buffer, self._sections = head, None, [], _Sections()
        self._plain = self._tool is not None and grammar.plain(head, self._schema)
        arguments.key(key, steps, '"' if self._plain else "")
        return True

    def _may_grow(self, head: re.Match[str], text: str) -> bool:
        """Whether more text may belong to the head: where keys have tags, the tag that opens the value."""
        end = head.end()
        return end == len(text) or (self._grammar.tags.key is not None and _TAG_SO_FAR.match(text, end) is not None)

    def _go_on(self, call: Call, steps: list[Step]) -> bool:
        value, grammar = call.values[self._value], self._grammar
        ended = value.end >= 0
        self._buffer.append(self._tail.upto(value.end if ended else self._scanner.certain))
        if self._plain:
            self._emit_text(steps, ended=ended, implied=not value.closed)
        if not ended or self._failed:
            return False
        if self._plain:
            steps.append(ArgumentsDelta('"'))
        elif self._head is not None:
            raw = trimmed("".join(self._buffer), grammar.lines, implied=not value.closed)
            steps.append(ArgumentsDelta(dumps(grammar.read(raw, self._head, self._schema, bool(self._tools)))))
        self._tail.upto(value.after)
        self._head = None
        self._value += 1
        return True

    def _emit_text(self, steps: list[Step], *, ended: bool, implied: bool) -> None:
        """Emits text as it arrives, without line breaks at either end that may not be part of it."""
        grammar, text = self._grammar, "".join(self._buffer)
        if self._lead is None:
            if text in {"", "\r"} and not ended:
                self._buffer = [text]
                return
            self._lead = leading_break(text, grammar.lines)
            text = text.removeprefix(self._lead)
        if ended:
            text, kept = text.removesuffix(closing_break(text, self._lead, grammar.lines, implied=implied)), ""
        else:
            kept = next((end for end in _BREAKS if text.endswith(end)), "")
            text = text.removesuffix(kept)
        self._buffer = [kept]
        if grammar.tags.cdata:
            text = self._sections.feed(text, ended=ended)
            self._failed = self._sections.failed
        if text:
            steps.append(ArgumentsDelta(inside(text)))
