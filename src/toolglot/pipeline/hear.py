"""Hearing calls in text: what is plain text, what is thought, and where a call may stand.

The text is scanned for the openers of the dialects in play. At one, a region opens and takes what follows until it says where
it ends; then it is read. What turns out to be no call is text again. Nothing is judged here: whether a call is good, and
whether a weak form was meant, others decide.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from typing import Any

import msgspec

from toolglot.grammars.dialect import Dialect
from toolglot.grammars.heard import Parsed, Tools
from toolglot.grammars.unfolding import Step, Unfolding
from toolglot.text.markers import Joined, Markers, NamedMarkers

_BITE = 512
_PATIENCE = 24  # characters that a region waits for one before it in order to end as well: a closing tag's worth
_RESCANS = 4  # how many times its length a text may be looked at again, where regions turned out to be none
_FREE = 1024  # what a region may look at before that counts: most give up at once, but how soon depends on the pieces


class Said(msgspec.Struct, frozen=True):
    text: str


class Thought(msgspec.Struct, frozen=True):
    text: str


class Found(msgspec.Struct, frozen=True):
    """A region that was read."""

    text: str
    parsed: Parsed
    dialect: str
    weak: bool
    in_reasoning: bool
    complete: bool
    unfolded: bool = False  # its calls were told while they were written, as far as that went


class Unfolded(msgspec.Struct, frozen=True):
    """Steps of a call that is still being written; a Found or a Withdrawn follows."""

    steps: list[Step]
    dialect: str


class Withdrawn(msgspec.Struct, frozen=True):
    """What was unfolded is read otherwise after all, or is text."""


Settled = Said | Thought | Found
Piece = Settled | Unfolded | Withdrawn


class _Opening(msgspec.Struct, frozen=True):
    dialect: str
    grammar: Any
    weak: bool
    order: int


class _Candidate(msgspec.Struct, frozen=True):
    order: int
    opening: _Opening
    region: Any
    unfolding: Unfolding | None = None


class _Outcome(msgspec.Struct, frozen=True):
    """How a region that has ended reads."""

    order: int
    opening: _Opening
    parsed: Parsed
    size: int  # of its text
    complete: bool = True
    limit: int = 0

    @property
    def clean(self) -> bool:  # it has calls, and none had to be mended
        return bool(self.parsed.calls) and not any(call.fixes for call in self.parsed.calls)


class Ear(msgspec.Struct, frozen=True):
    """All that the dialects in play listen for, compiled once."""

    openings: dict[str, list[_Opening]]
    text: Markers | Joined
    ends: dict[str, frozenset[str]]  # how thoughts begin -> how they may end
    closers: frozenset[str]
    dropped: frozenset[str]
    thinking: Callable[[str], Markers | Joined]  # what is listened for while thinking, by how the thought began
    tools: Tools = {}


def ear(dialects: Iterable[Dialect], tools: Tools) -> Ear:
    """The ear for these tools: what does not depend on them is made once for the dialects."""
    base = _base_ear(known := tuple(dialects))
    openings, line_start, words = _openings(known, tools)
    if not openings:
        return msgspec.structs.replace(base, tools=tools)
    both = openings.keys() & base.openings.keys()
    shared = {one: sorted([*base.openings[one], *openings[one]], key=lambda held: held.order) for one in both}
    own = NamedMarkers(tools, set(openings).difference(line_start, words), line_start, words)

    @cache  # as many as there are ways to begin a thought, which the dialects say; most are never met
    def thinking(begin: str) -> Joined:
        strong = NamedMarkers(tools, _strong(openings))
        return Joined(_with_others(base.thinking(begin), strong), strong)

    return Ear(
        {**base.openings, **openings, **shared},
        Joined(_with_others(base.text, own), own),
        base.ends,
        base.closers,
        base.dropped,
        thinking,
        tools,
    )


def _with_others(always: Markers | Joined, named: NamedMarkers) -> Markers:
    """What is always listened for, and what comes with tools but holds no name: the same for all tools, so made once."""
    assert isinstance(always, Markers)  # noqa: S101  (a base ear's)
    plain, line_start, words = always.split(named)
    return _markers(plain, line_start, words)


_markers = lru_cache(256)(Markers)


@lru_cache(128)
def _base_ear(dialects: tuple[Dialect, ...]) -> Ear:
    openings, line_start, words = _openings(dialects, None)
    ends: dict[str, set[str]] = {}
    for dialect in dialects:
        for begin, end in dialect.reasoning:
            ends.setdefault(begin, set()).add(end)
    dropped = frozenset(marker for dialect in dialects for marker in dialect.dropped)
    closers = frozenset(end for held in ends.values() for end in held)
    anywhere = {*openings, *ends, *closers, *dropped} - line_start - words
    return Ear(
        openings,
        Markers(anywhere, line_start, words),
        {begin: frozenset(held) for begin, held in ends.items()},
        closers,
        dropped,
        cache(lambda begin: Markers(_strong(openings) | (ends[begin] if begin else closers))),
    )


def _strong(openings: dict[str, list[_Opening]]) -> set[str]:
    """The openers that are heard in thoughts too."""
    return {opener for opener, held in openings.items() if not all(one.weak for one in held)}


def _openings(dialects: tuple[Dialect, ...], tools: Tools | None) -> tuple[dict[str, list[_Opening]], set[str], set[str]]:
    """Openers and who listens for them: of grammars that depend on the tools where `tools` is given, else of the others."""
    openings: dict[str, list[_Opening]] = {}
    line_start: set[str] = set()
    words: set[str] = set()
    for order, dialect in enumerate(dialects):
        for grammar in dialect.grammars:
            depends = hasattr(grammar, "for_tools")
            if depends != (tools is not None):
                continue
            made: Any = grammar.for_tools(tools) if depends else grammar  # type: ignore[attr-defined]
            opening, openers = _Opening(dialect.name, made, dialect.weak, order), made.openers
            for opener in openers:
                held = openings.setdefault(opener, [])
                if not (held and any(one.grammar is made and one.weak == dialect.weak for one in held)):  # families share them
                    held.append(opening)
            if getattr(made, "at_line_start", False):
                line_start.update(openers)
            elif dialect.weak:
                words.update(opener for opener in openers if opener[0].isalnum() or opener[0] == "_")
    return openings, line_start, words


class Hearer:
    """Feed it text; it gives pieces. Text flows at once, but for what may still become a marker."""

    def __init__(self, listening: Ear, *, starts_in_reasoning: bool = False, unfold: bool = False) -> None:
        self._ear = listening
        self._unfold = unfold  # tell calls while they are written
        self._text = "\n"  # what is not decided yet, behind one character of what came before
        self._thinking: str | None = "" if starts_in_reasoning else None  # how the thought began
        self._regions: list[_Candidate] = []  # those that are still open
        self._outcomes: list[_Outcome] = []  # of those that have ended
        self._body: list[str] = []  # what they were fed, behind their opener
        self._length = 0
        self._reached = 0  # how far into it the regions looked
        self._claimed = -1  # the order of the region whose call is being unfolded
        self._pieces: list[Piece] = []
        self._taken = 0  # how far the text was gone through
        self._again = 0  # how much was looked at in vain
        self._patient = True  # whether there is room to look at more so
        self._final = False  # no more text will come
        self._quiet = True  # nothing but white space since the beginning or the last call
        self.examined = 0

    def feed(self, text: str) -> list[Piece]:
        self._take(text)
        return self._drain()

    def plain(self, text: str) -> str | None:
        """As `feed`, where nothing but text comes of it, as nearly always: just that. None: it is to be fed."""
        if self._regions or self._thinking is not None or not 0 < len(text) <= _BITE:
            return None
        seen, markers = self._text + text, self._ear.text
        self.examined += len(text)
        if markers.find(seen, 1) is not None:
            return None
        self._taken += len(text)
        keep = markers.held(seen, 1)
        said, self._text = seen[1:keep], seen[keep - 1 :]
        if self._quiet and said and not said.isspace():
            self._quiet = False
        return said

    def close(self) -> list[Piece]:
        self._final = True
        if self._regions or len(self._text) > 1:
            self._take("", at_least_once=True)
        while self._regions:
            behind = self._settle()
            self._taken -= len(behind)
            self._take(behind, at_least_once=True)
        self._say(self._text[1:])
        self._text = "\n"
        return self._drain()

    def _drain(self) -> list[Piece]:
        pieces, self._pieces = self._pieces, []
        return pieces

    # -- scanning

    def _take(self, text: str, *, at_least_once: bool = False) -> None:
        """Goes through the text in bites: what stands behind a marker is copied, and must not be long."""
        left = [(text, 0)] if text or at_least_once else []
        while left:
            text, at = left.pop()
            bite = text[at : at + _BITE]
            if at + _BITE < len(text):
                left.append((text, at + _BITE))
            self._taken += len(bite)
            behind = self._in_region(bite) if self._regions else self._scan(bite)
            if behind:
                self._taken -= len(behind)
                left.append((behind, 0))

    def _scan(self, text: str) -> str:
        """Plain text up to the next marker; what follows the marker is given back."""
        self._text = seen = self._text + text
        markers = self._ear.text if self._thinking is None else self._ear.thinking(self._thinking)
        found = markers.find(seen, 1)
        self.examined += len(text) if found is None else found[0] + len(found[1])
        if found is None:
            keep = max(1, markers.held(seen, 1))
            self._say(seen[1:keep])
            self._text = seen[keep - 1 :]
            return ""
        start, marker = found
        behind = self._text[start + len(marker) :]
        if not self._final:
            held = min(start, max(1, markers.held(self._text, 1)))
            if held < start or markers.may_go_on(self._text, start):  # a longer marker may be meant, or one that began before
                self._say(self._text[1:held])
                self._text = self._text[held - 1 :]
                return ""
        self._say(self._text[1:start])
        self._text = self._text[start + len(marker) - 1 : start + len(marker)]
        self._patient = self._again <= _RESCANS * (self._taken - len(behind))
        self._at_marker(marker)
        return behind

    def _at_marker(self, marker: str) -> None:
        ear = self._ear
        if self._thinking is not None and marker in (ear.ends.get(self._thinking) or ear.closers):
            self._thinking = None
        elif self._thinking is None and marker in ear.ends:
            self._thinking = marker
        elif marker in ear.openings:
            weak_ok = self._thinking is None
            openings = [opening for opening in ear.openings[marker] if weak_ok or not opening.weak]
            self._regions = [self._candidate(at, one, marker) for at, one in enumerate(openings)]
            self._body, self._length, self._reached = [marker], len(marker), len(marker)
        elif marker not in ear.dropped and (marker not in ear.closers or not self._quiet):
            self._say(marker)  # an end without a beginning is part of what was said, unless nothing was

    def _candidate(self, order: int, opening: _Opening, marker: str) -> _Candidate:
        region = opening.grammar.open(marker)
        unfolds = self._unfold and not opening.weak and self._thinking is None and hasattr(region, "unfolding")
        return _Candidate(order, opening, region, region.unfolding(self._ear.tools) if unfolds else None)

    def _say(self, text: str) -> None:
        if text:
            if self._quiet and not text.isspace():
                self._quiet = False
            self._pieces.append(Said(text) if self._thinking is None else Thought(text))

    # -- regions

    def _in_region(self, text: str) -> str:
        """Feeds the regions that share an opener. What follows the one that has it is given back."""
        still: list[_Candidate] = []
        for candidate in self._regions:
            end = candidate.region.feed(text)
            looked = len(text) if end < 0 else end
            self.examined += looked
            self._reached = max(self._reached, self._length + looked)
            if candidate.unfolding is not None:
                self._tell(candidate, candidate.unfolding, text[:looked])
            if end < 0:
                still.append(candidate)
            else:
                self._ended(candidate, "".join(self._body) + text[:end])
        self._body.append(text)
        self._length += len(text)
        best = self._best()
        if best is not None:
            still = [candidate for candidate in still if candidate.order < best.order and self._length < best.limit]
        self._regions = still
        return "" if still else self._settle()

    def _tell(self, candidate: _Candidate, unfolding: Unfolding, text: str) -> None:
        """The first region that has a call to tell is believed, until the end shows whether it was right."""
        if self._claimed in {-1, candidate.order}:
            steps = unfolding.feed(text)
            if steps:
                self._claimed = candidate.order
                self._pieces.append(Unfolded(steps, candidate.opening.dialect))

    def _ended(self, candidate: _Candidate, whole: str) -> None:
        if any(one.order < candidate.order and one.size <= len(whole) and one.clean for one in self._outcomes):
            return  # whatever it says, that one was first in both
        parsed = candidate.region.parse(whole, self._ear.tools, complete=True)
        if parsed.calls or parsed.problem:
            self._outcomes.append(_Outcome(candidate.order, candidate.opening, parsed, len(whole)))

    def _best(self) -> _Outcome | None:
        """Of the regions that ended with calls, the first in order; but one that ends far behind another is too late.

        Unless the other had to mend what it read: then one that may need no mending is worth the wait.
        """
        heard = [outcome for outcome in self._outcomes if outcome.parsed.calls]
        if not heard:
            return None
        clean = [outcome.size for outcome in heard if outcome.clean]
        waits = self._patient and not clean
        limit = sys.maxsize if waits else min(clean or [outcome.size for outcome in heard]) + _PATIENCE
        best = min((outcome for outcome in heard if outcome.size <= limit), key=lambda outcome: outcome.order)
        return msgspec.structs.replace(best, limit=limit)

    def _settle(self) -> str:
        """All regions have ended, or the text has: the best of what was heard, or text after all."""
        whole, regions = "".join(self._body), self._regions
        self._regions = []
        if self._best() is None:
            for candidate in regions:
                parsed = candidate.region.parse(whole, self._ear.tools, complete=False)
                if parsed.calls or parsed.problem:
                    self._outcomes.append(_Outcome(candidate.order, candidate.opening, parsed, len(whole), complete=False))
        best = self._best() or next(iter(self._outcomes), None)
        self._body, self._outcomes, self._length = [], [], 0
        claimed, self._claimed = self._claimed, -1
        if claimed >= 0 and (best is None or best.order != claimed):
            self._pieces.append(Withdrawn())
        if best is not None:
            rest = best.parsed.rest if whole.endswith(best.parsed.rest, 0, best.size) else ""
            looked = self._reached if best.limit == sys.maxsize else best.size
            vain = looked - (best.size - len(rest))
            self._again += vain if vain > _FREE else 0
            self._found(best, whole[: best.size - len(rest)], rest, unfolded=best.order == claimed)
            return rest + whole[best.size :]  # what the region held beyond the call is listened to again
        reached = self._reached
        self._again += reached if reached > _FREE else 0
        if self._again > _RESCANS * (self._taken - len(whole) + reached):
            self._say(whole[:reached])
            self._text = whole[reached - 1 : reached]
            return whole[reached:]
        self._say(whole[:1])  # what stands behind the opener is listened to again
        self._text = whole[:1]
        return whole[1:]

    def _found(self, outcome: _Outcome, text: str, rest: str, *, unfolded: bool) -> None:
        thinking, opening = self._thinking is not None, outcome.opening
        parsed = msgspec.structs.replace(outcome.parsed, rest="") if rest else outcome.parsed
        self._pieces.append(Found(text, parsed, opening.dialect, opening.weak, thinking, outcome.complete, unfolded))
        self._quiet = True
        self._text = text[-1:]
