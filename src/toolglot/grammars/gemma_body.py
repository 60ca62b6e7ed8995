"""The body of a Gemma call, `f{a:<mark>text<mark>,n:1,o:{k:true}}`, parsed in pieces or whole.

Text between marks is streamed piece by piece, every other argument once it is complete. Nothing is streamed after the first
repair: later text may change how it is parsed.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from toolglot.core.tools import Tool
from toolglot.grammars.call_streaming import ArgumentsDelta, CallParser, ParserStream, StreamedArguments, inside
from toolglot.grammars.known_names import find_tool, parameters
from toolglot.grammars.parsed_call import Tools
from toolglot.grammars.text_reader import Parsing
from toolglot.io.json_codec import JSON_ERRORS, decode, dumps

if TYPE_CHECKING:
    from toolglot.grammars.gemma import Gemma

_MAX_DEPTH = 64
_LONGEST_HEAD = 400
_HEAD = re.compile(r"\s*+(?:(?:call|declaration)\s*+:\s*+)?(?:default_api[:.])?([^\s{(<:,]++)\s*+\{")
_KEY = re.compile(r"""(?:(?P<json>"[^"\\]*+(?:\\.[^"\\]*+)*")|'(?P<text>[^']*+)'|(?P<bare>[\w.\-$/@]++))\s*+:""", re.DOTALL)
_STRING_RUN = re.compile(r'(?:[^"\\]++|\\.)*', re.DOTALL)
_SINGLE = re.compile(r"'([^']*+)'(?=\s*+(?:[,}\]]|<|\Z))")
_SINGLE_AND_NEXT = re.compile(r"'[^']*+'\s*+\S")
_SCALAR = re.compile(r"(-?\d++(?:\.\d++)?(?:[eE][+-]?\d++)?|true|false|null|True|False|None)(?=\s*+[,}\]]|\s*+\Z)")
_UP_TO_END = re.compile(r"[^,}\]]*+[,}\]]")
_BARE_END = re.compile(r"[}\],]")
_WORDS = {"True": True, "False": False, "None": None}
_NOTHING: Any = object()


class GemmaCall(NamedTuple):
    name: str
    arguments: dict[str, Any]
    end: int  # after the arguments, in the whole text
    closed: bool
    fixes: tuple[str, ...]


def parse_call(text: str, at: int, form: Gemma, tools: Tools) -> GemmaCall | None:
    """The call that begins at `at`, just after its opening marker."""
    body = _Body(form, tools, text, at, final=True)
    next(body.parse(), None)
    return body.result


def stream_call(form: Gemma, tools: Tools) -> ParserStream:
    """For one call, from after its opening marker."""
    return ParserStream(_Body(form, tools, "", 0, final=False))


@cache
def _text_ends(mark: str, closer: str) -> tuple[re.Pattern[str], re.Pattern[str], int]:
    """Patterns for the end of text (the mark; or a brace and the closer) and for its prefixes; the length of the longest."""
    ends = (mark, "}" + closer)
    starts = sorted({end[:size] for end in ends for size in range(1, len(end))}, key=len, reverse=True)
    partial = re.compile(f"(?:{'|'.join(map(re.escape, starts))})\\Z")
    return re.compile("|".join(map(re.escape, ends))), partial, max(map(len, ends))


class _Body(CallParser):
    def __init__(self, form: Gemma, tools: Tools, text: str, at: int, *, final: bool) -> None:
        super().__init__(text, at, final=final)
        self.result: GemmaCall | None = None
        self._form, self._tools = form, tools
        self._tool: Tool | None = None
        self._streaming = True
        self._streamed = StreamedArguments(0, "")
        self._closed = True
        self._fixes: list[str] = []
        self._found = -2  # the next closing marker; -2: not searched yet

    def parse(self) -> Parsing[None]:
        while self.needs_match(_HEAD, _LONGEST_HEAD):
            yield
        head = _HEAD.match(self.text, self.at)
        if head is None:
            return
        name = head[1]
        self.at = head.end()
        self._streaming = not self.final and (name in self._tools or not self._tools)
        self._tool = find_tool(name, self._tools)
        self._streamed = StreamedArguments(0, name)
        arguments = yield from self._object(0)
        if arguments is not _NOTHING:
            self.result = GemmaCall(name, arguments, self.offset, self._closed, tuple(self._fixes))

    def _fix(self, code: str) -> None:
        self._fixes.append(code)
        self._streaming = False

    def _object(self, depth: int) -> Parsing[Any]:
        """The members between braces, from after the opening one. At depth 0 these are the call's arguments."""
        found: dict[str, Any] = {}
        while True:
            while self.needs_char():
                yield
            char = self.text[self.at : self.at + 1]
            if found and char == ",":
                self.at += 1
                while self.needs_char():
                    yield
                char = self.text[self.at : self.at + 1]
            if char == "}":
                self.at += 1
                if depth == 0 and self._streaming:
                    self._streamed.end(self.steps)
                return found
            key = yield from self._key()
            if key is None:
                return self._without_brace(found)
            if depth == 0:
                self._streaming = self._streaming and bool(key) and key not in found
            value = yield from self._value(depth + 1, key)
            if value is _NOTHING or found.setdefault(key, value) != value:
                return _NOTHING  # not a value, or a key with two values
            while self._closed and self.needs(self._form.closer):
                yield
            if not self._closed or self.here(self._form.closer):
                return found

    def _key(self) -> Parsing[str | None]:
        mark = self._form.mark
        while self.needs(mark):
            yield
        pattern = _marked_key(mark) if self.here(mark) else _KEY
        while self.needs_match(pattern, _LONGEST_HEAD):
            yield
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return str(_scalar(found["json"])) if found["json"] else found["text"] or found["bare"] or ""

    def _without_brace(self, found: dict[str, Any]) -> Any:
        """No key and no brace: the text has ended, or the brace is missing before the closing marker."""
        if self.at < len(self.text) and not self.here(self._form.closer):
            return _NOTHING
        self._closed = self.at < len(self.text) and bool(found)
        self._fix("missing_closer")
        return found

    def _value(self, depth: int, key: str = "") -> Parsing[Any]:
        """A value. At depth 1 it is an argument and is streamed."""
        if depth > _MAX_DEPTH:
            return _NOTHING
        self.skipped = ""
        while self.needs_char() or self.needs(self._form.mark):
            yield
        if self.here(self._form.mark):
            if depth == 1 and self._streaming:
                self._streamed.key(key, self.steps, '"')
            return (yield from self._marked(depth))
        char = self.text[self.at : self.at + 1]
        if char == "{":
            self.at += 1
            value = yield from self._object(depth)
        elif char == "[":
            self.at += 1
            value = yield from self._items(depth)
        elif char == '"':
            value = yield from self._quoted()
        else:
            value = yield from self._unquoted(char, depth)
        if depth == 1 and self._streaming and value is not _NOTHING:
            self._streamed.key(key, self.steps, dumps(value))
        return value

    def _marked(self, depth: int) -> Parsing[str]:
        """Text up to the next mark. If that is missing, up to the brace before the closing marker."""
        mark = self._form.mark
        ends, partial, longest = _text_ends(mark, self._form.closer)
        self.at += len(mark)
        runs: list[str] = []
        while True:
            self.take_pieces()
            found = ends.search(self.text, self.at)
            undecided = None if found or self.final else partial.search(self.text, max(self.at, len(self.text) - longest + 1))
            end = found or undecided
            stop = end.start() if end else len(self.text)
            if stop > self.at:
                runs.append(self.text[self.at : stop])
                self.at = stop
                if depth == 1 and self._streaming:
                    self.steps.append(ArgumentsDelta(inside(runs[-1])))
            if found or self.final:
                break
            yield
        if found is not None and found[0] == mark:
            self.at = found.end()
            if depth == 1 and self._streaming:
                self.steps.append(ArgumentsDelta('"'))
        else:
            self._fix("missing_closer")
            self._closed = found is not None
        return "".join(runs)

    def _unquoted(self, char: str, depth: int) -> Parsing[Any]:
        """A number or a constant; or, as a repair, text in single quotes or without quotes."""
        lead = self.skipped
        whole, pattern = (_SINGLE_AND_NEXT, _SINGLE) if char == "'" else (_UP_TO_END, _SCALAR)
        while self.needs_match(whole, _LONGEST_HEAD):
            yield
        found = pattern.match(self.text, self.at)
        if found is None:
            while self.needs_end():
                yield
            return self._bare(lead, depth)
        self.at = found.end()
        if pattern is _SCALAR:
            return _scalar(found[1])
        self._fix("single_quotes")
        yield from self._stray_mark()
        return found[1]

    def _quoted(self) -> Parsing[Any]:
        """An ordinary JSON string. One that does not decode is ambiguous, and is rejected."""
        self.at += 1
        runs: list[str] = []
        while True:
            self.take_pieces()
            found = _STRING_RUN.match(self.text, self.at)
            if found is not None:
                runs.append(found[0])
                self.at = found.end()
            if self.here('"') or self.final:
                break
            yield
        if not self.here('"'):
            runs.append(self.text[self.at :])
            self.at, self._closed = len(self.text), False
            return "".join(runs)
        self.at += 1
        text = "".join(runs).replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
        try:
            value = decode(f'"{text}"')
        except JSON_ERRORS:
            return _NOTHING
        yield from self._stray_mark()
        return value

    def _stray_mark(self) -> Parsing[None]:
        while self.needs(self._form.mark):
            yield
        if self.here(self._form.mark):
            self.at += len(self._form.mark)

    def _items(self, depth: int) -> Parsing[Any]:
        items: list[Any] = []
        while True:
            while self.needs_char():
                yield
            char = self.text[self.at : self.at + 1]
            if char == "]":
                self.at += 1
                return items
            if items and char == ",":
                self.at += 1
                continue
            if not char:
                self._closed = False
                return items
            before = self.offset
            value = yield from self._value(depth + 1)
            if value is _NOTHING or (self._closed and self.offset <= before):
                return _NOTHING
            items.append(value)
            if not self._closed:
                return items

    def _bare(self, lead: str, depth: int) -> Any:
        """Text without quotes: up to the next comma or closing bracket; all of it if the tool has only this parameter."""
        text, at = self.text, self.at
        closer = self._next_closer()
        limit = closer if closer >= 0 else len(text)
        if depth == 1 and self._tool is not None and len(parameters(self._tool)) == 1:
            value, end = lead + text[at:limit], limit
            if value.rstrip().endswith("}"):
                end = at + len(text[at:limit].rstrip()) - 1
                value = lead + text[at:end]
        else:
            stop = _BARE_END.search(text, at, limit)
            end = stop.start() if stop else limit
            value = text[at:end].strip()
        if self._form.mark in value or not value.strip():
            return _NOTHING
        self._fix("unquoted_value")
        self.at, self._closed = end, end < len(text)
        return value

    def _next_closer(self) -> int:
        """The offset of the next closing marker, searched once."""
        known = self._found
        if known == -2 or -1 < known < self.at:
            self._found = self.text.find(self._form.closer, self.at)
        return self._found


@cache
def _marked_key(mark: str) -> re.Pattern[str]:
    quoted = re.escape(mark)
    return re.compile(rf"{quoted}(?P<text>(?:(?!{quoted}).)*){quoted}(?P<json>)(?P<bare>)\s*+:", re.DOTALL)


def _scalar(text: str) -> Any:
    try:
        return _WORDS[text] if text in _WORDS else decode(text)
    except JSON_ERRORS:
        return text  # 007 is not a number
