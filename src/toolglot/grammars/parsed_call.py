"""The interface of a grammar, and the result of parsing.

The scanner (pipeline/response/tool_call_scanner.py) searches the text for a grammar's openers. At an opener it opens a region
and feeds it the text that follows, until the region reports its end. Then the region parses its whole text at once, so a
stream and a whole text give the same result. While streaming, each character is examined once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from toolglot.core.tools import Tool

Tools = Mapping[str, Tool]  # by full name; empty if none are registered


class ParsedCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call as a model wrote it, before validation."""

    name: str
    arguments: str  # the JSON text as written, even if invalid; for other notations, converted to JSON
    raw: str = ""  # the text as the model wrote it
    id: str | None = None
    fixes: tuple[str, ...] = ()  # what the grammar repaired, as reason codes
    closed: bool = True  # False: the text ended inside the call


def with_fixes(call: ParsedCall, *fixes: str) -> ParsedCall:
    """The call with these codes added to its fixes, each once."""
    codes = tuple(dict.fromkeys((*call.fixes, *fixes)))
    return call if codes == call.fixes else msgspec.structs.replace(call, fixes=codes)


class RegionResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of parsing a region. No calls and no problem: it is not a call, and is emitted as text."""

    calls: tuple[ParsedCall, ...] = ()
    problem: str | None = None  # a sentence: it looks like a call, but can't be parsed
    rest: str = ""  # text in the region that is not part of any call
    entry: bool = False  # a name and an object, with nothing else to mark a call: entries in a file look the same
    value_ends: tuple[str, ...] = ()  # what ends its values, which are raw text: if the text behind has one, a value went on


class Region(Protocol):
    """A part of the text that may be a call."""

    def feed(self, text: str, /) -> int:
        """The offset in `text` just after the region's end, or -1 if it continues. Each character is examined once."""

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> RegionResult:
        """Parses the region's whole text, with its opener. `complete`: the end was found; otherwise the text was cut off."""


class Grammar(Protocol):
    """A notation: its openers, and how to start a region at one."""

    @property
    def openers(self) -> tuple[str, ...]: ...
    def open(self, opener: str, /) -> Region: ...
