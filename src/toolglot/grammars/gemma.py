"""Gemma's calls: `call:f{a:<mark>text<mark>,n:1,o:{k:true}}` between two markers. Keys stand bare; the mark is the only quote.

Between marks everything is text, the closing marker too, unless a brace stands before it: then a mark was forgotten.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

import msgspec

from toolglot.core.tools import Tool
from toolglot.grammars.fixed import with_fixes
from toolglot.grammars.heard import Heard, Parsed, Tools
from toolglot.grammars.known_names import find_tool, parameters
from toolglot.grammars.unfold_gemma import UnfoldGemma
from toolglot.text.json_text import BadJson, decode, dumps

_MAX_DEPTH = 64
_HEAD = re.compile(r"\s*+(?:(?:call|declaration)\s*+:\s*+)?(?:default_api[:.])?([^\s{(<:,]++)\s*+\{")
_BARE_HEAD = re.compile(r"\s*+call\s*+:\s*+([\w.\-/]++)\s*+")  # no braces: no arguments
_LOST_BEGUN = re.compile(r"[ ]?[\w.\-/]*+(?:\{.*+)?", re.DOTALL)
_LONGEST_NAME = 160
LOST = ("", "call:", "declaration:default_api:")  # what is left before a name
_KEY = re.compile(r"""\s*+(?:("[^"\\]*+(?:\\.[^"\\]*+)*+")|'([^']*+)'|([\w.\-$/@]++))\s*+:""", re.DOTALL)
_BARE_KEY = re.compile(r"[\w.\-$/@]++")
_MARKER_FIRST = re.compile(r"[<}]")
_SPACE = re.compile(r"\s*+")
_JSON_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SINGLE = re.compile(r"'([^']*+)'(?=\s*+(?:[,}\]]|<|\Z))")
_SCALAR = re.compile(r"\s*+(-?\d++(?:\.\d++)?(?:[eE][+-]?\d++)?|true|false|null|True|False|None)(?=\s*+[,}\]]|\s*+\Z)")
_BARE_END = re.compile(r"(?:,\s*+[\w.\-$]++\s*+:|[}\],])")
_WORDS = {"True": True, "False": False, "None": None}
_NOTHING: Any = object()


class Gemma(msgspec.Struct, frozen=True):
    opener: str
    closer: str
    mark: str
    lost: bool = False  # its opening marker

    @property
    def at_line_start(self) -> bool:
        return self.lost

    @property
    def openers(self) -> tuple[str, ...]:
        return (self.opener,)

    def open(self, opener: str, /) -> GemmaRegion:
        return GemmaRegion(self, opener)

    def write(self, value: Any) -> str:
        """A value in Gemma's notation. Text that holds a marker is written as JSON, with no `<` in it."""
        if isinstance(value, str):
            plain = not any(marker in value for marker in (self.mark, self.opener, self.closer))
            return f"{self.mark}{value}{self.mark}" if plain else dumps(value).replace("<", "\\u003c")
        if isinstance(value, dict):
            keys = (key if _BARE_KEY.fullmatch(key) else self.write(key) for key in value)
            return "{" + ",".join(f"{key}:{self.write(held)}" for key, held in zip(keys, value.values(), strict=True)) + "}"
        if isinstance(value, list):
            return "[" + ",".join(map(self.write, value)) + "]"
        return dumps(value)


class LostGemma(Gemma, frozen=True):
    """The same where the opening marker got lost: `call:f{`, or a tool's name and the brace, at the start of a line."""

    lost: bool = True
    names: tuple[str, ...] = ()

    def for_tools(self, tools: Tools) -> LostGemma:
        return msgspec.structs.replace(self, names=tuple(tools))

    @property
    def openers(self) -> tuple[str, ...]:
        return ("call:", *(f"{before}{name}{{" for name in self.names for before in LOST))


class GemmaRegion:
    __slots__ = ("_form", "_head", "_held", "_in_text", "examined")

    def __init__(self, form: Gemma, opener: str) -> None:
        self._form = form
        self._head: str | None = "" if form.lost and not opener.endswith("{") else None  # until it is seen to be a call
        self._in_text = False  # between two marks
        self._held = ""  # what may be the beginning of a marker
        self.examined = 0

    def feed(self, text: str, /) -> int:
        form, held = self._form, len(self._held)
        if self._head is not None:
            self._head += text
            if not _LOST_BEGUN.fullmatch(self._head[:_LONGEST_NAME]):
                return len(text)
            self._head = None if "{" in self._head else self._head
        text = self._held + text
        self._held = ""
        self.examined += len(text)
        at = 0
        while True:
            stops = _stops(form.mark, "}" + form.closer if self._in_text else form.closer)
            found = stops.search(text, at)
            if found is None:
                self._held = _beginning(text, at, ("}" + form.closer, form.closer, form.mark))
                return -1
            at = found.end()
            if found[0] != form.mark:
                return at - held
            self._in_text = not self._in_text

    def unfolding(self, tools: Tools) -> UnfoldGemma | None:
        form = self._form
        return None if form.lost else UnfoldGemma(form, tools, lambda name, raw: _read_whole(raw, form, tools.get(name)))

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> Parsed:
        form = self._form
        if form.lost:
            return self._parse_lost(text, tools)
        calls: list[Heard] = []
        rest, at = "", 0
        while True:
            at = text.find(form.opener, at)
            if at < 0:
                break
            call = _read(text, at + len(form.opener), form, tools)
            if call is None:
                return Parsed(problem=_problem(text, at, form))
            calls.append(call.heard)
            at = call.end
            following = text.find(form.opener, at)
            rest += text[at : following if following >= 0 else None]
        return Parsed(tuple(calls), rest="" if complete else rest)

    def _parse_lost(self, text: str, tools: Tools) -> Parsed:
        """Its marks, or its closing marker, must show whose call it is."""
        form = self._form
        call = _read(text, 0, form, tools) if form.mark in text or form.closer in text else None
        if call is None or (tools and find_tool(call.heard.name, tools) is None):
            return Parsed()
        return Parsed((with_fixes(call.heard, "missing_opener"),), rest=text[call.end :])


class _Call(NamedTuple):
    heard: Heard
    end: int


@cache
def _stops(*markers: str) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, markers)))


def _beginning(text: str, at: int, markers: tuple[str, ...]) -> str:
    """The end of `text` that one of the markers may begin with; the longest marker comes first."""
    for found in _MARKER_FIRST.finditer(text, max(at, len(text) - len(markers[0]) + 1)):
        if any(marker.startswith(text[found.start() :]) for marker in markers):
            return text[found.start() :]
    return ""


def _problem(text: str, at: int, form: Gemma) -> str:
    whole = form.closer in text[at:]
    return "the call is not in Gemma's notation" if whole else "the text ended before the call was whole"


def _read(text: str, at: int, form: Gemma, tools: Tools) -> _Call | None:
    """One call, from behind its opening marker to behind its closing one."""
    head = _HEAD.match(text, at)
    if head is None:
        bare = _BARE_HEAD.match(text, at)
        if bare is None or not text.startswith(form.closer, bare.end()):
            return None
        return _Call(Heard(bare[1], "{}", text[at : bare.end()].strip()), bare.end() + len(form.closer))
    reader = _Reader(text, form, find_tool(head[1], tools))
    arguments = reader.members(head.end(), 0)
    if arguments is _NOTHING:
        return None
    end = _SPACE.match(text, reader.at)
    behind = end.end() if end else reader.at
    heard = Heard(head[1], dumps(arguments), text[at : reader.at].strip(), closed=reader.closed)
    if text.startswith(form.closer, behind):
        behind += len(form.closer)
    elif reader.closed:
        heard = with_fixes(heard, "closed_truncated")
        behind = reader.at
    return _Call(with_fixes(heard, *reader.fixes), behind)


def _read_whole(raw: str, form: Gemma, tool: Tool | None) -> tuple[Any] | None:
    """A value that is all there; None where it would have to be mended."""
    reader = _Reader(raw, form, tool)
    value = reader.value(0, 1)
    good = value is not _NOTHING and reader.closed and not reader.fixes and not raw[reader.at :].strip()
    return (value,) if good else None


class _Reader:
    __slots__ = ("_found", "at", "closed", "fixes", "form", "text", "tool")

    def __init__(self, text: str, form: Gemma, tool: Tool | None) -> None:
        self.text, self.form, self.tool = text, form, tool
        self.at = 0
        self.closed = True
        self.fixes: list[str] = []
        self._found: dict[str, int] = {}

    def members(self, at: int, depth: int) -> Any:
        """What stands between braces, from behind the first."""
        found: dict[str, Any] = {}
        while True:
            at = self._space(at)
            if self.text.startswith("}", at):
                self.at = at + 1
                return found
            if found and self.text.startswith(",", at):
                at = self._space(at + 1)
                if self.text.startswith("}", at):
                    continue
            key, at = self._key(at)
            if key is None:
                return self._open_end(found, at)
            value = self.value(at, depth + 1)
            if value is _NOTHING:
                return _NOTHING
            found[key] = value
            at = self.at
            if not self.closed or self._at_closer(at):
                return found

    def _key(self, at: int) -> tuple[str | None, int]:
        mark = self.form.mark
        if self.text.startswith(mark, at):  # a key between marks, as a string would be
            end = self.text.find(mark, at + len(mark))
            behind = self._space(end + len(mark)) if end >= 0 else at
            return (self.text[at + len(mark) : end], behind + 1) if self.text.startswith(":", behind) else (None, at)
        found = _KEY.match(self.text, at)
        if found is None:
            return None, at
        return str(_scalar(found[1])) if found[1] else found[2] or found[3] or "", found.end()

    def _open_end(self, found: dict[str, Any], at: int) -> Any:
        """No key and no brace: the text is over, or the brace is missing before the closing marker."""
        if at < len(self.text) and not self._at_closer(at):
            return _NOTHING
        self.closed = at < len(self.text)
        self.fixes.append("missing_closer")
        self.at = at
        return found

    def _at_closer(self, at: int) -> bool:
        return self.text.startswith(self.form.closer, at)

    def _space(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return found.end() if found else at

    def value(self, at: int, depth: int) -> Any:
        text = self.text
        start = self._space(at)
        if depth > _MAX_DEPTH:
            return _NOTHING
        if text.startswith(self.form.mark, start):
            return self._marked(start + len(self.form.mark))
        scalar = _SCALAR.match(text, at)
        if scalar is not None:
            self.at = scalar.end()
            return _scalar(scalar[1])
        char = text[start : start + 1]
        if char == "{":
            return self.members(start + 1, depth)
        if char == "[":
            return self._items(start + 1, depth)
        if char == '"':
            return self._quoted(start)
        single = _SINGLE.match(text, start)
        if single is not None:
            self.fixes.append("single_quotes")
            self.at = self._past_stray_mark(single.end())
            return single[1]
        return self._bare(at, depth)

    def _marked(self, start: int) -> Any:
        """Text up to the next mark. Where that is missing, up to the brace before the closing marker."""
        form, text = self.form, self.text
        forgotten = self._next("}" + form.closer, start)
        end = text.find(form.mark, start, forgotten if forgotten >= 0 else len(text))
        if end >= 0:
            self.at = end + len(form.mark)
            return text[start:end]
        self.fixes.append("missing_closer")
        self.closed = forgotten >= 0
        self.at = forgotten if forgotten >= 0 else len(text)
        return text[start : self.at]

    def _quoted(self, start: int) -> Any:
        """An ordinary JSON string; one that does not decode could be read in two ways, and is not read."""
        found = _JSON_STRING.match(self.text, start)
        if found is None:
            self.at, self.closed = len(self.text), False
            return self.text[start + 1 :]
        try:
            value = decode(found[0].replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r"))
        except BadJson:
            return _NOTHING
        self.at = self._past_stray_mark(found.end())
        return value

    def _past_stray_mark(self, at: int) -> int:
        return at + len(self.form.mark) if self.text.startswith(self.form.mark, at) else at

    def _items(self, at: int, depth: int) -> Any:
        items: list[Any] = []
        while True:
            at = self._space(at)
            if self.text.startswith("]", at):
                self.at = at + 1
                return items
            if items and self.text.startswith(",", at):
                at += 1
                continue
            if at >= len(self.text):
                self.at, self.closed = at, False
                return items
            value = self.value(at, depth + 1)
            if value is _NOTHING:
                return _NOTHING
            items.append(value)
            if not self.closed or self.at <= at:
                return items if not self.closed else _NOTHING
            at = self.at

    def _bare(self, at: int, depth: int) -> Any:
        """Text without any quotes: up to the next key or closing bracket; all of it where the tool takes nothing else."""
        text = self.text
        closer = self._next(self.form.closer, at)
        limit = closer if closer >= 0 else len(text)
        if depth == 1 and self.tool is not None and len(parameters(self.tool)) == 1:
            whole = text[at:limit]
            brace = whole.rstrip().endswith("}")
            value, end = (whole.rstrip()[:-1], at + len(whole.rstrip()) - 1) if brace else (whole, limit)
        else:
            stop = _BARE_END.search(text, at, limit)
            end = stop.start() if stop else limit
            value = text[at:end].strip()
        if self.form.mark in value:
            return _NOTHING
        self.fixes.append("unquoted_value")
        self.at, self.closed = end, end < len(text)
        return value

    def _next(self, marker: str, at: int) -> int:
        """Where the marker stands next, looked for once."""
        known = self._found.get(marker, -2)
        if known == -2 or -1 < known < at:
            known = self._found[marker] = self.text.find(marker, at)
        return known


def _scalar(text: str) -> Any:
    try:
        return _WORDS[text] if text in _WORDS else decode(text)
    except BadJson:
        return text  # 007 is no number
