"""Streams calls while the model still writes them, for clients that want arguments early, before validation.

A region that supports it has `stream_calls(tools)`. It returns a parser that is fed the same pieces as the region, right after
it, and returns steps. The parser only emits what is certain and stops at the first thing that it can't parse. The result of the
region's `parse` at the end is authoritative.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from toolglot.grammars.text_reader import Parsing, TextReader
from toolglot.io.json_codec import dumps


class CallStart(msgspec.Struct, frozen=True):
    at: int  # its number among the region's calls
    name: str
    id: str | None = None


class ArgumentsDelta(msgspec.Struct, frozen=True):
    """The next piece of the arguments, as JSON text, of the last call that was started."""

    text: str


Step = CallStart | ArgumentsDelta


class CallStream(Protocol):
    def feed(self, piece: str, /) -> list[Step]: ...


class StreamedArguments:
    """The arguments of one call, emitted member by member as one JSON object.

    CallStart is emitted with the first member, or at the end: until then it may turn out not to be a call.
    """

    __slots__ = ("_keys", "_start")

    def __init__(self, at: int, name: str) -> None:
        self._start = CallStart(at, name)
        self._keys: set[str] = set()

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def __bool__(self) -> bool:
        return bool(self._keys)

    def key(self, key: str, steps: list[Step], value: str) -> None:
        """Emits a member with the start of its value, as JSON."""
        if not self._keys:
            steps.append(self._start)
        steps.append(ArgumentsDelta(f"{', ' if self._keys else '{'}{dumps(key)}: {value}"))
        self._keys.add(key)

    def end(self, steps: list[Step]) -> None:
        if not self._keys:
            steps.append(self._start)
        steps.append(ArgumentsDelta("}" if self._keys else "{}"))


def inside(text: str) -> str:
    """Text as it is written inside a JSON string."""
    return dumps(text)[1:-1]


class CallParser(TextReader):
    """A parser of calls that arrive in pieces."""

    def __init__(self, text: str = "", at: int = 0, *, final: bool = False) -> None:
        super().__init__(text, at, final=final)
        self.steps: list[Step] = []
        self.calls = 0  # parsed so far

    def parse(self) -> Parsing[None]:
        """Yields to wait for more text; returns when it can't parse any further."""
        raise NotImplementedError


class ParserStream:
    """Feeds a parser. It is a separate object so that the running `parse` is not part of a reference cycle."""

    def __init__(self, parser: CallParser) -> None:
        self._parser = parser
        self._parsing = parser.parse()
        next(self._parsing)
        self.failed = False  # it can't be parsed: nothing more is emitted

    @property
    def calls(self) -> int:
        return self._parser.calls

    def feed(self, piece: str, /) -> list[Step]:
        if not self.failed:
            self._parser.add(piece)
            self.failed = next(self._parsing, _OVER) is _OVER
        steps, self._parser.steps = self._parser.steps, []
        return steps


_OVER: Any = object()


class Tail:
    """The unread end of a text that arrives in pieces. Offsets refer to the whole text."""

    __slots__ = ("_start", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._start = 0

    def add(self, piece: str) -> None:
        self._text += piece

    def upto(self, end: int) -> str:
        """Removes and returns the text up to `end`."""
        size = max(0, end - self._start)
        text, self._text = self._text[:size], self._text[size:]
        self._start += len(text)
        return text

    def peek(self, end: int) -> str:
        return self._text[: max(0, end - self._start)]
