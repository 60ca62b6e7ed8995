"""`get_weather: {"city": "Paris"}`: a tool's name at the start of a line, and its arguments behind it as JSON.

Between them may stand a colon, a comma, a dash, an arrow or nothing, and a line break or the beginning of a fenced block;
the name may be set off by signs, name a fenced block, or have before it what is left of Gemma's markers. Behind them the line
ends. In a sentence it is `get_weather with {"city": "Paris"}`. So are many other things written: only the exact name of a
registered tool counts, with nothing but parameters of its own.
"""

from __future__ import annotations

import re

from toolglot.grammars.fences import JSON_WORDS, TOOL_WORDS
from toolglot.grammars.gemma import LOST
from toolglot.grammars.heard import Heard, Parsed, Tools
from toolglot.grammars.json_calls import arguments_of
from toolglot.grammars.json_region import Frame, JsonRegion, meanings
from toolglot.grammars.loose_json import Stops

_HEAD = re.compile(
    r"""(?P<signs>[`*:]{0,4}+)
    [ \t]{0,8}+ (?:[:,\u2013\u2014\u2192]|-{1,2}+>?+|=>|with)?+
    \s{0,16}+ (?:```(?P<word>\w{0,16}+)[ \t]{0,8}+\r?\n\s{0,16}+)?+""",
    re.VERBOSE,
)
_HEAD_BEGUN = r"[`*:]{0,4}+[ \t]{0,8}+(?:[:,\u2013\u2014\u2192]|-{1,2}+>?+|=>?+|with)?+\s{0,16}+(?:`{1,3}+\w{0,16}+\s{0,16}+)?+"
_FENCE = "```"
_SIGNS = ("`", "**")  # stand on both sides of a name
_FENCE_WORDS = JSON_WORDS | TOOL_WORDS
_FRAME = Frame(
    re.compile(r"\{"),
    _HEAD,
    re.compile(_HEAD_BEGUN + r"[^{]"),
    meanings(noise=("}", "."), end=(_FENCE,)),
    Stops((_FENCE,)),
)
# Behind the object: what still belongs to it, and what shows that it was the last of its line or block.
_IN_LINE = re.compile(r"([ \t}]*+)(\.?+[ \t]*+\r?\n)?+")
_IN_FENCE = re.compile(r"([\s}]*+)(```)?+")


class NameThenJson:
    """`forms`: what stands before and behind a name where a region opens. Without tools there is nothing to listen for."""

    def __init__(self, *forms: tuple[str, str], alone: bool, tools: Tools | None = None) -> None:
        self._forms = forms
        parts = [(before, name, behind) for name in tools or () if name for before, behind in forms]
        self._parts = {"".join(one): one for one in parts}
        self.openers = tuple(self._parts)
        self.at_line_start = self._alone = alone  # it begins a line, and ends it

    def for_tools(self, tools: Tools) -> NameThenJson:
        return NameThenJson(*self._forms, alone=self._alone, tools=tools)

    def open(self, opener: str, /) -> NameThenRegion:
        return NameThenRegion(*self._parts[opener], alone=self._alone)


class NameThenRegion:
    """From the name to the end of the object, and of the fenced block where it stands in one."""

    def __init__(self, before: str, name: str, behind: str, *, alone: bool) -> None:
        self._signs, self._name, self._alone = before if before in _SIGNS else "", name, alone
        self._fenced = before.startswith(_FENCE)
        self._region = JsonRegion(_FRAME, before + name + behind, behind)
        self.feed = self._region.feed

    @property
    def examined(self) -> int:
        return self._region.examined

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> Parsed:
        mark, tool = self._region.marks[-1], tools.get(self._name)
        head = _HEAD.fullmatch(text, mark.head, mark.value) if mark.value >= 0 else None
        if head is None or tool is None or head["signs"].replace(":", "") != self._signs:
            return Parsed()
        word, end = "" if self._fenced else head["word"], mark.end if mark.end >= 0 else len(text)
        behind = (_IN_LINE if word is None else _IN_FENCE).match(text, end)
        if behind is None or (complete and behind[2] is None and (self._alone or word is not None)):
            return Parsed()  # something follows that makes it a part of something else
        if word is None and not mark.whole and mark.end >= 0:
            return Parsed()
        if word is not None and word.lower() not in _FENCE_WORDS:
            return Parsed()
        arguments = text[mark.value : end].strip()
        if not arguments_of(arguments, tool, closed=mark.whole):
            return Parsed()
        rest = text[behind.end(1 if word is None else 0) :]
        call = Heard(self._name, arguments, text[:end], closed=mark.end >= 0)
        return Parsed((call,), rest=rest if rest.strip() else "", entry=True)


NAME_THEN_JSON = NameThenJson(
    *(("", ""), ("`", ""), ("**", ""), (_FENCE, "\n{"), (f"{_FENCE}tool ", "\n{")),
    *((before, "{") for before in LOST),
    alone=True,
)
NAME_WITH_JSON = NameThenJson(("", " with {"), ("`", "` with {"), alone=False)
