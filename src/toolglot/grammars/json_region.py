"""A region of calls as JSON: scans heads, values and tails while they stream.

    head value tail (head value tail)*

The head is the text between an opener and its value (a name, a fence, white space); the tail is the markers after the value.
Their offsets are recorded while feeding, so that `parse` need not scan again. Every decision depends on the characters only,
never on how they were cut into pieces.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from toolglot.grammars.loose_json import LooseJson, Stops
from toolglot.io.json_codec import JSON_ERRORS, decode

# What a marker after a value means: noise; a separator, if more follows; the call's end; the region's end; another head or
# value; or the start of something after the region.
Meaning = Literal["noise", "join", "close", "end", "head", "value", "back"]

_LONGEST_HEAD = 256
_SPACE = re.compile(r"\s*")


def meanings(**literals: tuple[str, ...]) -> dict[str, Meaning]:
    """The meaning of each literal, from literals by meaning; the last one wins."""
    return {literal: meaning for meaning, group in literals.items() for literal in group}  # type: ignore[misc]


class Frame(msgspec.Struct, frozen=True):
    """The parts of a grammar's regions."""

    body: re.Pattern[str]  # searched after the head: its last character begins the value
    head: re.Pattern[str]  # the whole head
    not_head: re.Pattern[str]  # matches as soon as the text can't be a head
    tail: dict[str, Meaning]
    stops: Stops  # end a value even if it is incomplete
    raw: bool = False  # a value may be any text, up to a stop
    values: str = "{["  # how other values begin


class Mark(msgspec.Struct):
    """The offsets of one call in the region's text."""

    head: int
    value: int
    end: int = -1  # -1: the text ended first
    whole: bool = False  # the value is a complete object or array
    raw: bool = False
    closed: bool = False  # a marker that ends the call was found
    joined: bool = False  # it follows another value without a marker between, so both close together


class JsonRegion:
    """`start`: the end of the opener that is part of the head. `section`: the first head comes later."""

    __slots__ = ("_buffer", "_frame", "_literals", "_offset", "_step", "_value", "examined", "marks", "over", "rest")

    def __init__(self, frame: Frame, opener: str, start: str = "", *, section: bool = False) -> None:
        self._frame = frame
        self._literals = sorted(frame.tail, key=len, reverse=True)
        self._buffer = start
        self._offset = len(opener) - len(start)  # of `_buffer` in the whole text
        self._value: LooseJson | None = None
        self._step: Literal["head", "value", "raw", "tail"] = "tail" if section else "head"
        self.marks: list[Mark] = [] if section else [Mark(self._offset, -1)]
        self.rest = len(opener)  # where text that is not part of a call begins; -1: there is none
        self.over = False
        self.examined = 0  # characters examined: the linear-work law counts them

    def feed(self, piece: str) -> int:
        buffered = len(self._buffer)
        text, at = self._buffer + piece, 0
        self.examined += len(text)
        while not self.over:
            before, step = at, self._step
            at = self._STEPS[self._step](self, text, at)
            if at in (before, len(text)) and step == self._step:
                break
        self._buffer = text[at:]
        self._offset += at
        return max(0, at - buffered) if self.over else -1

    @property
    def certain(self) -> int:
        """The offset up to which everything is decided."""
        return self._offset

    def finish(self) -> None:
        """The text has ended: a marker that is also a prefix of a longer one counts now."""
        if not self.over and self._step == "tail" and self._frame.tail.get(self._buffer) in {"close", "end"}:
            self._marker(self._buffer, 0)

    # Each step returns the offset it reached. The same offset and the same step: it needs more text.

    def _head(self, text: str, at: int) -> int:
        frame = self._frame
        found = frame.body.search(text, at, at + _LONGEST_HEAD)
        not_head = frame.not_head.match(text, at)
        if not_head and (found is None or not_head.end() <= found.end()):
            self.over = True
            return not_head.end()
        if found is None:
            self.over = len(text) - at >= _LONGEST_HEAD
            return at + _LONGEST_HEAD if self.over else at
        last = text[found.end() - 1]
        start = found.end() - 1 if frame.raw or last in frame.values else found.start()
        if not frame.head.fullmatch(text, at, start):
            self.over = True
            return found.end()
        mark = self.marks[-1]
        mark.value, self.rest = self._offset + start, -1
        if last in frame.values:
            self._step, self._value = "value", LooseJson(frame.stops)
        elif frame.raw:
            self._step, mark.raw = "raw", True
        else:  # a stop: there is no value
            mark.end = self.rest = mark.value
            self._step = "tail"
        return start

    def rest_of(self, text: str) -> str:
        """The text that is not part of any call. A marker that is cut off at the end is dropped."""
        rest = text[self.rest :] if self.rest >= 0 else ""
        cut = rest.strip()
        return "" if cut and not self.over and any(literal.startswith(cut) for literal in self._literals) else rest

    def _in_value(self, text: str, at: int) -> int:
        value = self._value
        assert value is not None  # noqa: S101  (the step is entered with one)
        at = value.feed(text, at)
        if value.whole or value.stopped:
            self.marks[-1].end = self.rest = self._offset + at
            self.marks[-1].whole = value.whole
            self._step = "tail"
        return at

    def _in_raw(self, text: str, at: int) -> int:
        while at < len(text):
            token = self._frame.stops.tokens.search(text, at)
            if token is None:
                return len(text)
            at = token.start()
            stop = self._frame.stops.at(text, at)
            if stop is None:
                return at
            if stop:
                self.marks[-1].end = self.rest = self._offset + at
                self._step = "tail"
                return at
            at += 1
        return at

    def _tail(self, text: str, at: int) -> int:
        space = _SPACE.match(text, at)
        at = space.end() if space else at
        if at == len(text) and self._literals:
            return at
        for literal in self._literals:
            if text.startswith(literal, at):
                return self._marker(literal, at)
            if len(text) - at < len(literal) and literal.startswith(text[at:]):
                return at
        self.over = True
        return at + max((_shared(literal, text, at) for literal in self._literals), default=0)

    def _marker(self, literal: str, at: int) -> int:
        meaning, end = self._frame.tail[literal], at + len(literal)
        if meaning == "head":
            self.rest = self._offset + at  # until a value follows
            self.marks.append(Mark(self._offset + end, -1))
            self._step = "head"
            return end
        if meaning == "value":
            self.rest = -1
            self.marks.append(Mark(self._offset + at, self._offset + at, joined=True))
            self._step, self._value = "value", LooseJson(self._frame.stops)
            return at
        if meaning in {"close", "end"}:
            self._close()
        if meaning not in {"join", "back"}:
            self.rest = self._offset + end
        self.over = meaning in {"end", "back"}
        return end

    def _close(self) -> None:
        for mark in reversed(self.marks):
            mark.closed = True
            if not mark.joined:
                return

    _STEPS = {"head": _head, "value": _in_value, "raw": _in_raw, "tail": _tail}


def _shared(literal: str, text: str, at: int) -> int:
    """The length of the common prefix of the literal and the text at `at`."""
    size = 0
    while size < len(literal) and at + size < len(text) and literal[size] == text[at + size]:
        size += 1
    return size


def value_of(text: str, mark: Mark, closers: tuple[str, ...]) -> tuple[str, int]:
    """A mark's value. If a closer inside shows that a string was never closed, also where the rest begins (else -1)."""
    value = text[mark.value : mark.end if mark.end >= 0 else len(text)]
    found = [(at, closer) for closer in closers if (at := value.find(closer)) >= 0]
    if not found or _is_json(value):
        return value, -1
    at, closer = min(found)
    return value[:at], mark.value + at + len(closer)


def _is_json(text: str) -> bool:
    try:
        decode(text)
    except JSON_ERRORS:
        return False
    return True
