"""Arguments that are JSON already: they are handed on as they come."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar, Literal, Protocol

from toolglot.grammars.call_objects import ABOUT, Keys
from toolglot.grammars.heard import Tools
from toolglot.grammars.json_region import JsonRegion, Mark
from toolglot.grammars.unfolding import Begun, More, Step, Tail
from toolglot.text.json_end import JsonEnd

NameOf = Callable[[str], tuple[str, str | None] | None]  # a head -> the tool's name and the call's id, if it is a call's

_INK = re.compile(r"\S")
_PLAIN_STRING = re.compile(r'[^"\\]*')
_SCALAR = re.compile(r"[^,}\]\s]*")


class Reading(Protocol):
    """Reads one value of a region, as it comes."""

    lost: bool  # it is not understood: nothing more is told
    calls: int  # that it held

    def feed(self, text: str, /) -> list[Step]: ...


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
        self._beside = False  # there are members that say nothing about the call
        self._begun = False
        self.lost = False
        self.calls = 0

    def feed(self, text: str, /) -> list[Step]:
        steps: list[Step] = []
        at = 0
        while at < len(text) and not self.lost:
            at = self._STEPS[self._state](self, text, at, steps)
        return steps

    def _seek(self, text: str, at: int, steps: list[Step]) -> int:
        char = text[at]
        if char == "{":
            self._state, self._said, self._waiting, self._begun, self._beside = "key", {}, None, False, False
        elif not (char.isspace() or char in "[],"):
            self.lost = True
        return at + 1

    def _at_key(self, text: str, at: int, steps: list[Step]) -> int:
        char = text[at]
        if char == '"':
            self._state, self._key, self._string = "string", "", []
        elif char == "}":
            if not self._begun:
                self._without_arguments(steps)
            self._state = "seek"
            self._at += 1
            self.calls += 1
        elif not (char.isspace() or char == ","):
            self.lost = True
        return at + 1

    def _without_arguments(self, steps: list[Step]) -> None:
        """None at all, or they stand beside the name; without a name, the calls can't be numbered any more."""
        self.lost = "name" not in self._said or self._beside
        self._open(steps)
        if not self.lost:
            steps.append(More("{}"))

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
            self._beside = self._beside or (role is None and self._key not in ABOUT)
            self._key, self._state, self._string = role or self._key, "string", []
            return at + 1
        self._beside = self._beside or self._key not in ABOUT
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

    _STEPS: ClassVar[dict[str, Callable[..., int]]] = {
        "seek": _seek,
        "key": _at_key,
        "string": _in_string,
        "colon": _colon,
        "value": _value,
        "scalar": _scalar,
        "arguments": _arguments,
    }


class _NameIsKey(_Objects):
    """`{"f": {...}}`, or an array of such. Several calls may stand in one object."""

    def _at_key(self, text: str, at: int, steps: list[Step]) -> int:
        if text[at] == "}":
            self._state = "seek"
            return at + 1
        return super()._at_key(text, at, steps)

    def _value(self, text: str, at: int, steps: list[Step]) -> int:
        if text[at].isspace():
            return at + 1
        self.lost = text[at] != "{" or self._key == "name" or (bool(self._tools) and self._key not in self._tools)
        self._said = {"name": self._key}
        self._state, self._end = "arguments", JsonEnd()
        self._open(steps)
        return at

    def _arguments(self, text: str, at: int, steps: list[Step]) -> int:
        end = super()._arguments(text, at, steps)
        if self._state == "key":
            self._at += 1
            self.calls += 1
        return end

    _STEPS: ClassVar[dict[str, Callable[..., int]]] = {
        **_Objects._STEPS,
        "key": _at_key,
        "value": _value,
        "arguments": _arguments,
    }


class UnfoldJson:
    """Follows a region's marks. `reader` makes what reads a value out of its head and its number among the calls."""

    def __init__(
        self, region: JsonRegion, opener: str, reader: Callable[[str, int], Reading | None], *, raw: bool = False
    ) -> None:
        self._region = region
        self._raw = raw  # values need not begin as JSON does
        self._tail = Tail(opener)
        self._make = reader
        self._reader: Reading | None = None
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
            if self._reader is None and not self._begin(mark):
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

    def _begin(self, mark: Mark) -> bool:
        empty = (mark.raw and not self._raw) or mark.end == mark.value
        self._tail.upto(mark.head)
        self._reader = None if empty else self._make(self._tail.upto(mark.value), self._calls)
        self._lost = self._reader is None
        return not self._lost


def unfold_objects(region: JsonRegion, opener: str, keys: Keys, tools: Tools) -> UnfoldJson:
    """For calls whose name stands inside the value."""
    kind = _NameIsKey if keys.name_is_key else _Objects
    return UnfoldJson(region, opener, lambda head, at: kind(at, keys, tools))


def unfold_arguments(region: JsonRegion, opener: str, name_of: NameOf) -> UnfoldJson:
    """For calls whose name stands in the head."""

    def reader(head: str, at: int) -> _Arguments | None:
        found = name_of(head)
        return None if found is None else _Arguments(at, *found)

    return UnfoldJson(region, opener, reader)
