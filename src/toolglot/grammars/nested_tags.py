"""Tags named after tools and their parameters, as in Cline's prompts.

<read_file> <path>x</path> </read_file>
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, ClassVar

from toolglot.core.tools import Tool
from toolglot.grammars.parsed_call import ParsedCall, RegionResult, Tools
from toolglot.grammars.tag_scanner import Call, Tags
from toolglot.grammars.tag_streaming import TagValueStream
from toolglot.grammars.tagged_xml import Malformed, TaggedXml, TagRegion, missing
from toolglot.grammars.value_lines import trimmed
from toolglot.io.json_codec import dumps
from toolglot.io.marker_search import NamedForm
from toolglot.schema.coerce_text import loose_value, property_names, typed_value

_DEEPEST = 64
_ANY = re.compile("")
_NEVER = re.compile(r"(?!)")


class TagIsKey(TaggedXml):
    def key_of(self, head: re.Match[str], opener: str) -> str:
        return opener[1:-1]


@dataclass(frozen=True, eq=False)
class ToolTags:
    """The tool's name is the tag. A tool's grammar is built when its tag is first found: most are never needed."""

    tools: Tools = field(default_factory=dict)
    grammars: dict[str, TaggedXml] = field(default_factory=dict)
    openers: ClassVar[tuple[str, ...]] = ()
    named_forms: ClassVar[tuple[NamedForm, ...]] = tuple(NamedForm("<", end, exact=True) for end in (">", "/>", " />"))

    def for_tools(self, tools: Tools) -> ToolTags:
        return ToolTags(tools)

    def open(self, opener: str, /) -> ToolRegion:
        grammar = self.grammars.get(opener)
        if grammar is None:
            name = opener[1:].rstrip(" />")
            grammar = self.grammars[opener] = _tool_grammar(opener, name, self.tools[name])
        return ToolRegion(grammar, opener)


def _tool_grammar(opener: str, name: str, tool: Tool) -> TaggedXml:
    values = {f"<{key}>": f"</{key}>" for key in property_names(tool.schema) if key != name}
    tags = Tags((f"<{name}>", f"</{name}>"), values, _ANY, _NEVER, loose=True, alone=True, name_of=lambda _: name)
    return TagIsKey(tags, _ANY, lines="pair", headers=(opener,) if opener.endswith("/>") else ())


class ToolRegion(TagRegion):
    """A tool's tag. HTML has tags too, so it is a call only if it contains nothing but values."""

    def __init__(self, grammar: TaggedXml, opener: str) -> None:
        super().__init__(grammar, opener)
        self._name = grammar.tags.call[0][1:-1]
        self._alone = opener.endswith("/>")

    def feed(self, text: str, /) -> int:
        return 0 if self._alone else super().feed(text)

    def stream_calls(self, tools: Tools) -> TagValueStream | None:
        return None if self._alone else super().stream_calls(tools)

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> RegionResult:
        if self._alone:
            return RegionResult((ParsedCall(self._name, "{}", text),))
        self._scanner.finish()
        if not self._scanner.calls:
            return RegionResult()
        call = self._scanner.calls[0]
        others = _other_values(self._left_over(text, call))
        ends = self._grammar.value_ends(text, [call])
        if not call.closed:
            return (
                RegionResult((ParsedCall(self._name, "{}", text, closed=False),))
                if call.values or others is not None
                else RegionResult()
            )
        if others is None and not call.json:
            return RegionResult()
        try:
            arguments = self._grammar.arguments(text, call, tools.get(self._name))
        except Malformed as reason:
            return RegionResult(problem=str(reason), rest=text[call.end :], value_ends=ends)
        if others and not call.json:
            arguments = dumps({**others, **_object(arguments)})
        parsed = ParsedCall(self._name, arguments, text[: call.end], fixes=missing(call))
        return RegionResult((parsed,), rest=text[call.end :], value_ends=ends)

    def _left_over(self, text: str, call: Call) -> str:
        """The text in the call outside its values."""
        at, found = call.body, []
        for value in call.values:
            found.append(text[at : value.start - len(value.opener)])
            at = value.end + len(self._grammar.tags.values[value.opener]) if value.closed else value.end
        end = call.end - len(self._grammar.tags.call[1]) if call.tagged else call.end
        return "".join([*found, text[at:end]])


_TAG = re.compile(r"\s*<([A-Za-z_][\w.-]*)>")


def _other_values(text: str) -> dict[str, Any] | None:
    """Values in tags that are not in the schema; None if there is anything else."""
    found = flat_tags(text)
    return None if found is None else {key: loose_value(raw) for key, raw in found}


def flat_tags(text: str) -> list[tuple[str, str]] | None:
    """Consecutive tags and their content; None if there is anything else."""
    found: list[tuple[str, str]] = []
    at = 0
    while tag := _TAG.match(text, at):
        end = text.find(f"</{tag[1]}>", tag.end())
        if end < 0:
            return None
        found.append((tag[1], trimmed(text[tag.end() : end], "pair")))
        at = end + len(tag[1]) + 3
    return None if text[at:].strip() else found


def _object(text: str) -> dict[str, Any]:
    value = typed_value(text, None)
    return value if isinstance(value, dict) else {}
