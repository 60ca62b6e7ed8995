"""Server-sent events from raw bytes, and back.

Tolerates comments, a missing blank line at the end, and a JSON body instead of events.
"""

from __future__ import annotations

from toolglot.io.lines import LineSplitter

Frame = tuple[str | None, bytes]  # the event's name, its data

_BOM = b"\xef\xbb\xbf"


class SseFrames:
    __slots__ = ("_data", "_event", "_fresh", "_lines", "_stray", "between")

    def __init__(self) -> None:
        self._lines = LineSplitter()
        self._data: list[bytes] = []
        self._event: str | None = None
        self._stray: list[bytes] = []
        self._fresh = True
        self.between = False  # an event has ended, and nothing followed it

    @property
    def examined(self) -> int:
        return self._lines.examined

    def feed(self, piece: bytes) -> list[Frame]:
        if self.between:
            at = piece.find(b"\n") + 1 if piece.startswith(b"event:") else 0
            single = piece.startswith(b"data: ", at) and piece.find(b"\n\n") == piece.find(b"\n", at) == len(piece) - 2
            if single and b"\r" not in piece:
                self._lines.examined += len(piece)  # one whole event, as most pieces are
                return [(_name(piece[6:at]) if at else None, piece[at + 6 : -2])]
        frames: list[Frame] = []
        for line in self._lines.feed(piece):
            self._line(line, frames)
        self.between = piece.endswith(b"\n\n") and not self._stray
        return frames

    def close(self) -> list[Frame]:
        frames: list[Frame] = []
        last = self._lines.close()
        if last is not None:
            self._line(last, frames)
        self._dispatch(frames)
        if self._stray:
            self._emit_stray(frames)
        return frames

    def _line(self, line: bytes, frames: list[Frame]) -> None:
        if self._fresh:
            self._fresh = False
            line = line.removeprefix(_BOM)
        if not line:
            self._dispatch(frames)
        elif line.startswith(b"data:"):
            if self._stray:
                self._emit_stray(frames)
            self._data.append(line[6:] if line[5:6] == b" " else line[5:])
        elif line.startswith(b"event:"):
            self._event = _name(line[6:])
        elif line.startswith((b":", b"id:", b"retry:")):
            pass
        else:  # not an event at all: an error body, or a JSON array where the caller forgot alt=sse
            self._stray.append(line)

    def _emit_stray(self, frames: list[Frame]) -> None:
        frames.append((None, b"\n".join(self._stray)))
        self._stray = []

    def _dispatch(self, frames: list[Frame]) -> None:
        if self._data:
            data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
            frames.append((self._event, data))
            self._data = []
        self._event = None


def _name(value: bytes) -> str:
    return value.strip().decode("utf-8", "replace")


def encode_sse(data: bytes, event: str | None = None) -> bytes:
    """One event as bytes."""
    if event is None:
        return b"data: " + data + b"\n\n"
    return b"event: " + event.encode() + b"\ndata: " + data + b"\n\n"
