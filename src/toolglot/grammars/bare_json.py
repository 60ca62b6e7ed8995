"""JSON at the start of a line, without markers: an object, an array of calls, or several values in a row."""

from __future__ import annotations

import re

from toolglot.grammars.bare import BareRegion, begins_line
from toolglot.grammars.json_calls import read_json_calls
from toolglot.grammars.parsed_call import RegionResult, Tools

_PLAUSIBLE = re.compile(r"""(?:\[\s*+)*(?:\{\s*+)*(?:["']|(?<=[{\s])[^\W\d][\w.\-$]*+\s*+:)""")
_OPEN = re.compile(r"""(?:\[\s*+)*(?:\{\s*+)*(?:(?<=[{\s])[^\W\d][\w.\-$]*+\s*+)?\Z""")


class BareJson:
    openers = ("{", "[")
    at_line_start = True

    def open(self, opener: str, /) -> BareRegion:
        return BareRegion(opener, plausible, read)


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
