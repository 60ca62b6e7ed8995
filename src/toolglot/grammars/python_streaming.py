"""Streams calls in Python as JSON: strings piece by piece, every other value once it is complete.

Only what parses strictly (io/python_literals.py) is streamed. A loose parse needs the whole call.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from toolglot.grammars.call_streaming import ArgumentsDelta, CallParser, StreamedArguments, inside
from toolglot.grammars.parsed_call import Tools
from toolglot.grammars.text_reader import Parsing
from toolglot.io.json_codec import dumps
from toolglot.io.python_literals import NAME, read_value, to_plain_value
from toolglot.io.python_strings import unescape

_LONGEST_WORD = 300
_NAME_SO_FAR = re.compile(r"[\w.\-/:]*+")
_UP_TO_VALUE = re.compile(r"""[^=()\[\]{},"'#]*+""")
_KEY = re.compile(r"[^\W\d][\w.\-]*")
_NO_CODE = re.compile(r"""[^\[\](){},"'#]*+""")
_COMMENT = re.compile(r"[^\n]*+")
_DEPTH = {"[": 1, "(": 1, "{": 1, "]": -1, ")": -1, "}": -1}
# After a backslash: what may still become an escape. Half of a surrogate pair waits for the other half.
_HEX = "[0-9a-fA-F]"
_GROWING = rf"(?:u(?:{_HEX}{{0,3}}|[dD][89abAB]{_HEX}{{2}}(?:\\(?:u{_HEX}{{0,3}})?)?)|U{_HEX}{{0,7}}|x{_HEX}?|[0-7]{{1,2}})?\Z"
_RUNS = {  # string content, up to its end or to where more text is needed
    **{quote: re.compile(rf"(?:[^{quote}\\]++|\\(?!{_GROWING}).)*", re.DOTALL) for quote in "\"'"},
    **{
        quote * 3: re.compile(rf"(?:[^{quote}\\]++|\\(?!{_GROWING}).|{quote}(?!{quote}?\Z|{quote}{quote}))*", re.DOTALL)
        for quote in "\"'"
    },
}


class PythonCalls(CallParser):
    """`[f(a="text", n=3), g()]`, or such calls line by line. `at`: the number of the first call."""

    def __init__(self, at: int, tools: Tools, clean: Callable[[str], str] = str) -> None:
        super().__init__()
        self._at, self._tools, self._clean = at, tools, clean
        self._arguments = StreamedArguments(at, "")
        self._closing = ""  # the closing quote, emitted once the text after it shows that the string has ended

    def parse(self) -> Parsing[None]:
        listed = False
        while True:
            while self.needs_char():
                yield
            char = self.text[self.at]
            if char.isalpha() or char == "_":
                if not (yield from self._call()):
                    return
            elif char == "#":
                yield from self.run(_COMMENT)
            elif char in ",;" or (char == "[" and not listed and not self.calls):
                self.at += 1
                listed = listed or char == "["
            elif char == "]":
                break
            else:
                return
        while True:  # the list is complete: nothing after it is emitted
            yield

    def _call(self) -> Parsing[bool]:
        """Whether it could be parsed."""
        word = yield from self.run(_NAME_SO_FAR)
        name = self._clean(word)
        known = name in self._tools if self._tools else name != "print"
        if not self.here("(") or not known or len(word) > _LONGEST_WORD or not NAME.fullmatch(word):
            return False
        self._arguments = StreamedArguments(self._at + self.calls, name)
        self.at += 1
        while (more := (yield from self._argument())) is True:
            pass
        return more is None

    def _argument(self) -> Parsing[bool | None]:
        """Whether there is an argument that could be parsed; None: the call ends."""
        key = (yield from self.run(_UP_TO_VALUE)).strip()
        char = self.text[self.at]
        if char == ")" and not key:
            self.at += 1
            self._close_string()
            self._arguments.end(self.steps)
            self.calls += 1
            return None
        if char == "#" and not key:
            yield from self.run(_COMMENT)
            return True
        if char == "{" and key == "**":
            understood = yield from self._buffered(key)
        elif char == "=" and len(key) <= _LONGEST_WORD and _KEY.fullmatch(key) and key not in self._arguments:
            self.at += 1
            while self.needs_char():
                yield
            understood = yield from self._strings(key) if self.text[self.at] in "\"'" else self._buffered(key)
        else:
            return False
        if self.here(","):
            self.at += 1
        return understood

    def _emit(self, key: str, value: str) -> None:
        self._close_string()
        self._arguments.key(key, self.steps, value)

    def _close_string(self) -> None:
        if self._closing:
            self.steps.append(ArgumentsDelta(self._closing))
            self._closing = ""

    def _strings(self, key: str) -> Parsing[bool]:
        """A string and adjacent ones, which Python joins. Whether the text after them may follow a string."""
        self._emit(key, '"')
        self._closing = '"'
        plus = False
        while True:
            while self.needs_char():
                yield
            char = self.text[self.at]
            if char in "\"'":
                yield from self._string(None)
                plus = False
            elif char == "+" and not plus:
                self.at += 1
                plus = True
            elif char == "#" and not plus:
                yield from self.run(_COMMENT)
            else:
                return char in ",)" and not plus

    def _string(self, buffer: list[str] | None) -> Parsing[None]:
        """A string with single or triple quotes. `buffer`: receives it as written; None: it is emitted."""
        while self.needs(self.text[self.at] * 3):
            yield
        one = self.text[self.at]
        quote = one * 3 if self.here(one * 3) else one
        self.at += len(quote)
        if buffer is not None:
            buffer.append(quote)
        while True:
            self.take_pieces()
            found = _RUNS[quote].match(self.text, self.at)
            run = found[0] if found else ""
            self.at += len(run)
            if buffer is not None:
                buffer.append(run)
            elif run:
                self.steps.append(ArgumentsDelta(inside(unescape(run) if "\\" in run else run)))
            if self.here(quote):
                break
            yield
        self.at += len(quote)
        if buffer is not None:
            buffer.append(quote)

    def _buffered(self, key: str) -> Parsing[bool]:
        """A value that is emitted once it is complete."""
        buffer: list[str] = []
        depth = 0
        while True:
            buffer.append((yield from self.run(_NO_CODE)))
            char = self.text[self.at]
            if char in "\"'":
                yield from self._string(buffer)
            elif char == "#":
                buffer.append((yield from self.run(_COMMENT)))
            elif depth == 0 and char in ",)]}":
                return self._whole(key, "".join(buffer))
            else:
                self.at += 1
                depth += _DEPTH.get(char, 0)
                buffer.append(char)

    def _whole(self, key: str, raw: str) -> bool:
        """Emits a complete value, or the values of `**{...}`. Whether it could be parsed."""
        found = read_value(raw)
        if found is None or raw[found[1] :].strip():
            return False
        value: Any = to_plain_value(found[0])
        if key == "**" and not isinstance(value, dict):
            return False
        for name, item in value.items() if key == "**" else [(key, value)]:
            if name in self._arguments:
                return False
            self._emit(name, dumps(item))
        return True
