"""Find calls that may be torn from a value: a value contained what looks like its end, and went on behind it.

A value that is cut must not leave as if it were whole, and neither may a call that stands inside it.
"""

from __future__ import annotations

import re
from itertools import accumulate, groupby

import msgspec

from toolglot.grammars.parsed_call import RegionResult
from toolglot.pipeline.response.tool_call_scanner import CallFound, SettledPiece

_TORN = "a value contains the marks of a call: where it ends is not clear"
_STRING_END = '"}'  # what ends the values of a call that no marker ends
_BRACKETS = re.compile(r"""[({\[]|(?:["']\s*+)?[)}\]]++""")
_OPEN_END = tuple(")}]\"'")


def value_ends(call: CallFound) -> tuple[str, ...]:
    """What ends the call's values. If the text behind it has one, a value may have gone on."""
    ends = call.parsed.value_ends
    open_ended = bool(call.parsed.calls) and call.text.rstrip(" \t\r\n,;").endswith(_OPEN_END)
    return (*ends, _STRING_END) if open_ended else ends


def without_torn(pieces: list[SettledPiece]) -> list[SettledPiece]:
    """The pieces without calls that may be torn from a value.

    If the text behind a call contains what ends a value, a value contained it before, and everything from there to here may be
    part of that value: the end of the first call, and all calls behind it.
    """
    if len(pieces) < 2:
        return pieces
    found = _merged(pieces)
    first: dict[str, int] = {}  # what ends a value, and the first call with such values
    torn = [0] * (len(found) + 1)  # how many stretches begin, less those that end
    for at, piece in enumerate(found):
        behind = piece.parsed.rest if isinstance(piece, CallFound) else piece.text
        torn[min([first.pop(end) for end in tuple(first) if _has_end(behind, end)], default=at)] += 1
        torn[at] -= 1
        if isinstance(piece, CallFound):
            first |= {end: at for end in value_ends(piece) if end not in first}
    return [
        msgspec.structs.replace(piece, parsed=RegionResult(problem=_TORN)) if inside and isinstance(piece, CallFound) else piece
        for piece, inside in zip(found, accumulate(torn), strict=False)
    ]


def _has_end(text: str, end: str) -> bool:
    return _ends_string(text) if end == _STRING_END else end in text


def _ends_string(text: str) -> bool:
    """Whether a quote stands before brackets that close more than this text has opened."""
    depth = 0
    for found in _BRACKETS.finditer(text):
        run = found[0]
        if run in "([{":
            depth += 1
            continue
        depth -= len(run.lstrip("\"' \t\r\n"))
        if depth < 0:
            if run[0] in "\"'":
                return True
            depth = 0 if run[0] == ")" else depth  # prose numbers its lists: `1)`
    return False


def _merged(pieces: list[SettledPiece]) -> list[SettledPiece]:
    """The same with adjacent texts of a kind joined."""
    found: list[SettledPiece] = []
    for kind, group in groupby(pieces, type):
        same = list(group)
        found += same if kind is CallFound else [kind("".join(piece.text for piece in same))]
    return found
