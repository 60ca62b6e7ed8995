"""A call in a fenced block: as JSON, as Python, or as code that does nothing but call.

The block must be made of calls to registered tools and nothing else. A block that shows otherwise at its beginning is let go at
once, so that ordinary code flows, and tags inside it are heard by those who know them.
"""

from __future__ import annotations

import re
from functools import cache

import msgspec

from toolglot.grammars.bare_json import plausible as plausible_json
from toolglot.grammars.heard import Heard, Parsed, Region, Tools
from toolglot.grammars.json_calls import read_json_calls
from toolglot.grammars.python_calls import begins_call, only_known, read_listing

_WORD = re.compile(r"[\w+\-]*+")
_LEADING = re.compile(r"(?:\s++|\#[^\n]*+\n)*+")
_COMMENT_BEGUN = re.compile(r"\#[^\n]*+\Z")
_CODE_LEADING = re.compile(r"(?:\s++|\#[^\n]*+\n|[\[({]|await\s++|[\"'])*+")
_ASSIGNED = re.compile(r"[^\W\d]\w*+\s*+(?:=\s*+|\Z)")
_MOST = 400  # characters after which a block must have shown what it is
_WINDOW = 48  # no closing fence with its spaces is longer


class Fences(msgspec.Struct, frozen=True):
    """`words`: what may stand behind the opening fence, in lower case. `statements`: also code that assigns and prints."""

    words: frozenset[str]
    statements: bool = False

    at_line_start = True

    @property
    def openers(self) -> tuple[str, ...]:
        return ("```", "~~~")

    def open(self, opener: str, /) -> Region:
        return FenceRegion(opener, self)


class FenceRegion:
    """From the opening fence to the closing one. `_head` is its beginning, until it has shown what it is."""

    __slots__ = ("_form", "_head", "_held", "_opener", "_refused", "_triple", "examined")

    def __init__(self, opener: str, form: Fences) -> None:
        self._opener, self._form = opener, form
        self._head: str | None = ""
        self._held = ""  # what may be the closing fence, or triple quotes
        self._triple = ""  # the quotes of a long string that is open: a fence in it is text
        self._refused = False
        self.examined = 0

    def feed(self, text: str, /) -> int:
        if self._head is None:
            return self._body(self._held + text, len(self._held))
        self.examined += len(text)
        before = len(self._head)
        self._head += text
        verdict, at = self._verdict(self._head[:_MOST])
        if verdict is None and len(self._head) < _MOST:
            return -1
        head, self._head = self._head, None
        if verdict:
            return self._body(head, before)
        self._refused = True
        return max(0, at - before)

    def _verdict(self, head: str) -> tuple[bool | None, int]:
        """Whether this may become a block of calls, and where that was seen."""
        start = len(head) - len(head.lstrip(self._opener[0]))
        at = _behind(_WORD, head, start)
        if at == len(head):
            return None, at
        if head[start:at].lower() not in self._form.words:
            return False, at
        at = _behind(_LEADING, head, at)
        if at == len(head) or _COMMENT_BEGUN.match(head, at):
            return None, at
        json = plausible_json(head[at:]) if head[at] in "{[" else False
        code = True if json else self._begins_code(head, at)
        return (True if json or code else None if json is None or code is None else False), at

    def _begins_code(self, head: str, at: int) -> bool | None:
        at = _behind(_CODE_LEADING, head, at)
        if self._form.statements:
            at = _behind(_ASSIGNED, head, at)
        return None if _COMMENT_BEGUN.match(head, at) else begins_call(head, at)

    def _body(self, text: str, before: int) -> int:
        """Looks for the closing fence; the first `before` characters came earlier."""
        self.examined += len(text)
        at = 0
        while True:
            found = _stops(self._opener, self._triple).search(text, at)
            if found is None:
                held = _undecided(self._opener).search(text, max(at, len(text) - _WINDOW))
                self._held = held[0] if held else ""
                return -1
            at = found.end()
            if _closes(found):
                return max(0, at - before)
            self._triple = "" if self._triple else found[0]

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> Parsed:
        if self._refused:
            return Parsed()
        word, body, rest = _parts(text, self._opener, complete=complete)
        if word.lower() not in self._form.words:
            return Parsed()
        calls = _read(body, tools, statements=self._form.statements)
        if not calls or (not tools and any(call.fixes or not call.closed for call in calls)):
            return Parsed()
        return Parsed(calls, rest=rest)


# A fence that closes stands on a line of its own, or behind a bracket at the end of its line.
_BEFORE_CLOSING = {"\n": 24, "]": 8, ")": 8, "}": 8}  # and how many blanks may stand between
_CLOSING = r"{before}[ \t]{{0,{blanks}}}{mark}{char}{{0,8}}[ \t]{{0,8}}(?=\r?\n)"
_BEGUN = r"(?:\n[ \t]{{0,24}}|[\])}}][ \t]{{0,8}}){char}{{0,11}}[ \t]{{0,8}}\r?\Z|(?:\"{{1,2}}|'{{1,2}})\Z"


@cache
def _stops(fence: str, triple: str) -> re.Pattern[str]:
    """What to look for: the end of a long string, or the closing fence and the beginning of one.

    Each form begins with a character of its own, so that `re` need not try them all everywhere.
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
    return re.compile(_BEGUN.format(char=re.escape(fence[0])))


def _behind(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _parts(text: str, fence: str, *, complete: bool) -> tuple[str, str, str]:
    """The word behind the fence, what stands inside, and what follows the end."""
    inside = text.lstrip(fence[0])
    at = _behind(_WORD, inside, 0)
    word, body = inside[:at], inside[at:]
    if complete:
        return word, body.rstrip(" \t").rstrip(fence[0]), ""
    end = _closing(body + "\n", fence, long_strings=True) or _closing(body + "\n", fence, long_strings=False)
    if end is None:
        return word, body, ""
    bracket = end[0][0] != "\n"  # a bracket before the fence is the body's
    return word, body[: end.start() + bracket], body[end.end() :]


def _closing(body: str, fence: str, *, long_strings: bool) -> re.Match[str] | None:
    """The fence that closes the block; one inside a long string does not, unless that string never ends."""
    triple, at = "", 0
    while (found := _stops(fence, triple).search(body, at)) is not None and not _closes(found):
        triple = found[0] if long_strings and not triple else ""
        at = found.end()
    return found


def _read(body: str, tools: Tools, *, statements: bool) -> tuple[Heard, ...]:
    at = _behind(_LEADING, body, 0)
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
