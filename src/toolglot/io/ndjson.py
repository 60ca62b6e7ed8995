"""One JSON value per line; a missing newline is tolerated."""

from __future__ import annotations

from toolglot.io.json_codec import JSON_ERRORS, decode
from toolglot.io.lines import LineSplitter
from toolglot.io.sse import Frame


class NdjsonFrames:
    __slots__ = ("_lines", "_tried", "_try_at")

    def __init__(self) -> None:
        self._lines = LineSplitter()
        self._try_at = 0
        self._tried = 0

    @property
    def examined(self) -> int:
        return self._lines.examined + self._tried

    def feed(self, piece: bytes) -> list[Frame]:
        frames: list[Frame] = [(None, line) for line in self._lines.feed(piece) if line.strip()]
        if frames:
            self._try_at = 0
        if piece.endswith(b"}") and self._lines.pending >= self._try_at:
            line = self._lines.close() or b""
            self._tried += len(line)
            if _is_object(line):
                frames.append((None, line))
                self._try_at = 0
            else:  # tried again only when it has doubled, so that the work stays linear
                self._lines.reopen(line)
                self._try_at = 2 * len(line)
        return frames

    def close(self) -> list[Frame]:
        last = self._lines.close()
        return [(None, last)] if last and last.strip() else []


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(decode(line), dict)
    except JSON_ERRORS:
        return False
