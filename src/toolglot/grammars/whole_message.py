"""A message that is exactly one call expression: the only one that is parsed if no tools are registered."""

from __future__ import annotations

import re
from typing import Literal

from toolglot.grammars.parsed_call import RegionResult
from toolglot.grammars.python_calls import as_parsed_call
from toolglot.io.python_literals import read_call_loosely
from toolglot.io.python_scanner import PythonScanner

_ALONE = re.compile(r"\s*+[A-Za-z_]?[\w.]*+(\()?")
_LONGEST_NAME = 200


class WholeMessage:
    """Buffers while the text may still be one. `feed` returns text that can't be a call; `close` the result and the buffer."""

    __slots__ = ("_buffer", "_end", "_state")

    def __init__(self) -> None:
        self._buffer: list[str] = []
        self._end = PythonScanner("(")
        self._state: Literal["name", "arguments", "behind", "over"] = "name"

    def feed(self, text: str) -> str:
        if self._state == "over":
            return text
        self._buffer.append(text)
        at = 0
        if self._state == "name":
            text = "".join(self._buffer)
            at = self._name(text)
        if self._state == "arguments":
            end = self._end.feed(text, at)
            self._state, at = ("behind", end) if end >= 0 else ("arguments", len(text))
        if self._state == "behind" and text[at:].strip():
            self._state = "over"
        return self._release() if self._state == "over" else ""

    def _name(self, text: str) -> int:
        """The offset after the opening parenthesis, if there is one."""
        found = _ALONE.match(text)
        if found is None or (found.end() < len(text) and not found[1]) or len(text) > _LONGEST_NAME:
            self._state = "over"
            return 0
        if found[1]:
            self._state = "arguments"
        return found.end()

    def _release(self) -> str:
        text, self._buffer = "".join(self._buffer), []
        return text

    def close(self) -> tuple[RegionResult, str]:
        text = self._release()
        return whole_message(text), text


def whole_message(text: str) -> RegionResult:
    call = read_call_loosely(text.strip())
    if call is None or call.fixes or not call.closed or call.end != len(text.strip()):
        return RegionResult()
    parsed = as_parsed_call(call, text.strip(), {})
    return RegionResult() if parsed is None else RegionResult((parsed,))
