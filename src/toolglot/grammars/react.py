"""ReAct: a line `Action: name`, then `Action Input:` with the arguments. Agents' prompts use it, and most models know it."""

from __future__ import annotations

import re

from toolglot.grammars.json_calls import positional, read_json_calls
from toolglot.grammars.known_names import find_tool
from toolglot.grammars.parsed_call import ParsedCall, RegionResult, Tools
from toolglot.grammars.python_calls import read_listing
from toolglot.io.json_codec import dumps
from toolglot.io.python_literals import read_value, to_plain_value
from toolglot.io.python_scanner import PythonScanner

OPENERS = ("Action:", "**Action:**", "**Action**:")
_FORM = re.compile(
    r"\**+Action\**+:\**+[ \t]*+[`*\[\"']*+([^\n`*\]\"']+?)[`*\]\"']*+[ \t]*+\r?\n\s*+\**+Action[ _]Input\**+:\**+\s*+"
)
_LABEL = re.compile(r"[^\n]*+\n\s*+\**+Action[ _]Input\**+:\**+")
_LETTERS = "Action Input"


def _prefixes(word: str) -> str:
    """A pattern for the word or any prefix of it."""
    pattern = ""
    for char in reversed(word):
        pattern = f"(?:{'[ _]' if char == ' ' else char}{pattern})?"
    return pattern


_PARTIAL_LABEL = re.compile(r"[^\n]*+(?:\n\s*+\**+" + _prefixes(_LETTERS) + r")?\**+:?+")
_FENCE = re.compile(r"```\w*+\s*+")
_FIRST = re.compile(r"\S")
_MAX_HEAD = 400  # characters within which the label must come


class React:
    openers = OPENERS
    at_line_start = True

    def open(self, opener: str, /) -> ReactRegion:
        return ReactRegion(opener)


class ReactRegion:
    """From `Action:` to the end of the JSON, or of the line if the input is not JSON."""

    __slots__ = ("_head", "_opener", "_scan", "examined")

    def __init__(self, opener: str) -> None:
        self._opener = opener
        self._head: str | None = ""
        self._scan: PythonScanner | None = None
        self.examined = 0

    def feed(self, text: str, /) -> int:
        self.examined += len(text)
        if self._head is None:
            return self._input(text, 0)
        before = len(self._head)
        self._head += text
        head = self._head[:_MAX_HEAD]
        label = _LABEL.match(head)
        if label is None:
            partial = _PARTIAL_LABEL.match(head)
            end = partial.end() if partial else 0
            return -1 if end == len(self._head) else max(0, end - before)
        first = _FIRST.search(self._head, label.end())
        if first is None:
            return -1
        self._head = None
        if first[0] in "{[`":
            self._scan = PythonScanner()
        elif "\n" in first.string[label.end() : first.start()]:
            return max(0, first.start() - before)  # an empty input
        return self._input(text, max(0, first.start() - before))

    def _input(self, text: str, at: int) -> int:
        if self._scan is not None:
            return self._scan.feed(text, at)
        return text.find("\n", at)

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> RegionResult:
        found = _FORM.match(text)
        if found is None:
            return self._inline(text, tools)
        name, raw = found[1].strip(), text[found.end() :].strip()
        if tools and find_tool(name, tools) is None:
            return RegionResult()
        fence = _FENCE.match(raw)
        raw = raw[fence.end() :] if fence else raw
        if raw[:1] in {"{", "["}:
            return RegionResult((ParsedCall(name, raw, text, closed=complete),))
        arguments = _loose_input(name, raw, tools)
        return RegionResult((ParsedCall(name, arguments, text),)) if arguments is not None else RegionResult()

    def _inline(self, text: str, tools: Tools) -> RegionResult:
        """`Action: f(a=1)`: the call directly after the label, as Python or JSON."""
        reading = read_json_calls(text[len(self._opener) :].strip(), tools)
        if reading is not None and tools:
            return RegionResult(tuple(reading.calls), rest=text[len(self._opener) :].strip()[reading.end :])
        listing = read_listing(text, tools, start=len(self._opener))
        known = listing.calls and tools and all(find_tool(call.name, tools) for call in listing.calls)
        return RegionResult(listing.calls, rest=text[listing.last :]) if known else RegionResult()


def _loose_input(name: str, raw: str, tools: Tools) -> str | None:
    """An input that is not an object: nothing, `a=1, b=2`, or the value of the only argument."""
    if raw.strip("`") in {"", "None", "null", "{}"}:
        return "{}"
    pairs = read_listing(f"{name}({raw})", tools) if "=" in raw else None
    if pairs is not None and pairs.plain and len(pairs.calls) == 1 and not pairs.stopped:
        return pairs.calls[0].arguments
    value = read_value(raw)
    text = to_plain_value(value[0]) if value is not None and value[1] == len(raw) else raw
    return positional(name, text, tools) if isinstance(text, str) else dumps(text) if isinstance(text, dict) else None


REACT = React()
