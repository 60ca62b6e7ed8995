"""Tags that are the names themselves: nested for MiniMax M3, one level deep for what Cline's prompts have taught.

]<]minimax[>[<invoke name="f">]<]minimax[>[<a>1]<]minimax[>[</a>]<]minimax[>[</invoke>
<read_file> <path>x</path> </read_file>
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from toolglot.core.tools import Tool
from toolglot.grammars.heard import Heard, Parsed, Tools
from toolglot.grammars.tag_walk import Call, Tags
from toolglot.grammars.tagged_xml import ATTRIBUTE, BROKEN, TaggedXml, TagRegion, missing, walked
from toolglot.grammars.unfold_nested import UnfoldNested
from toolglot.grammars.unfold_tags import UnfoldTags
from toolglot.schema.typed import allows, item_schema, loose_value, property_names, property_schema, typed_value
from toolglot.text.json_text import dumps

_DEEPEST = 64
_ANY = re.compile("")
_NEVER = re.compile(r"(?!)")


@dataclass(slots=True)
class _Node:
    tag: str
    text: str = ""
    children: list[_Node] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class MarkedTags(TaggedXml):
    """Every tag has a mark before it, so that no text can be mistaken for one; a value is text or further tags."""

    mark: str = ""

    def open(self, opener: str, /) -> MarkedRegion:
        return MarkedRegion(self, opener)

    def arguments(self, text: str, call: Call, tool: Tool | None) -> str:
        if call.json:
            return text[call.json[0] : call.json[1]]
        root = self._tree(text[max(call.body, 0) : call.end])
        schema = tool.schema if tool else None
        return dumps({node.tag: _value(node, property_schema(schema, node.tag), tool is not None) for node in root.children})

    def member(self, text: str, schema: dict[str, Any] | None, known: bool) -> str:
        """The value of one argument, from its opening tag to its closing one, as JSON."""
        node = self._tree(text).children[0]
        return dumps(_value(node, property_schema(schema, node.tag), known))

    def _tree(self, text: str) -> _Node:
        """Text belongs to the innermost open tag; a closing tag closes all that it finds open inside its own."""
        open_nodes = [_Node("")]
        at = 0
        for found in re.finditer(rf"{re.escape(self.mark)}<(/?)([^<>]*)>", text):
            open_nodes[-1].text += text[at : found.start()]
            at = found.end()
            if not found[1]:
                node = _Node(found[2].strip())
                open_nodes[-1].children.append(node)
                if len(open_nodes) < _DEEPEST:
                    open_nodes.append(node)
            elif any(node.tag == found[2].strip() for node in open_nodes[1:]):
                while open_nodes.pop().tag != found[2].strip():
                    pass
        if len(open_nodes) > 1:
            open_nodes[-1].text += text[at:]
        return open_nodes[0]


class MarkedRegion(TagRegion):
    _grammar: MarkedTags

    def unfolding(self, tools: Tools) -> UnfoldNested:  # type: ignore[override]
        return UnfoldNested(self._grammar, self._walk, self._opener, tools)


def marked_tags(mark: str) -> MarkedTags:
    return MarkedTags(
        Tags(
            (f"{mark}<invoke name=", f"{mark}</invoke>"),
            {},
            ATTRIBUTE,
            BROKEN,
            outer=(f"{mark}<tool_call>", f"{mark}</tool_call>"),
            loose=True,
        ),
        mark=mark,
    )


def _value(node: _Node, schema: dict[str, Any] | None, known: bool) -> Any:
    if node.children:
        items = {child.tag for child in node.children} == {"item"} and "item" not in property_names(schema)
        if items or (schema is not None and not allows(schema, "object")):
            inner = item_schema(schema)
            return [_value(child, inner, known) for child in node.children]
        return {child.tag: _value(child, property_schema(schema, child.tag), known) for child in node.children}
    if not node.text.strip() and schema is not None and not allows(schema, "string"):
        empty: dict[str, Any] = {"array": [], "object": {}}
        return next((empty[kind] for kind in empty if allows(schema, kind)), node.text)
    return typed_value(node.text, schema) if known else loose_value(node.text)


class TagIsKey(TaggedXml):
    def key_of(self, head: re.Match[str], opener: str) -> str:
        return opener[1:-1]


@dataclass(frozen=True, eq=False)
class ToolTags:
    """The tool's name is the tag: so there is nothing to hear before the tools are known.

    A tool's grammar is made when its tag is first met: most never are.
    """

    named: Mapping[str, tuple[str, Tool]] = field(default_factory=dict)  # opener -> its tool, by name
    made: dict[str, TaggedXml] = field(default_factory=dict)

    @property
    def openers(self) -> tuple[str, ...]:
        return tuple(self.named)

    def for_tools(self, tools: Tools) -> ToolTags:
        """The tool's opening tag, and the tag that says it all."""
        return ToolTags(
            {f"<{name}{end}": (name, tool) for name, tool in tools.items() for end in (">", "/>", " />")},
        )

    def open(self, opener: str, /) -> ToolRegion:
        grammar = self.made.get(opener)
        if grammar is None:
            grammar = self.made[opener] = _tool_grammar(opener, *self.named[opener])
        return ToolRegion(grammar, opener)


def _tool_grammar(opener: str, name: str, tool: Tool) -> TaggedXml:
    values = {f"<{key}>": f"</{key}>" for key in property_names(tool.schema) if key != name}
    tags = Tags((f"<{name}>", f"</{name}>"), values, _ANY, _NEVER, loose=True, alone=True, name_of=lambda _: name)
    return TagIsKey(tags, _ANY, lines=True, headers=(opener,) if opener.endswith("/>") else ())


class ToolRegion(TagRegion):
    """A tool's tag. HTML has tags too: it is a call only where nothing but values stands in it."""

    def __init__(self, grammar: TaggedXml, opener: str) -> None:
        super().__init__(grammar, opener)
        self._name = grammar.tags.call[0][1:-1]
        self._alone = opener.endswith("/>")

    def feed(self, text: str, /) -> int:
        return 0 if self._alone else super().feed(text)

    def unfolding(self, tools: Tools) -> UnfoldTags | None:
        return None if self._alone else super().unfolding(tools)

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> Parsed:
        if self._alone:
            return Parsed((Heard(self._name, "{}", text),))
        walk = walked(self._grammar.walk(self._opener), text[len(self._opener) :], complete=complete)
        if not walk.calls:
            return Parsed()
        call = walk.calls[0]
        others = _other_values(self._left_over(text, call))
        if not call.closed:
            return Parsed((Heard(self._name, "{}", text, closed=False),)) if call.values or others is not None else Parsed()
        if others is None and not call.json:
            return Parsed()
        arguments = self._grammar.arguments(text, call, tools.get(self._name))
        if others and not call.json:
            arguments = dumps({**others, **_object(arguments)})
        heard = Heard(self._name, arguments, text[: call.end], fixes=missing(call))
        return Parsed((heard,), rest=text[call.end :])

    def _left_over(self, text: str, call: Call) -> str:
        """What stands in the call and in no value of it."""
        at, found = call.body, []
        for value in call.values:
            found.append(text[at : value.start - len(value.opener)])
            at = value.end + len(self._grammar.tags.values[value.opener]) if value.closed else value.end
        end = call.end - len(self._grammar.tags.call[1]) if call.tagged else call.end
        return "".join([*found, text[at:end]])


_TAG = re.compile(r"\s*<([A-Za-z_][\w.-]*)>")


def _other_values(text: str) -> dict[str, Any] | None:
    """Values in tags that the schema does not know; None where there is anything else."""
    found = flat_tags(text)
    return None if found is None else {key: loose_value(raw) for key, raw in found}


def flat_tags(text: str) -> list[tuple[str, str]] | None:
    """The tags that stand one behind another, and what is in them; None where there is anything else."""
    found: list[tuple[str, str]] = []
    at = 0
    while tag := _TAG.match(text, at):
        end = text.find(f"</{tag[1]}>", tag.end())
        if end < 0:
            return None
        found.append((tag[1], text[tag.end() : end].removeprefix("\n").removesuffix("\n")))
        at = end + len(tag[1]) + 3
    return None if text[at:].strip() else found


def _object(text: str) -> dict[str, Any]:
    value = typed_value(text, None)
    return value if isinstance(value, dict) else {}
