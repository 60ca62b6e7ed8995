"""`SearchDatabase(query="python", limit=10)` anywhere in prose, for registered names only.

What merely speaks of a function is no call: its signature, a placeholder for its arguments. Calls joined by commas or
semicolons are one region; the bracket of a list that lost its beginning goes with them.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import msgspec

from toolglot.grammars.heard import Heard, Parsed, Tools
from toolglot.grammars.known_names import find_tool, parameters
from toolglot.grammars.python_calls import MAX_CALLS, read_listing
from toolglot.text.python_end import PythonEnd
from toolglot.text.python_literals import Call, Source, read_call_loosely

_PREFIXES = ("functions.", "default_api.", "tools.", "function.", "tool.", "api.")  # of names, as models add them
_PRINTED = "print("  # as Gemini does, and only there: anything else that is printed is code
_TYPES = re.compile(
    r"(?:str|string|int|integer|float|number|bool|boolean|list|array|dict|object|any|none|bytes|tuple|set|optional|union)(?:\b|\[).*",
    re.IGNORECASE | re.DOTALL,
)
_BEFORE = ("", *_PREFIXES, f"{_PRINTED}default_api.")
_PLACEHOLDER = re.compile(r"\.\.\.|…|<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\}|\*\*?\w+|self|/|\*")


class CallExpression(msgspec.Struct, frozen=True, dict=True):
    """Without tools it has nothing to listen for: `for_tools` gives the one that has."""

    openers: tuple[str, ...] = ()

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """All that an opener may begin with."""
        return frozenset(one[:size] for one in self.openers for size in range(1, len(one)))

    def for_tools(self, tools: Tools) -> CallExpression:
        return CallExpression(tuple(dict.fromkeys(f"{prefix}{name}(" for name in tools if name for prefix in _BEFORE)))

    def open(self, opener: str, /) -> CallRegion:
        return CallRegion(self, opener)


class CallRegion:
    """From a name to its closing parenthesis, and on while a comma or semicolon leads to a further call."""

    __slots__ = ("_calls", "_form", "_joined", "_printed", "_scan", "_word", "examined")

    def __init__(self, form: CallExpression, opener: str) -> None:
        self._form = form
        self._printed = opener.count("(") > 1
        self._scan: PythonEnd | None = PythonEnd("(" * opener.count("("))  # None: behind a call
        self._calls = 1
        self._joined = ""  # what stands behind it: brackets, a gap, a comma
        self._word = ""  # what may be the name of the next
        self.examined = 0

    def feed(self, text: str, /) -> int:
        self.examined += len(text)
        at = 0
        while at < len(text):
            if self._scan is not None:
                at = self._scan.feed(text, at)
                if at < 0:
                    return -1
                self._scan, self._joined, self._word = None, "", ""
            elif self._leads_on(text[at]):
                at += 1
            else:
                return at
        return -1

    def _leads_on(self, char: str) -> bool:
        """Whether another call may still follow; the brackets of a list that has no beginning belong here too."""
        joined = self._joined
        if char in " \t" or (char == "\n" and joined[-1:] == ","):
            return not self._word and (joined.endswith(",") or bool(self._space()))
        if char == "]" and not joined.strip("]"):
            self._joined += char
        elif char in ",;" and not joined.endswith(","):
            self._joined = ","
        elif joined.endswith(","):
            self._word += char
            if self._word in self._form.openers and self._calls < MAX_CALLS:  # what is behind them is a region of its own
                self._scan, self._calls = PythonEnd("("), self._calls + 1
            return self._scan is not None or self._word in self._form.beginnings
        else:
            return False
        return True

    def _space(self) -> str:
        self._joined += " "
        return self._joined

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> Parsed:
        first = read_call_loosely(text, len(_PRINTED) if self._printed else 0)
        if first is None or _spoken_of(first, tools):
            return Parsed()
        listing = read_listing(text, tools)
        if not listing.calls or any(_unknown(call, tools) for call in listing.calls):
            return Parsed()
        rest = text[listing.last :].lstrip("]").removeprefix(";")
        return Parsed(listing.calls, rest=rest if rest.strip() else "")


def _unknown(call: Heard, tools: Tools) -> bool:
    return find_tool(call.name, tools) is None


def _spoken_of(call: Call, tools: Tools) -> bool:
    """Whether this shows how the function is called, and does not call it: `f(query: str)`, `f(query)`, `f(...)`."""
    tool = find_tool(call.name, tools)
    known = set(parameters(tool)) if tool is not None else set()
    return any(_spoken_value(key, value, known, "wrong_separator" in call.fixes) for key, value in call.pairs)


def _spoken_value(key: str | None, value: Any, known: set[str], colons: bool) -> bool:
    if (
        isinstance(value, str)
        and _PLACEHOLDER.fullmatch(value.strip())
        and (isinstance(value, Source) or value.strip()[:1] in ".…")
    ):
        return True
    if not isinstance(value, Source):
        return False
    text = value.strip()
    if key is None:
        return text in known or not text.isascii() or "=" in text or ":" in text
    return colons or text in known or bool(_TYPES.fullmatch(text)) or not re.fullmatch(r"[\w .\-/:@]+", text)


CALL_EXPRESSION = CallExpression()
