"""A fast path for common messages: texts, calls and results with no other fields.

The history that an agent sends with every request is decoded into types, directly from the bytes, in a third of the time.
A message with any other field matches no type and is read as a dict, by the general reader. Both give the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

import msgspec

from toolglot.core.messages import Message
from toolglot.errors import CallerError
from toolglot.io.json_codec import decode
from toolglot.io.request_validation import require_object

_LARGE = 512 * 1024  # bytes of JSON; more is decoded in parts, because nothing else runs meanwhile in the whole process
_PART = 1000  # messages


class Shape(Protocol):
    """A message of a wire, as a type."""

    def read(self) -> Any: ...


class TypedMessages:
    """`shapes`: the types, a tagged union. `read`: the general reader of one message. `key`: the list's key, for errors."""

    __slots__ = ("_all", "_each", "_key", "_one", "_read")

    def __init__(self, shapes: Any, read: Callable[[dict[str, Any]], Any], key: str = "messages") -> None:
        self._all: msgspec.json.Decoder[list[Shape]] = msgspec.json.Decoder(list[shapes])
        self._one: msgspec.json.Decoder[Shape] = msgspec.json.Decoder(shapes)
        self._each = msgspec.json.Decoder(list[msgspec.Raw])
        self._read, self._key = read, key

    def __call__(self, data: bytes | msgspec.Raw, start: int = 0) -> list[Any] | None:
        """All messages; None if the JSON is not a list. `start`: how many come before them, for errors."""
        if memoryview(data).nbytes <= _LARGE:
            with suppress(msgspec.ValidationError):
                return [message.read() for message in self._all.decode(data)]
        try:
            pieces = self._each.decode(data)
        except msgspec.ValidationError:
            return None
        parts = [pieces[at : at + _PART] for at in range(0, len(pieces), _PART)]
        return [message for at, part in enumerate(parts) for message in self._part(part, start + at * _PART)]

    def _part(self, pieces: list[msgspec.Raw], start: int) -> list[Any]:
        if sum(memoryview(piece).nbytes for piece in pieces) <= _LARGE:
            with suppress(msgspec.ValidationError):
                return [message.read() for message in self._all.decode(b"[" + b",".join(map(bytes, pieces)) + b"]")]
        return [self._either_way(piece, at) for at, piece in enumerate(pieces, start)]

    def _either_way(self, piece: msgspec.Raw, at: int) -> Any:
        try:
            return self._one.decode(piece).read()
        except msgspec.ValidationError:
            pass
        try:
            return self._read(require_object(decode(piece), ""))
        except CallerError as error:
            raise error.within(f"{self._key}[{at}]") from None


class History:
    """The messages of a body, from its bytes: `typed` reads each, `join` makes one conversation of them.

    `general` does both from the decoded list, and describes what is wrong if there is none.
    """

    __slots__ = ("_general", "join", "read")

    def __init__(
        self,
        typed: TypedMessages,
        join: Callable[[Sequence[Any]], tuple[Message, ...]],
        general: Callable[[Any], tuple[Message, ...]],
    ) -> None:
        self.read, self.join, self._general = typed, join, general

    def __call__(self, data: bytes | msgspec.Raw) -> tuple[Message, ...]:
        read = self.read(data)
        return self._general(decode(data)) if read is None else self.join(read)
