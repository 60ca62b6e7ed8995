"""A history in its plain form, as most of it is: texts, calls, results, and nothing beside them.

What an agent sends with every turn is read by types, straight from the bytes, which takes a third of the time. A message
that holds anything else fits no type: it is read as a dict, by those who know all forms. Both give the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from toolglot.errors import CallerError
from toolglot.reading.shape import an_object
from toolglot.text.json_text import decode


class Shape(Protocol):
    """A message of a wire in its plain form."""

    def read(self) -> Any: ...


class Plainly:
    """`shapes`: the types, told apart by a tag. `read`: the general way, for one message. `key`: where they stand."""

    __slots__ = ("_all", "_each", "_key", "_one", "_read")

    def __init__(self, shapes: Any, read: Callable[[dict[str, Any]], Any], key: str = "messages") -> None:
        self._all: msgspec.json.Decoder[list[Shape]] = msgspec.json.Decoder(list[shapes])
        self._one: msgspec.json.Decoder[Shape] = msgspec.json.Decoder(shapes)
        self._each = msgspec.json.Decoder(list[msgspec.Raw])
        self._read, self._key = read, key

    def __call__(self, data: bytes | msgspec.Raw) -> list[Any] | None:
        """Each message, read; None where the JSON is no list."""
        try:
            return [one.read() for one in self._all.decode(data)]
        except msgspec.ValidationError:
            pass
        try:
            pieces = self._each.decode(data)
        except msgspec.ValidationError:
            return None
        return [self._either_way(piece, at) for at, piece in enumerate(pieces)]

    def _either_way(self, piece: msgspec.Raw, at: int) -> Any:
        try:
            return self._one.decode(piece).read()
        except msgspec.ValidationError:
            pass
        try:
            return self._read(an_object(decode(piece), ""))
        except CallerError as error:
            raise error.within(f"{self._key}[{at}]") from None
