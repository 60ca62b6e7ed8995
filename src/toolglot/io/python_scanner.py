"""Finds the end of a value or a call in streamed Python-like text. Each character is examined once.

JSON is Python-like here. Both kinds of quotes are known, and triple ones. A quote closes its string only where what follows may
follow a string, so that `"I "am" here"` is one string. A bracket that closes nothing is skipped; one that closes an outer
bracket closes the inner ones too.
"""

from __future__ import annotations

import re

_CODE = re.compile(r"""[\[\](){}"']""")
_SPACE = re.compile(r"\s*+")
_STOPS = {quote: re.compile(rf"[{quote}\\]") for quote in "\"'"}
_TO_QUOTE = {quote: rf"[^{quote}\\]*+(?:\\.[^{quote}\\]*+)*" for quote in "\"'"}  # string content up to a quote
_INSIDE = {quote: re.compile(inside, re.DOTALL) for quote, inside in _TO_QUOTE.items()}
# Most strings: the first quote closes, and what follows it is already there and shows that.
_WHOLE = {quote: re.compile(rf"{inside}{quote}\s*+(?=[,)\]}}:;])", re.DOTALL) for quote, inside in _TO_QUOTE.items()}
# What makes a quote a closing one: a closer, or a comma before something that may follow it.
_CLOSES = re.compile(
    r"""\s*+(?:[)\]}:;]|\Z|,\s*+(?:["'\[{()\]}\d+\-*\#/]|[\w.\-$]++\s*+[=:(]|(?:[Tt]rue|[Ff]alse|None|null)\b|\Z))"""
)
_OPENER = {")": "(", "]": "[", "}": "{"}
_AFTER_STRING = frozenset(",)]}:;")  # what may follow a string
_ADJACENT, _APART = 1, 2  # a quote that may close: followed by nothing or white space so far


class PythonScanner:
    """Scans brackets and strings, not grammar. `opened`: brackets that were open before the first character."""

    __slots__ = ("_counts", "_escaped", "_fresh", "_maybe", "_quote", "_run", "_stack", "_started", "examined")

    def __init__(self, opened: str = "") -> None:
        self._stack = list(opened)
        self._counts = {kind: opened.count(kind) for kind in "([{"}
        self._started = bool(opened)  # something was opened: it may end
        self._quote = ""  # the open string: one quote, or three
        self._fresh = False  # the string has just opened
        self._maybe = 0  # a quote that may have closed the string
        self._run = 0  # quotes in a row, inside a triple string
        self._escaped = False
        self.examined = 0

    @property
    def depth(self) -> int:
        return len(self._stack)

    @property
    def in_string(self) -> bool:
        return bool(self._quote)

    def feed(self, text: str, start: int = 0, stop: int | None = None) -> int:
        """The offset just after the bracket that closes the first one, or -1 if it continues."""
        size = len(text) if stop is None else stop
        at = start
        while at < size:
            at = self.step(text, at, size)
            if self._started and not self._stack and not self._quote:
                break
        else:
            self.examined += size - start
            return -1
        self.examined += at - start
        return at

    def step(self, text: str, at: int, size: int) -> int:
        """The offset after the next bracket or the next piece of a string; `size` if there is none."""
        if self._quote:
            return self._in_string(text, at, size)
        found = _CODE.search(text, at, size)
        if found is None:
            return size
        char = found[0]
        if char in "\"'":
            self._started = True
            whole = _WHOLE[char].match(text, found.end(), size)
            if whole is not None:
                return whole.end()
            self._quote, self._fresh = char, True
        elif char in "([{":
            self._started = True
            self._stack.append(char)
            self._counts[char] += 1
        else:
            self._close(_OPENER[char])
        return found.end()

    def _close(self, opener: str) -> None:
        while self._counts[opener]:
            last = self._stack.pop()
            self._counts[last] -= 1
            if last == opener:
                return

    def _in_string(self, text: str, at: int, size: int) -> int:
        if self._escaped:
            self._escaped, self._run = False, 0
            return at + 1
        if len(self._quote) == 3:
            return self._in_triple(text, at, size)
        if self._maybe:
            return self._after_quote(text, at, size)
        if not self._fresh:
            at = _match_end(_INSIDE[self._quote], text, at, size)
            if at == size:
                return size
        found = _STOPS[self._quote].search(text, at, size)
        if found is None:
            self._fresh = False
            return size
        self._fresh = self._fresh and found.start() == at
        if found[0] == "\\":
            self._escaped = True
        else:
            self._maybe = _ADJACENT
        return found.end()

    def _after_quote(self, text: str, at: int, size: int) -> int:
        """After a quote that may close the string: the next character decides."""
        if self._maybe == _ADJACENT and self._fresh and text[at] == self._quote:
            self._quote, self._maybe, self._run, self._fresh = self._quote * 3, 0, 0, False
            return at + 1
        end = _match_end(_SPACE, text, at, size)
        if end == size:
            self._maybe = _APART if end > at else self._maybe
            return size
        if text[end] in _AFTER_STRING:
            self._quote = ""
        self._maybe, self._fresh = 0, False
        return end

    def _in_triple(self, text: str, at: int, size: int) -> int:
        quote = self._quote[0]
        if text[at] == quote:
            self._run += 1
            if self._run == 3:
                self._quote = ""
            return at + 1
        self._run = 0
        found = _STOPS[quote].search(text, at, size)
        if found is None:
            return size
        if found[0] == "\\":
            self._escaped = True
            return found.end()
        return found.start()


def _match_end(pattern: re.Pattern[str], text: str, at: int, stop: int) -> int:
    found = pattern.match(text, at, stop)
    return found.end() if found else at


def skip_value(text: str, at: int, stop: int) -> tuple[int, bool]:
    """Where the value that begins at `at` ends, and whether it does: a bracket, a string, or a word up to a comma or closer."""
    if at >= stop:
        return stop, False
    if text[at] in "[({":
        end = PythonScanner().feed(text, at, stop)
        return (end, True) if end >= 0 else (stop, False)
    if text[at] in "\"'":
        end = string_end(text, at, stop)
        return (end, True) if end >= 0 else (stop, False)
    while at < stop and text[at] not in ",]})\n":
        at += 1
    return at, at < stop


def string_end(text: str, at: int, stop: int) -> int:
    """The offset after the string that opens at `at`, or -1 if it does not close before `stop`."""
    quote = text[at]
    triple = text.startswith(quote * 3, at)
    at += 3 if triple else 1
    while True:
        at = _match_end(_INSIDE[quote], text, at, stop) + 1
        if at > stop or text[at - 1] != quote:
            return -1
        if triple:
            if text.startswith(quote * 3, at - 1):
                return at + 2
        elif _CLOSES.match(text, at, stop):
            return at
