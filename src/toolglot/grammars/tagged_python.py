"""Calls as Python where a family's markers promise JSON: models mix the two, and Llama's built-in tools are written so."""

from __future__ import annotations

import re

import msgspec

from toolglot.grammars.heard import Heard, Parsed, Tools
from toolglot.grammars.json_region import Frame, JsonRegion, meanings
from toolglot.grammars.loose_json import Stops
from toolglot.grammars.python_calls import only_known, read_listing
from toolglot.grammars.unfold_json import UnfoldJson
from toolglot.grammars.unfold_python import PythonCalls

_BODY = re.compile(r"(?<![\w.])(?:\[(?=\s*[A-Za-z_][\w.]*\()|[A-Za-z_](?=[\w.]*\())")
_HOPELESS = r"(?:[^\s\[A-Za-z_]|\[\s*[^\sA-Za-z_]|\[?\s*[A-Za-z_][\w.]*[^\w.(])"
_BUILTIN = ".call"  # brave_search.call(query="...")


class TaggedPython:
    """Gives up as soon as what follows the opener can't be a call."""

    __slots__ = ("frame", "openers")

    def __init__(self, opener: str, closer: str = "", *, lead: str = "") -> None:  # lead: may stand before the name
        self.openers, closers = (opener,), (closer,) if closer else ()
        tail = meanings(end=closers, back=self.openers)
        head = rf"\s*+(?:{re.escape(lead)})?+"
        self.frame = Frame(_BODY, re.compile(head), re.compile(head + _HOPELESS), tail, Stops((*closers, opener)), raw=True)

    def open(self, opener: str) -> TaggedPythonRegion:
        return TaggedPythonRegion(self.frame, opener)


class TaggedPythonRegion:
    def __init__(self, frame: Frame, opener: str) -> None:
        self._opener = opener
        self._region = JsonRegion(frame, opener)
        self.feed = self._region.feed

    def unfolding(self, tools: Tools) -> UnfoldJson:
        return UnfoldJson(self._region, self._opener, lambda _, at: PythonCalls(at, tools, _tool_name), raw=True)

    def parse(self, text: str, tools: Tools, *, complete: bool) -> Parsed:
        mark = self._region.marks[0]
        if mark.value < 0:
            return Parsed()
        value = text[mark.value : mark.end if mark.end >= 0 else len(text)]
        listing = read_listing(value, tools)
        calls = tuple(map(_builtin, listing.calls))
        if not calls or not only_known(calls, tools):
            return Parsed()
        if value[listing.end :].strip():
            return Parsed(calls, rest=text[mark.value + listing.end :])
        return Parsed(calls, rest=self._region.rest_of(text))


def _builtin(call: Heard) -> Heard:
    return msgspec.structs.replace(call, name=_tool_name(call.name))


def _tool_name(written: str) -> str:
    return written.removesuffix(_BUILTIN)
