"""A call in a fenced block: as JSON, as Python, or as code that only makes calls.

The block must consist of calls to registered tools and nothing else. It is rejected as soon as its beginning shows otherwise,
so that ordinary code streams on and other grammars can parse tags inside it.
"""

from __future__ import annotations

import re
from functools import cache

import msgspec

from toolglot.grammars.bare_json import plausible as plausible_json
from toolglot.grammars.json_calls import read_json_calls, string_of
from toolglot.grammars.parsed_call import ParsedCall, Region, RegionResult, Tools, with_fixes
from toolglot.grammars.python_calls import begins_call, only_known, read_listing

_WORD = re.compile(r"[\w+\-]*+")
_LEADING = re.compile(r"(?:\s++|\#[^\n]*+\n)*")
_PARTIAL_COMMENT = re.compile(r"\#[^\n]*+\Z")
_CODE_LEADING = re.compile(r"(?:\s++|\#[^\n]*+\n|[\[({]|await\s++|[\"'])*")
_ASSIGNED = re.compile(r"[^\W\d]\w*+\s*+(?:=\s*+|\Z)")
_MAX_HEAD = 400  # characters after which a block's head must be decided
_WINDOW = 48  # the longest closing fence, with its spaces


class Fences(msgspec.Struct, frozen=True):
    """`words`: info strings of the opening fence, in lower case. `statements`: also accept code that assigns and prints."""

    words: frozenset[str]
    statements: bool = False

    at_line_start = True

    @property
    def openers(self) -> tuple[str, ...]:
        return ("```", "~~~")

    def open(self, opener: str, /) -> Region:
        return FenceRegion(opener, self)


class FenceRegion:
    """From the opening fence to the closing one. `_head` is its beginning; None once it is decided."""

    __slots__ = ("_buffer", "_form", "_head", "_opener", "_rejected", "_triple", "examined")

    def __init__(self, opener: str, form: Fences) -> None:
        self._opener, self._form = opener, form
        self._head: str | None = ""
        self._buffer = ""  # a possible prefix of the closing fence, or of triple quotes
        self._triple = ""  # the quotes of an open triple-quoted string: a fence in it is text
        self._rejected = False
        self.examined = 0

    def feed(self, text: str, /) -> int:
        if self._head is None:
            return self._body(self._buffer + text, len(self._buffer))
        self.examined += len(text)
        before = len(self._head)
        self._head += text
        plausible, at = self._check_head(self._head[:_MAX_HEAD])
        if plausible is None and len(self._head) < _MAX_HEAD:
            return -1
        head, self._head = self._head, None
        if plausible:
            return self._body(head, before)
        self._rejected = True
        return max(0, at - before)

    def _check_head(self, head: str) -> tuple[bool | None, int]:
        """Whether this may become a block of calls, and the offset that decides it."""
        start = len(head) - len(head.lstrip(self._opener[0]))
        at = _match_end(_WORD, head, start)
        if at == len(head):
            return None, at
        if head[start:at].lower() not in self._form.words:
            return False, at
        at = _match_end(_LEADING, head, at)
        if at == len(head) or _PARTIAL_COMMENT.match(head, at):
            return None, at
        if head.startswith('"', at) and len(head) > at + 1:
            at += head[at + 1] in "{["  # the JSON may be in a string
        json = plausible_json(head[at:].replace("\\", "")) if head[at] in "{[" else False
        code = True if json else self._begins_code(head, at)
        return (True if json or code else None if json is None or code is None else False), at

    def _begins_code(self, head: str, at: int) -> bool | None:
        at = _match_end(_CODE_LEADING, head, at)
        if self._form.statements:
            at = _match_end(_ASSIGNED, head, at)
        return None if _PARTIAL_COMMENT.match(head, at) else begins_call(head, at)

    def _body(self, text: str, before: int) -> int:
        """Searches for the closing fence. The first `before` characters came in earlier pieces."""
        self.examined += len(text)
        at = 0
        while True:
            found = _stops(self._opener, self._triple).search(text, at)
            if found is None:
                partial = _undecided(self._opener).search(text, max(at, len(text) - _WINDOW))
                self._buffer = partial[0] if partial else ""
                return -1
            at = found.end()
            if _closes(found):
                return max(0, at - before)
            self._triple = "" if self._triple else found[0]

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> RegionResult:
        if self._rejected:
            return RegionResult()
        word, body, rest = _parts(text, self._opener, complete=complete)
        if word.lower() not in self._form.words:
            return RegionResult()
        calls = _read(body, tools, statements=self._form.statements)
        if not calls or (not tools and any(call.fixes or not call.closed for call in calls)):
            return RegionResult()
        return RegionResult(calls, rest=rest)


# A closing fence is alone on its line, or after a bracket at the end of the line.
_BEFORE_CLOSING = {"\n": 24, "]": 8, ")": 8, "}": 8}  # and the maximum number of spaces between
_CLOSING = r"{before}[ \t]{{0,{blanks}}}{mark}{char}{{0,8}}[ \t]{{0,8}}(?=\r?\n)"
_PARTIAL_CLOSING = r"(?:\n[ \t]{{0,24}}|[\])}}][ \t]{{0,8}}){char}{{0,11}}[ \t]{{0,8}}\r?\Z|(?:\"{{1,2}}|'{{1,2}})\Z"


@cache
def _stops(fence: str, triple: str) -> re.Pattern[str]:
    """A pattern for the end of a triple-quoted string, or for the closing fence and the start of such a string.

    Each alternative begins with a different character, so `re` need not try all of them everywhere.
    """
    if triple:
        return re.compile(triple)
    mark, char = re.escape(fence), re.escape(fence[0])
    forms = [
        _CLOSING.format(before=re.escape(before), blanks=blanks, mark=mark, char=char)
        for before, blanks in _BEFORE_CLOSING.items()
    ]
    return re.compile("|".join([*forms, '"""', "'''"]))


def _closes(found: re.Match[str]) -> bool:
    return found[0][0] in _BEFORE_CLOSING


@cache
def _undecided(fence: str) -> re.Pattern[str]:
    return re.compile(_PARTIAL_CLOSING.format(char=re.escape(fence[0])))


def _match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _parts(text: str, fence: str, *, complete: bool) -> tuple[str, str, str]:
    """The info string, the body, and the text after the closing fence."""
    inside = text.lstrip(fence[0])
    at = _match_end(_WORD, inside, 0)
    word, body = inside[:at], inside[at:]
    if complete:
        return word, body.rstrip(" \t").rstrip(fence[0]), ""
    end = _closing(body + "\n", fence, long_strings=True) or _closing(body + "\n", fence, long_strings=False)
    if end is None:
        return word, body, ""
    bracket = end[0][0] != "\n"  # a bracket before the fence is part of the body
    return word, body[: end.start() + bracket], body[end.end() :]


def _closing(body: str, fence: str, *, long_strings: bool) -> re.Match[str] | None:
    """The closing fence. One inside a triple-quoted string does not count, unless that string never ends."""
    triple, at = "", 0
    while (found := _stops(fence, triple).search(body, at)) is not None and not _closes(found):
        triple = found[0] if long_strings and not triple else ""
        at = found.end()
    return found


def _read(body: str, tools: Tools, *, statements: bool) -> tuple[ParsedCall, ...]:
    at = _match_end(_LEADING, body, 0)
    if body.startswith(('"{', '"['), at) and (inner := string_of(body[at:].strip())) is not None:
        return tuple(with_fixes(call, "unwrapped_string") for call in _read(inner, tools, statements=statements))
    if body[at : at + 1] in {"{", "["}:
        reading = read_json_calls(body, tools)
        if reading is not None:
            return tuple(reading.calls) if not body[reading.end :].strip() else ()
    listing = read_listing(body, tools, statements=statements)
    if listing.stopped or not only_known(listing.calls, tools):
        return ()
    return () if any("unquoted_value" in call.fixes for call in listing.calls) else listing.calls


JSON_WORDS = frozenset({"", "json", "jsonc", "json5", "text", "txt", "plaintext", "javascript", "js", "typescript", "ts"})
TOOL_WORDS = frozenset({"tool_call", "tool_calls", "tool", "tools", "function_call", "function_calls", "function", "tool_use"})
CODE_WORDS = frozenset({"python", "py", "python3", "tool_code", "code"})
JSON_FENCES = Fences(JSON_WORDS | TOOL_WORDS)
CODE_FENCES = Fences(CODE_WORDS - {"tool_code"})
TOOL_CODE_FENCES = Fences(frozenset({"tool_code"}), statements=True)
