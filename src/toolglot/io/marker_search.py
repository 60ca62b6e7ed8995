"""Finds any of many literal markers in streamed text. Each character is examined a bounded number of times.

Only text that may still become a marker is buffered.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import groupby, islice, takewhile
from os.path import commonprefix
from typing import NamedTuple

_SIGNS = frozenset("<({[=>`~")  # rare in prose, and in nearly all markers
_ANY_SIGN = re.compile(f"[{re.escape(''.join(sorted(_SIGNS)))}]")
_LONG = 64 * 1024  # characters
_FEW = 8  # markers without a sign that are searched one by one
_ASCII_TOKEN = re.compile(r"(?<![A-Za-z0-9_])[A-Za-z0-9_]++")
_ASCII_WORDS = re.compile("[A-Za-z0-9_]*+")
_ANY_TOKEN = re.compile(rf"{_ASCII_TOKEN.pattern}|[^\sA-Za-z0-9_]")
_LINE_INDENT = re.compile(r"[ \t]*+")
_NOWHERE = re.compile(r"(?!)")
_KEPT_ENDS = 2048
_DISTINCT = 2  # enough letters to distinguish most line starts from markers
_MAX_INDENT = 64  # deeper indents don't count as line starts: they would be buffered and rescanned
_SHORT = 6  # prefixes up to this length are cached: nearly all that a chunk ends in are shorter
_CUT = _SHORT + 1


class Markers:
    """A set of markers, compiled once. `at_line_start`: markers that count only at the start of a line, after spaces."""

    def __init__(self, anywhere: Iterable[str], at_line_start: Iterable[str] = (), words: Iterable[str] = ()) -> None:
        self.at_line_start = frozenset(at_line_start)
        self.words = frozenset(words)  # markers that must not continue a word: `f(` is not in `pdf(`
        self._sorted = sorted({*anywhere, *self.at_line_start, *self.words})

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """Compiled on demand: some sets are never searched."""
        return re.compile(_either(self._sorted)) if self._sorted else _NOWHERE

    def find(self, text: str, at: int) -> tuple[int, str] | None:
        """The first marker at or after `at`. `text` begins with the character before the text that is scanned."""
        while found := self._pattern.search(text, at):
            start, marker = found.start(), found[0]
            if marker in self.at_line_start:
                allowed = _begins_line(text, start)
            else:
                allowed = marker not in self.words or _begins_word(text, start)
            if allowed:
                return start, marker
            at = start + 1
        return None

    def is_prefix(self, text: str, start: int) -> bool:
        """Whether the text from `start` on is a prefix of a marker."""
        return self._prefixes.is_prefix(text, start)

    @cached_property
    def buffer_from(self) -> Callable[[str, int], int]:
        """The offset from which text must be buffered because a marker may begin there; the length if none may."""
        return self._prefixes.buffer_from

    @cached_property
    def longest(self) -> int:
        return max(map(len, self._sorted), default=0)

    @cached_property
    def signless(self) -> tuple[str, ...]:
        """The markers without a sign that may be anywhere."""
        return tuple(marker for marker in self._sorted if _SIGNS.isdisjoint(marker) and marker not in self.at_line_start)

    @cached_property
    def line_heads(self) -> frozenset[str]:
        """How lines begin that may be a marker without a sign."""
        return frozenset(marker[:_DISTINCT] for marker in self.at_line_start if _SIGNS.isdisjoint(marker))

    @cached_property
    def short_prefixes(self) -> frozenset[str]:
        return _short_prefixes({marker[:_CUT] for marker in self._sorted})

    @property
    def prefix_texts(self) -> list[str]:
        """The last three characters of each longer prefix are in one of these."""
        return [marker[:-1] for marker in self._sorted]

    def begins(self, text: str) -> bool:
        """Whether this is a proper prefix of a marker: then it is one of the next marker in sort order."""
        at = bisect_right(self._sorted, text)
        return at < len(self._sorted) and self._sorted[at].startswith(text)

    @cached_property
    def _prefixes(self) -> _Prefixes:
        return _Prefixes(self)


class _Prefixes:
    """Finds where the end of a text is a prefix of a marker of any of these sets."""

    __slots__ = ("_ends", "_indents", "_longest", "_sets", "_short")

    def __init__(self, *sets: Markers | NamedMarkers) -> None:
        self._sets = sets
        self._indents = any(markers.at_line_start for markers in sets)
        self._longest = max(markers.longest for markers in sets)
        self._short = frozenset().union(*(markers.short_prefixes for markers in sets))
        texts = "\0".join([text for markers in sets for text in markers.prefix_texts])
        self._ends = lru_cache(_KEPT_ENDS)(texts.__contains__)

    def is_prefix(self, text: str, start: int) -> bool:
        return len(text) - start < self._longest and self._begins(text[start:])

    def _begins(self, text: str) -> bool:
        """Whether this is a proper prefix of a marker."""
        if len(text) <= _SHORT or text[:_SHORT] not in self._short:
            return text in self._short
        return any(markers.begins(text) for markers in self._sets)

    def buffer_from(self, text: str, at: int) -> int:
        """Most texts need no search."""
        end = size = len(text)
        if self._ends(text[-3:]):
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


def _short_prefixes(heads: Iterable[str]) -> frozenset[str]:
    """All proper prefixes of these beginnings of markers, up to `_SHORT` characters."""
    return frozenset([head[:size] for head in heads for size in range(1, len(head))])


def _rank(found: tuple[int, str]) -> tuple[int, int]:
    """The first, and of those the longest."""
    return found[0], -len(found[1])


def _begins_line(text: str, start: int) -> bool:
    before = _indent(text, start, 0) - 1
    return before >= 0 and text[before] == "\n"


def _begins_word(text: str, start: int) -> bool:
    before = text[start - 1] if start else "\n"
    return not (before.isalnum() or before in "_.")


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


class NamedForm(NamedTuple):
    """Markers that consist of a name and the text around it."""

    before: str
    after: str
    exact: bool = False  # not for other spellings of a name
    at_line_start: bool = False
    word: bool = False  # must not continue a word

    def name_in(self, marker: str, names: Mapping[str, str]) -> str | None:
        """The name in a marker of this form, as written."""
        name = marker[len(self.before) : len(marker) - len(self.after)]
        fits = self.before + name + self.after == marker and name in names
        return name if fits and (not self.exact or names[name] == name) else None


class NamedMarkers:
    """Markers that each contain one of many names, in many forms: searches the names first, then the forms.

    Nothing is compiled, and no marker is written out, so new tools cost almost nothing.
    """

    def __init__(self, names: Mapping[str, str], forms: Iterable[NamedForm]) -> None:
        """`names`: all spellings, with the name of each."""
        tokens = {name: token[0] for name in names if (token := _ANY_TOKEN.match(name)) is not None}
        self._names = sorted(tokens)
        self._exact = frozenset(name for name in self._names if names[name] == name)
        self._forms = tuple(forms)
        self._by_next = _by_next(self._forms)
        self._befores = tuple(dict.fromkeys(form.before for form in self._forms))
        self.at_line_start = any(form.at_line_start for form in self._forms)
        self.longest = max(map(len, self._names), default=0) + max(
            (len(one.before + one.after) for one in self._forms), default=0
        )
        self._reach = max(map(len, self._befores), default=0)  # how far before its name a marker may begin
        self._by_token: dict[str, list[str]] = {}
        for name in self._names:
            self._by_token.setdefault(tokens[name], []).append(name)
        self._has_none = frozenset(self._by_token).isdisjoint
        self._tokens = _ASCII_TOKEN if _ASCII_WORDS.fullmatch("".join(self._by_token)) else _ANY_TOKEN

    def find(self, text: str, at: int) -> tuple[int, str] | None:
        if len(text) - at > _LONG:  # in one step, nothing else in the process could run meanwhile
            if not any(token[0] in self._by_token for token in self._tokens.finditer(text, at)):
                return None
        elif self._has_none(self._tokens.findall(text, at)):
            return None
        best: tuple[int, str] | None = None
        for token in self._tokens.finditer(text, at):
            start = token.start()
            if best is not None and start - self._reach > best[0]:
                break
            for name in self._by_token.get(token[0], ()):
                if text.startswith(name, start):
                    found = min(self._markers_at(text, start, name, at), default=None, key=_rank)
                    best = found if best is None or (found is not None and _rank(found) < _rank(best)) else best
        return best

    def _markers_at(self, text: str, at: int, name: str, least: int) -> Iterator[tuple[int, str]]:
        """The markers around the name at this place, with their beginnings."""
        end, exact = at + len(name), name in self._exact
        for form in self._by_next.get(text[end : end + 1], self._by_next[""]):
            start = at - len(form.before)
            if start < least or not (text.startswith(form.after, end) and text.startswith(form.before, start)):
                continue
            allowed = _begins_line(text, start) if form.at_line_start else not form.word or _begins_word(text, start)
            if allowed and (exact or not form.exact):
                yield start, form.before + name + form.after

    @cached_property
    def signless(self) -> tuple[str, ...]:
        forms = [one for one in self._forms if not one.at_line_start and _SIGNS.isdisjoint(one.before + one.after)]
        return tuple(form.before + name + form.after for form in forms for name in self._of(form) if _SIGNS.isdisjoint(name))

    @cached_property
    def line_heads(self) -> frozenset[str]:
        forms = {
            form.before: form for form in self._forms if form.at_line_start and _SIGNS.isdisjoint(form.before + form.after)
        }
        return frozenset((form.before + name)[:_DISTINCT] for form in forms.values() for name in self._of(form))

    @cached_property
    def short_prefixes(self) -> frozenset[str]:
        """After a name that is longer than they are, nothing counts; many names begin alike."""
        heads: set[str] = set()
        for exact, names in ((True, self._exact), (False, self._names)):
            forms = [form for form in self._forms if form.exact == exact]
            cut, short = {name[:_CUT] for name in names}, [name for name in names if len(name) < _CUT]
            heads |= {(before + name)[:_CUT] for before in {form.before for form in forms} for name in cut}
            heads |= {(form.before + name + form.after)[:_CUT] for form in forms for name in short}
        return _short_prefixes(heads)

    @property
    def prefix_texts(self) -> list[str]:
        """The names, and where they meet the text around them."""
        befores, afters = {before[-2:] for before in self._befores}, {form.after[:-1][:2] for form in self._forms}
        heads, tails = {name[:2] for name in self._names}, {name[-2:] for name in self._names}
        short = [name for name in self._names if len(name) == 1]
        return [
            *self._befores,
            *self._names,
            *(form.after[:-1] for form in self._forms),
            *(before + head for before in befores for head in heads),
            *(tail + after for tail in tails for after in afters),
            *(before + name + after for name in short for before in befores for after in afters),
        ]

    def begins(self, text: str) -> bool:
        """Whether this is a proper prefix of a marker."""
        if text in self._before_prefixes:
            return True
        before = [one for one in self._befores if text.startswith(one)] if text.startswith(self._befores) else []
        return any(self._continues(one, text[len(one) :]) for one in before)

    @cached_property
    def _before_prefixes(self) -> frozenset[str]:
        return frozenset(before[:size] for before in self._befores for size in range(1, len(before) + 1))

    def _continues(self, before: str, text: str) -> bool:
        """Whether this is a proper prefix of a name and what may follow it there."""
        names = self._names_in(text)
        return bool(names) and any(
            len(name + form.after) > len(text)
            and (name + form.after).startswith(text)
            and (name in self._exact or not form.exact)
            for form in self._forms
            if form.before == before
            for name in names
        )

    def _names_in(self, text: str) -> list[str]:
        """The names that begin with this text, and those that it begins with."""
        first = bisect_left(self._names, text)
        longer = takewhile(lambda name: name.startswith(text), islice(self._names, first, None))
        token = _ANY_TOKEN.match(text)
        return [*longer, *(self._by_token.get(token[0], ()) if token is not None else ())]

    def _of(self, form: NamedForm) -> Iterable[str]:
        return self._exact if form.exact else self._names

    @cached_property
    def _prefixes(self) -> _Prefixes:
        return _Prefixes(self)


@lru_cache
def _by_next(forms: tuple[NamedForm, ...]) -> dict[str, tuple[NamedForm, ...]]:
    """The forms that go on with a character behind the name, and those that end there."""
    chars = {form.after[:1] for form in forms} | {""}
    return {char: tuple(form for form in forms if form.after[:1] in ("", char)) for char in chars}


class MarkerUnion:
    """Several sets of markers as one: those that are always searched, and those of the request's tools."""

    def __init__(self, *sets: Markers | NamedMarkers | MarkerUnion) -> None:
        self._sets: list[Markers | NamedMarkers] = []
        for markers in sets:
            self._sets += markers._sets if isinstance(markers, MarkerUnion) else [markers]

    def find(self, text: str, at: int) -> tuple[int, str] | None:
        best: tuple[int, str] | None = None
        if not any(map(text.__contains__, self._signless)):
            sign = _ANY_SIGN.search(text, at)
            first = sign.start() - self._longest if sign is not None else len(text)
            line = self._line(text, first) if "\n" in text else -1
            if sign is None and line < 0:  # as in most texts
                return best
            at = max(
                at, line if line >= 0 else first
            )  # no marker begins earlier: neither one with a sign, nor one at a line start
        for markers in self._sets:
            found = markers.find(text, at)
            if found is not None and (best is None or _rank(found) < _rank(best)):
                best = found
        return best

    @cached_property
    def _longest(self) -> int:
        return max(markers.longest for markers in self._sets)

    @cached_property
    def _signless(self) -> tuple[str, ...]:
        """The markers without a sign that may be anywhere. If there are many, every text is searched."""
        found = tuple(marker for markers in self._sets for marker in markers.signless)
        return found if len(found) <= _FEW else ("",)

    def _line(self, text: str, end: int) -> int:
        """Where the first line before `end` begins that may be a marker without a sign, by its first letters; -1: none does."""
        heads, line = self._line_heads, text.find("\n", 0, max(end, 0))
        while line >= 0:
            start = _LINE_INDENT.match(text, line + 1).end()  # type: ignore[union-attr]
            if text.startswith(heads, start):
                return line
            line = text.find("\n", line + 1, end)
        return -1

    @cached_property
    def _line_heads(self) -> tuple[str, ...]:
        return tuple(frozenset().union(*(markers.line_heads for markers in self._sets)))

    def is_prefix(self, text: str, start: int) -> bool:
        return self._prefixes.is_prefix(text, start)

    @cached_property
    def buffer_from(self) -> Callable[[str, int], int]:
        return self._prefixes.buffer_from

    @cached_property
    def _prefixes(self) -> _Prefixes:
        return _Prefixes(*self._sets)
