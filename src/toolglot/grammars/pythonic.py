"""Calls as Python: between markers (Llama 4, LFM2, Olmo 3), or as a bare list at the start of a line.

Between markers the body may also be JSON, to which the same models fall back. A marker inside a string is text.
"""

from __future__ import annotations

import re
from functools import cache

import msgspec

from toolglot.grammars.bare import BareRegion, begins_line
from toolglot.grammars.call_streaming import ParserStream
from toolglot.grammars.json_calls import read_json_calls
from toolglot.grammars.parsed_call import ParsedCall, RegionResult, Tools, with_fixes
from toolglot.grammars.python_calls import LABELS, begins_call, only_known, read_listing
from toolglot.grammars.python_streaming import PythonCalls
from toolglot.io.python_scanner import PythonScanner


class MarkedPython(msgspec.Struct, frozen=True):
    """`<opener>[f(a=1)]<closer>`."""

    opener: str
    closer: str

    @property
    def openers(self) -> tuple[str, ...]:
        return (self.opener,)

    def open(self, opener: str, /) -> MarkedRegion:
        return MarkedRegion(self)


class MarkedRegion:
    __slots__ = ("_buffer", "_form", "_scan", "_stops", "examined")

    def __init__(self, form: MarkedPython) -> None:
        self._form = form
        self._stops = _stops(form.closer)
        self._scan = PythonScanner()
        self._buffer = ""  # a possible prefix of the closer
        self.examined = 0

    def feed(self, text: str, /) -> int:
        buffered, closer = len(self._buffer), self._form.closer
        text = self._buffer + text
        self._buffer = ""
        self.examined += len(text)
        at, size = 0, len(text)
        while at < size:
            if self._scan.in_string:
                at = self._scan.step(text, at, size)
                continue
            found = self._stops.search(text, at)
            if found is None:
                self._buffer = _beginning(text, at, closer)
                return -1
            if found[0] == closer:
                return found.end() - buffered
            at = self._scan.step(text, found.start(), size)
        return -1

    def stream_calls(self, tools: Tools) -> ParserStream:
        return ParserStream(PythonCalls(0, tools))

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> RegionResult:
        opener, closer = self._form.opener, self._form.closer
        body = text.removeprefix(opener)
        if complete:
            return _read(body.removesuffix(closer), opener, tools, whole=True)
        found = _read(body, opener, tools, whole=False)
        if found.calls or closer not in body:
            return found
        inside, _, rest = body.partition(closer)  # an extra quote hid the closer
        return msgspec.structs.replace(_read(inside, opener, tools, whole=True), rest=rest)


@cache
def _stops(closer: str) -> re.Pattern[str]:
    brackets = r"""[\[\](){}"']"""
    return re.compile(f"{re.escape(closer)}|{brackets}")


def _beginning(text: str, at: int, marker: str) -> str:
    """The end of `text` that is a prefix of the marker."""
    start = text.find(marker[:1], max(at, len(text) - len(marker) + 1))
    while start >= 0:
        if marker.startswith(text[start:]):
            return text[start:]
        start = text.find(marker[:1], start + 1)
    return ""


def _read(body: str, opener: str, tools: Tools, *, whole: bool) -> RegionResult:
    """The calls between markers; a problem if they can't be parsed."""
    first = body.lstrip("[ \t\r\n")[:1]
    if first == "<" or (first in {"", "]"} and whole):
        return RegionResult()  # another dialect's tags, or empty
    reading = read_json_calls(body, tools, weak=False) if first == "{" else None
    if reading is not None and (whole or reading.end >= len(body)):
        return RegionResult(_marked_if_cut(reading.calls, whole), rest=body[reading.end :])
    calls: list[ParsedCall] = []
    rest, at = "", 0
    while at < len(body):
        listing = read_listing(body, tools, start=at)
        if not listing.calls or (listing.stopped and not listing.ended and not body.startswith(opener, listing.end)):
            break
        calls += listing.calls
        at = body.find(opener, listing.end)  # a list that did not close, then the next one
        behind = body[listing.end : at] if at >= 0 else body[listing.end :]
        if whole and '"' in behind:
            return RegionResult(problem="a text between the markers ends where a quote in it is not escaped")
        rest += behind
        if at < 0:
            return RegionResult(_marked_if_cut(calls, whole), rest=rest)
        at += len(opener)
    return RegionResult(
        problem="there is no list of calls between the markers" if whole else "the text ended before the call was complete"
    )


def _marked_if_cut(calls: list[ParsedCall], whole: bool) -> tuple[ParsedCall, ...]:
    if whole:
        return tuple(calls)
    return tuple(with_fixes(call, "closed_truncated") if call.closed else call for call in calls)


# -- without markers


class BareList:
    """`[f(a=1), g(b=2)]` at the start of a line; braces and parentheses are accepted too."""

    openers = ("[", "(", "{")
    at_line_start = True

    def open(self, opener: str, /) -> BareRegion:
        return BareRegion(opener, _plausible, _read_bare)


def _plausible(head: str) -> bool | None:
    """It begins with a call, possibly in quotes or after a label such as `Calling tool:`."""
    inside = head.lstrip("[({ \t\r\n")
    lowered = inside.lower()
    label = next((label for label in LABELS if lowered.startswith(label)), "")
    plausible = begins_call(inside[len(label) :].lstrip(" \"'"), 0)
    return None if plausible is False and any(label.startswith(lowered) for label in LABELS) else plausible


def _read_bare(text: str, tools: Tools, complete: bool) -> RegionResult:
    listing = read_listing(text, tools)
    if not listing.calls or not only_known(listing.calls, tools):
        return RegionResult()
    if listing.stopped and not begins_line(text, listing.end):
        return RegionResult()
    well_formed = listing.plain and not any(call.fixes or not call.closed for call in listing.calls)
    if not tools and not (well_formed and text.startswith("[") and listing.ended):
        return RegionResult()
    return RegionResult(listing.calls, rest=text[listing.end :])


BARE_LIST = BareList()
