"""A region without markers: a bracket that begins a line, and what belongs to it.

It gives up at once where what follows can't become a call, so that ordinary text flows. Values that follow one another, with
commas, semicolons or nothing between them, are one region.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from toolglot.grammars.heard import Parsed, Tools
from toolglot.text.python_end import PythonEnd

Plausible = Callable[[str], bool | None]  # may this beginning become a call? None: more must be seen
Read = Callable[[str, Tools, bool], Parsed]

_NOT_SPACE = re.compile(r"\S")
_MAX_VALUES = 256  # as many as are read: those behind them are a region of their own
_MOST = 200  # characters after which a beginning must have shown what it is


class BareRegion:
    """From the opening bracket to where nothing that belongs to it follows."""

    __slots__ = ("_between", "_head", "_plausible", "_read", "_refused", "_scan", "_values", "examined")

    def __init__(self, opener: str, plausible: Plausible, read: Read) -> None:
        self._scan = PythonEnd(opener)
        self._plausible = plausible
        self._read = read
        self._head: str | None = opener  # until it is known to be plausible
        self._refused = False
        self._values = 1
        self._between = ""  # what stands behind a whole value, but for spaces
        self.examined = 0

    def feed(self, text: str, /) -> int:
        self.examined += len(text)
        if self._head is not None:
            self._head = (self._head + text)[:_MOST]
            verdict = self._plausible(self._head)
            if verdict is None and len(self._head) < _MOST:
                return -1 if self._scan.feed(text) < 0 else self._refuse(text)
            if not verdict:
                return self._refuse(text)
            self._head = None
        return self._go_on(text, 0)

    def _refuse(self, text: str) -> int:
        self._refused = True
        return len(text)

    def _go_on(self, text: str, at: int) -> int:
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
                self._scan, self._between = PythonEnd(found[0]), ""
        return -1

    def _belongs(self, char: str) -> bool:
        """Behind a whole value: a further value, one separator, or closers too many."""
        if char in "{[(":
            return True
        if char in ",;":
            self._between += char
            return len(self._between) == 1
        return char in ")]}"

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> Parsed:
        return Parsed() if self._refused else self._read(text, tools, complete)


def begins_line(text: str, at: int) -> bool:
    """Whether nothing but spaces stands before `at` on its line."""
    line = text.rfind("\n", 0, at)
    return line >= 0 and not text[line:at].strip()
