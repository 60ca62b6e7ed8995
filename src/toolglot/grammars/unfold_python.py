"""Calls as Python, told as JSON while they come: strings piece by piece, every other value once it is whole.

Only what a strict reading would take is followed (text/python_literals.py); `lost` where that ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal

from toolglot.grammars.heard import Tools
from toolglot.grammars.unfold_members import Members, inside
from toolglot.grammars.unfolding import More, Step
from toolglot.text.json_text import dumps
from toolglot.text.python_literals import NAME, plain, read_value
from toolglot.text.python_strings import unescaped

_State = Literal["list", "name", "key", "value", "opening", "string", "quoted", "plus", "held", "comment", "over"]

_LONGEST_WORD = 300
_NAME_SO_FAR = re.compile(r"[\w.\-/:]*+")
_UP_TO_VALUE = re.compile(r"""[^=()\[\]{},"'#]*+""")
_KEY = re.compile(r"[^\W\d][\w.\-]*")
_CODE = re.compile(r"""[\[\](){},"'#]""")
_DEPTH = {"[": 1, "(": 1, "{": 1, "]": -1, ")": -1, "}": -1}
# Behind a backslash: what may still grow into an escape. Half of a surrogate pair waits for the other half.
_HEX = "[0-9a-fA-F]"
_GROWING = rf"(?:u(?:{_HEX}{{0,3}}|[dD][89abAB]{_HEX}{{2}}(?:\\(?:u{_HEX}{{0,3}})?)?)|U{_HEX}{{0,7}}|x{_HEX}?|[0-7]{{1,2}})?\Z"
_RUNS = {  # of a string, up to its end, or to what more text must decide
    **{quote: re.compile(rf"(?:[^{quote}\\]++|\\(?!{_GROWING}).)*+", re.DOTALL) for quote in "\"'"},
    **{
        quote * 3: re.compile(rf"(?:[^{quote}\\]++|\\(?!{_GROWING}).|{quote}(?!{quote}?\Z|{quote}{quote}))*+", re.DOTALL)
        for quote in "\"'"
    },
}


class PythonCalls:
    """`[f(a="text", n=3), g()]`, or such calls line by line. `at` is the number of the first."""

    def __init__(self, at: int, tools: Tools, clean: Callable[[str], str] = str) -> None:
        self._at, self._tools, self._clean = at, tools, clean
        self._state: _State = "list"
        self._back: _State = "list"  # where a comment stands
        self._rest = ""  # what more text must decide
        self._word = ""  # a name or a key, as far as it came
        self._listed = False
        self._members = Members(at, "")
        self._closing = ""  # of a value, told once what follows shows that it was its end
        self._quote = ""
        self._held: list[str] | None = None  # a value that is told once it is whole; None: a string, told as it comes
        self._depth = 0
        self.lost = False
        self.calls = 0

    def feed(self, text: str, /) -> list[Step]:
        steps: list[Step] = []
        if self._rest:
            text, self._rest = self._rest + text, ""
        at = 0
        while at < len(text) and not self.lost:
            after = self._STEPS[self._state](self, text, at, steps)
            if after < 0:
                self._rest = text[at:]
                break
            at = after
        return steps

    # Each step gives how far it came, or -1 where more text must decide.

    def _list(self, text: str, at: int, steps: list[Step]) -> int:
        char = text[at]
        if char.isalpha() or char == "_":
            self._state, self._word = "name", ""
            return at
        if char == "[":
            self.lost = self._listed or self.calls > 0
            self._listed = True
        elif char == "]":
            self._state = "over"
        elif char == "#":
            self._state, self._back = "comment", "list"
        else:
            self.lost = not (char.isspace() or char in ",;")
        return at + 1

    def _name(self, text: str, at: int, steps: list[Step]) -> int:
        end = self._take_word(_NAME_SO_FAR, text, at)
        if end == len(text) or self.lost:
            return end
        name = self._clean(self._word)
        known = name in self._tools if self._tools else name != "print"
        self.lost = text[end] != "(" or not known or not NAME.fullmatch(self._word)
        self._members = Members(self._at + self.calls, name)
        self._state, self._word = "key", ""
        return end + 1

    def _take_word(self, pattern: re.Pattern[str], text: str, at: int) -> int:
        found = pattern.match(text, at)
        end = found.end() if found else at
        self._word += text[at:end]
        self.lost = len(self._word) > _LONGEST_WORD
        return end

    def _key(self, text: str, at: int, steps: list[Step]) -> int:
        end = self._take_word(_UP_TO_VALUE, text, at)
        if end == len(text) or self.lost:
            return end
        char, self._word = text[end], self._word.strip()
        if char == "=":
            self.lost = not _KEY.fullmatch(self._word) or self._word in self._members
            self._state = "value"
        elif char == "{" and self._word == "**":
            return self._hold(end)
        elif char == ")" and not self._word:
            self._end(steps)
        elif char == "#" and not self._word:
            self._state, self._back = "comment", "key"
        else:
            self.lost = True
        return end + 1

    def _value(self, text: str, at: int, steps: list[Step]) -> int:
        char = text[at]
        if char.isspace():
            return at + 1
        if char not in "\"'":
            return self._hold(at)
        self._tell(self._word, '"', steps)
        self._closing, self._held = '"', None
        self._state = "opening"
        return at

    def _hold(self, at: int) -> int:
        self._state, self._held, self._depth = "held", [], 0
        return at

    def _tell(self, key: str, value: str, steps: list[Step]) -> None:
        self._close_string(steps)
        self._members.key(key, steps, value)

    def _close_string(self, steps: list[Step]) -> None:
        if self._closing:
            steps.append(More(self._closing))
            self._closing = ""

    def _opening(self, text: str, at: int, steps: list[Step]) -> int:
        """At a quote: of one, or of three."""
        quote = text[at]
        if len(text) - at < 3 and text.count(quote, at) == len(text) - at:
            return -1
        self._quote = quote * 3 if text.startswith(quote * 3, at) else quote
        self._state = "string"
        if self._held is not None:
            self._held.append(self._quote)
        return at + len(self._quote)

    def _string(self, text: str, at: int, steps: list[Step]) -> int:
        found = _RUNS[self._quote].match(text, at)
        end = found.end() if found else at
        if end > at:
            run = text[at:end]
            if self._held is not None:
                self._held.append(run)
            else:
                steps.append(More(inside(unescaped(run) if "\\" in run else run)))
        elif text.startswith(self._quote, at):
            if self._held is not None:
                self._held.append(self._quote)
            self._state = "quoted" if self._held is None else "held"
            return at + len(self._quote)
        return end if end > at else -1

    def _quoted(self, text: str, at: int, steps: list[Step]) -> int:
        """Behind a quote that closes the string, if what follows may follow one; another string goes on with it."""
        char = text[at]
        if char in "\"'":
            self._state = "opening"
            return at
        if char == "+":
            self._state = "plus"
        elif char == ")":
            self._end(steps)
        elif char == ",":
            self._state, self._word = "key", ""
        elif char == "#":
            self._state, self._back = "comment", "quoted"
        else:
            self.lost = not char.isspace()
        return at + 1

    def _plus(self, text: str, at: int, steps: list[Step]) -> int:
        self.lost = text[at] not in "\"'" and not text[at].isspace()
        if text[at].isspace():
            return at + 1
        self._state = "opening"
        return at

    def _in_held(self, text: str, at: int, steps: list[Step]) -> int:
        held = self._held
        assert held is not None  # noqa: S101  (the state is entered with a list)
        found = _CODE.search(text, at)
        end = found.start() if found else len(text)
        held.append(text[at:end])
        if found is None:
            return end
        char = found[0]
        if char in "\"'":
            self._state = "opening"
            return end
        if char == "#":
            self._state, self._back = "comment", "held"
            return end
        if self._depth == 0 and char in ",)]}":
            self._whole("".join(held), steps)
            self._state, self._word = "key", ""
            return end + (char == ",")
        self._depth += _DEPTH.get(char, 0)
        held.append(char)
        return end + 1

    def _whole(self, raw: str, steps: list[Step]) -> None:
        """A value that is all there; the values, where it is `**{...}`."""
        found = read_value(raw)
        self.lost = found is None or bool(raw[found[1] :].strip())
        value: Any = plain(found[0]) if found is not None else None
        if self._word == "**":
            self.lost = self.lost or not isinstance(value, dict)
            pairs = [] if self.lost else list(value.items())
        else:
            pairs = [] if self.lost else [(self._word, value)]
        for key, held in pairs:
            self.lost = self.lost or key in self._members
            if not self.lost:
                self._tell(key, dumps(held), steps)

    def _comment(self, text: str, at: int, steps: list[Step]) -> int:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if self._back == "held" and self._held is not None:
            self._held.append(text[at:end])
        if end < len(text):
            self._state = self._back
        return end

    def _end(self, steps: list[Step]) -> None:
        self._close_string(steps)
        self._members.end(steps)
        self._state = "list"
        self.calls += 1

    def _over(self, text: str, at: int, steps: list[Step]) -> int:
        return len(text)

    _STEPS: dict[_State, Callable[[PythonCalls, str, int, list[Step]], int]] = {
        "list": _list,
        "name": _name,
        "key": _key,
        "value": _value,
        "opening": _opening,
        "string": _string,
        "quoted": _quoted,
        "plus": _plus,
        "held": _in_held,
        "comment": _comment,
        "over": _over,
    }
