"""Translates regular expressions of other dialects than JSON Schema's, where they can only mean one thing.

`\\Z` is Python's end of text. A hyphen after `\\w` in a class, and a brace that starts no count, are literal in JavaScript.
"""

from __future__ import annotations

import re

_COUNT = re.compile(r"\{\d*(?:,\d*)?\}")  # `{,3}` stays, and can't be compiled: Python counts there, JavaScript does not
_ESCAPE = re.compile(r"\\(?:[pPux]\{[^}]*\}|.|$)", re.DOTALL)
_COMMENT = re.compile(r"\(\?#[^)]*\)")
_CLASS_ESCAPES = frozenset("wWdDsS")


def translated(pattern: str) -> str:
    """The pattern in the form that can be compiled; the same text if nothing in it is known to differ."""
    out: list[str] = []
    at, in_class, after_set = 0, False, False
    while at < len(pattern):
        char = pattern[at]
        escape = _ESCAPE.match(pattern, at) if char == "\\" else None
        piece = escape[0] if escape else char
        was_set, after_set = after_set, False
        if escape:
            after_set = in_class and piece[1:] in _CLASS_ESCAPES
            out.append("$" if piece == r"\Z" and not in_class else piece)
        elif in_class:
            in_class = char != "]"
            out.append(r"\-" if char == "-" and was_set else char)
        elif char == "[":
            in_class = True
            out.append(char)
        elif char == "(" and (comment := _COMMENT.match(pattern, at)):
            piece = comment[0]
        elif char == "{" and (count := _COUNT.match(pattern, at)):
            piece = count[0]
            out.append(piece)
        else:
            out.append("\\" + char if char in "{}" else char)
        at += len(piece)
    return "".join(out)
