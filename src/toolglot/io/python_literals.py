"""Parses Python-like values and call expressions: no eval, linear time, never an exception.

Strictly first: Python's literals and JSON's. Where that fails, loosely: quotes that were not escaped, words without quotes, `:`
for `=`, commas and closing brackets left out. A loose parse lists in `fixes` what it repaired.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Any, NamedTuple

from toolglot.io.python_scanner import skip_value, string_end
from toolglot.io.python_strings import PREFIXED, decode_string, next_adjacent_string

MAX_DEPTH = 64
_CLOSERS = frozenset(["", ")", "]", "}"])
_MAX_DIGITS = 4000  # Python does not convert more digits

_LETTERS = r"(?:\w|\\_)"  # markdown escapes underscores
NAME = re.compile(rf"[^\W\d]{_LETTERS}*+(?:(?:::|[.\-/:]){_LETTERS}++)*")
_SPACE = re.compile(r"(?:\s++|\#[^\n]*+(?:\n|\Z)|\\\n)*")
_NUMBER = re.compile(
    r"[+-]?(?:0[xX][0-9a-fA-F_]++|0[oO][0-7_]++|0[bB][01_]++|(?:\d[\d_]*+(?:\.[\d_]*+)?|\.\d[\d_]*+)(?:[eE][+-]?\d++)?)(?![\w.])"
)
_KEY = re.compile(r"([^\W\d](?:[\w.\-]|\\_)*+)\s*+=(?![=])\s*+")
_LOOSE_KEY = re.compile(r"""(["']?)([^\W\d][\w.\-]*+)\1\s*+(?:=(?!=)|:(?!:))\s*+""")
_DICT_KEY = re.compile(r"([^\W\d][\w.\-$]*+)\s*+:(?!:)")
_WORD = re.compile(r"[^,()\[\]{}\n]++")
_CONSTANTS: dict[str, Any] = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}


class UnparsedText(str):
    """Text that is not a literal: a word without quotes, or a call inside a call."""

    __slots__ = ()


class PythonCall(NamedTuple):
    name: str
    pairs: list[tuple[str | None, Any]]  # a key and its value; no key: given by position
    end: int
    fixes: tuple[str, ...] = ()
    closed: bool = True  # False: the text ended inside


def read_value(text: str, at: int = 0) -> tuple[Any, int] | None:
    """The value that begins at `at`, parsed strictly, and the offset after it."""
    reader = _Reader(text, loose=False)
    value = reader.value(reader.space(at), 0)
    return None if value is _NOTHING else (value, reader.at)


def read_call(text: str, at: int = 0) -> tuple[str, list[tuple[str | None, Any]], int] | None:
    """`name(...)` at `at`, parsed strictly: its name, its arguments, and the offset after it."""
    found = _read_call(text, at, loose=False)
    return None if found is None else (found.name, found.pairs, found.end)


def read_call_loosely(text: str, at: int = 0) -> PythonCall | None:
    """As `read_call`; if that fails, parsed tolerantly."""
    return _read_call(text, at, loose=False) or _read_call(text, at, loose=True)


def to_plain_value(value: Any) -> Any:
    """A value with every UnparsedText in it as ordinary text."""
    if isinstance(value, UnparsedText):
        return str(value)
    if isinstance(value, list):
        return [to_plain_value(item) for item in value]
    if isinstance(value, dict):
        return {key: to_plain_value(item) for key, item in value.items()}
    return value


_NOTHING: Any = object()


def _read_call(text: str, at: int, *, loose: bool) -> PythonCall | None:
    name = NAME.match(text, at)
    if name is None or not text.startswith("(", name.end()):
        return None
    reader = _Reader(text, loose=loose)
    pairs = reader.arguments(name.end() + 1)
    if pairs is None:
        return None
    return PythonCall(name[0].replace("\\_", "_"), pairs, reader.at, tuple(dict.fromkeys(reader.fixes)), reader.closed)


class _Reader:
    """Parses from an offset; `at` is the end of what was parsed last."""

    __slots__ = ("at", "closed", "comma", "fixes", "loose", "text")

    def __init__(self, text: str, *, loose: bool) -> None:
        self.text = text
        self.loose = loose
        self.at = 0
        self.fixes: list[str] = []
        self.closed = True
        self.comma = False  # whether a comma followed the last item

    def space(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return found.end() if found else at

    # -- calls

    def arguments(self, at: int) -> list[tuple[str | None, Any]] | None:
        """The text between a call's parentheses."""
        pairs: list[tuple[str | None, Any]] = []
        text, comma = self.text, True
        while True:
            at = self.space(at)
            char = text[at : at + 1]
            if char == ")":
                self.at = at + 1
                return pairs
            if char == "," and not comma:
                at, comma = at + 1, True
                continue
            if not char or char in "]},;":
                return self._unclosed(pairs, at)
            if not comma and not self._may("missing_comma"):
                return None
            if not self._argument(pairs, at):
                return None
            if not self.closed:
                return pairs
            at, comma = self.at, False

    def _unclosed(self, pairs: list[tuple[str | None, Any]], at: int) -> list[tuple[str | None, Any]] | None:
        """There is no `)`: the text has ended, or an outer bracket closes."""
        if not self._may("missing_closer"):
            return None
        self.closed = at < len(self.text)
        self.at = at
        return pairs

    def _argument(self, pairs: list[tuple[str | None, Any]], at: int) -> bool:
        if self.text.startswith("**", at):
            spread = self.value(at + 2, 0)
            pairs += spread.items() if isinstance(spread, dict) else ()
            return isinstance(spread, dict)
        key, at = self._key(at)
        value = self.value(at, 0)
        if value is _NOTHING:
            return False
        pairs.append((key, value))
        return True

    def _key(self, at: int) -> tuple[str | None, int]:
        found = _KEY.match(self.text, at)
        if found is not None:
            return found[1].replace("\\_", "_"), found.end()
        found = _LOOSE_KEY.match(self.text, at) if self.loose else None
        if found is None:
            return None, at
        self._may("wrong_separator")
        return found[2], found.end()

    def _may(self, fix: str) -> bool:
        """Whether a repair is allowed; it is recorded."""
        if self.loose:
            self.fixes.append(fix)
        return self.loose

    # -- values

    def value(self, at: int, depth: int) -> Any:
        text = self.text
        char = text[at : at + 1]
        if depth > MAX_DEPTH or not char:
            return self._cut(at) if not char else _NOTHING
        if char in "\"'":
            return self._strings(at, "")
        if char == "[":
            return self._items(at + 1, "]", depth)
        if char == "(":
            return self._tuple(at, depth)
        if char == "{":
            return self._braces(at + 1, depth)
        number = _NUMBER.match(text, at)
        if number is not None:
            value = _number(number[0])
            if value is not None:
                self.at = number.end()
                return value
        return self._word(at)

    def _cut(self, at: int) -> Any:
        """The text ends where a value should be."""
        if not self._may("missing_value"):
            return _NOTHING
        self.at, self.closed = at, False
        return UnparsedText("")

    def _word(self, at: int) -> Any:
        """A constant, a string with a prefix, or a call inside a call; in a loose parse, any words."""
        text = self.text
        prefix = PREFIXED.match(text, at)
        if prefix is not None:
            return self._strings(prefix.end(), prefix[0].lower())
        name = NAME.match(text, at)
        if name is not None:
            self.at = name.end()
            if name[0] in _CONSTANTS:
                return _CONSTANTS[name[0]]
            if text.startswith("(", name.end()):
                end, whole = skip_value(text, name.end(), len(text))
                self.at, self.closed = end, whole
                return UnparsedText(text[at:end]) if whole or self._may("missing_closer") else _NOTHING
        words = _WORD.match(text, at)
        if words is None or not self._may("unquoted_value"):
            return _NOTHING
        self.at = words.end()
        self.closed = words.end() < len(text)
        return UnparsedText(words[0].strip())

    def _strings(self, at: int, prefix: str) -> Any:
        """A string and adjacent ones, which Python joins."""
        first = self._string(at, prefix)
        if first is _NOTHING or self.loose:
            return first
        parts = [first]
        while (following := next_adjacent_string(self.text, self.at)) is not None:
            part = self._string(following[0], following[1])
            if part is _NOTHING:
                break
            parts.append(part)
        return "".join(parts)

    def _string(self, at: int, prefix: str) -> Any:
        text = self.text
        quote = text[at] * 3 if text.startswith(text[at] * 3, at) else text[at]
        found = decode_string(text, at, quote, raw="r" in prefix)
        if not self.loose:
            if found is None:
                return _NOTHING
            value, self.at = found
            return value
        end = string_end(text, at, len(text))
        if end < 0:
            self._may("missing_closer")
            self.at, self.closed = len(text), False
            return text[at + len(quote) :]
        if found is None or found[1] != end:
            self._may("unescaped_quote")
            found = decode_string(text[at:end], 0, quote, raw="r" in prefix, whole=True)
        self.at = end
        return text[at + len(quote) : end - len(quote)] if found is None else found[0]

    # -- collections

    def _items(self, at: int, closer: str, depth: int) -> Any:
        items: list[Any] = []
        while True:
            at = self.space(at)
            char = self.text[at : at + 1]
            if char == closer:
                self.at = at + 1
                return items
            if not char or char in ")]}":
                return items if self._left_open(at) else _NOTHING
            value = self.value(at, depth + 1)
            if value is _NOTHING:
                return _NOTHING
            items.append(value)
            if not self.closed:
                return items
            at = self._separator()
            if at < 0:
                return _NOTHING

    def _separator(self) -> int:
        """The offset after the comma that follows an item; -1 if a required one is missing."""
        at = self.space(self.at)
        self.comma = self.text.startswith(",", at)
        if self.comma:
            return at + 1
        return at if self.text[at : at + 1] in _CLOSERS or self._may("missing_comma") else -1

    def _left_open(self, at: int) -> bool:
        if not self._may("missing_closer"):
            return False
        self.at, self.closed = at, at < len(self.text)
        return True

    def _tuple(self, at: int, depth: int) -> Any:
        """A tuple is a list here; a value in parentheses is that value."""
        items = self._items(at + 1, ")", depth)
        if items is _NOTHING or len(items) != 1:
            return items
        return items if self.comma else items[0]

    def _braces(self, at: int, depth: int) -> Any:
        """A dict, or a set, which is a list here."""
        found: dict[str, Any] = {}
        while True:
            at = self.space(at)
            char = self.text[at : at + 1]
            if char == "}":
                self.at = at + 1
                return found
            if not char or char in ")]":
                return found if self._left_open(at) else _NOTHING
            key = self._dict_key(at, depth)
            if key is None:
                return self._items(at, "}", depth) if not found else _NOTHING
            value = self.value(self.space(self.at), depth + 1)
            if value is _NOTHING:
                return _NOTHING
            found[key] = value
            if not self.closed:
                return found
            at = self._separator()
            if at < 0:
                return _NOTHING

    def _dict_key(self, at: int, depth: int) -> str | None:
        """A key and its colon, quoted or not (as in JavaScript)."""
        name = _DICT_KEY.match(self.text, at)
        if name is not None:
            self.at = name.end()
            return name[1]
        if self.text[at] in "[({":
            return None  # not a key; do not parse it twice
        key = self.value(at, depth + 1)
        at = self.space(self.at)
        if key is _NOTHING or isinstance(key, list | dict | UnparsedText) or not self.text.startswith(":", at):
            return None
        self.at = at + 1
        return key if isinstance(key, str) else str(key)


def _number(text: str) -> int | float | None:
    if len(text) > _MAX_DIGITS:
        return None
    try:
        if re.fullmatch(r"[+-]?\d[\d_]*", text):
            return int(text)
        if text.lstrip("+-")[:2].lower() in {"0x", "0o", "0b"}:
            return int(text, 0)
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None
