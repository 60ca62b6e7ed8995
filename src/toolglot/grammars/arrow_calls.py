"""MiniMax's slip: `[TOOL_CALL] {tool => "f", args => { --a "text" --n 3 }} [/TOOL_CALL]`. The arguments may be JSON as well."""

from __future__ import annotations

import re

from toolglot.grammars.heard import Heard, Parsed, Tools
from toolglot.grammars.json_region import value_of
from toolglot.grammars.known_names import find_tool
from toolglot.grammars.tagged_json import TaggedJson, TaggedRegion
from toolglot.schema.typed import loose_value, property_schema, typed_value
from toolglot.text.json_text import BadJson, decode, dumps

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
    def unfolding(self, tools: Tools) -> None:
        return None

    def parse(self, text: str, tools: Tools, *, complete: bool) -> Parsed:
        mark = self._region.marks[0]
        if mark.value < 0:
            return Parsed()
        value, cut = value_of(text, mark, self._grammar.closers)
        found = _CALL.fullmatch(value)
        arguments = _arguments(found[1], found[2], tools) if found else None
        if found is None or arguments is None:
            return Parsed()
        return Parsed((Heard(found[1], arguments, value),), rest=self._region.rest_of(text) if cut < 0 else text[cut:])


def _arguments(name: str, written: str, tools: Tools) -> str | None:
    """The arguments as JSON; None where something is neither a pair nor an object."""
    inside = written[1:-1]
    if not inside.lstrip().startswith("--"):
        return written
    tool, pairs, at = find_tool(name, tools), {}, 0
    while pair := _PAIR.match(inside, at):
        raw = _string(pair[2]) if pair[2] else pair[3]
        schema = property_schema(tool.schema, pair[1]) if tool else None
        pairs[pair[1]] = typed_value(raw, schema) if tool else raw if pair[2] else loose_value(raw)
        at = pair.end()
    return dumps(pairs) if not inside[at:].strip() else None


def _string(written: str) -> str:
    """A string that may hold line breaks as they are."""
    try:
        return str(decode(written.replace("\n", "\\n").replace("\t", "\\t")))
    except BadJson:
        return written[1:-1]
