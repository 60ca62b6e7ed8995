"""Messages with a header that says to whom they go: a call is a message to a tool, and its body is the arguments."""

from __future__ import annotations

import re

import msgspec

from toolglot.grammars.call_objects import USUAL, Keys, calls_in
from toolglot.grammars.heard import Heard, Parsed, Tools
from toolglot.grammars.json_region import Frame, JsonRegion, Mark, meanings, value_of
from toolglot.grammars.loose_json import Stops
from toolglot.grammars.unfold_json import UnfoldJson, unfold_arguments, unfold_objects
from toolglot.text.json_text import dumps, loads_object

_NOBODY = frozenset({"assistant", "user", "self", "all"})  # addressed so, a message is no call

_PARALLEL = "multi_tool_use.parallel"  # no tool, but OpenAI's models know it: its body lists calls


class Channels:
    """The header, opener and all, matches `header`, with a group `name`; `body` finds where it ends and the message begins."""

    __slots__ = ("at_line_start", "ends", "frame", "keys", "openers", "prefix", "text_mode")

    def __init__(
        self,
        openers: tuple[str, ...],
        header: str,
        body: str,
        *,
        ends: tuple[str, ...],  # of a message
        others: tuple[str, ...] = (),  # begin the next one
        hopeless: str = r"(?!)",
        prefix: str = "",  # before a function's name; a name without it counts only if it is known
        keys: Keys | None = None,  # the body is the whole call, not only its arguments
        text_mode: str = "",  # in a header: the body is free text
        at_line_start: bool = False,
    ) -> None:
        self.at_line_start = at_line_start
        self.openers, self.ends, self.prefix, self.keys, self.text_mode = openers, ends, prefix, keys, text_mode
        tail = meanings(noise=("}",), end=ends, back=others)
        self.frame = Frame(re.compile(body), re.compile(header), re.compile(hopeless), tail, Stops((*ends, *others)), raw=True)

    def open(self, opener: str) -> ChannelRegion:
        return ChannelRegion(self, opener)


class ChannelRegion:
    def __init__(self, grammar: Channels, opener: str) -> None:
        self._grammar = grammar
        self._opener = opener
        self._region = JsonRegion(grammar.frame, opener, opener)
        self.feed = self._region.feed

    def unfolding(self, tools: Tools) -> UnfoldJson | None:
        def name_of(head: str) -> tuple[str, str | None] | None:
            header = self._grammar.frame.head.fullmatch(head)
            if header is None or (self._grammar.text_mode and self._grammar.text_mode in header[0]):
                return None
            name, known = _name(header["name"] or "", self._grammar.prefix, tools)
            return (name, None) if name in tools or (known and not tools and name not in _NOBODY) else None

        if self._grammar.keys is not None:
            return unfold_objects(self._region, self._opener, self._grammar.keys, tools)
        return unfold_arguments(self._region, self._opener, name_of)

    def parse(self, text: str, tools: Tools, *, complete: bool) -> Parsed:
        mark = self._region.marks[0]
        header = self._grammar.frame.head.fullmatch(text, mark.head, mark.value) if mark.value >= 0 else None
        if header is None:
            begun = not complete and any(name.startswith(word) for word in _WORD.findall(text)[-1:] for name in tools)
            return Parsed(problem="the text ends inside the header of a call" if begun else None)
        value, cut = value_of(text, mark, self._grammar.ends)
        calls = self._calls(header, value.strip(), mark, tools)
        if calls:
            return Parsed(tuple(calls), rest=self._region.rest_of(text) if cut < 0 else text[cut:])
        to = header["name"] or ""
        return Parsed(problem=None if to in _NOBODY else f"a message to {to or 'nobody'}, which is no registered tool")

    def _calls(self, header: re.Match[str], value: str, mark: Mark, tools: Tools) -> list[Heard]:
        grammar = self._grammar
        if grammar.keys is not None and value.startswith(("{", "[")):
            found = calls_in(value, grammar.keys, ended=mark.end >= 0)
            if found:
                return found
        if (header["name"] or "").endswith(_PARALLEL):
            found = calls_in(value, USUAL, ended=mark.end >= 0)
            return [msgspec.structs.replace(call, name=_name(call.name, grammar.prefix, tools)[0]) for call in found]
        name, known = _name(header["name"] or "", grammar.prefix, tools)
        if not (name and known) or not (value or name in tools):
            return []
        if grammar.text_mode and grammar.text_mode in header[0]:
            value = _free_text(name, value, tools)
        return [Heard(name, value or "{}", "", None, (), mark.end >= 0)]


_WORD = re.compile(r"[\w-]+")


def _name(written: str, prefix: str, tools: Tools) -> tuple[str, bool]:
    """The tool that a header names, and whether it names one at all."""
    name = written.removeprefix(prefix)
    if name in tools or written in tools:
        return (name if name in tools else written), True
    if name.endswith("json") and name[:-4] in tools:  # the marker between them was lost
        return name[:-4], True
    return name, bool(prefix) is False or name != written


def _free_text(name: str, text: str, tools: Tools) -> str:
    """Text for a tool that takes just that: under its only property, or as `input`."""
    if loads_object(text) is not None:
        return text
    properties = list((tools[name].schema or {}).get("properties") or {}) if name in tools else []
    return dumps({properties[0] if len(properties) == 1 else "input": text})
