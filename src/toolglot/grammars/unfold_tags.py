"""Values between tags, as JSON while they come: text as a JSON string, piece by piece; all else once it is whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from toolglot.grammars.heard import Tools
from toolglot.grammars.tag_walk import Call, TagWalk
from toolglot.grammars.unfold_walk import UnfoldWalk
from toolglot.grammars.unfolding import Begun, More, Step
from toolglot.schema.typed import property_names, property_schema
from toolglot.text.json_text import dumps

if TYPE_CHECKING:
    from toolglot.grammars.tagged_xml import TaggedXml

_LONGEST_HEAD = 400
_BREAKS = ("\r\n", "\n", "\r")
_CDATA = ("<![CDATA[", "]]>")  # sought outside of a section, and inside


class _Sections:
    """Text that may stand in CDATA sections: its beginning shows whether it does. The walk cuts none of their marks in two."""

    __slots__ = ("_blank", "_place", "lost")

    def __init__(self) -> None:
        self._place: Literal["start", "plain", "inside", "outside"] = "start"
        self._blank: list[str] = []  # white space at the beginning
        self.lost = False

    def feed(self, text: str, *, ended: bool) -> str:
        """What of the text is told."""
        if self._place == "start":
            self._blank.append(text)
            if not ended and not text.strip():
                return ""
            text = "".join(self._blank)
            self._place = "outside" if text.lstrip().startswith(_CDATA[0]) else "plain"
        if self._place == "plain":
            return text
        told, at = list[str](), 0
        while at < len(text):
            inside = self._place == "inside"
            found = text.find(_CDATA[inside], at)
            end = found if found >= 0 else len(text)
            if inside:
                told.append(text[at:end])
            elif text[at:end].strip():
                self.lost = True
                break
            if found < 0:
                break
            at, self._place = found + len(_CDATA[inside]), "outside" if inside else "inside"
        return "".join(told)


class UnfoldTags(UnfoldWalk):
    def __init__(self, grammar: TaggedXml, walk: TagWalk, opener: str, tools: Tools) -> None:
        super().__init__(walk, opener)
        self._grammar, self._tools = grammar, tools
        self._value = 0  # the one that is next
        self._inside = False  # behind the call's head
        self._name = ""  # the call's
        self._keys: set[str] = set()  # that were told of this call
        self._head: re.Match[str] | None = None  # of the value that it is in
        self._schema: dict[str, Any] | None = None
        self._plain = False  # the value is text, and told as it comes
        self._held: list[str] = []  # of a value, not told yet
        self._fresh = False  # nothing of the value was told
        self._sections = _Sections()

    def _tell_call(self, call: Call, steps: list[Step]) -> bool:
        if not self._inside:
            self._tail.upto(call.body)
            self._inside = True
        if self._head is not None:
            return self._go_on(call, steps)
        if self._value < len(call.values):
            return self._begin(call, steps)
        if call.end >= 0:
            return self._end(call, steps)
        self._pass_over(self._walk.certain)
        return False

    def _end(self, call: Call, steps: list[Step]) -> bool:
        self._pass_over(call.end - len(self._grammar.tags.call[1]) if call.tagged else call.end)
        if self._keys and not self._lost:
            steps.append(More("}"))
        elif call.tagged and self._known(call) and not self._lost:
            steps += [Begun(self._call, self._name), More("{}")]
        self._call, self._value, self._keys, self._inside = self._call + 1, 0, set(), False
        return True

    def _pass_over(self, end: int) -> None:
        """What stands between values; where anything may, it may as well show that this is no call."""
        between = self._tail.upto(end)
        self._lost = self._lost or (self._grammar.tags.loose and bool(between) and not between.isspace())

    def _known(self, call: Call) -> bool:
        self._name = self._grammar.name_of(call.name, self._tools)
        known = self._name in self._tools if self._tools else bool(self._name)
        self._lost = self._lost or not known
        return known

    def _begin(self, call: Call, steps: list[Step]) -> bool:
        grammar, value = self._grammar, call.values[self._value]
        if not self._known(call):
            return False
        tool = self._tools.get(self._name)
        self._pass_over(value.start - len(value.opener))
        self._tail.upto(value.start)
        ended = value.end >= 0
        seen = self._tail.peek(value.end if ended else self._walk.certain)
        head = grammar.value_head.match(seen)
        if not ended and (head is None or head.end() == len(seen)):
            self._lost = self._lost or len(seen) > _LONGEST_HEAD
            return False
        key = grammar.key_among(head, value.opener, property_names(tool.schema if tool else None)) if head else ""
        if self._lost or head is None or value.absent or key in self._keys:
            self._lost = True
            return False
        self._tail.upto(value.start + head.end())
        if not self._keys:
            steps.append(Begun(self._call, self._name))
        self._schema = property_schema(tool.schema if tool else None, key)
        self._head, self._fresh, self._held, self._sections = head, True, [], _Sections()
        self._plain = tool is not None and grammar.plain(head, self._schema)
        steps.append(More(f"{', ' if self._keys else '{'}{dumps(key)}: {chr(34) if self._plain else ''}"))
        self._keys.add(key)
        return True

    def _go_on(self, call: Call, steps: list[Step]) -> bool:
        value, grammar = call.values[self._value], self._grammar
        ended = value.end >= 0
        self._held.append(self._tail.upto(value.end if ended else self._walk.certain))
        if self._plain:
            self._tell(steps, ended=ended, implied=not value.closed)
        if not ended or self._lost:
            return False
        if self._plain:
            steps.append(More('"'))
        elif self._head is not None:
            raw = grammar.trimmed("".join(self._held), implied=not value.closed)
            steps.append(More(dumps(grammar.read(raw, self._head, self._schema, bool(self._tools)))))
        self._tail.upto(value.after)
        self._head = None
        self._value += 1
        return True

    def _tell(self, steps: list[Step], *, ended: bool, implied: bool) -> None:
        """Text as it comes, but for the line breaks at either end, which may be none of it."""
        lines, text = self._grammar.lines, "".join(self._held)
        if self._fresh and lines:
            if text in {"", "\r"} and not ended:
                self._held = [text]
                return
            text = text.removeprefix("\r").removeprefix("\n")
        self._fresh = False
        kept = next((end for end in _BREAKS if text.endswith(end)), "")
        if ended and (lines or implied):
            text, kept = text.removesuffix("\n").removesuffix("\r"), ""
        elif ended:
            kept = ""
        text = text.removesuffix(kept)
        self._held = [kept]
        if self._grammar.tags.cdata:
            text = self._sections.feed(text, ended=ended)
            self._lost = self._sections.lost
        if text:
            steps.append(More(dumps(text)[1:-1]))
