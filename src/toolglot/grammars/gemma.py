"""Gemma's calls: `call:f{a:<mark>text<mark>,n:1,o:{k:true}}` between two markers. Keys are bare; the mark is the only quote.

Between marks everything is text, even the closing marker, unless a brace comes before it: then a mark is missing.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any, ClassVar, NamedTuple

import msgspec

from toolglot.grammars.call_streaming import ParserStream
from toolglot.grammars.gemma_body import parse_call, stream_call
from toolglot.grammars.known_names import find_tool
from toolglot.grammars.parsed_call import ParsedCall, RegionResult, Tools, with_fixes
from toolglot.io.json_codec import dumps
from toolglot.io.marker_search import NamedForm

_BARE_HEAD = re.compile(r"\s*+call\s*+:\s*+([\w.\-/]++)\s*+")  # no braces: no arguments
_PARTIAL_LOST = re.compile(r"[ ]?[\w.\-/]*+(?:\{.*+)?", re.DOTALL)
_LONGEST_NAME = 160
LOST_PREFIXES = ("", "call:", "declaration:default_api:")  # what remains before a name
_BARE_KEY = re.compile(r"[\w.\-$/@]++")
_SPACE = re.compile(r"\s*+")


class Gemma(msgspec.Struct, frozen=True):
    opener: str
    closer: str
    mark: str
    lost: bool = False  # the opening marker is missing

    @property
    def at_line_start(self) -> bool:
        return self.lost

    @property
    def openers(self) -> tuple[str, ...]:
        return (self.opener,)

    def open(self, opener: str, /) -> GemmaRegion:
        return GemmaRegion(self, opener)

    def write(self, value: Any) -> str:
        """A value in Gemma's notation. Text that contains a marker is written as JSON, with `<` escaped."""
        if isinstance(value, str):
            plain = not any(marker in value for marker in (self.mark, self.opener, self.closer))
            return f"{self.mark}{value}{self.mark}" if plain else dumps(value).replace("<", "\\u003c")
        if isinstance(value, dict):
            keys = (key if _BARE_KEY.fullmatch(key) else self.write(key) for key in value)
            return "{" + ",".join(f"{key}:{self.write(item)}" for key, item in zip(keys, value.values(), strict=True)) + "}"
        if isinstance(value, list):
            return "[" + ",".join(map(self.write, value)) + "]"
        return dumps(value)


class LostGemma(Gemma, frozen=True):
    """The same without the opening marker: `call:f{`, or a tool's name and the brace, at the start of a line."""

    lost: bool = True
    named_forms: ClassVar[tuple[NamedForm, ...]] = tuple(
        NamedForm(before, "{", exact=True, at_line_start=True) for before in LOST_PREFIXES
    )

    @property
    def openers(self) -> tuple[str, ...]:
        return ("call:",)


class GemmaRegion:
    __slots__ = ("_buffer", "_form", "_head", "_in_text", "examined")

    def __init__(self, form: Gemma, opener: str) -> None:
        self._form = form
        self._head: str | None = "" if form.lost and not opener.endswith("{") else None  # None once it is known to be a call
        self._in_text = False  # between two marks
        self._buffer = ""  # a possible prefix of a marker
        self.examined = 0

    def feed(self, text: str, /) -> int:
        form, buffered = self._form, len(self._buffer)
        if self._head is not None:
            before = len(self._head)
            self._head += text
            head = self._head[:_LONGEST_NAME]
            found = _PARTIAL_LOST.match(head)
            end = found.end() if found else 0
            if end < len(head):  # it ends at the first character that no call has there, however the text is cut
                return end + 1 - before
            self._head = None if "{" in self._head else self._head
        text = self._buffer + text
        self._buffer = ""
        self.examined += len(text)
        at = 0
        while True:
            stops = _stops(form.mark, "}" + form.closer if self._in_text else form.closer)
            found = stops.search(text, at)
            if found is None:
                self._buffer = _beginning(text, at, ("}" + form.closer, form.closer, form.mark))
                return -1
            at = found.end()
            if found[0] != form.mark:
                return at - buffered
            self._in_text = not self._in_text

    def stream_calls(self, tools: Tools) -> ParserStream | None:
        return None if self._form.lost else stream_call(self._form, tools)

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> RegionResult:
        form = self._form
        if form.lost:
            return self._parse_lost(text, tools)
        calls: list[ParsedCall] = []
        rest, at = "", 0
        while True:
            at = text.find(form.opener, at)
            if at < 0:
                break
            call = _read(text, at + len(form.opener), form, tools)
            if call is None:
                return RegionResult(problem=_problem(text, at, form), value_ends=(form.mark,))
            calls.append(call.parsed)
            at = call.end
            following = text.find(form.opener, at)
            rest += text[at : following if following >= 0 else None]
        return RegionResult(tuple(calls), rest="" if complete else rest, value_ends=(form.mark,))

    def _parse_lost(self, text: str, tools: Tools) -> RegionResult:
        """Only the marks or the closing marker show that it is a Gemma call."""
        form = self._form
        call = _read(text, 0, form, tools) if form.mark in text or form.closer in text else None
        if call is None or (tools and find_tool(call.parsed.name, tools) is None):
            return RegionResult()
        return RegionResult((with_fixes(call.parsed, "missing_opener"),), rest=text[call.end :], value_ends=(form.mark,))


class _Call(NamedTuple):
    parsed: ParsedCall
    end: int


@cache
def _stops(*markers: str) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, markers)))


@cache
def _first_characters(markers: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(marker[0]) for marker in markers))


def _beginning(text: str, at: int, markers: tuple[str, ...]) -> str:
    """The end of `text` that is a prefix of a marker. The longest marker comes first in `markers`."""
    for found in _first_characters(markers).finditer(text, max(at, len(text) - len(markers[0]) + 1)):
        if any(marker.startswith(text[found.start() :]) for marker in markers):
            return text[found.start() :]
    return ""


def _problem(text: str, at: int, form: Gemma) -> str:
    whole = form.closer in text[at:]
    return "the call is not in Gemma's notation" if whole else "the text ended before the call was complete"


def _read(text: str, at: int, form: Gemma, tools: Tools) -> _Call | None:
    """One call, from after its opening marker to after its closing one."""
    found = parse_call(text, at, form, tools)
    if found is None:
        bare = _BARE_HEAD.match(text, at)
        if bare is None or not text.startswith(form.closer, bare.end()):
            return None
        return _Call(ParsedCall(bare[1], "{}", text[at : bare.end()].strip()), bare.end() + len(form.closer))
    parsed = ParsedCall(found.name, dumps(found.arguments), text[at : found.end].strip(), closed=found.closed)
    end = _SPACE.match(text, found.end)
    after = end.end() if end else found.end
    if text.startswith(form.closer, after):
        after += len(form.closer)
    elif found.closed:
        parsed = with_fixes(parsed, "closed_truncated")
        after = found.end
    return _Call(with_fixes(parsed, *found.fixes), after)
