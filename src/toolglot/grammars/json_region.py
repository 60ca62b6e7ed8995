"""A region whose calls are JSON: heads, values and what stands between them, followed as they stream past.

    head value tail (head value tail)*

The head is what stands between an opener and its value (a name, a fence, white space); the tail is markers behind the value.
Where each lies is written down while feeding, so that reading the whole needs no second look. Every step decides by characters
alone, never by how they were cut into pieces.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from toolglot.grammars.loose_json import LooseJson, Stops
from toolglot.text.json_text import BadJson, decode

# What a marker behind a value means: noise; a comma, if more follows; the call's end; the region's end; another head or value;
# or something that is no part of the region.
Meaning = Literal["noise", "join", "close", "end", "head", "value", "back"]

_LONGEST_HEAD = 256
_SPACE = re.compile(r"\s*")


def meanings(**literals: tuple[str, ...]) -> dict[str, Meaning]:
    """What each literal means, given by meaning; the last that is given counts."""
    return {literal: meaning for meaning, held in literals.items() for literal in held}  # type: ignore[misc]


class Frame(msgspec.Struct, frozen=True):
    """Of what a grammar's regions are made."""

    body: re.Pattern[str]  # found behind the head: its last character begins the value
    head: re.Pattern[str]  # the head, whole
    hopeless: re.Pattern[str]  # matches a head as soon as it can't be one any more
    tail: dict[str, Meaning]
    stops: Stops  # end a value even where it is not whole
    raw: bool = False  # a value may be any text, up to a stop


class Mark(msgspec.Struct):
    """Where one call lies in the region's text."""

    head: int
    value: int
    end: int = -1  # -1: the text ended first
    whole: bool = False  # the value is a complete object or array
    raw: bool = False
    closed: bool = False  # a marker that ends the call was found
    joined: bool = False  # it follows another value in the same place, so that they close together


class JsonRegion:
    """`start` is what of the opener belongs to the head; behind a `section` opener the first head is still to come."""

    __slots__ = ("_frame", "_held", "_literals", "_offset", "_step", "_value", "examined", "marks", "over", "rest")

    def __init__(self, frame: Frame, opener: str, start: str = "", *, section: bool = False) -> None:
        self._frame = frame
        self._literals = sorted(frame.tail, key=len, reverse=True)
        self._held = start
        self._offset = len(opener) - len(start)  # where in the whole text `_held` begins
        self._value: LooseJson | None = None
        self._step: Literal["head", "value", "raw", "tail"] = "tail" if section else "head"
        self.marks: list[Mark] = [] if section else [Mark(self._offset, -1)]
        self.rest = len(opener)  # where what belongs to no call begins; -1: there is none
        self.over = False
        self.examined = 0  # characters looked at: the linear-work law counts them

    def feed(self, piece: str) -> int:
        held = len(self._held)
        text, at = self._held + piece, 0
        self.examined += len(text)
        while not self.over:
            before, step = at, self._step
            at = self._STEPS[self._step](self, text, at)
            if at == before and step == self._step:
                break
        self._held = text[at:]
        self._offset += at
        return max(0, at - held) if self.over else -1

    @property
    def certain(self) -> int:
        """The offset up to which everything is decided."""
        return self._offset

    def finish(self) -> None:
        """The text is over: a marker that is the beginning of a longer one counts now."""
        if not self.over and self._step == "tail" and self._frame.tail.get(self._held) in {"close", "end"}:
            self._marker(self._held, 0)

    # Each step gives how far it came. The same place and the same step: it needs more text.

    def _head(self, text: str, at: int) -> int:
        frame = self._frame
        found = frame.body.search(text, at, at + _LONGEST_HEAD)
        hopeless = frame.hopeless.match(text, at)
        if hopeless and (found is None or hopeless.end() <= found.end()):
            self.over = True
            return hopeless.end()
        if found is None:
            self.over = len(text) - at >= _LONGEST_HEAD
            return at + _LONGEST_HEAD if self.over else at
        last = text[found.end() - 1]
        start = found.end() - 1 if frame.raw or last in "{[" else found.start()
        if not frame.head.fullmatch(text, at, start):
            self.over = True
            return found.end()
        mark = self.marks[-1]
        mark.value, self.rest = self._offset + start, -1
        if last in "{[":
            self._step, self._value = "value", LooseJson(frame.stops)
        elif frame.raw:
            self._step, mark.raw = "raw", True
        else:  # a stop: there is no value
            mark.end = self.rest = mark.value
            self._step = "tail"
        return start

    def rest_of(self, text: str) -> str:
        """What of the region's whole text belongs to no call; a marker that the text's end cut off is nothing."""
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
            self.rest = self._offset + at  # until there is something to read
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
    """How many characters the text has in common with the literal's beginning."""
    size = 0
    while size < len(literal) and at + size < len(text) and literal[size] == text[at + size]:
        size += 1
    return size


def value_of(text: str, mark: Mark, closers: tuple[str, ...]) -> tuple[str, int]:
    """A mark's value, and where the rest begins if a closer inside shows that a string in it was never closed (else -1)."""
    value = text[mark.value : mark.end if mark.end >= 0 else len(text)]
    found = [(at, closer) for closer in closers if (at := value.find(closer)) >= 0]
    if not found or _is_json(value):
        return value, -1
    at, closer = min(found)
    return value[:at], mark.value + at + len(closer)


def _is_json(text: str) -> bool:
    try:
        decode(text)
    except BadJson:
        return False
    return True
