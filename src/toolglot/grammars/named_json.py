"""An opener, a name, an optional separator, one JSON object of arguments, optional closers; sometimes in a section."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from toolglot.grammars.json_region import Frame, JsonRegion, Mark, meanings, value_of
from toolglot.grammars.json_streaming import JsonStream, stream_arguments
from toolglot.grammars.loose_json import Stops
from toolglot.grammars.parsed_call import ParsedCall, RegionResult, Tools
from toolglot.io.marker_search import NamedForm

_QUOTE = re.compile(r'[\s}]*+"')
_WORD = re.compile(r"[\w-]+")
Naming = Callable[[str, str, Tools], tuple[str, str | None]]  # name as written, arguments, tools -> name, id


def as_written(written: str, arguments: str, tools: Tools) -> tuple[str, str | None]:
    return written, None


class NamedJson:
    """`head`: a pattern for the text between opener and arguments, with a group `name` (and optionally `id`)."""

    __slots__ = ("ends", "exact", "frame", "naming", "openers", "sections")

    def __init__(
        self,
        openers: tuple[str, ...],
        head: str,
        *,
        exact: str = "",  # the correct head; any other is accepted only with the name of a registered tool
        ends: tuple[str, ...] = (),  # markers after one call
        sections: tuple[str, ...] = (),
        section_ends: tuple[str, ...] = (),
        noise: tuple[str, ...] = (),
        lost: tuple[str, ...] = (),  # prefixes of a name without its opener, in a section
        not_head: str = r"(?!)",
        naming: Naming = as_written,
        twice: bool = False,  # the opener may come again between a name and its arguments
    ) -> None:
        self.openers, self.sections, self.ends = (*sections, *openers), frozenset(sections), ends
        self.naming, self.exact = naming, re.compile(exact) if exact else None
        closing = meanings(close=ends) if section_ends else meanings(end=ends)
        tail = meanings(noise=("}", *noise), end=section_ends, head=(*openers, *lost), close=sections) | closing
        stops = (*ends, *section_ends, *openers, *sections)
        ends_head = [re.escape(stop) + (r"\s*[^\s{]" if twice and stop in openers else "") for stop in stops]
        self.frame = Frame(
            re.compile("|".join([r"\{", *ends_head])), re.compile(head), re.compile(not_head), tail, Stops(stops)
        )

    def open(self, opener: str) -> NamedRegion:
        return NamedRegion(self, opener)


class NamedRegion:
    def __init__(self, grammar: NamedJson, opener: str, start: str = "") -> None:
        self._grammar = grammar
        self._opener = opener
        self._region = JsonRegion(grammar.frame, opener, start, section=opener in grammar.sections)
        self.feed = self._region.feed

    def stream_calls(self, tools: Tools) -> JsonStream:
        def name_of(head: str) -> tuple[str, str | None] | None:
            grammar, found = self._grammar, self._grammar.frame.head.fullmatch(head)
            if found is None or (grammar.exact is not None and not grammar.exact.fullmatch(head)):
                return None
            name, call_id = grammar.naming(found["name"].strip(), "", tools)
            return (name, found.groupdict().get("id") or call_id) if name and (name in tools or not tools) else None

        return stream_arguments(self._region, self._opener, name_of)

    def parse(self, text: str, tools: Tools, *, complete: bool) -> RegionResult:
        calls: list[ParsedCall] = []
        for mark in self._region.marks:
            if mark.value < 0:
                break
            value, cut = value_of(text, mark, self._grammar.ends)
            call = self._call(text[mark.head : mark.value], value, mark, tools)
            if call is not None:
                closed = (call.closed or cut >= 0) and not _quote_behind(text, mark)
                calls.append(msgspec.structs.replace(call, closed=closed))
            elif calls:
                return RegionResult(tuple(calls), rest=text[mark.head :])
            if cut >= 0:
                return RegionResult(tuple(calls), rest=text[cut:])
        if not calls:
            problem = self._problem(text, tools, complete=complete)
            return RegionResult(problem=problem, rest=self._region.rest_of(text) if problem else "")
        return RegionResult(tuple(calls), rest=self._region.rest_of(text))

    def _call(self, head: str, value: str, mark: Mark, tools: Tools) -> ParsedCall | None:
        found = self._grammar.frame.head.fullmatch(head)
        if found is None:
            return None
        name, call_id = self._grammar.naming(found["name"].strip(), value, tools)
        call_id = found.groupdict().get("id") or call_id
        exact = bool(value) and (self._grammar.exact is None or self._grammar.exact.fullmatch(head) is not None)
        if not name or not (exact or name in tools):
            return None
        missing = bool(self._grammar.ends) and mark.whole and not mark.closed
        closed = mark.end >= 0 and (bool(value) or mark.closed)  # only an end marker shows that there are no arguments
        return ParsedCall(name, value or "{}", "", call_id, ("closed_truncated",) if missing else (), closed)

    def _problem(self, text: str, tools: Tools, *, complete: bool) -> str | None:
        """Why there is no call although it looks like one."""
        mark = self._region.marks[-1] if self._region.marks else None
        if mark is None:
            return None
        if mark.value >= 0:
            return "there is no name with arguments between the markers of a call"
        words = _WORD.findall(text, mark.head)
        cut_off = any(name.startswith(word) for word in words for name in tools)
        return "the text ends before the call has arguments" if cut_off and not complete else None


def _quote_behind(text: str, mark: Mark) -> bool:
    """Whether a text in the value only seemed to end there. Some models write all arguments in quotes."""
    return mark.end > mark.value > 0 and text[mark.value - 1] != '"' and _QUOTE.match(text, mark.end) is not None


class NameFirst:
    """For calls without their opener, which was in the prompt or is missing: a line begins with a tool's name, as in `forms`.

    Without any, the name is alone on its line and the arguments follow.
    """

    openers = ()

    def __init__(self, grammar: NamedJson, *forms: str) -> None:
        self._grammar = grammar
        places = [form.split("{}") for form in forms] or [["", "\n{"]]
        self.named_forms = tuple(NamedForm(before, after, exact=bool(forms), at_line_start=True) for before, after in places)

    def open(self, opener: str) -> NamedRegion:
        return NamedRegion(self._grammar, opener, opener)
