"""Decide whether a call in text is meant or only quoted: by its place, its form and what follows it.

The meaning of words plays no part. A marked form (tags, special tokens) is a call where it stands as a block. A weak form (a
call expression, JSON) has no marker, so it must stand on lines of its own, and no long text may follow it.
"""

from __future__ import annotations

import re

import msgspec

from toolglot.grammars.fences import JSON_WORDS, TOOL_WORDS
from toolglot.pipeline.response.text_before import Place

SEEN = 1000  # characters behind a call that are examined
_LONG = 200  # more text than this behind a call: it is an example that is explained
_QUOTES = frozenset("\"'`\u201c\u201e\u2018\u201a\u00ab\u2039\u300c\u300e\u300a")
_QUOTED_LINES = (">", "|", "#", "+", "-")  # quotations, tables, headings and comments, diffs and lists
_COLONS = (":", "\uff1a")
_INDENTED_CODE = 4  # spaces
_NOT_CODE = JSON_WORDS | TOOL_WORDS | {"tool_code"}  # info strings of fences
_FENCE = re.compile(r"(?:`{3,}+|~{3,}+)[ \t]*+([^`\n]*+)")
_ENTRY = re.compile(r"""\s*+["'`*]*+[\w.\-]++["'`*]*+[ \t]*+[:=][ \t]*+(?:["'\[{].*+|\S++)\s*+""")
_OPENED, _CLOSED = ("{", "[", "(", ","), ("}", "]", ")", ",")


class Form(msgspec.Struct, frozen=True):
    """How the call is written."""

    text: str
    weak: bool = False  # without a marker
    entry: bool = False  # a name and an object: entries of a file look the same
    taught: bool = False  # the prompt asks for this form


def quoted_by_place(place: Place) -> str | None:
    """The reason if any call at this place is quoted, whatever follows it."""
    if place.in_comment:
        return "inside an HTML comment"
    if place.in_code_span:
        return "inside a code span"
    if place.fence is not None and not place.fence.only_calls:
        return "inside a code fence"
    if place.last in _QUOTES:
        return "directly behind a quotation mark"
    line = place.line.lstrip()
    return f"in a line that begins with {line[0]}" if line.startswith(_QUOTED_LINES) else None


def depends_on_end(place: Place, *, weak: bool) -> bool:
    """Whether the text behind the call decides, too."""
    return weak or place.fence is not None


def quoted_reason(place: Place, form: Form, after: str) -> str | None:
    """The reason if the call is quoted. None: it is meant. `after`: the text behind it."""
    reason = quoted_by_place(place)
    if reason is not None or not depends_on_end(place, weak=form.weak):
        return reason
    if place.fence is None:
        reason = _in_a_line(place, form, after)
    if reason is not None or form.taught:
        return reason
    return _by_what_follows(place, form, after) or (_among_entries(place, after) if form.entry else None)


def _in_a_line(place: Place, form: Form, after: str) -> str | None:
    if not place.starts_line and not place.line.rstrip().endswith(_COLONS):
        return "in the middle of a line"
    if not form.text.endswith("\n") and after.partition("\n")[0].strip(" \t\r."):
        return "text follows it on the same line"
    if place.starts_line and len(place.line.expandtabs(4)) >= _INDENTED_CODE and not form.taught:
        return "in indented code"
    return None


def _by_what_follows(place: Place, form: Form, after: str) -> str | None:
    """Models often go on as if they had the result, so a short text may follow."""
    behind = after.strip()
    fence = None if form.entry else _FENCE.match(form.text)
    info = fence[1].strip().lower() if fence is not None else ""
    if place.fence is not None:
        info, closing = place.fence.info, _FENCE.match(behind)
        behind = behind[closing.end() :].lstrip() if closing is not None and not closing[1] else behind
    if info not in _NOT_CODE and (behind or form.entry):
        return "inside a file" if form.entry else "inside a code fence that does not end the reply"
    if behind[:1].islower():
        return "the sentence goes on behind it"
    return "a long text follows it" if len(behind) > _LONG and not place.first else None


def _among_entries(place: Place, after: str) -> str | None:
    above, below = place.line.rstrip() or place.above, after.strip().partition("\n")[0]
    indented = bool(place.line) and place.starts_line and bool(above)
    if indented or above.endswith(_OPENED) or below.startswith(_CLOSED) or _ENTRY.fullmatch(above) or _ENTRY.fullmatch(below):
        return "one entry among others"
    return None
