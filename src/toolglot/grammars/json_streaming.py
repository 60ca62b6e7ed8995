"""Streams calls in JSON: the arguments are emitted as the model writes them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from toolglot.grammars.call_objects import CALL_KEYS, Keys
from toolglot.grammars.call_streaming import ArgumentsDelta, CallParser, CallStart, ParserStream, Step, Tail
from toolglot.grammars.json_region import JsonRegion, Mark
from toolglot.grammars.parsed_call import Tools
from toolglot.grammars.text_reader import Parsing
from toolglot.io.json_scanner import JsonScanner

NameOf = Callable[[str], tuple[str, str | None] | None]  # a head -> the tool's name and the call's id; None: not a call

_PLAIN_STRING = re.compile(r'[^"\\]*')
_SCALAR = re.compile(r"[^,}\]\s]*")


class ValueStream(Protocol):
    """Parses one value of a region."""

    failed: bool  # it can't be parsed: nothing more is emitted

    @property
    def calls(self) -> int: ...  # calls in the value

    def feed(self, text: str, /) -> list[Step]: ...


class _Arguments:
    """The whole value is the arguments."""

    def __init__(self, at: int, name: str, call_id: str | None) -> None:
        self._pending: list[Step] = [CallStart(at, name, call_id)]
        self.failed = False
        self.calls = 1

    def feed(self, text: str) -> list[Step]:
        steps, self._pending = self._pending, []
        return [*steps, ArgumentsDelta(text)] if text else steps


class _CallObjects(CallParser):
    """`{"name": ..., "arguments": {...}}`, or an array of such."""

    def __init__(self, at: int, keys: Keys, tools: Tools) -> None:
        super().__init__()
        self._at, self._tools = at, tools  # at: the number of the first call
        self._roles = {keys.name: "name", keys.arguments: "arguments", keys.id: "id"}

    def parse(self) -> Parsing[None]:
        understood = True
        while understood:
            while self.needs_char():
                yield
            char = self.text[self.at]
            self.at += 1
            understood = (yield from self._object()) if char == "{" else char in "[],"

    def _object(self) -> Parsing[bool]:
        """One object, from after its brace; whether it could be parsed."""
        fields: dict[str, str] = {}
        waiting: list[str] = []  # arguments before the name is known
        others = started = False  # others: there are members that may be arguments
        while key := (yield from self._key()):
            char, role = self.text[self.at], self._roles.get(key)
            if role == "arguments" and char == "{" and not (started or waiting):
                started = self._start(fields)
                yield from self._arguments(None if started else waiting)
            elif role != "arguments" and char == '"':
                value = yield from self._string()
                if value is None:
                    return False
                fields[role or key] = value
                others = others or (role is None and key not in CALL_KEYS)
                if self._unknown(fields.get("name")):
                    return False
                if waiting and not started:
                    started = self._start(fields, *waiting)
            elif role is None and char not in "{[":
                others = others or key not in CALL_KEYS
                yield from self.run(_SCALAR)
            else:
                return False  # arguments twice or as a string, or the call in a wrapper
        if key is None:
            return False
        started = started or (not others and not waiting and self._start(fields, "{}"))
        self.calls += 1
        return started  # otherwise the arguments are next to the name, or there is no name and later calls can't be numbered

    def _key(self) -> Parsing[str | None]:
        """The next key, with its colon; empty at the object's end, None if there is anything else."""
        while self.needs_char() or self.here(","):
            if self.here(","):
                self.at += 1
            else:
                yield
        if self.here("}"):
            self.at += 1
            return ""
        key = (yield from self._string()) if self.here('"') else None
        while self.needs_char():
            yield
        colon = self.here(":")
        self.at += 1
        while self.needs_char():
            yield
        return key if key and colon else None

    def _string(self) -> Parsing[str | None]:
        """A string; None if it contains an escape, which names never do."""
        self.at += 1
        text = yield from self.run(_PLAIN_STRING)
        self.at += 1
        return text if self.text[self.at - 1] == '"' else None

    def _unknown(self, name: str | None) -> bool:
        return name is not None and bool(self._tools) and name not in self._tools

    def _start(self, fields: dict[str, str], *arguments: str) -> bool:
        """Starts the call if its name is known; returns whether it is."""
        if "name" not in fields:
            return False
        self.steps.append(CallStart(self._at + self.calls, fields["name"], fields.get("id")))
        if arguments:
            self.steps.append(ArgumentsDelta("".join(arguments)))
        return True

    def _arguments(self, waiting: list[str] | None) -> Parsing[None]:
        """Emits an object as it arrives; or buffers it in `waiting`."""
        scanner = JsonScanner()
        while True:
            self.take_pieces()
            end = scanner.feed(self.text, self.at)
            stop = end if end >= 0 else len(self.text)
            piece, self.at = self.text[self.at : stop], stop
            if waiting is not None:
                waiting.append(piece)
            elif piece:
                self.steps.append(ArgumentsDelta(piece))
            if end >= 0:
                return
            yield


class _NameIsKey(_CallObjects):
    """`{"f": {...}}`, or an array of such. One object may contain several calls."""

    def _object(self) -> Parsing[bool]:
        while key := (yield from self._key()):
            if not self.here("{") or key == "name" or self._unknown(key):
                return False
            self._start({"name": key})
            yield from self._arguments(None)
            self.calls += 1
        return key is not None


class JsonStream:
    """Follows a region's marks. `reader` makes the parser of a value, from its head and its number among the calls."""

    def __init__(
        self, region: JsonRegion, opener: str, reader: Callable[[str, int], ValueStream | None], *, raw: bool = False
    ) -> None:
        self._region = region
        self._raw = raw  # values need not begin like JSON
        self._tail = Tail(opener)
        self._make = reader
        self._reader: ValueStream | None = None
        self._mark = 0
        self._calls = 0
        self._failed = False

    def feed(self, piece: str, /) -> list[Step]:
        steps: list[Step] = []
        if self._failed:
            return steps
        self._tail.add(piece)
        region = self._region
        while not self._failed and self._mark < len(region.marks):
            mark = region.marks[self._mark]
            if mark.value < 0:
                break
            if self._reader is None and not self._begin(mark):
                break
            reader = self._reader
            if reader is None:
                break
            steps += reader.feed(self._tail.upto(mark.end if mark.end >= 0 else region.certain))
            self._failed = reader.failed
            if mark.end < 0:
                break
            self._calls += reader.calls
            self._reader = None
            self._mark += 1
        return steps

    def _begin(self, mark: Mark) -> bool:
        empty = (mark.raw and not self._raw) or mark.end == mark.value
        self._tail.upto(mark.head)
        self._reader = None if empty else self._make(self._tail.upto(mark.value), self._calls)
        self._failed = self._reader is None
        return not self._failed


def stream_objects(region: JsonRegion, opener: str, keys: Keys, tools: Tools) -> JsonStream:
    """For calls with the name inside the value."""
    kind = _NameIsKey if keys.name_is_key else _CallObjects
    return JsonStream(region, opener, lambda head, at: ParserStream(kind(at, keys, tools)))


def stream_arguments(region: JsonRegion, opener: str, name_of: NameOf) -> JsonStream:
    """For calls with the name in the head."""

    def reader(head: str, at: int) -> _Arguments | None:
        found = name_of(head)
        return None if found is None else _Arguments(at, *found)

    return JsonStream(region, opener, reader)
