"""Finds any of many literal markers in streamed text. Each character is examined a bounded number of times.

Only text that may still become a marker is buffered.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import groupby
from os.path import commonprefix

_SIGNS = frozenset("<({[=>`~")  # rare in prose, and in nearly all markers
_ANY_SIGN = re.compile(f"[{re.escape(''.join(sorted(_SIGNS)))}]")
_FEW = 8  # markers without a sign that are searched one by one
_NOWHERE = re.compile(r"(?!)")
_DISTINCT = 2  # enough letters to distinguish most line starts from markers
_MAX_INDENT = 64  # deeper indents don't count as line starts: they would be buffered and rescanned
_SHORT = 6  # prefixes up to this length are cached: nearly all that a chunk ends in are shorter


class Markers:
    """A set of markers, compiled once. `at_line_start`: markers that count only at the start of a line, after spaces."""

    def __init__(
        self,
        anywhere: Iterable[str],
        at_line_start: Iterable[str] = (),
        words: Iterable[str] = (),
        *,
        pattern: str | None = None,  # searched first, instead of the markers
    ) -> None:
        self.at_line_start = frozenset(at_line_start)
        self.words = frozenset(words)  # markers that must not continue a word: `f(` is not in `pdf(`
        self._sorted = sorted({*anywhere, *self.at_line_start, *self.words})
        self._first = pattern

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        """Compiled on demand: most sets are only joined with others, or never used."""
        if not self._sorted or self._first == "":
            return None
        return re.compile(_either(self._sorted) if self._first is None else self._first)

    def split(self, named: NamedMarkers) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """These and the nameless ones of others, as the arguments of a set that has both."""
        line_start = self.at_line_start | (named.at_line_start & named.without_name)
        words = self.words | (named.words & named.without_name)
        return frozenset({*self._sorted, *named.without_name} - line_start - words), line_start, words

    def find(self, text: str, at: int) -> tuple[int, str] | None:
        """The first marker at or after `at`. `text` begins with the character before the text that is scanned."""
        while self._pattern is not None:
            found = self._pattern.search(text, at)
            if found is None:
                return None
            start, marker = found.start(), found[0]
            if self._is_allowed(text, start, marker):
                return start, marker
            at = start + 1
        return None

    def _is_allowed(self, text: str, start: int, marker: str) -> bool:
        if marker in self.at_line_start:
            before = _indent(text, start, 0) - 1
            return before >= 0 and text[before] == "\n"
        if marker in self.words:
            before_char = text[start - 1] if start else "\n"
            return not (before_char.isalnum() or before_char in "_.")
        return True

    def is_prefix(self, text: str, start: int) -> bool:
        """Whether the text from `start` on is a prefix of a marker."""
        return self._prefixes.is_prefix(text, start)

    @cached_property
    def buffer_from(self) -> Callable[[str, int], int]:
        """The offset from which text must be buffered because a marker may begin there; the length if none may."""
        return self._prefixes.buffer_from

    @property
    def all_markers(self) -> list[str]:
        return self._sorted

    @cached_property
    def _prefixes(self) -> _Prefixes:
        return _Prefixes(self._sorted, indents=bool(self.at_line_start))


class _Prefixes:
    """Finds where the end of a text is a prefix of a marker. `indents`: some markers count only at the start of a line."""

    __slots__ = ("_indents", "_longest", "_short", "_sorted", "_threes")

    def __init__(self, markers: list[str], *, indents: bool) -> None:
        self._sorted = markers
        self._indents = indents
        self._longest = max(map(len, markers), default=0)
        heads = {marker[: _SHORT + 1] for marker in markers}
        self._short = frozenset([head[:size] for head in heads for size in range(1, len(head))])
        inner = "\0".join([marker[:-1] for marker in markers])
        self._threes = set(zip(inner, inner[1:], inner[2:], strict=False))  # the last characters of longer prefixes

    def is_prefix(self, text: str, start: int) -> bool:
        return len(text) - start < self._longest and self._begins(text[start:])

    def _begins(self, text: str) -> bool:
        """Whether this is a proper prefix of a marker: then it is one of the next marker in sort order."""
        if len(text) <= _SHORT or text[:_SHORT] not in self._short:
            return text in self._short
        at = bisect_right(self._sorted, text)
        return at < len(self._sorted) and self._sorted[at].startswith(text)

    def buffer_from(self, text: str, at: int) -> int:
        """Most texts need no search."""
        end = size = len(text)
        if tuple(text[-3:]) in self._threes:
            end = self._first(text, at)
        elif size - 2 >= at and text[-2:] in self._short:
            end = size - 2
        elif size > at and text[-1] in self._short:
            end = size - 1
        return self._with_indent(text, end, at) if self._indents and end > at and text[end - 1] in " \t" else end

    def _first(self, text: str, at: int) -> int:
        """Where the longest of them begins."""
        starts, short = range(max(at, len(text) - self._longest + 1), len(text)), self._short
        return next((start for start in starts if text[start : start + 3] in short and self._begins(text[start:])), len(text))

    def _with_indent(self, text: str, end: int, at: int) -> int:
        """Spaces at the start of a line are buffered together with a marker that may follow."""
        start = _indent(text, end, at)
        return start if start >= 1 and text[start - 1] == "\n" else end


def _either(markers: list[str]) -> str:
    """A pattern for any of these, sorted; the longest match wins. Common prefixes are written once.

    A flat list of hundreds of names takes a hundred times longer to compile than to search.
    """
    forms = []
    for _, group in groupby(markers, lambda marker: marker[:1]):
        alike = list(group)
        shared = commonprefix([alike[0], alike[-1]])  # noqa: RUF071  (characters, not paths)
        rest = [marker[len(shared) :] for marker in alike[1:] if marker != shared] if len(alike) > 1 else []
        if alike[0] != shared:
            rest.insert(0, alike[0][len(shared) :])
        inner = _either(rest) if rest else ""
        forms.append(re.escape(shared) + (f"(?:{inner}){'?' if alike[0] == shared else ''}" if inner else ""))
    return "|".join(forms)


def _indent(text: str, end: int, at: int) -> int:
    """Where the spaces before `end` begin."""
    start, least = end, max(at, end - _MAX_INDENT)
    while start > least and text[start - 1] in " \t":
        start -= 1
    return start


class NamedMarkers(Markers):
    """Markers that each contain one of a few names, in many forms: searches the names first, then the forms.

    New tools then cost almost nothing; otherwise hundreds of forms would be compiled.
    """

    def __init__(
        self, names: Iterable[str], anywhere: Iterable[str], at_line_start: Iterable[str] = (), words: Iterable[str] = ()
    ) -> None:
        super().__init__(anywhere, at_line_start, words, pattern=_either(sorted(set(names))))
        forms: dict[str, dict[int, list[str]]] = {}
        self.without_name: set[str] = set()  # these are not found here: see `split`
        search = self._pattern.search if self._pattern is not None else _NOWHERE.search
        for marker in self._sorted:
            found = search(marker)
            if found is None:
                self.without_name.add(marker)
            else:
                forms.setdefault(found[0], {}).setdefault(found.start(), []).append(marker)
        # name -> its offset in markers, and those markers
        self._forms = {name: [(at, tuple(found)) for at, found in places.items()] for name, places in forms.items()}
        self._reach = max(
            (at for places in forms.values() for at in places), default=0
        )  # how far before its name a marker may begin

    def find(self, text: str, at: int) -> tuple[int, str] | None:
        best: tuple[int, str] | None = None
        for found in self._pattern.finditer(text, at) if self._pattern is not None else ():
            if best is not None and found.start() - self._reach > best[0]:
                break
            for offset, markers in self._forms.get(found[0], ()):
                start = found.start() - offset
                if start < at or not text.startswith(markers, start):
                    continue
                for marker in markers:
                    if not text.startswith(marker, start) or not self._is_allowed(text, start, marker):
                        continue
                    if best is None or (start, -len(marker)) < (best[0], -len(best[1])):
                        best = start, marker
        return best


class MarkerUnion:
    """Several sets of markers as one: those that are always searched, and those of the request's tools."""

    def __init__(self, *sets: Markers) -> None:
        self._sets = sets

    def find(self, text: str, at: int) -> tuple[int, str] | None:
        best: tuple[int, str] | None = None
        if not any(map(text.__contains__, self._signless)):
            sign, line = _ANY_SIGN.search(text, at), self._lines.search(text) if "\n" in text else None
            if sign is None and line is None:  # as in most texts
                return best
            first = min(sign.start() - self._longest if sign else len(text), line.start() if line else len(text))
            at = max(at, first)  # no marker begins earlier: neither one with a sign, nor one at a line start
        for markers in self._sets:
            found = markers.find(text, at)
            if found is not None and (best is None or (found[0], -len(found[1])) < (best[0], -len(best[1]))):
                best = found
        return best

    @cached_property
    def _longest(self) -> int:
        return max((len(marker) for markers in self._sets for marker in markers.all_markers), default=0)

    @cached_property
    def _signless(self) -> tuple[str, ...]:
        """The markers without a sign that may be anywhere. If there are many, every text is searched."""
        found = tuple(
            marker
            for markers in self._sets
            for marker in markers.all_markers
            if _SIGNS.isdisjoint(marker) and marker not in markers.at_line_start
        )
        return found if len(found) <= _FEW else ("",)

    @cached_property
    def _lines(self) -> re.Pattern[str]:
        """A pattern for line starts that may be a marker without a sign: its first few letters."""
        line_starts = [marker for markers in self._sets for marker in markers.at_line_start if _SIGNS.isdisjoint(marker)]
        begins = sorted({marker[:_DISTINCT] for marker in line_starts})
        return re.compile(rf"\n[ \t]*+(?:{_either(begins)})") if begins else _NOWHERE

    def is_prefix(self, text: str, start: int) -> bool:
        return self._prefixes.is_prefix(text, start)

    @cached_property
    def buffer_from(self) -> Callable[[str, int], int]:
        return self._prefixes.buffer_from

    @cached_property
    def _prefixes(self) -> _Prefixes:
        found = sorted({marker for markers in self._sets for marker in markers.all_markers})
        return _Prefixes(found, indents=any(markers.at_line_start for markers in self._sets))
