"""A region without markers: a bracket at the start of a line, and the values that follow it.

It is rejected as soon as the text can't become a call, so that ordinary text streams on. Consecutive values are one region,
with or without commas and semicolons between them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from toolglot.grammars.parsed_call import RegionResult, Tools
from toolglot.io.python_scanner import PythonScanner

Plausible = Callable[[str], bool | None]  # whether this prefix may become a call; None: more text is needed
Read = Callable[[str, Tools, bool], RegionResult]

_NOT_SPACE = re.compile(r"\S")
_MAX_VALUES = 256  # further values start a new region
_MAX_HEAD = 200  # characters after which a head must be decided
_MAX_BRACKETS = 8  # no call is deeper


class BareRegion:
    """From the opening bracket to the end of the last consecutive value."""

    __slots__ = ("_between", "_head", "_plausible", "_read", "_rejected", "_scan", "_values", "examined")

    def __init__(self, opener: str, plausible: Plausible, read: Read) -> None:
        self._scan = PythonScanner(opener)
        self._plausible = plausible
        self._read = read
        self._head: str | None = opener  # None once it is known to be plausible
        self._rejected = False
        self._values = 1
        self._between = ""  # separators after a whole value, without spaces
        self.examined = 0

    def feed(self, text: str, /) -> int:
        self.examined += len(text)
        if self._head is not None:
            before, self._head = self._head[1:], (self._head + text)[:_MAX_HEAD]
            plausible = self._plausible(self._head)
            if plausible is None and len(self._head) < _MAX_HEAD and sum(map(self._head.count, "[({")) <= _MAX_BRACKETS:
                return -1
            if not plausible or self._scan.feed(before) >= 0:
                return self._reject(text)
            self._head = None
        return self._scan_values(text, 0)

    def _reject(self, text: str) -> int:
        self._rejected = True
        return len(text)

    def _scan_values(self, text: str, at: int) -> int:
        size = len(text)
        while at < size:
            if self._scan.depth or self._scan.in_string:
                end = self._scan.feed(text, at)
                if end < 0:
                    return -1
                at = end
                continue
            found = _NOT_SPACE.search(text, at)
            if found is None:
                return -1
            begins = found[0] in "{[("
            self._values += begins
            if self._values > _MAX_VALUES or not self._belongs(found[0]):
                return found.start()
            at = found.end()
            if begins:
                self._scan, self._between = PythonScanner(found[0]), ""
        return -1

    def _belongs(self, char: str) -> bool:
        """Whether this may follow a whole value: another value, one separator, or surplus closing brackets."""
        if char in "{[(":
            return True
        if char in ",;":
            self._between += char
            return len(self._between) == 1
        return char in ")]}"

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> RegionResult:
        return RegionResult() if self._rejected else self._read(text, tools, complete)


def begins_line(text: str, at: int) -> bool:
    """Whether there are only spaces before `at` on its line."""
    line = text.rfind("\n", 0, at)
    return line >= 0 and not text[line:at].strip()
