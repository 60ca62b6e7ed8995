"""Text that arrives in pieces, for parsers written as generators: `while reader.needs_x(): yield` waits for the next piece.

The same parser handles a stream and a whole text. A whole text is `final` from the start, and never waits.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")
Parsing = Generator[None, None, T]

_NON_SPACE = re.compile(r"\S")


class TextReader:
    """`text[at:]` is still to be parsed. Waiting drops the text before `at`, so no other offset stays valid across a wait."""

    def __init__(self, text: str, at: int, *, final: bool) -> None:
        self.text = text
        self.at = at
        self.final = final  # no more text follows
        self.skipped = ""  # the last white space that was skipped
        self._base = 0  # the offset of `text` in the whole text
        self._pieces: list[str] = []

    @property
    def offset(self) -> int:
        """The parser's offset in the whole text."""
        return self._base + self.at

    def add(self, piece: str) -> None:
        self._pieces.append(piece)

    def here(self, literal: str) -> bool:
        return self.text.startswith(literal, self.at)

    def take_pieces(self) -> None:
        if self._pieces:
            self.text = self.text[self.at :] + "".join(self._pieces)
            self._base += self.at
            self.at = 0
            self._pieces = []

    def run(self, pattern: re.Pattern[str]) -> Parsing[str]:
        """Consumes all that matches, up to other text or the end."""
        runs: list[str] = []
        while True:
            self.take_pieces()
            found = pattern.match(self.text, self.at)
            if found is not None:
                runs.append(found[0])
                self.at = found.end()
            if self.final or self.at < len(self.text):
                return "".join(runs)
            yield

    # Conditions to wait for

    def needs_end(self) -> bool:
        """Whether more text follows."""
        if self.final:
            self.take_pieces()
        return not self.final

    def needs_char(self) -> bool:
        """Skips white space; whether there is no text after it yet."""
        if self._pieces:
            self.take_pieces()
        found = _NON_SPACE.search(self.text, self.at)
        end = found.start() if found else len(self.text)
        if end > self.at:
            self.skipped, self.at = self.text[self.at : end], end
        return found is None and not self.final

    def needs(self, literal: str) -> bool:
        """Whether more text is needed to decide if this literal comes next."""
        if self._pieces:
            self.take_pieces()
        return not self.final and len(self.text) - self.at < len(literal) and literal.startswith(self.text[self.at :])

    def needs_match(self, pattern: re.Pattern[str], longest: int) -> bool:
        """Whether this does not match here yet. Beyond `longest` characters, it is only tried again at the end."""
        if len(self.text) - self.at > longest and self._pieces and not self.final:
            return True
        self.take_pieces()
        return not (self.final or ((found := pattern.match(self.text, self.at)) and found.end() - self.at <= longest))
