"""Decide whether a call in text is meant or only quoted: by its place, its form and what follows it.

The meaning of words plays no part. A marked form (tags, special tokens) is a call where it stands as a block. A weak form (a
call expression, JSON) has no marker, so it must stand on lines of its own, and no long text may follow it. A form that the
prompt asked for, or that is native to the model, is trusted more than one that nobody asked for.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from toolglot.grammars.fences import JSON_WORDS, TOOL_WORDS
from toolglot.pipeline.response.text_before import Place

SEEN = 1000  # characters behind a call that are examined
SOME = 10  # characters behind a marked form, without white space, that show whether it stands in a sentence
_LONG = 120  # more text than this behind a call: it is an example that is explained
_QUOTES = frozenset("\"'`\u201c\u201e\u2018\u201a\u00ab\u2039\u300c\u300e\u300a")
_SPACED_QUOTES = ("\u00ab", "\u2039")  # French writes a space behind them
_QUOTED_LINES = (">", "|", "#", "+", "-")  # quotations, tables, headings and comments, diffs and lists
_COLONS = (":", "\uff1a")
_QUESTIONS = ("?", "\uff1f")
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
    trusted: bool = False  # the prompt asked for this form, or it is native to the model
    strict: bool = False  # the policy


def quoted_by_place(place: Place) -> str | None:
    """The reason if any call at this place is quoted, whatever follows it."""
    if place.in_comment:
        return "inside an HTML comment"
    if place.in_code_span:
        return "inside a code span"
    if place.fence is not None and not place.fence.only_calls:
        return "inside a code fence"
    if place.last in _QUOTES or place.line.rstrip().endswith(_SPACED_QUOTES):
        return "directly behind a quotation mark"
    line = place.line.lstrip()
    return f"in a line that begins with {line[0]}" if line.startswith(_QUOTED_LINES) else None


def needs_text_behind(place: Place, form: Form) -> Literal["none", "some", "all"]:
    """How much of the text behind the call decides: none, `SOME` characters, or all of it."""
    if form.weak or place.fence is not None or place.reasoning_closer:
        return "all"
    if form.trusted:
        return "none"
    return "all" if form.strict else "some"


def quoted_reason(place: Place, form: Form, after: str) -> str | None:
    """The reason if the call is quoted. None: it is meant. `after`: the text behind it, as much as is needed."""
    reason = quoted_by_place(place)
    if reason is not None or needs_text_behind(place, form) == "none":
        return reason
    if place.reasoning_closer and after.strip() not in ("", place.reasoning_closer):
        return "in the reasoning, and more text follows"
    if place.fence is None:
        reason = _in_a_line(place, form, after)
    if reason is not None or (form.trusted and place.fence is None):
        return reason
    return _by_what_follows(place, form, after) or (_among_entries(place, after) if form.entry else None)


def _in_a_line(place: Place, form: Form, after: str) -> str | None:
    rest = "" if form.text.endswith("\n") else after.partition("\n")[0]
    if not form.weak:  # special tokens stand between texts without a space
        is_spaced = not place.starts_line and place.last.isspace() and rest[:1].isspace()
        return "in the middle of a line" if is_spaced and _some(rest) else None
    if not place.starts_line and not _behind_colon(place.line, form.text):
        return "in the middle of a line"
    if rest.strip(" \t\r."):
        return "text follows it on the same line"
    if place.starts_line and len(place.line.expandtabs(4)) >= _INDENTED_CODE and not form.trusted:
        return "in indented code"
    if place.starts_line and place.in_quotation and not form.trusted and _FENCE.match(form.text) is None:
        return "it continues a quotation"
    return None


def _behind_colon(line: str, text: str) -> bool:
    """Whether the form stands behind a colon, perhaps as a list of calls: its opening bracket is before it."""
    line = line.rstrip()
    return (line.removesuffix("[").rstrip() if text.rstrip().endswith("]") else line).endswith(_COLONS)


def _some(text: str) -> bool:
    return sum(map(len, text[:SEEN].split())) > SOME


def _by_what_follows(place: Place, form: Form, after: str) -> str | None:
    """Models often go on as if they had the result, so a short text may follow."""
    behind, closed_fence, above = after.strip(), True, ""
    if place.fence is not None:
        above = place.fence.above
        closing = _FENCE.match(behind)
        behind = behind[closing.end() :].lstrip() if closing is not None and not closing[1] else behind
        closed_fence = not place.fence.info if not form.weak else place.fence.info in _NOT_CODE
        closed_fence = closed_fence and not (form.strict and not form.trusted)
    elif form.weak and not form.entry and (fence := _FENCE.match(form.text)) is not None:
        closed_fence, above = fence[1].strip().lower() in _NOT_CODE, place.above
    if not closed_fence and (behind or form.entry):
        return "inside a code fence that does not end the reply"
    if behind and above.endswith(_QUESTIONS if place.fence is None else (*_QUESTIONS, *_COLONS)):
        return "a code fence between a question or a colon and more text"
    if behind[:1].islower() and (form.weak or (after[:1].isspace() and _some(behind))):
        return "the sentence goes on behind it"
    is_explained = len(behind) > _LONG and not place.first and (form.weak or form.strict or place.fence is not None)
    return "a long text follows it" if is_explained else None


def _among_entries(place: Place, after: str) -> str | None:
    above, below = place.line.rstrip() or place.above, after.strip().partition("\n")[0]
    indented = bool(place.line) and place.starts_line and bool(above)
    if indented or above.endswith(_OPENED) or below.startswith(_CLOSED) or _ENTRY.fullmatch(above) or _ENTRY.fullmatch(below):
        return "one entry among others"
    return None
