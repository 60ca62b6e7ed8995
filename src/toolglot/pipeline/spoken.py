"""The plain text of a reply so far, as far back as it matters for what follows.

It is kept in blocks of one size, counted from the beginning, so that what is remembered never depends on how the text came.
"""

from __future__ import annotations

import re

from toolglot.core.tools import Tool, Toolset, made_once

_BLOCK = 4096
_FENCE = "```"


class Spoken:
    """`lately` is the last block and what has begun behind it; of all before, whether a code block stands open."""

    __slots__ = ("_names", "_open", "_pieces", "_size", "_words")

    def __init__(self, tools: Toolset) -> None:
        self._names = made_once(tools, "spoken names", _names_of)
        self._pieces: list[str] = []
        self._size = 0
        self._open = False  # behind an odd number of fences
        self._words: str | None = None

    def add(self, text: str) -> None:
        self._words = None
        self._pieces.append(text)
        self._size += len(text)
        if self._size >= 2 * _BLOCK:
            self._forget()

    def _forget(self) -> None:
        """All but the last block, and what has begun behind it."""
        tail, at = "".join(self._pieces), 0
        while self._size - at >= 2 * _BLOCK:
            self._open ^= tail.count(_FENCE, at, at + _BLOCK) % 2 == 1
            at += _BLOCK
        self._pieces, self._size = [tail[at:]], self._size - at

    def lately(self) -> str:
        """Without the tools' own names: `history.get` says nothing of the past."""
        if self._words is None:
            tail = "".join(self._pieces)
            text = self._names.sub("it", tail) if self._names is not None else tail
            self._words = f"{_FENCE}\n{text}" if self._open else text
        return self._words


def _names_of(tools: tuple[Tool, ...], _: str) -> re.Pattern[str] | None:
    names = sorted({tool.full_name for tool in tools if tool.full_name}, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)") if names else None
