"""Whether two values are written alike, as those of two calls of one tool are: both quoted, both in capitals, both money."""

from __future__ import annotations

import re

from toolglot.pipeline.relevance import words_of
from toolglot.pipeline.said import Said

_QUOTES = "\"'“”‘’`"
_NUMBER = re.compile(r"[-+]?[\d.,]*\d(?: [a-z]+)?")
_LONG = 9  # digits that nobody counts with
_MONEY = re.compile(r"[$€£¥]\s?$")
_BEFORE = re.compile(r"([^\W\d_]+)\W*$")
_AFTER = re.compile(r"[\s-]?(%|°?[^\W\d_]+)")


def same_form(said: Said, place: tuple[int, int], other: Said, elsewhere: tuple[int, int]) -> bool:
    """Or at least behind the same word, or before it."""
    if _form(said.text, place) == _form(other.text, elsewhere):
        return True
    return any(
        (one := pattern(said.text, place)) and one == pattern(other.text, elsewhere) for pattern in (_word_before, _word_after)
    )


def same_frame(said: Said, place: tuple[int, int], other: Said, elsewhere: tuple[int, int]) -> bool:
    """Written alike, and beside the same word: 12 months and 8 months, to 18 and to 20 degrees, in Oslo and in Rome."""
    form = _form(said.text, place)
    if form != _form(other.text, elsewhere):
        return False
    units = (_word_after(said.text, place), _word_after(other.text, elsewhere)) if form == "number" else ("", "")
    if all(units):
        return units[0] == units[1]
    return _word_before(said.text, place) == _word_before(other.text, elsewhere) != ""


def _form(text: str, place: tuple[int, int]) -> str:
    start, end = place
    value = text[start:end].strip(_QUOTES)
    if value != text[start:end] or text[start - 1 : start] in tuple(_QUOTES):
        return f"quoted {_form(value, (0, len(value)))}"
    if value.isdigit() and len(value) >= _LONG:
        return "code"
    if _NUMBER.fullmatch(value) or "%" in value:
        return (
            "money"
            if _MONEY.search(text[max(0, start - 4) : start])
            else "percent"
            if "%" in value or text[end : end + 1] == "%"
            else "number"
        )
    if any(sign.isdigit() for sign in value):
        return "code"
    if value.isupper() and len(value) > 1:
        return "capitals"
    return "name" if value[:1].isupper() else "words"


def _word_before(text: str, place: tuple[int, int]) -> str:
    match = _BEFORE.search(text[max(0, place[0] - 20) : place[0]])
    return match[1].lower() if match else ""


def _word_after(text: str, place: tuple[int, int]) -> str:
    match = _AFTER.match(text, place[1])
    return next(iter(words_of(match[1])), match[1]) if match else ""
