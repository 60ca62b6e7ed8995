"""Arguments that are JSON already: they are handed on as they come."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from toolglot.grammars.call_objects import Keys
from toolglot.grammars.heard import Tools
from toolglot.grammars.json_region import JsonRegion
from toolglot.grammars.unfolding import Begun, More, Step, Tail
from toolglot.text.json_end import JsonEnd

NameOf = Callable[[str], tuple[str, str | None] | None]  # a head -> the tool's name and the call's id, if it is a call's

_INK = re.compile(r"\S")
_PLAIN_STRING = re.compile(r'[^"\\]*')
_SCALAR = re.compile(r"[^,}\]\s]*")


class _Arguments:
    """The whole value is the arguments."""

    def __init__(self, at: int, name: str, call_id: str | None) -> None:
        self._begun: list[Step] = [Begun(at, name, call_id)]
        self.lost = False
        self.calls = 1

    def feed(self, text: str) -> list[Step]:
        steps, self._begun = self._begun, []
        return [*steps, More(text)] if text else steps


class _Objects:
    """`{"name": ..., "arguments": {...}}`, or an array of such. What is not written just so is not unfolded: `lost`."""

    def __init__(self, at: int, keys: Keys, tools: Tools) -> None:
        self._at, self._keys, self._tools = at, keys, tools
        self._state: Literal["seek", "key", "colon", "value", "string", "scalar", "arguments"] = "seek"
        self._key = ""
        self._string: list[str] = []
        self._end = JsonEnd()
        self._said: dict[str, str] = {}
        self._waiting: list[str] | None = None  # arguments before the name is known
        self._begun = False
        self.lost = False
        self.calls = 0

    def feed(self, text: str) -> list[Step]:
        steps: list[Step] = []
        at = 0
        while at < len(text) and not self.lost:
            at = self._STEPS[self._state](self, text, at, steps)
        return steps

    def _seek(self, text: str, at: int, steps: list[Step]) -> int:
        char = text[at]
        if char == "{":
            self._state, self._said, self._waiting, self._begun = "key", {}, None, False
        elif not (char.isspace() or char in "[],"):
            self.lost = True
        return at + 1

    def _at_key(self, text: str, at: int, steps: list[Step]) -> int:
        char = text[at]
        if char == '"':
            self._state, self._key, self._string = "string", "", []
        elif char == "}":
            self.lost = "name" not in self._said  # then the numbers of the calls can't be told any more
            self._state = "seek"
            self._at += 1
            self.calls += 1
        elif not (char.isspace() or char == ","):
            self.lost = True
        return at + 1

    def _in_string(self, text: str, at: int, steps: list[Step]) -> int:
        found = _PLAIN_STRING.match(text, at)
        end = found.end() if found else at
        self._string.append(text[at:end])
        if end == len(text):
            return end
        self.lost = text[end] != '"'  # an escape, in a name
        held = "".join(self._string)
        if not self._key:
            self._key, self._state = held, "colon"
            self.lost = self.lost or not held
        else:
            self._said[self._key] = held
            self._state = "key"
            if self._key == "name":
                self._named(steps)
        return end + 1

    def _colon(self, text: str, at: int, steps: list[Step]) -> int:
        if text[at] == ":":
            self._state = "value"
        elif not text[at].isspace():
            self.lost = True
        return at + 1

    def _value(self, text: str, at: int, steps: list[Step]) -> int:
        char = text[at]
        if char.isspace():
            return at + 1
        role = {self._keys.name: "name", self._keys.arguments: "arguments", self._keys.id: "id"}.get(self._key)
        if role == "arguments" and char == "{":
            self._state, self._end, self._waiting = "arguments", JsonEnd(), []
            self._open(steps)
            return at
        if role != "arguments" and char == '"':
            self._key, self._state, self._string = role or self._key, "string", []
            return at + 1
        self.lost = role is not None or char in "{["  # arguments as a string, or the call in a wrapper
        self._state = "scalar"
        return at

    def _scalar(self, text: str, at: int, steps: list[Step]) -> int:
        found = _SCALAR.match(text, at)
        end = found.end() if found else at
        if end < len(text):
            self._state = "key"
        return end

    def _arguments(self, text: str, at: int, steps: list[Step]) -> int:
        end = self._end.feed(text, at)
        piece = text[at : end if end >= 0 else len(text)]
        if self._begun:
            steps.append(More(piece))
        elif self._waiting is not None:
            self._waiting.append(piece)
        if end < 0:
            return len(text)
        self._state = "key"
        return end

    def _named(self, steps: list[Step]) -> None:
        name = self._said["name"]
        self.lost = self.lost or (bool(self._tools) and name not in self._tools)
        if not self.lost and self._waiting is not None:
            self._open(steps)

    def _open(self, steps: list[Step]) -> None:
        if "name" not in self._said or self.lost:
            return
        steps.append(Begun(self._at, self._said["name"], self._said.get("id")))
        self._begun = True
        if self._waiting:
            steps.append(More("".join(self._waiting)))

    _STEPS = {
        "seek": _seek,
        "key": _at_key,
        "string": _in_string,
        "colon": _colon,
        "value": _value,
        "scalar": _scalar,
        "arguments": _arguments,
    }


class UnfoldJson:
    """Follows a region's marks. `reader` makes what reads a value out of its head and its number among the calls."""

    def __init__(self, region: JsonRegion, opener: str, reader: Callable[[str, int], _Arguments | _Objects | None]) -> None:
        self._region = region
        self._tail = Tail(opener)
        self._make = reader
        self._reader: _Arguments | _Objects | None = None
        self._mark = 0
        self._calls = 0
        self._lost = False

    def feed(self, piece: str, /) -> list[Step]:
        steps: list[Step] = []
        if self._lost:
            return steps
        self._tail.add(piece)
        region = self._region
        while not self._lost and self._mark < len(region.marks):
            mark = region.marks[self._mark]
            if mark.value < 0:
                break
            if self._reader is None and not self._begin(mark.head, mark.value, empty=mark.raw or mark.end == mark.value):
                break
            reader = self._reader
            if reader is None:
                break
            steps += reader.feed(self._tail.upto(mark.end if mark.end >= 0 else region.certain))
            self._lost = reader.lost
            if mark.end < 0:
                break
            self._calls += reader.calls
            self._reader = None
            self._mark += 1
        return steps

    def _begin(self, head: int, value: int, *, empty: bool) -> bool:
        self._tail.upto(head)
        self._reader = None if empty else self._make(self._tail.upto(value), self._calls)
        self._lost = self._reader is None
        return not self._lost


def unfold_objects(region: JsonRegion, opener: str, keys: Keys, tools: Tools) -> UnfoldJson | None:
    """For calls whose name stands inside the value."""
    return None if keys.name_is_key else UnfoldJson(region, opener, lambda head, at: _Objects(at, keys, tools))


def unfold_arguments(region: JsonRegion, opener: str, name_of: NameOf) -> UnfoldJson:
    """For calls whose name stands in the head."""

    def reader(head: str, at: int) -> _Arguments | None:
        found = name_of(head)
        return None if found is None else _Arguments(at, *found)

    return UnfoldJson(region, opener, reader)
