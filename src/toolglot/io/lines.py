"""Bytes to lines at CR, LF and CRLF only. (U+2028 and friends are data: never use str.splitlines on a stream.)"""

from __future__ import annotations


class LineSplitter:
    """Work per piece is the piece's length: an unfinished line is kept in pieces and joined once."""

    __slots__ = ("_after_cr", "_pending", "examined", "pending")

    def __init__(self) -> None:
        self._pending: list[bytes] = []
        self._after_cr = False
        self.pending = 0  # bytes of the unfinished line
        self.examined = 0

    def feed(self, piece: bytes) -> list[bytes]:
        """The lines that this piece completes, without their ends."""
        self.examined += len(piece)
        if self._after_cr and piece:
            self._after_cr = False
            if piece[0] == 10:
                piece = piece[1:]
        if not piece:
            return []
        lines = piece.splitlines()
        if piece[-1] in b"\r\n":
            self._after_cr = piece[-1] == 13
            rest = None
        else:
            rest = lines.pop()
        if lines and self._pending:
            self._pending.append(lines[0])
            lines[0] = b"".join(self._pending)
            self._pending = []
        if lines:
            self.pending = 0
        if rest is not None:
            self.pending += len(rest)
            self._pending.append(rest)
        return lines

    def close(self) -> bytes | None:
        """The last line, if it had no end."""
        if not self._pending:
            return None
        line = b"".join(self._pending)
        self._pending, self.pending = [], 0
        return line

    def reopen(self, line: bytes) -> None:
        """Undoes `close`: the line continues."""
        self._pending, self.pending = [line], len(line)
