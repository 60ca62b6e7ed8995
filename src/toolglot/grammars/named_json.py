"""An opener, a name, perhaps a separator, one JSON object of arguments, perhaps closers; sometimes in a section of its own."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from toolglot.grammars.heard import Heard, Parsed, Tools
from toolglot.grammars.json_region import Frame, JsonRegion, Mark, meanings, value_of
from toolglot.grammars.loose_json import Stops
from toolglot.grammars.unfold_json import UnfoldJson, unfold_arguments

_WORD = re.compile(r"[\w-]+")
Naming = Callable[[str, str, Tools], tuple[str, str | None]]  # as written, the arguments, tools -> name, id


def as_written(written: str, arguments: str, tools: Tools) -> tuple[str, str | None]:
    return written, None


class NamedJson:
    """`head` is a pattern with a group `name` (and perhaps `id`) for what stands between opener and arguments."""

    __slots__ = ("ends", "exact", "frame", "naming", "openers", "sections")

    def __init__(
        self,
        openers: tuple[str, ...],
        head: str,
        *,
        exact: str = "",  # the head as it should be; any other counts only with the name of a registered tool
        ends: tuple[str, ...] = (),  # of one call
        sections: tuple[str, ...] = (),
        section_ends: tuple[str, ...] = (),
        noise: tuple[str, ...] = (),
        lost: tuple[str, ...] = (),  # begin a name whose opener got lost, in a section
        hopeless: str = r"(?!)",
        naming: Naming = as_written,
    ) -> None:
        self.openers, self.sections, self.ends = (*sections, *openers), frozenset(sections), ends
        self.naming, self.exact = naming, re.compile(exact) if exact else None
        closing = meanings(close=ends) if section_ends else meanings(end=ends)
        tail = meanings(noise=("}", *noise), end=section_ends, head=(*openers, *lost), close=sections) | closing
        stops = (*ends, *section_ends, *openers, *sections)
        self.frame = Frame(
            re.compile("|".join([r"\{", *map(re.escape, stops)])), re.compile(head), re.compile(hopeless), tail, Stops(stops)
        )

    def open(self, opener: str) -> NamedRegion:
        return NamedRegion(self, opener)


class NamedRegion:
    def __init__(self, grammar: NamedJson, opener: str, start: str = "") -> None:
        self._grammar = grammar
        self._opener = opener
        self._region = JsonRegion(grammar.frame, opener, start, section=opener in grammar.sections)
        self.feed = self._region.feed

    def unfolding(self, tools: Tools) -> UnfoldJson:
        def name_of(head: str) -> tuple[str, str | None] | None:
            grammar, found = self._grammar, self._grammar.frame.head.fullmatch(head)
            if found is None or (grammar.exact is not None and not grammar.exact.fullmatch(head)):
                return None
            name, call_id = grammar.naming(found["name"].strip(), "", tools)
            return (name, found.groupdict().get("id") or call_id) if name and (name in tools or not tools) else None

        return unfold_arguments(self._region, self._opener, name_of)

    def parse(self, text: str, tools: Tools, *, complete: bool) -> Parsed:
        calls: list[Heard] = []
        for mark in self._region.marks:
            if mark.value < 0:
                break
            value, cut = value_of(text, mark, self._grammar.ends)
            call = self._call(text[mark.head : mark.value], value, mark, tools)
            if call is not None:
                calls.append(call if cut < 0 else msgspec.structs.replace(call, closed=True))
            elif calls:
                return Parsed(tuple(calls), rest=text[mark.head :])
            if cut >= 0:
                return Parsed(tuple(calls), rest=text[cut:])
        if not calls:
            return Parsed(problem=self._problem(text, tools, complete=complete))
        return Parsed(tuple(calls), rest=self._region.rest_of(text))

    def _call(self, head: str, value: str, mark: Mark, tools: Tools) -> Heard | None:
        found = self._grammar.frame.head.fullmatch(head)
        if found is None:
            return None
        name, call_id = self._grammar.naming(found["name"].strip(), value, tools)
        call_id = found.groupdict().get("id") or call_id
        exact = bool(value) and (self._grammar.exact is None or self._grammar.exact.fullmatch(head) is not None)
        if not name or not (exact or name in tools):
            return None
        missing = bool(self._grammar.ends) and mark.whole and not mark.closed
        return Heard(name, value or "{}", "", call_id, ("closed_truncated",) if missing else (), mark.end >= 0)

    def _problem(self, text: str, tools: Tools, *, complete: bool) -> str | None:
        """Why there is no call, where one was plainly meant."""
        mark = self._region.marks[-1] if self._region.marks else None
        if mark is None:
            return None
        if mark.value >= 0:
            return "the markers of a call, and no name and arguments between them"
        words = _WORD.findall(text, mark.head)
        begun = any(name.startswith(word) for word in words for name in tools)
        return "the text ends before the call has arguments" if begun and not complete else None


class NameFirst:
    """The opener stood in the prompt already, or got lost: a line begins with a tool's name, as `form` has it.

    Without a form the name has that line to itself, and its arguments stand behind it.
    """

    at_line_start = True

    def __init__(self, grammar: NamedJson, form: str = "", tools: Tools | None = None) -> None:
        self._grammar, self._form = grammar, form
        self.openers = tuple((form or "{}\n{{").format(name) for name in tools or ())

    def for_tools(self, tools: Tools) -> NameFirst:
        return NameFirst(self._grammar, self._form, tools)

    def open(self, opener: str) -> NamedRegion:
        return NamedRegion(self._grammar, opener, opener)
