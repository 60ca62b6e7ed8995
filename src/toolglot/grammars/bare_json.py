"""JSON that begins a line, with nothing to mark it: an object or an array of calls, or several in sequence."""

from __future__ import annotations

import re

from toolglot.grammars.bare import BareRegion, begins_line
from toolglot.grammars.heard import Parsed, Tools
from toolglot.grammars.json_calls import read_json_calls

_PLAUSIBLE = re.compile(r"""(?:\[\s*+)*+(?:\{\s*+)*+(?:["']|(?<=[{\s])[^\W\d][\w.\-$]*+\s*+:)""")
_OPEN = re.compile(r"""(?:\[\s*+)*+(?:\{\s*+)*+(?:(?<=[{\s])[^\W\d][\w.\-$]*+\s*+)?+\Z""")


class BareJson:
    openers = ("{", "[")
    at_line_start = True

    def open(self, opener: str, /) -> BareRegion:
        return BareRegion(opener, plausible, read)


def plausible(head: str) -> bool | None:
    """An object whose first key comes, or an array of objects or strings."""
    if _PLAUSIBLE.match(head):
        return True
    return None if _OPEN.match(head) else False


def read(text: str, tools: Tools, complete: bool) -> Parsed:
    reading = read_json_calls(text, tools, pairs=True)
    if reading is None:
        return Parsed()
    rest = text[reading.end :]
    if rest.strip() and not begins_line(text, reading.end):
        return Parsed()  # a sentence goes on behind it
    if not tools and any(call.fixes or not call.closed for call in reading.calls):
        return Parsed()  # with nothing to check it against, only the plain form counts
    return Parsed(tuple(reading.calls), rest=rest, entry=reading.paired)


BARE_JSON = BareJson()
