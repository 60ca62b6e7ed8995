"""JSON at the start of a line, without markers: an object, an array of calls, or several values in a row."""

from __future__ import annotations

import re

from toolglot.grammars.bare import BareRegion, begins_line
from toolglot.grammars.json_calls import read_json_calls, string_of
from toolglot.grammars.parsed_call import Region, RegionResult, Tools, with_fixes

_PLAUSIBLE = re.compile(r"""(?:\[\s*+)*(?:\{\s*+)*(?:["']|(?<=[{\s])[^\W\d][\w.\-$]*+\s*+:)""")
_OPEN = re.compile(r"""(?:\[\s*+)*(?:\{\s*+)*(?:(?<=[{\s])[^\W\d][\w.\-$]*+\s*+)?\Z""")


_IN_STRING = '"{\\"'  # an object that is escaped as the content of a string
_STRING_END = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


class BareJson:
    openers = ("{", "[", _IN_STRING)
    at_line_start = True

    def open(self, opener: str, /) -> Region:
        return StringRegion() if opener == _IN_STRING else BareRegion(opener, plausible, read)


class StringRegion:
    """A JSON string, up to its closing quote."""

    __slots__ = ("_buffer", "examined")

    def __init__(self) -> None:
        self._buffer = ""  # a backslash
        self.examined = 0

    def feed(self, text: str, /) -> int:
        self.examined += len(text)
        buffered, text = len(self._buffer), self._buffer + text
        found = _STRING_END.match(text)
        if found is not None:
            return found.end() - buffered
        slashes = len(text) - len(text.rstrip("\\"))
        self._buffer = "\\" if slashes % 2 else ""
        return -1

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> RegionResult:
        inner = string_of(text)
        reading = read_json_calls(inner, tools) if inner is not None and tools else None
        if inner is None or reading is None or reading.end < len(inner):
            return RegionResult()
        return RegionResult(tuple(with_fixes(call, "unwrapped_string") for call in reading.calls))


def plausible(head: str) -> bool | None:
    """An object with its first key, or an array of objects or strings."""
    if _PLAUSIBLE.match(head):
        return True
    return None if _OPEN.match(head) else False


def read(text: str, tools: Tools, complete: bool) -> RegionResult:
    reading = read_json_calls(text, tools, pairs=True)
    if reading is None:
        return RegionResult()
    rest = text[reading.end :]
    if rest.strip() and not begins_line(text, reading.end):
        return RegionResult()  # it is part of a sentence
    if not tools and any(call.fixes or not call.closed for call in reading.calls):
        return RegionResult()  # without tools to check against, only well-formed calls count
    return RegionResult(tuple(reading.calls), rest=rest, entry=reading.paired)


BARE_JSON = BareJson()
