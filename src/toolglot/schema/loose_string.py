"""Parses a quoted string with missing escapes: it ends at the first quote that is followed by legal text.

Linear: each character is read once, and the lookahead after a quote is bounded.
"""

from __future__ import annotations

import re

CLOSING = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’"}
APOSTROPHES = "'’"

_STOP = {quote: re.compile(rf"[{quote}\\\x00-\x1f]") for quote in set(CLOSING.values())}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\"} | {
    quote: quote for quote in "\"'`“”‘’"
}
_HEX = re.compile(r"u([0-9A-Fa-f]{4})(?:\\u([0-9A-Fa-f]{4}))?|x([0-9A-Fa-f]{2})")
_BEFORE_OPENING = re.compile(r"[\s(\[{<>=:,;/|+\-]")


class Unclear(Exception):  # noqa: N818  (internal: the readers turn it into a reason)
    """The text is invalid or ambiguous. The message says why."""


class Quoted:
    """The string, the offset after its closing quote, and the fixes."""

    __slots__ = ("end", "fixes", "value")

    def __init__(self, value: str, end: int, fixes: set[str]) -> None:
        self.value = value
        self.end = end
        self.fixes = fixes


def read_quoted(text: str, at: int, legal: re.Pattern[str]) -> Quoted:
    """The string with its opening quote at `at`. `legal` matches what may follow its end."""
    opening = text[at]
    if opening in "\"'" and text.startswith(opening * 3, at):
        triple = _triple(text, at, legal)
        if triple is not None:
            return triple
    quote, pieces, fixes = CLOSING[opening], [""], set()
    if opening != '"':
        fixes.add("single_quotes")
    stop, inner, place = _STOP[quote].search, _InnerQuotes(), at + 1
    while True:
        found = stop(text, place)
        if found is None:
            raise Unclear("a string is not closed")
        here = found.start()
        pieces.append(text[place:here])
        char = text[here]
        if char == "\\":
            piece, place = _escape(text, here, fixes, opening)
            pieces.append(piece)
            continue
        place = here + 1
        if char != quote:
            fixes.add("raw_newline")
        elif legal.match(text, place):
            break
        else:
            fixes.add("unescaped_quote")
            inner.see(text, here, first=here == at + 1)
        pieces.append(char)
    if not inner.plausible:
        raise Unclear("quotes inside a string can be read in more than one way")
    return Quoted("".join(pieces), place, fixes)


class _InnerQuotes:
    """Quotes inside a string come in pairs, one before a word and one after it. Otherwise it may be two strings."""

    __slots__ = ("_open", "_strange")

    def __init__(self) -> None:
        self._open = False
        self._strange = False

    @property
    def plausible(self) -> bool:
        return not (self._open or self._strange)

    def see(self, text: str, at: int, *, first: bool) -> None:
        before, after = text[at - 1], text[at + 1 : at + 2]
        if text[at] in APOSTROPHES and before.isalnum() and after.isalnum():
            return
        if self._open:
            self._strange = self._strange or after.isalnum()
        else:
            opens = (first or _BEFORE_OPENING.match(before) is not None) and not after.isspace() and after not in ",;:.)]}"
            self._strange = self._strange or not opens
        self._open = not self._open


def _triple(text: str, at: int, legal: re.Pattern[str]) -> Quoted | None:
    """Python's triple-quoted string, if it is closed."""
    end = text.find(text[at] * 3, at + 3)
    if end < 0 or not legal.match(text, end + 3):
        return None
    fixes, pieces, place = {"single_quotes"}, [], at + 3
    while True:
        slash = text.find("\\", place, end)
        if slash < 0:
            pieces.append(text[place:end])
            return Quoted("".join(pieces), end + 3, fixes)
        pieces.append(text[place:slash])
        piece, place = _escape(text, slash, fixes, text[at])
        pieces.append(piece)


def _escape(text: str, at: int, fixes: set[str], opening: str) -> tuple[str, int]:
    """The escape at `at`, and the offset after it. An escape unknown to JSON keeps its backslash: `\\d`, `C:\\Users`."""
    char = text[at + 1 : at + 2]
    if char in _ESCAPES and char:
        if char not in 'ntrbf/\\"' and opening == '"':
            fixes.add("bad_escape")
        return _ESCAPES[char], at + 2
    found = _HEX.match(text, at + 1)
    if found is None:
        fixes.add("bad_escape")
        return "\\", at + 1
    if found[3]:
        fixes.add("bad_escape")
        return chr(int(found[3], 16)), found.end()
    high, low = int(found[1], 16), int(found[2], 16) if found[2] else 0
    if 0xD800 <= high < 0xDC00 and 0xDC00 <= low < 0xE000:
        return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)), found.end()
    single = "\ufffd" if 0xD800 <= high < 0xE000 else chr(high)
    return single, at + 6
