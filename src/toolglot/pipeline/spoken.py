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

    __slots__ = ("_names", "_open", "_tail", "_words")

    def __init__(self, tools: Toolset) -> None:
        self._names = made_once(tools, "spoken names", _names_of)
        self._tail = ""
        self._open = False  # behind an odd number of fences
        self._words: str | None = None

    def add(self, text: str) -> None:
        self._words = None
        self._tail += text
        at = 0
        while len(self._tail) - at >= 2 * _BLOCK:
            self._open ^= self._tail.count(_FENCE, at, at + _BLOCK) % 2 == 1
            at += _BLOCK
        self._tail = self._tail[at:]

    def lately(self) -> str:
        """Without the tools' own names: `history.get` says nothing of the past."""
        if self._words is None:
            text = self._names.sub("it", self._tail) if self._names is not None else self._tail
            self._words = f"{_FENCE}\n{text}" if self._open else text
        return self._words


def _names_of(tools: tuple[Tool, ...], _: str) -> re.Pattern[str] | None:
    names = sorted({tool.full_name for tool in tools if tool.full_name}, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)") if names else None
