"""ReAct: a line `Action: name`, then `Action Input:` with the arguments. Taught by agents' prompts, known to most models."""

from __future__ import annotations

import re

from toolglot.grammars.heard import Heard, Parsed, Tools
from toolglot.grammars.json_calls import positional, read_json_calls
from toolglot.grammars.known_names import find_tool
from toolglot.grammars.python_calls import read_listing
from toolglot.text.json_text import dumps
from toolglot.text.python_end import PythonEnd
from toolglot.text.python_literals import plain, read_value

OPENERS = ("Action:", "**Action:**", "**Action**:")
_FORM = re.compile(
    r"\**+Action\**+:\**+[ \t]*+[`*\[\"']*+([^\n`*\]\"']+?)[`*\]\"']*+[ \t]*+\r?\n\s*+\**+Action[ _]Input\**+:\**+\s*+"
)
_LABEL = re.compile(r"[^\n]*+\n\s*+\**+Action[ _]Input\**+:\**+")
_LETTERS = "Action Input"


def _begun(word: str) -> str:
    """A pattern for the word or any beginning of it, possessive."""
    pattern = ""
    for char in reversed(word):
        pattern = f"(?:{'[ _]' if char == ' ' else char}{pattern})?+"
    return pattern


_LABEL_BEGUN = re.compile(r"[^\n]*+(?:\n\s*+\**+" + _begun(_LETTERS)[:-2] + r"?+)?+\**+:?+")
_FENCE = re.compile(r"```\w*+\s*+")
_FIRST = re.compile(r"\S")
_MOST = 400  # characters within which the label must stand


class React:
    openers = OPENERS
    at_line_start = True

    def open(self, opener: str, /) -> ReactRegion:
        return ReactRegion(opener)


class ReactRegion:
    """From `Action:` to the end of the JSON, or of the line where the input is no JSON."""

    __slots__ = ("_head", "_opener", "_scan", "examined")

    def __init__(self, opener: str) -> None:
        self._opener = opener
        self._head: str | None = ""
        self._scan: PythonEnd | None = None
        self.examined = 0

    def feed(self, text: str, /) -> int:
        self.examined += len(text)
        if self._head is None:
            return self._input(text, 0)
        before = len(self._head)
        self._head += text
        head = self._head[:_MOST]
        label = _LABEL.match(head)
        if label is None:
            begun = _LABEL_BEGUN.match(head)
            end = begun.end() if begun else 0
            return -1 if end == len(self._head) else max(0, end - before)
        first = _FIRST.search(self._head, label.end())
        if first is None:
            return -1
        self._head = None
        if first[0] in "{[`":
            self._scan = PythonEnd()
        elif "\n" in first.string[label.end() : first.start()]:
            return max(0, first.start() - before)  # an empty input
        return self._input(text, max(0, first.start() - before))

    def _input(self, text: str, at: int) -> int:
        if self._scan is not None:
            return self._scan.feed(text, at)
        return text.find("\n", at)

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> Parsed:
        found = _FORM.match(text)
        if found is None:
            return self._inline(text, tools)
        name, written = found[1].strip(), text[found.end() :].strip()
        if tools and find_tool(name, tools) is None:
            return Parsed()
        fence = _FENCE.match(written)
        written = written[fence.end() :] if fence else written
        if written[:1] in {"{", "["}:
            return Parsed((Heard(name, written, text, closed=complete),))
        arguments = _loose_input(name, written, tools)
        return Parsed((Heard(name, arguments, text),)) if arguments is not None else Parsed()

    def _inline(self, text: str, tools: Tools) -> Parsed:
        """`Action: f(a=1)`: the call itself behind the label, or as JSON."""
        reading = read_json_calls(text[len(self._opener) :].strip(), tools)
        if reading is not None and tools:
            return Parsed(tuple(reading.calls), rest=text[len(self._opener) :].strip()[reading.end :])
        listing = read_listing(text, tools, start=len(self._opener))
        known = listing.calls and tools and all(find_tool(call.name, tools) for call in listing.calls)
        return Parsed(listing.calls, rest=text[listing.last :]) if known else Parsed()


def _loose_input(name: str, written: str, tools: Tools) -> str | None:
    """An input that is no object: nothing, `a=1, b=2`, or the only argument itself."""
    if written.strip("`") in {"", "None", "null", "{}"}:
        return "{}"
    pairs = read_listing(f"{name}({written})", tools) if "=" in written else None
    if pairs is not None and pairs.plain and len(pairs.calls) == 1 and not pairs.stopped:
        return pairs.calls[0].arguments
    value = read_value(written)
    text = plain(value[0]) if value is not None and value[1] == len(written) else written
    return positional(name, text, tools) if isinstance(text, str) else dumps(text) if isinstance(text, dict) else None


REACT = React()
