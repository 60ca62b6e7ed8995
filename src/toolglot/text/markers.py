"""Finding any of many literal markers in text that streams: each character is looked at a bounded number of times.

What may still become a marker is held back, and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_DEEPEST_INDENT = 64  # what is indented further begins no line: it would have to be held back, and looked at again and again


class Markers:
    """A set of markers, compiled once. `at_line_start` are those that count only there, behind spaces."""

    __slots__ = ("_first", "_longest", "_pattern", "_prefixes", "at_line_start", "words")

    def __init__(self, anywhere: Iterable[str], at_line_start: Iterable[str] = (), words: Iterable[str] = ()) -> None:
        self.at_line_start = frozenset(at_line_start)
        self.words = frozenset(words)  # markers that must not continue a word: `f(` is not in `pdf(`
        every = sorted({*anywhere, *self.at_line_start, *self.words}, key=len, reverse=True)
        self._longest = len(every[0]) if every else 0
        self._prefixes = frozenset(marker[:size] for marker in every for size in range(1, len(marker)))
        self._first = re.compile("[" + "".join(sorted({re.escape(marker[0]) for marker in every})) + "]") if every else None
        self._pattern = re.compile("|".join(map(re.escape, every))) if every else None

    def find(self, text: str, at: int) -> tuple[int, str] | None:
        """The first marker at or behind `at`. `text` begins with the character before the text that is looked at."""
        while self._pattern is not None:
            found = self._pattern.search(text, at)
            if found is None:
                return None
            start, marker = found.start(), found[0]
            if self._may_stand(text, start, marker):
                return start, marker
            at = start + 1
        return None

    def _may_stand(self, text: str, start: int, marker: str) -> bool:
        if marker in self.at_line_start:
            before = _indent(text, start, 0) - 1
            return before >= 0 and text[before] == "\n"
        if marker in self.words:
            before_char = text[start - 1] if start else "\n"
            return not (before_char.isalnum() or before_char in "_.")
        return True

    def may_go_on(self, text: str, start: int) -> bool:
        """Whether all that stands from `start` on is the beginning of a marker."""
        return len(text) - start < self._longest and text[start:] in self._prefixes

    def held(self, text: str, at: int) -> int:
        """From where on `text` must be kept back, because a marker may begin there; its length where nothing need be."""
        size = len(text)
        if self._first is None:
            return size
        start = max(at, size - self._longest + 1)
        for found in self._first.finditer(text, start):
            if text[found.start() :] in self._prefixes:
                return self._with_indent(text, found.start(), at)
        return self._with_indent(text, size, at)

    def _with_indent(self, text: str, end: int, at: int) -> int:
        """Spaces at the start of a line are kept with what may follow them."""
        if not self.at_line_start:
            return end
        start = _indent(text, end, at)
        return start if start < end and start >= 1 and text[start - 1] == "\n" else end


def _indent(text: str, end: int, at: int) -> int:
    """Where the spaces before `end` begin."""
    start, least = end, max(at, end - _DEEPEST_INDENT)
    while start > least and text[start - 1] in " \t":
        start -= 1
    return start


class Joined:
    """Two sets of markers as one: those that are always listened for, and those of the tools at hand."""

    __slots__ = ("_sets",)

    def __init__(self, *sets: Markers) -> None:
        self._sets = sets

    def find(self, text: str, at: int) -> tuple[int, str] | None:
        found = [one for markers in self._sets if (one := markers.find(text, at)) is not None]
        return min(found, key=lambda one: (one[0], -len(one[1])), default=None)

    def may_go_on(self, text: str, start: int) -> bool:
        return any(markers.may_go_on(text, start) for markers in self._sets)

    def held(self, text: str, at: int) -> int:
        return min(markers.held(text, at) for markers in self._sets)
