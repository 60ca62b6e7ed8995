"""The words of a text, and which of them in a row are names."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import msgspec

from toolglot.pipeline.plain_words import FUNCTION_WORDS

_TITLES = frozenset({"Mr", "Mrs", "Ms", "Dr", "Prof", "St"})


class Word(msgspec.Struct, frozen=True):
    text: str
    start: int
    end: int
    first: bool  # of its sentence
    low: str  # in small letters


def ended(run: list[Word]) -> Iterator[list[Word]]:
    """Without joining words at the end; and where "and" may join two names, both apart as well."""
    for joint, words in groupby(run, key=lambda word: word.low in ("and", "y")):
        held = [] if joint else list(words)
        while held and not (held[-1].text[0].isupper() or held[-1].text[0].isdigit()):
            held.pop()
        if any(word.text[0].isupper() for word in held):
            yield held


def is_initial(text: str) -> bool:
    return text in _TITLES or (len(text) == 1 and text.isupper() and text != "I")


def is_titled(text: str) -> bool:
    """A plain word that has a capital within a sentence: Both Sides Now."""
    return text.istitle() and text.isalpha() and len(text) > 1 and text.lower() in FUNCTION_WORDS
