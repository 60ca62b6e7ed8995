"""Where a JSON value ends, found as it streams past: each character is looked at once."""

from __future__ import annotations

import re

_STRUCTURE = re.compile(r'["{}\[\]]')
_IN_STRING = re.compile(r'["\\]')


class JsonEnd:
    """Watches one object or array. It checks brackets and strings, not grammar."""

    __slots__ = ("_depth", "_escaped", "_in_string", "done", "examined")

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = False
        self.done = False
        self.examined = 0  # characters looked at: the linear-work law counts them

    def feed(self, text: str, start: int = 0) -> int:
        """The offset just behind the value's end, or -1 while it goes on. `start`: where in `text` to begin."""
        at, size = start, len(text)
        if self._escaped and at < size:
            at, self._escaped = at + 1, False
        while at < size:
            found = (_IN_STRING if self._in_string else _STRUCTURE).search(text, at)
            if found is None:
                break
            at = found.end()
            char = text[at - 1]
            if char == '"':
                self._in_string = not self._in_string
            elif char == "\\":
                if at == size:
                    self._escaped = True
                at += 1
            elif char in "{[":
                self._depth += 1
            else:
                self._depth -= 1
                if self._depth <= 0:
                    self.done = True
                    self.examined += at - start
                    return at
        self.examined += size - start
        return -1
