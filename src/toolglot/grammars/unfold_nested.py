"""Values in tags that are their names, each with a mark before it: text is told piece by piece, all else once it is whole."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from toolglot.grammars.heard import Tools
from toolglot.grammars.tag_walk import Call, TagWalk
from toolglot.grammars.unfold_members import Members, inside
from toolglot.grammars.unfold_walk import UnfoldWalk
from toolglot.grammars.unfolding import More, Step
from toolglot.schema.typed import is_text, property_schema

if TYPE_CHECKING:
    from toolglot.grammars.nested_tags import MarkedTags

_LONGEST_TAG = 400
_DEEPEST = 60


@cache
def _tags(mark: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A tag, and the beginning of a mark at the very end of a text."""
    starts = "|".join(re.escape(mark[:size]) for size in range(len(mark) - 1, 0, -1))
    return re.compile(rf"{re.escape(mark)}<(/?)([^<>]*)>"), re.compile(rf"(?:{starts})\Z")


_TAG_SO_FAR = re.compile(r"(?:<[^<>]*+)?\Z")


class UnfoldNested(UnfoldWalk):
    def __init__(self, grammar: MarkedTags, walk: TagWalk, opener: str, tools: Tools) -> None:
        super().__init__(walk, opener)
        self._grammar, self._tools = grammar, tools
        self._tag, self._cut = _tags(grammar.mark)
        self._members: Members | None = None  # of the call that it is in
        self._schema: dict[str, Any] | None = None  # of that call's arguments
        self._rest = ""  # of its text, what more must decide
        self._open: list[str] = []  # the tags that stand open
        self._plain = False  # the value is text, and told as it comes
        self._held: list[str] = []  # a value that is told once it is whole

    def _tell_call(self, call: Call, steps: list[Step]) -> bool:
        if self._members is None:
            self._members = self._begin(call)
        ended = call.end >= 0
        end = call.end - len(self._grammar.tags.call[1]) if call.tagged else call.end
        self._go_on(self._tail.upto(end if ended else self._walk.certain), self._members, steps)
        if not ended or self._lost:
            return False
        self._lost = bool(self._open) or not call.tagged
        if not self._lost:
            self._members.end(steps)
        self._call, self._members, self._rest = self._call + 1, None, ""
        return True

    def _begin(self, call: Call) -> Members:
        self._tail.upto(call.body)
        name = self._grammar.name_of(call.name, self._tools)
        tool = self._tools.get(name)
        self._lost = tool is None and (bool(self._tools) or not name)
        self._schema = tool.schema if tool else None
        return Members(self._call, name)

    def _go_on(self, text: str, members: Members, steps: list[Step]) -> None:
        text, at = self._rest + text, 0
        while not self._lost:
            found = self._tag.search(text, at)
            if found is None:
                break
            self._text(text[at : found.start()], steps)
            self._at_tag(found, members, steps)
            at = found.end()
        if self._lost:
            return
        end = self._tag_begun(text, at)
        self._text(text[at:end], steps)
        self._rest = text[end:]
        self._lost = len(self._rest) > _LONGEST_TAG

    def _tag_begun(self, text: str, at: int) -> int:
        """Where a tag begins that is not whole yet, else the end of the text."""
        mark = self._grammar.mark
        last = text.rfind(mark, at)
        if last >= 0 and _TAG_SO_FAR.match(text, last + len(mark)):
            return last
        cut = self._cut.search(text, max(at, len(text) - len(mark) + 1))
        return cut.start() if cut else len(text)

    def _text(self, text: str, steps: list[Step]) -> None:
        if text and self._open:
            if self._plain:
                steps.append(More(inside(text)))
            else:
                self._held.append(text)

    def _at_tag(self, found: re.Match[str], members: Members, steps: list[Step]) -> None:
        """A closing tag closes all that stands open inside its own; one that closes nothing is nothing."""
        name = found[2].strip()
        self._lost = len(found[0]) > _LONGEST_TAG
        if self._lost:
            return
        if not found[1]:
            if not self._open:
                self._begin_value(name, members, steps)
            self._lost = self._lost or len(self._open) >= _DEEPEST or (self._plain and bool(self._open))
            self._open.append(name)
            self._held.append(found[0])
        elif name in self._open:
            while self._open.pop() != name:
                pass
            self._held.append(found[0])
            if not self._open:
                self._end_value(name, members, steps)

    def _begin_value(self, key: str, members: Members, steps: list[Step]) -> None:
        self._lost = not key or key in members
        self._plain = bool(self._tools) and is_text(property_schema(self._schema, key))
        self._held = []
        if self._plain and not self._lost:
            members.key(key, steps, '"')

    def _end_value(self, key: str, members: Members, steps: list[Step]) -> None:
        if self._plain:
            steps.append(More('"'))
        else:
            members.key(key, steps, self._grammar.member("".join(self._held), self._schema, bool(self._tools)))
