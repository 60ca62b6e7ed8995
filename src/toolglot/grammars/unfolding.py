"""A call that is told while it is still being written: for those who would rather have arguments early than checked.

A region that can do so has `unfolding(tools)`: an object that is fed the same pieces as the region, each just behind it, and
gives steps. It only ever tells what is certain, and stops at the first thing that it does not understand: the region's own
reading, at the end, has the last word.
"""

from __future__ import annotations

from typing import Protocol

import msgspec


class Begun(msgspec.Struct, frozen=True):
    at: int  # which of the region's calls it is
    name: str
    id: str | None = None


class More(msgspec.Struct, frozen=True):
    """A further piece of the arguments, as JSON text, of the call that was begun last."""

    text: str


Step = Begun | More


class Unfolding(Protocol):
    def feed(self, piece: str, /) -> list[Step]: ...


class Tail:
    """The end of a text that comes in pieces, from an offset on; offsets are those of the whole text."""

    __slots__ = ("_start", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._start = 0

    def add(self, piece: str) -> None:
        self._text += piece

    def upto(self, end: int) -> str:
        """The text up to `end`, which is then behind us."""
        size = max(0, end - self._start)
        text, self._text = self._text[:size], self._text[size:]
        self._start += len(text)
        return text

    def peek(self, end: int) -> str:
        return self._text[: max(0, end - self._start)]
