"""`SearchDatabase(query="python", limit=10)` anywhere in text, for registered names only.

Text that describes a function is not a call: its signature, or placeholders for its arguments. Calls joined by commas or
semicolons are one region. The closing bracket of a list without an opening one is part of it.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

from toolglot.grammars.known_names import find_tool, parameters, spellings
from toolglot.grammars.parsed_call import ParsedCall, RegionResult, Tools
from toolglot.grammars.python_calls import MAX_CALLS, read_listing
from toolglot.io.marker_search import NamedForm
from toolglot.io.python_literals import PythonCall, UnparsedText, read_call_loosely
from toolglot.io.python_scanner import PythonScanner
from toolglot.schema.tool_names import PREFIXES

_PRINTED = "print("  # only with `default_api.`, as Gemini writes: any other `print(` is code
_TYPES = re.compile(
    r"(?:str|string|int|integer|float|number|bool|boolean|list|array|dict|object|any|none|bytes|tuple|set|optional|union)(?:\b|\[).*",
    re.IGNORECASE | re.DOTALL,
)
_BEFORE = ("", *PREFIXES, f"{_PRINTED}default_api.")
_PLACEHOLDER = re.compile(r"\.\.\.|…|<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\}|\*\*?\w+|self|/|\*")


class CallExpression:
    openers = ()
    named_forms = tuple(NamedForm(one, "(", exact=bool(one), word=True) for one in _BEFORE)

    def __init__(self, tools: Tools | None = None) -> None:
        self.tools = tools or {}

    @cached_property
    def expressions(self) -> frozenset[str]:
        """What calls of the tools begin with."""
        named = [f"{prefix}{name}(" for name in self.tools if name for prefix in _BEFORE]
        return frozenset([*named, *(f"{written}(" for written in spellings(self.tools))])

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """All proper prefixes of these."""
        return frozenset(one[:size] for one in self.expressions for size in range(1, len(one)))

    def for_tools(self, tools: Tools) -> CallExpression:
        return CallExpression(tools)

    def open(self, opener: str, /) -> CallRegion:
        return CallRegion(self, opener)


class CallRegion:
    """From a name to its closing parenthesis, and on while a comma or semicolon is followed by another call."""

    __slots__ = ("_calls", "_form", "_joined", "_printed", "_scan", "_word", "examined")

    def __init__(self, form: CallExpression, opener: str) -> None:
        self._form = form
        self._printed = opener.count("(") > 1
        self._scan: PythonScanner | None = PythonScanner("(" * opener.count("("))  # None: after a call
        self._calls = 1
        self._joined = ""  # what follows a call: brackets, a space, a comma
        self._word = ""  # what may be the name of the next call
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
            elif self._may_continue(text[at]):
                at += 1
            else:
                return at
        return -1

    def _may_continue(self, char: str) -> bool:
        """Whether another call may still follow. Closing brackets without opening ones are part of the region."""
        joined = self._joined
        if char in " \t" or (char == "\n" and joined[-1:] == ","):
            return not self._word and (joined.endswith(",") or bool(self._space()))
        if char == "]" and not joined.strip("]"):
            self._joined += char
        elif char in ",;" and not joined.endswith(","):
            self._joined = ","
        elif joined.endswith(","):
            self._word += char
            if self._word in self._form.expressions and self._calls < MAX_CALLS:  # further calls start a new region
                self._scan, self._calls = PythonScanner("("), self._calls + 1
            return self._scan is not None or self._word in self._form.beginnings
        else:
            return False
        return True

    def _space(self) -> str:
        self._joined += " "
        return self._joined

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> RegionResult:
        first = read_call_loosely(text, len(_PRINTED) if self._printed else 0)
        if first is None or _is_description(first, tools):
            return RegionResult()
        listing = read_listing(text, tools)
        if not listing.calls or any(_unknown(call, tools) for call in listing.calls):
            return RegionResult()
        rest = text[listing.last :].lstrip("]").removeprefix(";")
        return RegionResult(listing.calls, rest=rest if rest.strip() else "")


def _unknown(call: ParsedCall, tools: Tools) -> bool:
    return find_tool(call.name, tools) is None


def _is_description(call: PythonCall, tools: Tools) -> bool:
    """Whether this describes the function and does not call it: `f(query: str)`, `f(query)`, `f(...)`."""
    tool = find_tool(call.name, tools)
    known = set(parameters(tool)) if tool is not None else set()
    return any(_is_placeholder(key, value, known, "wrong_separator" in call.fixes) for key, value in call.pairs)


def _is_placeholder(key: str | None, value: Any, known: set[str], colons: bool) -> bool:
    if (
        isinstance(value, str)
        and _PLACEHOLDER.fullmatch(value.strip())
        and (isinstance(value, UnparsedText) or value.strip()[:1] in ".…")
    ):
        return True
    if not isinstance(value, UnparsedText):
        return False
    text = value.strip()
    if key is None:
        return text in known or not text.isascii() or "=" in text or ":" in text
    return colons or text in known or bool(_TYPES.fullmatch(text)) or not re.fullmatch(r"[\w .\-/:@]+", text)


CALL_EXPRESSION = CallExpression()
