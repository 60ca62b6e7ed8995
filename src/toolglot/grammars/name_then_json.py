"""`get_weather: {"city": "Paris"}`: a tool's name at the start of a line or behind a colon, then its arguments as JSON.

Between them there may be a colon, a comma, a dash, an arrow or nothing, and a line break or the start of a fenced block. The
name may be in backticks or bold, be the info string of a fenced block, or follow the rest of Gemma's markers. The line ends
after the object. Much other text looks like this, so only the exact name of a registered tool counts, and all keys must be
parameters of that tool.
"""

from __future__ import annotations

import re

from toolglot.grammars.fences import JSON_WORDS, TOOL_WORDS
from toolglot.grammars.gemma import LOST_PREFIXES
from toolglot.grammars.json_calls import arguments_of
from toolglot.grammars.json_region import Frame, JsonRegion, meanings
from toolglot.grammars.known_names import spellings
from toolglot.grammars.loose_json import Stops
from toolglot.grammars.parsed_call import ParsedCall, RegionResult, Tools
from toolglot.io.marker_search import NamedForm

_HEAD = re.compile(
    r"""(?P<signs>[`*:]{0,4}+)
    [ \t]{0,8}+ (?:[:,\u2013\u2014\u2192]|-{1,2}+>?+|=>)?
    \s{0,16}+ (?:```(?P<word>\w{0,16}+)[ \t]{0,8}+\r?\n\s{0,16}+)?""",
    re.VERBOSE,
)
_PARTIAL_HEAD = r"[`*:]{0,4}+[ \t]{0,8}+(?:[:,\u2013\u2014\u2192]|-{1,2}+>?+|=>?+)?\s{0,16}+(?:`{1,3}+\w{0,16}+\s{0,16}+)?"
_FENCE = "```"
_SIGNS = ("`", "**")  # on both sides of a name
_FENCE_WORDS = JSON_WORDS | TOOL_WORDS
_FRAME = Frame(
    re.compile(r"\{"),
    _HEAD,
    re.compile(rf"(?=(?P<begun>{_PARTIAL_HEAD}))(?P=begun)[^{{]"),  # a lookahead does not backtrack
    meanings(noise=("}", "."), end=(_FENCE,)),
    Stops((_FENCE,)),
)
# After the object: surplus brackets, and the end of its line or block.
_IN_LINE = re.compile(r"([ \t}]*+)(\.?+[ \t]*+\r?\n)?")
_IN_FENCE = re.compile(r"([\s}]*+)(```)?")


class NameThenJson:
    """`forms`: the text before and after a name where a region opens."""

    openers = ()

    def __init__(self, *forms: tuple[str, str], at_line_start: bool = True, tools: Tools | None = None) -> None:
        self._forms, self._at_line_start, self._tools = forms, at_line_start, tools or {}
        self.named_forms = tuple(
            NamedForm(before, after, exact=bool(before), at_line_start=at_line_start, word=not at_line_start)
            for before, after in forms
        )

    def for_tools(self, tools: Tools) -> NameThenJson:
        return NameThenJson(*self._forms, at_line_start=self._at_line_start, tools=tools)

    def open(self, opener: str, /) -> NameThenRegion:
        names = spellings(self._tools)
        form, written = next((form, name) for form in self.named_forms if (name := form.name_in(opener, names)) is not None)
        return NameThenRegion(form.before, written, form.after, names[written])


class NameThenRegion:
    """From the name to the end of the object, or of the fenced block around it."""

    def __init__(self, before: str, written: str, after: str, name: str) -> None:
        self._signs, self._name = before if before in _SIGNS else "", name
        self._fenced = before.startswith(_FENCE)
        self._region = JsonRegion(_FRAME, before + written + after, after)
        self.feed = self._region.feed

    @property
    def examined(self) -> int:
        return self._region.examined

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> RegionResult:
        mark, tool = self._region.marks[-1], tools.get(self._name)
        head = _HEAD.fullmatch(text, mark.head, mark.value) if mark.value >= 0 else None
        if head is None or tool is None or head["signs"].replace(":", "") != self._signs:
            return RegionResult()
        word, end = "" if self._fenced else head["word"], mark.end if mark.end >= 0 else len(text)
        after = (_IN_LINE if word is None else _IN_FENCE).match(text, end)
        if after is None or (after[2] is None and (complete or (word is None and text[after.end() :].strip(" \t\r\n.")))):
            return RegionResult()  # other text follows on the line or in the block
        if word is None and not mark.whole and mark.end >= 0:
            return RegionResult()
        if word is not None and word.lower() not in _FENCE_WORDS:
            return RegionResult()
        arguments = text[mark.value : end].strip()
        if not arguments_of(arguments, tool, closed=mark.whole):
            return RegionResult()
        rest = text[after.end(1 if word is None else 0) :]
        call = ParsedCall(self._name, arguments, text[:end], closed=mark.end >= 0)
        return RegionResult((call,), rest=rest if rest.strip() else "", entry=True)


NAME_THEN_JSON = NameThenJson(
    *(("", ""), ("`", ""), ("**", ""), (_FENCE, "\n{"), (f"{_FENCE}tool ", "\n{")),
    *((before, "{") for before in LOST_PREFIXES),
)
NAME_IN_LINE = NameThenJson(("", " {"), ("", ": {"), ("", '\n{"'), at_line_start=False)
