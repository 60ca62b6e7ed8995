"""JSON as models write it: finds the end of a value and its members, even if it is not valid JSON.

Two rules do most of the work. A quote begins a string only where a key or a value may begin, so that an unescaped quote does
not invert everything after it. A bracket that closes an outer bracket also closes the inner ones, and one that closes nothing
is skipped. Both rules leave valid JSON unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

_BEFORE_VALUE = frozenset("{[,:(=")
_REST_OF_STRING = {
    '"': re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*("?)', re.DOTALL),
    "'": re.compile(r"[^'\\]*+(?:\\.[^'\\]*+)*('?)", re.DOTALL),
}
_PAIRS = {"}": "{", "]": "["}


class Stops:
    """Literals that end a value, complete or not, if they are outside its strings."""

    __slots__ = ("_literals", "first", "tokens")

    def __init__(self, literals: tuple[str, ...] = ()) -> None:
        self._literals = literals
        self.first = frozenset(literal[0] for literal in literals)  # characters
        self.tokens = re.compile("[{}\\[\\]\"'" + "".join(re.escape(char) for char in sorted(self.first)) + "]")

    def at(self, text: str, at: int) -> bool | None:
        """Whether there is one at `at`; None: there may be, but the text ends first."""
        if text[at] not in self.first:
            return False
        if text.startswith(self._literals, at):
            return True
        rest = text[at:] if len(text) - at < 64 else ""
        return None if rest and any(literal.startswith(rest) for literal in self._literals) else False


class _Brackets:
    """Which brackets are open."""

    __slots__ = ("_count", "open")

    def __init__(self) -> None:
        self.open: list[str] = []
        self._count = {"{": 0, "[": 0}

    def take(self, char: str) -> int:
        """How many are open after this one."""
        if char in self._count:
            self.open.append(char)
            self._count[char] += 1
        elif self._count[_PAIRS[char]]:
            while True:
                closed = self.open.pop()
                self._count[closed] -= 1
                if closed == _PAIRS[char]:
                    break
        return len(self.open)


class LooseJson:
    """Scans one object, array or string while it streams. Each character is examined once."""

    __slots__ = ("_before", "_brackets", "_quote", "_stops", "stopped", "whole")

    def __init__(self, stops: Stops) -> None:
        self._stops = stops
        self._brackets = _Brackets()
        self._quote = ""  # of the open string
        self._before = ":"  # the last character that was not white space
        self.whole = False
        self.stopped = False

    def feed(self, text: str, at: int) -> int:
        """The offset reached: after the value (`whole`), at a stop (`stopped`), or where it continues with more text."""
        size = len(text)
        while at < size:
            if self._quote:
                found = _REST_OF_STRING[self._quote].match(text, at)
                if found is None or not found[1]:
                    return found.end() if found else at  # the end, or a lone backslash
                at, self._quote, self._before = found.end(), "", '"'
                if not self._brackets.open:
                    self.whole = True
                    return at
                continue
            token = self._stops.tokens.search(text, at)
            end = token.start() if token else size
            gap = text[at:end].rstrip()
            self._before = gap[-1] if gap else self._before
            if token is None:
                return size
            if text[end] in self._stops.first:
                stop = self._stops.at(text, end)
                if stop is None or stop:
                    self.stopped = bool(stop)
                    return end
            at = end + 1
            if self._take(text[end]):
                return at
        return at

    def _take(self, char: str) -> bool:
        """Whether the value ends with this character."""
        if char in _REST_OF_STRING:
            if self._before in _BEFORE_VALUE:
                self._quote = char
        elif char in "{}[]":
            self.whole = self._brackets.take(char) == 0
        self._before = char
        return self.whole


class Member(msgspec.Struct, frozen=True):
    """An item of an array or a field of an object, as written."""

    key: str  # empty: an item
    value: str
    whole: bool  # False: the text ends inside it
    torn: bool = False  # a quote follows its closing bracket, so a text in it may have seemed to end


_STRUCTURE = re.compile(r"""[{}\[\]"',:]""")
_LAST_WORD = re.compile(r"""["']?([\w.\- ]+)["']?\s*\Z""")
_QUOTES = " \t\r\n\"'"


def members(text: str) -> tuple[list[Member], bool]:
    """The members of an object or an array, even if it is invalid; and whether it has its closing bracket."""
    split = _Split(text)
    return list(split.members()), split.ended


class _Split:
    """Scans the text once and splits it at the commas of the top level."""

    def __init__(self, text: str) -> None:
        text = text.strip()
        self._text = text[1:] if text.startswith(("{{", "[[")) else text
        self._start = 1  # of the member, or of its value after the key
        self._key = ""
        self._closed = 0  # where the brackets of the member's value end
        self.ended = False

    def members(self) -> Iterator[Member]:
        text = self._text
        for at, char, depth in _structure(text):
            if depth == 0:
                self.ended = True
                yield from self._member(at, whole=True)
                return
            if char in "}]":
                self._closed = self._closed or (at + 1 if depth == 1 else 0)
            elif char in "{[":
                if depth == 2 and self._closed:  # a comma is missing
                    yield from self._member(at, whole=True)
                    self._start = at
            elif depth > 1:
                continue
            elif char == ",":
                yield from self._member(at, whole=True)
            elif not self._key:
                self._key = text[self._start : at].strip(_QUOTES)
                self._start = at + 1
            else:
                yield from self._next_key(at)
        yield from self._member(len(text), whole=bool(self._closed))

    def _member(self, end: int, *, whole: bool) -> Iterator[Member]:
        value, behind = self._text[self._start : end].strip(), self._text[self._closed : end] if self._closed else ""
        if self._closed and value.startswith(("{", "[")) and not behind.strip(" \t\r\n}]"):
            value = self._text[self._start : self._closed].strip()  # without surplus closing brackets
        if value or self._key:
            yield Member(self._key, value, whole, '"' in behind)
        self._start, self._key, self._closed = end + 1, "", 0

    def _next_key(self, colon: int) -> Iterator[Member]:
        """A second colon in one member: a comma is missing before the word before it."""
        word = _LAST_WORD.search(self._text, max(self._start, colon - 80), colon)
        if word is not None and word.start() > self._start:
            yield from self._member(word.start(), whole=True)
            self._key, self._start = word[1].strip(), colon + 1


def _structure(text: str) -> Iterator[tuple[int, str, int]]:
    """Brackets, commas and colons outside strings, and the depth after each."""
    brackets, before, at, depth = _Brackets(), ":", 0, 0
    while found := _STRUCTURE.search(text, at):
        here, char = found.start(), found[0]
        gap = text[at:here].rstrip()
        before = gap[-1] if gap else before
        at = here + 1
        if char in _REST_OF_STRING:
            if before in _BEFORE_VALUE:
                string = _REST_OF_STRING[char].match(text, at)
                at = string.end() if string and string[1] else len(text)
        else:
            depth = brackets.take(char) if char in "{}[]" else depth
            yield here, char, depth
            if depth == 0:
                return
        before = char
