"""A mistake of MiniMax: `[TOOL_CALL] {tool => "f", args => { --a "text" --n 3 }} [/TOOL_CALL]`. Arguments may also be JSON."""

from __future__ import annotations

import re

from toolglot.grammars.json_region import value_of
from toolglot.grammars.known_names import find_tool
from toolglot.grammars.parsed_call import ParsedCall, RegionResult, Tools
from toolglot.grammars.tagged_json import TaggedJson, TaggedRegion
from toolglot.io.json_codec import JSON_ERRORS, decode, dumps
from toolglot.schema.coerce_text import loose_value, property_schema, typed_value

_CALL = re.compile(r"""\{\s*tool\s*=>\s*["']([^"'\n]+)["']\s*,?\s*args\s*=>\s*(\{.*\})\s*\}\s*""", re.DOTALL)
_PAIR = re.compile(
    r"""\s*--([\w.-]+)[ \t]*[:=]?[ \t]*
    (?:("[^"\\]*(?:\\.[^"\\]*)*")|([^\s"][^\n]*?))
    (?=\s*(?:\Z|--[\w.-]|\n))""",
    re.DOTALL | re.VERBOSE,
)


class ArrowCalls(TaggedJson):
    __slots__ = ()

    def open(self, opener: str) -> ArrowRegion:
        return ArrowRegion(self, opener)


class ArrowRegion(TaggedRegion):
    def stream_calls(self, tools: Tools) -> None:
        return None

    def parse(self, text: str, tools: Tools, *, complete: bool) -> RegionResult:
        mark = self._region.marks[0]
        if mark.value < 0:
            return RegionResult()
        value, cut = value_of(text, mark, self._grammar.closers)
        found = _CALL.fullmatch(value)
        arguments = _arguments(found[1], found[2], tools) if found else None
        if found is None or arguments is None:
            return RegionResult()
        return RegionResult(
            (ParsedCall(found[1], arguments, value),), rest=self._region.rest_of(text) if cut < 0 else text[cut:]
        )


def _arguments(name: str, text: str, tools: Tools) -> str | None:
    """The arguments as JSON; None if they are neither pairs nor an object."""
    inside = text[1:-1]
    if not inside.lstrip().startswith("--"):
        return text
    tool, pairs, at = find_tool(name, tools), {}, 0
    while pair := _PAIR.match(inside, at):
        raw = _string(pair[2]) if pair[2] else pair[3]
        schema = property_schema(tool.schema, pair[1]) if tool else None
        pairs[pair[1]] = typed_value(raw, schema) if tool else raw if pair[2] else loose_value(raw)
        at = pair.end()
    return dumps(pairs) if not inside[at:].strip() else None


def _string(text: str) -> str:
    """A JSON string that may contain raw line breaks."""
    try:
        return str(decode(text.replace("\n", "\\n").replace("\t", "\\t")))
    except JSON_ERRORS:
        return text[1:-1]
