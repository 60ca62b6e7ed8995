"""A message that is one call expression and nothing else: all that is heard of them where no tools are registered."""

from __future__ import annotations

import re
from typing import Literal

from toolglot.grammars.heard import Parsed
from toolglot.grammars.python_calls import as_heard
from toolglot.text.python_end import PythonEnd
from toolglot.text.python_literals import read_call_loosely

_ALONE = re.compile(r"\s*+[A-Za-z_]?[\w.]*+(\()?")
_LONGEST_NAME = 200


class WholeMessage:
    """Waits while the text may still be one. `feed` gives what can't be any more; `close` what was waited for."""

    __slots__ = ("_end", "_held", "_state")

    def __init__(self) -> None:
        self._held: list[str] = []
        self._end = PythonEnd("(")
        self._state: Literal["name", "arguments", "behind", "over"] = "name"

    def feed(self, text: str) -> str:
        if self._state == "over":
            return text
        self._held.append(text)
        at = 0
        if self._state == "name":
            text = "".join(self._held)
            at = self._name(text)
        if self._state == "arguments":
            end = self._end.feed(text, at)
            self._state, at = ("behind", end) if end >= 0 else ("arguments", len(text))
        if self._state == "behind" and text[at:].strip():
            self._state = "over"
        return self._release() if self._state == "over" else ""

    def _name(self, text: str) -> int:
        """Behind the opening parenthesis, where it has come."""
        found = _ALONE.match(text)
        if found is None or (found.end() < len(text) and not found[1]) or len(text) > _LONGEST_NAME:
            self._state = "over"
            return 0
        if found[1]:
            self._state = "arguments"
        return found.end()

    def _release(self) -> str:
        text, self._held = "".join(self._held), []
        return text

    def close(self) -> tuple[Parsed, str]:
        text = self._release()
        return whole_message(text), text


def whole_message(text: str) -> Parsed:
    call = read_call_loosely(text.strip())
    if call is None or call.fixes or not call.closed or call.end != len(text.strip()):
        return Parsed()
    heard = as_heard(call, text.strip(), {})
    return Parsed() if heard is None else Parsed((heard,))
