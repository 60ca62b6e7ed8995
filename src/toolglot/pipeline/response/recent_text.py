"""The latest plain text of a reply, which decides whether a call behind it is quoted.

Text is dropped in blocks of a fixed size, counted from the beginning, so that the result does not depend on chunk sizes.
"""

from __future__ import annotations

import re

from toolglot.core.tools import Tool, Toolset, cached_for_toolset

_BLOCK = 4096
_FENCE = "```"


class RecentText:
    """Keeps the last full block, the unfinished one, and whether a code fence opened before them is still open."""

    __slots__ = ("_cached", "_names", "_open", "_pieces", "_size")

    def __init__(self, tools: Toolset) -> None:
        self._names = cached_for_toolset(tools, "names in text", _names_of)
        self._pieces: list[str] = []
        self._size = 0
        self._open = False  # an odd number of fences was dropped
        self._cached: str | None = None

    def add(self, text: str) -> None:
        self._cached = None
        self._pieces.append(text)
        self._size += len(text)
        if self._size >= 2 * _BLOCK:
            self._forget()

    def _forget(self) -> None:
        """Drop all but the last full block and the unfinished one."""
        tail, at = "".join(self._pieces), 0
        while self._size - at >= 2 * _BLOCK:
            self._open ^= tail.count(_FENCE, at, at + _BLOCK) % 2 == 1
            at += _BLOCK
        self._pieces, self._size = [tail[at:]], self._size - at

    def text(self) -> str:
        """The recent text with tool names replaced, so that the words in `history.get` do not count as English."""
        if self._cached is None:
            tail = "".join(self._pieces)
            unnamed = self._names.sub("it", tail) if self._names is not None else tail
            self._cached = f"{_FENCE}\n{unnamed}" if self._open else unnamed
        return self._cached


def _names_of(tools: tuple[Tool, ...], _: str) -> re.Pattern[str] | None:
    names = sorted({tool.full_name for tool in tools if tool.full_name}, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)") if names else None
