"""Gemma's calls, told as JSON while they come: text between marks piece by piece, every other value once it is whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from toolglot.grammars.heard import Tools
from toolglot.grammars.unfold_members import Members, inside
from toolglot.grammars.unfolding import More, Step
from toolglot.text.json_text import BadJson, decode, dumps

if TYPE_CHECKING:
    from toolglot.grammars.gemma import Gemma

ReadWhole = Callable[[str, str], tuple[Any] | None]  # a tool's name, a value as written -> the value, if it needs no mending
_State = Literal["head", "key", "value", "text", "held", "held text", "held string", "over"]

_LONGEST_HEAD = 400
_HEAD = re.compile(r"\s*+(?:call\s*+:\s*+)?([^\s{(<:,]++)\s*+\{")
_DEPTH = {"[": 1, "{": 1, "]": -1, "}": -1}
_STRING_RUN = re.compile(r'(?:[^"\\]++|\\.)*+', re.DOTALL)


class _Marks(NamedTuple):
    """What a form's marks look like, compiled."""

    text_end: re.Pattern[str]  # the mark; or what shows that it was forgotten, and ends the region
    cut: re.Pattern[str]  # the beginning of one of these, at the very end
    cut_mark: re.Pattern[str]
    longest: int
    key: re.Pattern[str]
    code: re.Pattern[str]  # what counts outside of text


@cache
def _marks(mark: str, closer: str) -> _Marks:
    ends = (mark, "}" + closer)
    quoted = re.escape(mark)
    return _Marks(
        re.compile("|".join(map(re.escape, ends))),
        _beginning(*ends),
        _beginning(mark),
        max(map(len, ends)),
        re.compile(rf"""(?:("[^"\\]*+(?:\\.[^"\\]*+)*+")|'([^']*+)'|{quoted}(.*?){quoted}|([\w.\-$/@]++))\s*+:""", re.DOTALL),
        re.compile(rf"""{quoted}|[\[\]{{}},"']"""),
    )


def _beginning(*markers: str) -> re.Pattern[str]:
    starts = sorted({marker[:size] for marker in markers for size in range(1, len(marker))}, key=len, reverse=True)
    return re.compile(f"(?:{'|'.join(map(re.escape, starts))})\\Z")


class UnfoldGemma:
    """Follows one call from behind its opening marker. What is not written as it should be is not told any further."""

    def __init__(self, form: Gemma, tools: Tools, read: ReadWhole) -> None:
        self._mark, self._tools, self._read = form.mark, tools, read
        self._marks = _marks(form.mark, form.closer)
        self._state: _State = "head"
        self._rest = ""  # what more text must decide
        self._name = self._key = ""
        self._members = Members(0, "")
        self._held: list[str] = []  # a value that is told once it is whole
        self._depth = 0
        self._lost = False

    def feed(self, piece: str, /) -> list[Step]:
        steps: list[Step] = []
        text, at = self._rest + piece, 0
        self._rest = ""
        while at < len(text) and not self._lost:
            after = self._STEPS[self._state](self, text, at, steps)
            if after < 0:
                self._rest = text[at:]
                break
            at = after
        return steps

    # Each step gives how far it came, or -1 where more text must decide.

    def _at_head(self, text: str, at: int, steps: list[Step]) -> int:
        found = _HEAD.match(text, at)
        if found is None:
            return self._wait(text, at)
        self._name = found[1]
        self._lost = found.end() - at > _LONGEST_HEAD or (bool(self._tools) and self._name not in self._tools)
        self._members = Members(0, self._name)
        self._state = "key"
        return found.end()

    def _wait(self, text: str, at: int) -> int:
        self._lost = len(text) - at > _LONGEST_HEAD
        return -1

    def _at_key(self, text: str, at: int, steps: list[Step]) -> int:
        if text[at].isspace() or text[at] == ",":
            return at + 1
        if text[at] == "}":
            self._members.end(steps)
            self._state = "over"
            return at + 1
        found = self._marks.key.match(text, at)
        if found is None:
            return self._wait(text, at)
        self._key = _decoded(found[1]) if found[1] else found[2] or found[3] or found[4] or ""
        self._lost = found.end() - at > _LONGEST_HEAD or not self._key or self._key in self._members
        self._state = "value"
        return found.end()

    def _at_value(self, text: str, at: int, steps: list[Step]) -> int:
        if text[at].isspace():
            return at + 1
        if text.startswith(self._mark, at):
            self._members.key(self._key, steps, '"')
            self._state = "text"
            return at + len(self._mark)
        if self._mark.startswith(text[at:]):
            return -1
        self._state, self._held, self._depth = "held", [], 0
        return at

    def _in_text(self, text: str, at: int, steps: list[Step]) -> int:
        run, end = self._run(text, at)
        if run:
            steps.append(More(inside(run)))
        if end == at + len(run):
            return end if run else -1
        steps.append(More('"'))
        self._state = "key"
        return end

    def _run(self, text: str, at: int) -> tuple[str, int]:
        """Text from `at` on that surely is text, and the offset behind it, or behind the mark that ends it."""
        marks = self._marks
        found = marks.text_end.search(text, at) or marks.cut.search(text, max(at, len(text) - marks.longest + 1))
        if found is None:
            return text[at:], len(text)
        return text[at : found.start()], found.end() if found[0] == self._mark else found.start()

    def _in_held(self, text: str, at: int, steps: list[Step]) -> int:
        found = self._marks.code.search(text, at)
        if found is None or found.end() > len(text) - self._marks.longest:
            cut = self._marks.cut_mark.search(text, max(at, len(text) - self._marks.longest + 1))
            certain = cut.start() if cut else len(text)
            if found is None or found.start() >= certain:  # a mark may hold what counts
                self._held.append(text[at:certain])
                return certain if certain > at else -1
        end, sign = found.start(), found[0]
        self._held.append(text[at:end])
        if self._depth == 0 and sign in {",", "}", "]"}:
            self._whole(steps)
            self._state = "key"
            return end
        self._lost = sign == "'"
        self._held.append(sign)
        self._depth += _DEPTH.get(sign, 0)
        self._state = "held text" if sign == self._mark else "held string" if sign == '"' else "held"
        return found.end()

    def _in_held_text(self, text: str, at: int, steps: list[Step]) -> int:
        run, end = self._run(text, at)
        if end == at:
            return -1
        self._held.append(text[at:end])
        if end > at + len(run):
            self._state = "held"
        return end

    def _in_held_string(self, text: str, at: int, steps: list[Step]) -> int:
        found = _STRING_RUN.match(text, at)
        end = found.end() if found else at
        if text.startswith('"', end):
            self._state = "held"
            end += 1
        self._held.append(text[at:end])
        return end if end > at else -1

    def _whole(self, steps: list[Step]) -> None:
        value = self._read(self._name, "".join(self._held))
        self._lost = value is None
        if value is not None:
            self._members.key(self._key, steps, dumps(value[0]))

    def _over(self, text: str, at: int, steps: list[Step]) -> int:
        return len(text)

    _STEPS: dict[_State, Callable[[UnfoldGemma, str, int, list[Step]], int]] = {
        "head": _at_head,
        "key": _at_key,
        "value": _at_value,
        "text": _in_text,
        "held": _in_held,
        "held text": _in_held_text,
        "held string": _in_held_string,
        "over": _over,
    }


def _decoded(text: str) -> str:
    try:
        return str(decode(text))
    except BadJson:
        return ""
