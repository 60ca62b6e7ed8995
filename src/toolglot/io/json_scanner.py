"""Finds the end of a JSON value in a stream. Each character is examined once."""

from __future__ import annotations

import re

from toolglot.io.json_codec import loads_object

# A bracket, or a string up to its end or the text's; group 1 is its closing quote, empty if the text ends first.
_TOKEN = re.compile(r'[{}\[\]]|"[^"\\]*+(?:\\.[^"\\]*+)*("?)', re.DOTALL)
_REST_OF_STRING = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*("?)', re.DOTALL)


class JsonScanner:
    """Scans one object or array. It checks brackets and strings, not grammar."""

    __slots__ = ("_depth", "_escaped", "_in_string", "done", "examined")

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = False  # the last character was a backslash inside a string
        self.done = False
        self.examined = 0  # characters examined: the linear-work law counts them

    def is_one_object(self, text: str) -> bool:
        """Whether the text is exactly one object, as for most calls that come in one piece; if so, it ends here."""
        if text[-1:] == "}" and loads_object(text) is not None:
            self.done = True
            self.examined += len(text)
        return self.done

    def feed(self, text: str, start: int = 0) -> int:
        """The offset just after the value, or -1 if it continues. `start`: where in `text` to begin."""
        at, size = start, len(text)
        if self._escaped and at < size:
            at, self._escaped = at + 1, False
        if self._in_string:
            at = self._string(_REST_OF_STRING.match(text, at), size)
        while at < size:
            found = _TOKEN.search(text, at)
            if found is None:
                break
            char = text[found.start()]
            if char == '"':
                at = self._string(found, size)
                continue
            at = found.end()
            if char in "{[":
                self._depth += 1
                continue
            self._depth -= 1
            if self._depth <= 0:
                self.done = True
                self.examined += at - start
                return at
        self.examined += size - start
        return -1

    def _string(self, found: re.Match[str] | None, size: int) -> int:
        """The offset after a string that closes here; the end of the text if it continues."""
        if found is not None and found[1]:
            self._in_string = False
            return found.end()
        self._in_string = True
        self._escaped = found is not None and found.end() < size  # only a backslash can stop the match short of the end
        return size
