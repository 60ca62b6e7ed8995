"""`get_weather: {"city": "Paris"}`: a tool's name at the start of a line, and its arguments behind it as JSON.

Between them may stand a colon, a comma, a dash, an arrow or nothing, and a line break or the beginning of a fenced block; around the name,
the signs that set it off. Only the exact name of a registered tool with parameters of its own counts, for so are entries of
many other things written.
"""

from __future__ import annotations

import re

from toolglot.grammars.fences import JSON_WORDS, TOOL_WORDS
from toolglot.grammars.heard import Heard, Parsed, Tools
from toolglot.grammars.json_calls import arguments_of
from toolglot.grammars.json_region import Frame, JsonRegion, meanings
from toolglot.grammars.loose_json import Stops

_SET_OFF = ("", "`", "**")  # how a name may be set off
_HEAD = re.compile(
    r"""(?P<signs>[`*:]{0,4}+)
    [ \t]{0,8}+ (?:[:,\u2013\u2014\u2192]|-{1,2}+>?+|=>)?+
    \s{0,16}+ (?:```(?P<word>\w{0,16}+)[ \t]{0,8}+\r?\n\s{0,16}+)?+""",
    re.VERBOSE,
)
_BEGUN = r"[`*:]{0,4}+[ \t]{0,8}+(?:[:,\u2013\u2014\u2192]|-{1,2}+>?+|=>?+)?+\s{0,16}+(?:`{1,3}+\w{0,16}+\s{0,16}+)?+"
_FENCE = "```"
_FRAME = Frame(
    re.compile(r"\{"), _HEAD, re.compile(_BEGUN + r"[^{]"), meanings(noise=("}",), end=(_FENCE,)), Stops((_FENCE,))
)
_REST_OF_LINE = re.compile(r"([ \t}]*+)(?:\r?\n|\Z)")
_REST_OF_FENCE = re.compile(r"[\s}]*+(?:```|\Z)")


class NameThenJson:
    """Without tools it has nothing to listen for: `for_tools` gives the one that has."""

    at_line_start = True

    def __init__(self, openers: tuple[str, ...] = ()) -> None:
        self.openers = openers

    def for_tools(self, tools: Tools) -> NameThenJson:
        return NameThenJson(tuple(sign + name for name in tools if name for sign in _SET_OFF))

    def open(self, opener: str, /) -> NameThenRegion:
        return NameThenRegion(opener)


class NameThenRegion:
    """From the name to the end of the object, and of the fenced block where it stands in one."""

    def __init__(self, opener: str) -> None:
        self._opener = opener
        self._region = JsonRegion(_FRAME, opener)
        self.feed = self._region.feed

    @property
    def examined(self) -> int:
        return self._region.examined

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> Parsed:
        mark, size = self._region.marks[-1], len(self._opener)
        head = _HEAD.fullmatch(text, size, mark.value) if mark.value >= 0 else None
        name = self._opener.lstrip("`*")
        if head is None or name not in tools or head["signs"].replace(":", "") != self._opener[: -len(name)][::-1]:
            return Parsed()
        fenced, ended = head["word"] is not None, mark.end >= 0
        if fenced and head["word"].lower() not in JSON_WORDS | TOOL_WORDS:
            return Parsed()
        if ended and not mark.whole and not fenced:
            return Parsed()
        end = mark.end if ended else len(text)
        rest = _behind(text[end:], fenced=fenced, complete=complete)
        arguments = text[mark.value : end].strip()
        if rest is None or not arguments_of(arguments, tools[name], closed=mark.whole):
            return Parsed()
        return Parsed((Heard(name, arguments, text[:end], closed=ended),), rest=rest, entry=True)


def _behind(text: str, *, fenced: bool, complete: bool) -> str | None:
    """What of the region's text belongs to no call; None where something stands on its last line that must not."""
    found = (_REST_OF_FENCE if fenced else _REST_OF_LINE).match(text)
    if found is None or (complete and not found[0].endswith(_FENCE if fenced else "\n")):
        return None
    rest = text[found.end() if fenced else found.end(1) :]
    return rest if rest.strip() else ""


NAME_THEN_JSON = NameThenJson()
