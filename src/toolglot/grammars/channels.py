"""Messages with a header that names the recipient: a call is a message to a tool, and its body is the arguments."""

from __future__ import annotations

import re

import msgspec

from toolglot.core.tools import Tool
from toolglot.grammars.call_objects import USUAL, Keys, calls_in
from toolglot.grammars.json_region import Frame, JsonRegion, Mark, meanings, value_of
from toolglot.grammars.json_streaming import JsonStream, stream_arguments, stream_objects
from toolglot.grammars.loose_json import Stops
from toolglot.grammars.parsed_call import ParsedCall, RegionResult, Tools
from toolglot.io.json_codec import dumps, loads_object

_NOT_TOOLS = frozenset({"assistant", "user", "self", "all"})  # a message to one of these is not a call

_PARALLEL = "multi_tool_use.parallel"  # not a registered tool, but OpenAI's models use it: its body is a list of calls


class Channels:
    """`header` matches the whole header with its opener and has a group `name`; `body` finds where the message begins."""

    __slots__ = ("at_line_start", "ends", "frame", "keys", "openers", "prefix", "text_mode")

    def __init__(
        self,
        openers: tuple[str, ...],
        header: str,
        body: str,
        *,
        ends: tuple[str, ...],  # markers that end a message
        others: tuple[str, ...] = (),  # markers that begin the next one
        not_head: str = r"(?!)",
        prefix: str = "",  # before a function's name; without it, only registered names count
        keys: Keys | None = None,  # the body is the whole call, not only its arguments
        text_mode: str = "",  # in a header: the body is free text
        at_line_start: bool = False,
    ) -> None:
        self.at_line_start = at_line_start
        self.openers, self.ends, self.prefix, self.keys, self.text_mode = openers, ends, prefix, keys, text_mode
        tail = meanings(noise=("}",), end=ends, back=others)
        self.frame = Frame(re.compile(body), re.compile(header), re.compile(not_head), tail, Stops((*ends, *others)), raw=True)

    def open(self, opener: str) -> ChannelRegion:
        return ChannelRegion(self, opener)


class ChannelRegion:
    def __init__(self, grammar: Channels, opener: str) -> None:
        self._grammar = grammar
        self._opener = opener
        self._region = JsonRegion(grammar.frame, opener, opener)
        self.feed = self._region.feed

    def stream_calls(self, tools: Tools) -> JsonStream | None:
        def name_of(head: str) -> tuple[str, str | None] | None:
            header = self._grammar.frame.head.fullmatch(head)
            if header is None or (self._grammar.text_mode and self._grammar.text_mode in header[0]):
                return None
            name, known = _name(header["name"] or "", self._grammar.prefix, tools)
            return (name, None) if name in tools or (known and not tools and name not in _NOT_TOOLS) else None

        if self._grammar.keys is not None:
            return stream_objects(self._region, self._opener, self._grammar.keys, tools)
        return stream_arguments(self._region, self._opener, name_of)

    def parse(self, text: str, tools: Tools, *, complete: bool) -> RegionResult:
        mark = self._region.marks[0]
        header = self._grammar.frame.head.fullmatch(text, mark.head, mark.value) if mark.value >= 0 else None
        if header is None:
            cut_off = not complete and any(name.startswith(word) for word in _WORD.findall(text)[-1:] for name in tools)
            return RegionResult(problem="the text ends inside the header of a call" if cut_off else None)
        value, cut = value_of(text, mark, self._grammar.ends)
        calls = self._calls(header, value.strip(), mark, tools)
        if calls:
            return RegionResult(tuple(calls), rest=self._region.rest_of(text) if cut < 0 else text[cut:])
        to = header["name"] or "(no recipient)"
        if _is_markup(value, tools.get(_name(to, self._grammar.prefix, tools)[0])):
            return RegionResult(problem=f"the message to {to} is not JSON")
        return RegionResult(problem=None if to in _NOT_TOOLS else f"a message to {to}, which is not a registered tool")

    def _calls(self, header: re.Match[str], value: str, mark: Mark, tools: Tools) -> list[ParsedCall]:
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
        if _is_markup(value, tools.get(name)):
            return []
        if grammar.text_mode and grammar.text_mode in header[0]:
            value = _free_text(name, value, tools)
        return [ParsedCall(name, value or "{}", "", None, (), mark.end >= 0)]


def _is_markup(value: str, tool: Tool | None) -> bool:
    """Whether a function's arguments begin with a tag: other dialects write tags behind a header like this one."""
    return value.startswith("<") and tool is not None and tool.kind == "function"


_WORD = re.compile(r"[\w-]+")


def _name(recipient: str, prefix: str, tools: Tools) -> tuple[str, bool]:
    """The tool that a header names, and whether it names one."""
    name = recipient.removeprefix(prefix)
    if name in tools or recipient in tools:
        return (name if name in tools else recipient), True
    if name.endswith("json") and name[:-4] in tools:  # the marker between them is missing
        return name[:-4], True
    return name, bool(prefix) is False or name != recipient or (not tools and "." in name)


def _free_text(name: str, text: str, tools: Tools) -> str:
    """Free text as arguments: under the tool's only property, or as `input`."""
    if loads_object(text) is not None:
        return text
    properties = list((tools[name].schema or {}).get("properties") or {}) if name in tools else []
    return dumps({properties[0] if len(properties) == 1 else "input": text})
