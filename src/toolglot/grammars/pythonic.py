"""Calls as Python: between markers (Llama 4, LFM2, Olmo 3), or as a bare list that begins a line.

Between markers the body may as well be JSON, which the same models fall back to. A marker inside a string is text.
"""

from __future__ import annotations

import re
from functools import cache

import msgspec

from toolglot.grammars.bare import BareRegion, begins_line
from toolglot.grammars.fixed import with_fixes
from toolglot.grammars.heard import Heard, Parsed, Tools
from toolglot.grammars.json_calls import read_json_calls
from toolglot.grammars.python_calls import LABELS, begins_call, only_known, read_listing
from toolglot.grammars.unfold_python import PythonCalls
from toolglot.text.python_end import PythonEnd


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
    __slots__ = ("_form", "_held", "_scan", "_stops", "examined")

    def __init__(self, form: MarkedPython) -> None:
        self._form = form
        self._stops = _stops(form.closer)
        self._scan = PythonEnd()
        self._held = ""  # what may be the beginning of the closer
        self.examined = 0

    def feed(self, text: str, /) -> int:
        held, closer = len(self._held), self._form.closer
        text = self._held + text
        self._held = ""
        self.examined += len(text)
        at, size = 0, len(text)
        while at < size:
            if self._scan.in_string:
                at = self._scan.step(text, at, size)
                continue
            found = self._stops.search(text, at)
            if found is None:
                self._held = _beginning(text, at, closer)
                return -1
            if found[0] == closer:
                return found.end() - held
            at = self._scan.step(text, found.start(), size)
        return -1

    def unfolding(self, tools: Tools) -> PythonCalls:
        return PythonCalls(0, tools)

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> Parsed:
        opener, closer = self._form.opener, self._form.closer
        body = text.removeprefix(opener)
        if complete:
            return _read(body.removesuffix(closer), opener, tools, whole=True)
        found = _read(body, opener, tools, whole=False)
        if found.calls or closer not in body:
            return found
        inside, _, rest = body.partition(closer)  # a quote too many hid the end
        return msgspec.structs.replace(_read(inside, opener, tools, whole=True), rest=rest)


@cache
def _stops(closer: str) -> re.Pattern[str]:
    brackets = r"""[\[\](){}"']"""
    return re.compile(f"{re.escape(closer)}|{brackets}")


def _beginning(text: str, at: int, marker: str) -> str:
    """The end of `text` that the marker may begin with."""
    start = text.find(marker[:1], max(at, len(text) - len(marker) + 1))
    while start >= 0:
        if marker.startswith(text[start:]):
            return text[start:]
        start = text.find(marker[:1], start + 1)
    return ""


def _read(body: str, opener: str, tools: Tools, *, whole: bool) -> Parsed:
    """The calls of a marked body; a problem where it is meant as calls and can't be read."""
    first = body.lstrip("[ \t\r\n")[:1]
    if first == "<" or (first in {"", "]"} and whole):
        return Parsed()  # another family's tags, or nothing at all
    reading = read_json_calls(body, tools, weak=False) if first == "{" else None
    if reading is not None and (whole or reading.end >= len(body)):
        return Parsed(_told(reading.calls, whole), rest=body[reading.end :])
    calls: list[Heard] = []
    rest, at = "", 0
    while at < len(body):
        listing = read_listing(body, tools, start=at)
        if not listing.calls or (listing.stopped and not listing.ended and not body.startswith(opener, listing.end)):
            break
        calls += listing.calls
        at = body.find(opener, listing.end)  # one that did not close, and the next
        rest += body[listing.end : at] if at >= 0 else body[listing.end :]
        if at < 0:
            return Parsed(_told(calls, whole), rest=rest)
        at += len(opener)
    return Parsed(
        problem="between the markers stands no list of calls" if whole else "the text ended before the call was whole"
    )


def _told(calls: list[Heard], whole: bool) -> tuple[Heard, ...]:
    if whole:
        return tuple(calls)
    return tuple(with_fixes(call, "closed_truncated") if call.closed else call for call in calls)


# -- without markers


class BareList:
    """`[f(a=1), g(b=2)]` at the start of a line; braces and parentheses will do."""

    openers = ("[", "(", "{")
    at_line_start = True

    def open(self, opener: str, /) -> BareRegion:
        return BareRegion(opener, _plausible, _read_bare)


def _plausible(head: str) -> bool | None:
    """A call comes first, perhaps in quotes, perhaps behind a label such as `Calling tool:`."""
    inside = head.lstrip("[({ \t\r\n")
    lowered = inside.lower()
    label = next((label for label in LABELS if lowered.startswith(label)), "")
    verdict = begins_call(inside[len(label) :].lstrip(" \"'"), 0)
    return None if verdict is False and any(one.startswith(lowered) for one in LABELS) else verdict


def _read_bare(text: str, tools: Tools, complete: bool) -> Parsed:
    listing = read_listing(text, tools)
    if not listing.calls or not only_known(listing.calls, tools):
        return Parsed()
    if listing.stopped and not begins_line(text, listing.end):
        return Parsed()
    if not tools and not (complete and listing.plain and not any(call.fixes for call in listing.calls)):
        return Parsed()
    return Parsed(listing.calls, rest=text[listing.end :])


BARE_LIST = BareList()
