"""An opener, calls as JSON objects or an array of them, and an optional closer."""

from __future__ import annotations

import re

from toolglot.grammars.call_objects import USUAL, Keys, calls_in
from toolglot.grammars.json_calls import is_schema
from toolglot.grammars.json_region import Frame, JsonRegion, meanings, value_of
from toolglot.grammars.json_streaming import JsonStream, stream_objects
from toolglot.grammars.loose_json import Stops
from toolglot.grammars.parsed_call import ParsedCall, RegionResult, Tools, with_fixes

_BETWEEN = meanings(noise=("}", "]", "</parameter>", "</function>"), join=(",", ";", "```"), value=("{", "["))
_EXPRESSION = re.compile(r"\s*\[?\s*[A-Za-z_][\w.]*\(")  # a Python call, which another grammar parses
_QUOTED_KEY = re.compile(r"""["']\w+["']\s*:""")


class TaggedJson:
    """One region may contain several values, with or without commas or semicolons between them."""

    __slots__ = ("at_line_start", "closers", "frame", "keys", "must_read", "openers")

    def __init__(
        self,
        openers: tuple[str, ...],
        closers: tuple[str, ...] = (),
        keys: Keys = USUAL,
        *,
        lead: str = "",  # an optional marker between opener and value
        must_read: bool = False,  # everything between the markers is a call; if it can't be parsed, that is a problem
        at_line_start: bool = False,
    ) -> None:
        self.openers, self.closers, self.keys = openers, closers, keys
        self.must_read, self.at_line_start = must_read, at_line_start
        tail = _BETWEEN | meanings(end=closers, head=openers)
        self.frame = Frame(
            re.compile(r"\S" if must_read else r'[{\["]'),
            re.compile(rf"\s*(?:{re.escape(lead)}\s*)?(?:```\w*\s*)?"),
            re.compile(r"[ \t]*[^\s{\[]" if must_read else rf"\s*[^\s{{\[\"`{re.escape(lead[:1])}]"),
            tail,
            Stops((*closers, *openers)),
            must_read,
            values='{["',
        )

    def open(self, opener: str) -> TaggedRegion:
        return TaggedRegion(self, opener)


class TaggedRegion:
    def __init__(self, grammar: TaggedJson, opener: str) -> None:
        self._grammar = grammar
        self._opener = opener
        self._region = JsonRegion(grammar.frame, opener)
        self.feed = self._region.feed

    def stream_calls(self, tools: Tools) -> JsonStream | None:
        return stream_objects(self._region, self._opener, self._grammar.keys, tools)

    @property
    def examined(self) -> int:
        return self._region.examined

    def parse(self, text: str, tools: Tools, *, complete: bool) -> RegionResult:
        region, calls, rest = self._region, list[ParsedCall](), None
        region.finish()
        for mark in region.marks:
            if mark.value < 0 or rest is not None:
                break
            value, cut = value_of(text, mark, self._grammar.closers)
            found = calls_in(value, self._grammar.keys, ended=mark.end >= 0 or cut >= 0) if not mark.raw else []
            found = [call for call in found if not is_schema(call.arguments, tools.get(call.name))]  # described, not called
            if not found and calls:
                rest = text[mark.value :]
            elif cut >= 0:
                rest = text[cut:]
            missing = bool(self._grammar.closers) and cut < 0 and not mark.closed
            calls += [with_fixes(call, "closed_truncated") for call in found] if missing else found
        if not calls:
            problem = self._problem(text, complete=complete)
            return RegionResult(problem=problem, rest=region.rest_of(text) if problem else "")
        return RegionResult(tuple(calls), rest=region.rest_of(text) if rest is None else rest)

    def _problem(self, text: str, *, complete: bool) -> str | None:
        """Why there is no call although it looks like one."""
        grammar, at = self._grammar, next((mark.value for mark in self._region.marks if mark.value >= 0), -1)
        if at < 0 or _EXPRESSION.match(text, at):
            return None
        if not complete:
            return "the text ends before the call has a name" if grammar.must_read or _QUOTED_KEY.search(text, at) else None
        if grammar.must_read:
            return "the text between the markers of a call is not JSON with a name"
        return "the JSON after the marker of a call has no tool name" if _QUOTED_KEY.search(text, at) else None


TOOL_CALL = TaggedJson(("<tool_call>",), ("</tool_call>",))  # one instance for all dialects that share the tag
TOOL_CALLS = TaggedJson(("<tool_calls>",), ("</tool_calls>",))
TOOL_CALLS_TOKEN = TaggedJson(("[TOOL_CALLS]",))
TOOL_CALL_TOKEN = TaggedJson(("<|tool_call|>",))
