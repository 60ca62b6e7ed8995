"""The lenient JSON parser: one pass from left to right that detects each error by its position.

It gets only text that the strict parser rejects. It raises `Unclear` if the text is ambiguous.
"""

from __future__ import annotations

import re
from typing import Any

from toolglot.schema.loose_string import CLOSING, Unclear, read_quoted

MAX_DEPTH = 64

_SPACE = r"[\s\ufeff\u200b]"
_QUOTED_KEY = rf"(?:\"(?:[^\"\\\n]|\\.){{0,100}}\"|'(?:[^'\\\n]|\\.){{0,100}}'){_SPACE}{{0,400}}:"
_KEY = rf"(?:{_QUOTED_KEY}|[A-Za-z_$][\w$.-]{{0,100}}{_SPACE}{{0,400}}:)"
_COMMENT = r"[ \t]*(?://|\#|/\*)"
_WORD = r"[A-Za-z_][\w.-]{0,60}\s*+[,}\])]"
_CLOSERS = rf"[}}\])][\s}}\])]*+(?:\Z|[{{\[;]|{_QUOTED_KEY}|,{_SPACE}*+(?:{_KEY}|{_WORD}|[\"'“{{\[}}\])\d-]|\Z))"
# What may follow a string, by its position.
_AFTER_KEY = re.compile(rf"{_SPACE}*+[:=]")
_AFTER_PAIR = re.compile(rf"{_SPACE}*+(?:\Z|{_CLOSERS}|,{_SPACE}*+(?:{_KEY}|[}}\])]|\Z)|,?{_COMMENT})|{_SPACE}++{_QUOTED_KEY}")
_AFTER_ITEM = re.compile(
    rf"{_SPACE}*+(?:\Z|{_CLOSERS}|,{_SPACE}*+(?:[\"'“‘{{\[(\d}}\])-]|\Z|{_WORD})|,?{_COMMENT})|(?=\s*+[\"'])[^\S\n]*+\n"
)
_AFTER_ALL = re.compile(rf"{_SPACE}*+;?{_SPACE}*+\Z")

_BLANK = re.compile(r"[ \t\r\n]*")
_GAP = re.compile(rf"(?:{_SPACE}+|//[^\n]*|\#[^\n]*|/\*.*?\*/)+", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_$][\w$.-]*")
_BARE = re.compile(r"[^,{}\[\]\"“\n\r]+")
_NEXT_PAIR = re.compile(_KEY)
_NUMBER = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+|0|[1-9]\d*)(?:[eE][+-]?\d+)?\Z")
_STRICT_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\Z")
_STRANGE = re.compile(r"[()<>;]|[:=](?:\s|\Z)")
_TWO_VALUES = re.compile(r"[-+.\d]\S*\s")
_SURPLUS = re.compile(r"[\s}\]),;]*\Z")
_CLOSING_BRACKETS = "}])"
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None}
_OTHER_WORDS: dict[str, Any] = {"True": True, "False": False, "None": None, "TRUE": True, "FALSE": False, "NULL": None}
_OTHER_WORDS |= {"undefined": None, "nil": None}
_NO_NUMBERS = frozenset({"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf"})


class LooseReader:
    """Parses one value. `fixes` collects codes, in the order of the fixes."""

    def __init__(self, text: str, fixes: dict[str, None], *, cut: bool, last_wins: bool = False) -> None:
        self._text = text
        self._at = 0
        self._cut = cut
        self._last_wins = last_wins
        self._open: list[str] = []  # the closing bracket of each open container
        self.fixes = fixes
        self.too_deep = False

    def whole(self) -> Any:
        self._skip()
        if self._at >= len(self._text):
            raise Unclear("the text is empty")
        value = self._value(_AFTER_ALL)
        self._skip()
        rest = self._text[self._at :]
        if rest and not _SURPLUS.match(rest):
            raise Unclear(f"text after the value: {rest[:40]!r}")
        if any(bracket in rest for bracket in _CLOSING_BRACKETS):
            self._fix("extra_closer")
        elif rest:
            self._fix("trailing_comma")
        return value

    # single values

    def _value(self, after: re.Pattern[str]) -> Any:
        char = self._text[self._at]
        if char == "{":
            return self._object()
        if char in "[(":
            return self._list("]" if char == "[" else ")")
        if char in CLOSING:
            return self._string(after)
        return self._bare()

    def _string(self, after: re.Pattern[str]) -> str:
        read = read_quoted(self._text, self._at, after)
        self._at = read.end
        for code in sorted(read.fixes):
            self._fix(code)
        return read.value

    def _bare(self) -> Any:
        """A number, a literal such as true, or a string without quotes."""
        found = _BARE.match(self._text, self._at)
        token = re.split(r"\s(?://|#|/\*)", found[0], maxsplit=1)[0] if found else ""
        if self._open and self._open[-1] == ")":
            token = token.split(")", 1)[0]
        word = token.strip(" \t\ufeff\u200b")
        if not word:
            raise Unclear(f"a value is missing before {self._text[self._at : self._at + 20]!r}")
        end = self._at + len(token)
        meant = self._meant(word)
        if meant is _NOTHING:
            run_together = self._open and self._open[-1] != "}" and _TWO_VALUES.match(word)
            if run_together or self._text[end : end + 1] in tuple('{["“') or _STRANGE.search(word):
                raise Unclear(f"a value can't be parsed: {word[:40]!r}")
            if self._open and end >= len(self._text):
                raise Unclear(f"the text ends in {word[:40]!r}, which may be incomplete")
            self._fix("unquoted_value")
            meant = word
        self._at = end
        return meant

    def _meant(self, word: str) -> Any:
        if word in _WORDS:
            return _WORDS[word]
        if _NUMBER.match(word):
            if not _STRICT_NUMBER.match(word):
                self._fix("python_literal")
            number = float(word) if any(sign in word for sign in ".eE") else int(word)
            if number in (float("inf"), float("-inf")):
                raise Unclear("a number is out of range")
            return number
        if word in _OTHER_WORDS:
            self._fix("python_literal")
            return _OTHER_WORDS[word]
        if word in _NO_NUMBERS:
            self._fix("nan_as_null")
            return None
        return _NOTHING

    # containers

    def _enter(self, closer: str) -> None:
        if len(self._open) >= MAX_DEPTH:
            self.too_deep = True
            raise Unclear(f"nested more than {MAX_DEPTH} deep")
        self._open.append(closer)
        self._at += 1
        self._skip()

    def _object(self) -> dict[str, Any]:
        self._enter("}")
        if self._text.startswith("{", self._at):
            return self._doubled()
        pairs: dict[str, Any] = {}
        while not self._closed():
            key = self._key()
            self._colon()
            value = self._value(_AFTER_PAIR)
            if key in pairs:
                self._fix("duplicate_key")
                if pairs[key] != value and not self._last_wins:
                    raise Unclear(f"{key!r} is given twice, with different values")
            pairs[key] = value
            self._comma(pairs=True)
        return pairs

    def _doubled(self) -> dict[str, Any]:
        """`{{...}}`, as in an unfilled template."""
        self._fix("doubled_braces")
        pairs = self._object()
        self._skip()
        if not self._closed():
            raise Unclear("only the opening braces are doubled")
        return pairs

    def _list(self, closer: str) -> list[Any]:
        if closer == ")":
            self._fix("python_literal")
        self._enter(closer)
        items: list[Any] = []
        while not self._closed():
            items.append(self._value(_AFTER_ITEM))
            self._comma(pairs=False)
        return items

    def _closed(self) -> bool:
        """Whether the innermost container ends here. A closing bracket of an outer one ends it too, and is not consumed."""
        char = self._text[self._at : self._at + 1]
        if char == self._open[-1]:
            self._at += 1
        elif not char:
            if self._cut or self._text.rstrip()[-1] in ",{[(":
                raise Unclear("the text is cut short")
            self._fix("missing_closer")
        elif char in _CLOSING_BRACKETS:
            if char not in self._open:
                raise Unclear(f"{char!r} closes nothing")
            self._fix("missing_closer")
        else:
            return False
        self._open.pop()
        return True

    def _key(self) -> str:
        if self._text[self._at] in CLOSING:
            return self._string(_AFTER_KEY).replace("\\_", "_")  # markdown escapes underscores
        found = _NAME.match(self._text, self._at)
        if found is None:
            raise Unclear(f"a key is missing before {self._text[self._at : self._at + 20]!r}")
        self._fix("unquoted_key")
        self._at = found.end()
        return found[0]

    def _colon(self) -> None:
        self._skip()
        if self._text.startswith(":", self._at):
            self._at += 1
        elif self._text.startswith("=", self._at):
            self._at += 2 if self._text.startswith("=>", self._at) else 1
            self._fix("wrong_separator")
        else:
            raise Unclear(f"a colon is missing before {self._text[self._at : self._at + 20]!r}")
        self._skip()
        if self._at >= len(self._text) or self._text[self._at] in ",}])":
            raise Unclear("a key has no value")

    def _comma(self, *, pairs: bool) -> None:
        before = self._at
        self._skip()
        char = self._text[self._at : self._at + 1]
        if char == ",":
            self._at += 1
            self._skip()
            following = self._text[self._at : self._at + 1]
            if following == ",":
                raise Unclear("a value is missing between two commas")
            if following in (*_CLOSING_BRACKETS, ""):
                self._fix("trailing_comma")
        elif char and char not in _CLOSING_BRACKETS:
            self._missing_comma(before, char, pairs=pairs)

    def _missing_comma(self, before: int, char: str, *, pairs: bool) -> None:
        """The comma may be missing before a pair; between items only at a line break or between brackets."""
        if pairs:
            clear = _NEXT_PAIR.match(self._text, self._at) is not None
        else:
            clear = "\n" in self._text[before : self._at] or (char in "{[" and self._text[before - 1] in "}]")
        if not clear:
            raise Unclear(f"a comma is missing before {self._text[self._at : self._at + 20]!r}")
        self._fix("missing_comma")

    def _skip(self) -> None:
        """Skips white space. Comments and invisible characters are skipped too, and recorded as fixes."""
        blank = _BLANK.match(self._text, self._at)
        self._at = blank.end() if blank else self._at
        found = _GAP.match(self._text, self._at)
        if found is not None:
            skipped = found[0]
            self._fix("comment" if any(sign in skipped for sign in ("//", "#", "/*")) else "odd_whitespace")
            self._at = found.end()

    def _fix(self, code: str) -> None:
        self.fixes[code] = None


_NOTHING = object()
