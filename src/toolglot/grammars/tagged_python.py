"""Calls as Python between markers that are for JSON: models mix the two, and Llama calls its built-in tools this way."""

from __future__ import annotations

import re

import msgspec

from toolglot.grammars.call_streaming import ParserStream
from toolglot.grammars.json_region import Frame, JsonRegion, meanings
from toolglot.grammars.json_streaming import JsonStream
from toolglot.grammars.loose_json import Stops
from toolglot.grammars.parsed_call import ParsedCall, RegionResult, Tools
from toolglot.grammars.python_calls import only_known, read_listing
from toolglot.grammars.python_streaming import PythonCalls

_BODY = re.compile(r"(?<![\w.])(?:\[(?=\s*[A-Za-z_][\w.]*\()|[A-Za-z_](?=[\w.]*\())")
_NOT_A_CALL = r"(?:[^\s\[A-Za-z_]|\[\s*[^\sA-Za-z_]|\[?\s*[A-Za-z_][\w.]*[^\w.(])"
_BUILTIN = ".call"  # brave_search.call(query="...")


class TaggedPython:
    """A region is rejected as soon as the text after the opener can't be a call."""

    __slots__ = ("frame", "openers")

    def __init__(self, opener: str, closer: str = "", *, lead: str = "") -> None:  # lead: optional, before the name
        self.openers, closers = (opener,), (closer,) if closer else ()
        tail = meanings(end=closers, back=self.openers)
        head = rf"\s*+(?:{re.escape(lead)})?"
        not_head = rf"(?=(?P<lead>{head}))(?P=lead){_NOT_A_CALL}"  # a lookahead does not backtrack
        self.frame = Frame(_BODY, re.compile(head), re.compile(not_head), tail, Stops((*closers, opener)), raw=True)

    def open(self, opener: str) -> TaggedPythonRegion:
        return TaggedPythonRegion(self.frame, opener)


class TaggedPythonRegion:
    def __init__(self, frame: Frame, opener: str) -> None:
        self._opener = opener
        self._region = JsonRegion(frame, opener)
        self.feed = self._region.feed

    def stream_calls(self, tools: Tools) -> JsonStream:
        return JsonStream(self._region, self._opener, lambda _, at: ParserStream(PythonCalls(at, tools, _tool_name)), raw=True)

    def parse(self, text: str, tools: Tools, *, complete: bool) -> RegionResult:
        mark = self._region.marks[0]
        if mark.value < 0:
            return RegionResult()
        value = text[mark.value : mark.end if mark.end >= 0 else len(text)]
        listing = read_listing(value, tools)
        calls = tuple(map(_builtin, listing.calls))
        if not calls or not only_known(calls, tools):
            return RegionResult()
        if value[listing.end :].strip():
            return RegionResult(calls, rest=text[mark.value + listing.end :])
        return RegionResult(calls, rest=self._region.rest_of(text))


def _builtin(call: ParsedCall) -> ParsedCall:
    return msgspec.structs.replace(call, name=_tool_name(call.name))


def _tool_name(name: str) -> str:
    return name.removesuffix(_BUILTIN)
