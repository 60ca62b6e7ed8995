"""Cache of read messages by their JSON bytes: an agent sends its whole history with every turn, and only its end is new.

Known messages are cut out of the body before it is checked and parsed. What is kept is each message alone; how they belong
together is worked out for the whole conversation, each time.
"""

from __future__ import annotations

from collections import OrderedDict
from secrets import token_hex
from threading import Lock
from typing import Any

import msgspec

from toolglot.core.interfaces import HistoryReader

_MAX_CONVERSATIONS = 64
_MAX_BYTES = 64 * 1024 * 1024  # of memory in total
_MEMORY_PER_BYTE, _MEMORY_PER_MESSAGE = 5, 300  # bytes of memory: the JSON, and the texts in up to four bytes a character
_MEMORY_PER_SIGN = {b"{": 140, b"[": 60, b",": 40}  # of blocks that are kept as they came: `[]` takes 3 bytes and holds 97
_LEAST = 32 * 1024  # bytes of JSON; a shorter history is read within a fraction of a millisecond

_KEY = b'"messages":'
_WHITE = b" \t\r\n"
_EACH = msgspec.json.Decoder(list[msgspec.Raw])


class Known(msgspec.Struct, frozen=True, eq=False):
    """The first messages of a conversation: each as JSON, with the comma before it, and as it was read."""

    reader: tuple[str, str]  # wire and owner
    pieces: tuple[bytes, ...] = ()
    messages: tuple[Any, ...] = ()
    memory: tuple[int, ...] = ()  # bytes of memory, of each

    def matches(self, body: bytes, start: int) -> tuple[int, int]:
        """How many of the messages the body begins with, and where the next one is."""
        for number, piece in enumerate(self.pieces):
            if not body.startswith(piece, start):
                return number, start
            start += len(piece)
        return len(self.pieces), start


class HistoryCache:
    """An LRU cache. An owner's messages are not found for another: how long a request takes must tell nothing about others."""

    def __init__(self, most: int = _MAX_CONVERSATIONS, most_bytes: int = _MAX_BYTES, least: int = _LEAST) -> None:
        self._max_conversations, self._max_bytes, self._least = most, most_bytes, least
        self._known: OrderedDict[int, Known] = OrderedDict()  # by identity, least recently used first
        self._bytes = 0
        self._lock = Lock()
        self._mark = b'"%s"' % token_hex(16).encode()  # in place of known messages; no client can write it

    def __len__(self) -> int:
        return len(self._known)

    def cut_out(self, reader: tuple[str, str], body: bytes) -> tuple[bytes, Known] | None:
        """The body with a mark in place of known messages, and these. The `"messages"` key may be nested."""
        start = body.find(_KEY) + len(_KEY) if self._known else 0
        if start < len(_KEY):
            return None
        if body[start : start + 1] == b" ":
            start += 1
        if body[start : start + 1] != b"[":
            return None
        start += 1
        known, number, end = self._find(reader, body, start)
        if known is None:
            return None
        if number < len(known.pieces):
            known = Known(known.reader, known.pieces[:number], known.messages[:number], known.memory[:number])
        return body[:start] + self._mark + body[end:], known

    def _find(self, reader: tuple[str, str], body: bytes, start: int) -> tuple[Known | None, int, int]:
        """The conversation with the most messages in common, how many these are, and where the next one is."""
        found: Known | None = None
        most, end = 0, start
        with self._lock:
            for known in self._known.values():
                if known.reader == reader and body.startswith(known.pieces[0], start):
                    number, at = known.matches(body, start)
                    if number > most:
                        found, most, end = known, number, at
            if found is not None:
                self._known.move_to_end(id(found))
        return found, most, end

    def is_cut(self, known: Known, messages: msgspec.Raw | None) -> bool:
        """Whether the known messages were cut out of this list."""
        return not known.pieces or (messages is not None and bytes(messages).startswith(b"[" + self._mark))

    def read(self, reader: HistoryReader, known: Known, messages: bytes) -> tuple[Any, ...] | None:
        """The known messages, and those that `messages` has behind the mark for them. None: it is not a list."""
        data, left = messages, messages[1:]
        if known.pieces:
            left = messages[1 + len(self._mark) :]
            data = b"[" + left.lstrip(_WHITE).removeprefix(b",")
        new = reader.read(data, len(known.messages))
        if not new:
            return None if new is None else known.messages
        read = (*known.messages, *new)
        if len(left) + sum(map(len, known.pieces)) >= self._least:
            pieces = _pieces(left, data)
            self._put(Known(known.reader, (*known.pieces, *pieces), read, (*known.memory, *map(_memory_of, pieces))))
        return read

    def _put(self, new: Known) -> None:
        """In place of the conversation that it continues, if most of that agrees: agents move the marks on their last ones."""
        memory = sum(new.memory)
        if memory > self._max_bytes // 4:
            return
        with self._lock:
            for key, known in list(self._known.items()):
                if known.reader == new.reader and 2 * _common(known.pieces, new.pieces) > len(known.pieces):
                    self._drop(key)
            self._known[id(new)] = new
            self._bytes += memory
            while len(self._known) > self._max_conversations or self._bytes > self._max_bytes:
                self._drop(next(iter(self._known)))

    def _drop(self, key: int) -> None:
        self._bytes -= sum(self._known.pop(key).memory)


def _memory_of(piece: bytes) -> int:
    """Rather too much: the signs in texts count as well."""
    signs = sum(piece.count(sign) * memory for sign, memory in _MEMORY_PER_SIGN.items())
    return _MEMORY_PER_MESSAGE + len(piece) * _MEMORY_PER_BYTE + signs


def _common(one: tuple[bytes, ...], other: tuple[bytes, ...]) -> int:
    """How many first messages are the same."""
    for number, (first, second) in enumerate(zip(one, other, strict=False)):
        if first is not second and first != second:
            return number
    return min(len(one), len(other))


def _pieces(left: bytes, data: bytes) -> list[bytes]:
    """Each message of the list, with what stands before it."""
    pieces: list[bytes] = []
    end = 0
    for raw in _EACH.decode(data):
        message = bytes(raw)
        start, end = end, left.index(message, end) + len(message)
        pieces.append(left[start:end])
    return pieces
