"""Scan text for tool calls: split it into plain text, reasoning, and regions that may be calls.

The text is scanned for the openers of the configured dialects. An opener starts a region, which consumes text until it finds
its end and is then parsed. A region that is not a call becomes text again. Calls are not validated here, and whether a weak
form is quoted is decided elsewhere (`call_validator`, `quoting`).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from toolglot.grammars.call_streaming import CallStream, Step
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.known_names import spellings
from toolglot.grammars.parsed_call import RegionResult, Tools
from toolglot.io.marker_search import Markers, MarkerUnion, NamedForm, NamedMarkers

_CHUNK = 512
_SHORT_CHUNK = 32
_MAX_WAIT = 24  # characters that a region waits for a preferred one to end too: about a closing tag
_RESCANS = 4  # how many times its length a text may be rescanned after failed regions
_LONGEST_TAG = 40
_OPENING_BACKTICK = re.compile(r"""(?:^|[\s(\["'*/|])`\Z""")  # not the end of a code span or fence: <|im_end|> may follow that
_TEXT_OF = attrgetter("text")
_OPEN_TAG = re.compile(r"[<\[][^\s<>\[\]]*+\Z")  # without a token that follows, it could become another token
_CLOSING_TAG = re.compile(r"\s*+</([^\s<>]++)>")
_BEGINNINGS = 256  # beginnings of a region whose grammars are known
_LONGEST_BEGINNING = 8
_NON_SPACE = re.compile(r"\S")
_MANY_REGIONS, _CHARACTERS_A_REGION = 4096, 16  # where a text has more regions than that, openers are text: it is a flood
_FREE_SCAN = _CHUNK + 128  # a region may examine this much for free: most fail at once, but how soon depends on chunk sizes

Opener = TypeVar("Opener", str, NamedForm)


class TextPiece(msgspec.Struct, frozen=True):
    text: str


class ReasoningPiece(msgspec.Struct, frozen=True):
    text: str


class CallFound(msgspec.Struct, frozen=True):
    """A region that was parsed."""

    text: str
    parsed: RegionResult
    dialect: str
    weak: bool
    in_reasoning: bool
    complete: bool
    streamed: bool = False  # its calls were streamed, as far as possible


class CallDelta(msgspec.Struct, frozen=True):
    """Steps of a call that is still being written; a CallFound or a Retracted follows."""

    steps: list[Step]
    dialect: str


class Retracted(msgspec.Struct, frozen=True):
    """What was streamed is not a call, or parses differently."""


SettledPiece = TextPiece | ReasoningPiece | CallFound
Piece = SettledPiece | CallDelta | Retracted


class _Opening(msgspec.Struct, frozen=True):
    dialect: str
    grammar: Any
    weak: bool
    order: int


class _Candidate(msgspec.Struct, frozen=True):
    order: int
    opening: _Opening
    region: Any
    stream: CallStream | None = None


class _Outcome(msgspec.Struct, frozen=True):
    """The parsed result of a region that has ended."""

    order: int
    opening: _Opening
    parsed: RegionResult
    size: int  # of its text
    complete: bool
    clean: bool  # it has calls, and none needed repair; one that is cut off is rejected, whatever its repair


class ScannerConfig(msgspec.Struct, frozen=True):
    """The markers of the configured dialects, compiled once."""

    openings: dict[str, list[_Opening]]
    openings_for: Callable[[str, str], list[_Opening]]  # those of an opener that may go on with this text
    text: Markers | MarkerUnion
    ends: dict[str, frozenset[str]]  # reasoning openers -> their closers
    closers: frozenset[str]
    dropped: frozenset[str]
    reasoning_markers: Callable[[str], Markers | MarkerUnion]  # markers inside reasoning, by its opener
    tools: Tools = {}
    named: dict[NamedForm, list[_Opening]] = {}  # openers with a tool's name


def scanner_config(dialects: Iterable[Dialect], tools: Tools) -> ScannerConfig:
    """The configuration for these tools. What does not depend on the tools is cached per dialects."""
    base = _base_config(tuple(dialects))
    if not base.named or not tools:
        return msgspec.structs.replace(base, tools=tools, openings_for=_openings_for(base.openings, tools))
    openings, written = _NamedOpenings(base, tools), spellings(tools)
    strong = [one._replace(at_line_start=False, word=False) for one in _strong(base.named)]

    @cache  # one entry per reasoning opener; built when one is found
    def reasoning_markers(begin: str) -> MarkerUnion:
        return MarkerUnion(base.reasoning_markers(begin), NamedMarkers(written, strong))

    return msgspec.structs.replace(
        base,
        openings=openings,
        openings_for=_openings_for(openings, tools),
        text=MarkerUnion(base.text, NamedMarkers(written, base.named)),
        reasoning_markers=reasoning_markers,
        tools=tools,
    )


class _NamedOpenings(dict[str, list[_Opening]]):
    """The openings of each opener. Grammars learn the tools when an opener with a name is first found: most never are."""

    def __init__(self, base: ScannerConfig, tools: Tools) -> None:
        super().__init__()
        self._base, self._tools = base, tools
        self._bind = cache(lambda grammar: grammar.for_tools(tools) if hasattr(grammar, "for_tools") else grammar)

    def __missing__(self, opener: str) -> list[_Opening]:
        found, names = [*self._base.openings.get(opener, ())], spellings(self._tools)
        for form, openings in self._base.named.items():
            if form.name_in(opener, names) is not None:
                found += [msgspec.structs.replace(one, grammar=self._bind(one.grammar)) for one in openings]
        if found:  # others are not cached: there is no limit to them
            self[opener] = found = sorted(found, key=lambda opening: opening.order)
        return found

    def __contains__(self, opener: object) -> bool:
        return isinstance(opener, str) and bool(self[opener])

    def __iter__(self) -> Iterator[str]:
        """All openers, whether they were found or not."""
        named = (form.before + name + form.after for form in self._base.named for name in self._tools)
        return iter({**self._base.openings, **dict.fromkeys(named)})


@lru_cache(128)
def _base_config(dialects: tuple[Dialect, ...]) -> ScannerConfig:
    openings: dict[str, list[_Opening]] = {}
    named: dict[NamedForm, list[_Opening]] = {}
    line_start: set[str] = set()
    words: set[str] = set()
    for order, dialect in enumerate(dialects):
        for grammar in dialect.grammars:
            opening = _Opening(dialect.name, grammar, dialect.weak, order)
            for opener in grammar.openers:
                _add(openings.setdefault(opener, []), opening)
            for form in getattr(grammar, "named_forms", ()):
                _add(named.setdefault(form, []), opening)
            if getattr(grammar, "at_line_start", False):
                line_start.update(grammar.openers)
            elif dialect.weak:
                words.update(opener for opener in grammar.openers if opener[0].isalnum() or opener[0] == "_")
    ends: dict[str, set[str]] = {}
    for dialect in dialects:
        for begin, end in dialect.reasoning:
            ends.setdefault(begin, set()).add(end)
    dropped = frozenset(marker for dialect in dialects for marker in dialect.dropped)
    closers = frozenset(end for closing in ends.values() for end in closing)
    return ScannerConfig(
        openings,
        _openings_for(openings, {}),
        Markers({*openings, *ends, *closers, *dropped} - line_start - words, line_start, words),
        {begin: frozenset(closing) for begin, closing in ends.items()},
        closers,
        dropped,
        cache(lambda begin: Markers({*_strong(openings), *(ends[begin] if begin else closers)})),
        named=named,
    )


def _openings_for(openings: dict[str, list[_Opening]], tools: Tools) -> Callable[[str, str], list[_Opening]]:
    """Many dialects share an opener, but few go on with the same character. Which do is learned from their regions, once."""

    @lru_cache(_BEGINNINGS)
    def openings_for(marker: str, text: str) -> list[_Opening]:
        found = openings[marker]
        return [one for one in found if len(found) == 1 or not _is_refused(one.grammar.open(marker), marker, text, tools)]

    return openings_for


def _is_refused(region: Any, marker: str, text: str, tools: Tools) -> bool:
    """Whether the region ends with this text, and is not a call."""
    end = region.feed(text)
    parsed = region.parse(marker + text[:end], tools, complete=True) if end >= 0 else None
    return parsed is not None and not parsed.calls and not parsed.problem


def _add(known: list[_Opening], opening: _Opening) -> None:
    if not any(one.grammar is opening.grammar and opening.weak >= one.weak for one in known):  # dialects share grammars
        known.append(opening)


def _strong(openings: dict[Opener, list[_Opening]]) -> list[Opener]:
    """The openers that count inside reasoning too."""
    return [opener for opener, found in openings.items() if not all(one.weak for one in found)]


def _joined(kind: type, group: Iterator[Any]) -> Iterable[Piece]:
    return [kind("".join(map(_TEXT_OF, group)))] if kind in (TextPiece, ReasoningPiece) else group


class ToolCallScanner:
    """Takes text and returns pieces. Text is emitted at once, except what may still become a marker."""

    def __init__(self, config: ScannerConfig, *, starts_in_reasoning: bool = False, stream_calls: bool = False) -> None:
        self._config = config
        self._stream_calls = stream_calls  # emit calls while they are written
        self._text = "\n"  # undecided text, after one character of what came before
        self._reasoning: str | None = "" if starts_in_reasoning else None  # the opener of the current reasoning
        self._opener = ""  # of a region whose grammars are not known yet
        self._beginning = ""  # the text behind that opener
        self._regions: list[_Candidate] = []  # still open
        self._outcomes: list[_Outcome] = []  # of regions that have ended
        self._body: list[str] = []  # the opener and what the regions were fed
        self._length = 0
        self._examined_to = 0  # how far into the body the regions looked
        self._claimed = -1  # the order of the region that is being streamed
        self._pieces: list[Piece] = []
        self._consumed = 0  # characters scanned so far
        self._rescanned = 0  # characters examined for nothing
        self._opened = 0  # regions
        self._may_wait = True  # whether the rescan limit allows waiting
        self._final = False  # no more text will come
        self._no_text_yet = True  # only white space since the beginning or the last call
        self._emitted = ""  # the end of the text so far
        self.examined = 0

    def feed(self, text: str) -> list[Piece]:
        self._consume(text)
        return self._drain()

    def plain(self, text: str) -> str | None:
        """Fast path of `feed` for a piece without markers: the text to emit. None: use `feed`."""
        if self._body or self._reasoning is not None or not 0 < len(text) <= _CHUNK:
            return None
        seen, markers = self._text + text, self._config.text
        self.examined += len(text)
        if markers.find(seen, 1) is not None:
            return None
        self._consumed += len(text)
        keep = markers.buffer_from(seen, 1)
        text_out, self._text = seen[1:keep], seen[keep - 1 :]
        if self._no_text_yet and text_out and not text_out.isspace():
            self._no_text_yet = False
        self._emitted = (self._emitted + text_out)[-_LONGEST_TAG:]
        return text_out

    def after_closer(self, text: str) -> str:
        """The text behind a call, without a closing tag at its start whose opening tag is a marker: the model left that out."""
        found = _CLOSING_TAG.match(text)
        return text[found.end() :] if found is not None and f"<{found[1]}>" in self._config.openings else text

    def close(self) -> list[Piece]:
        self._final = True
        if self._body or len(self._text) > 1:
            self._consume("", at_least_once=True)
        while self._body:
            behind = self._begin("") if self._opener else self._resolve()
            self._consumed -= len(behind)
            self._consume(behind, at_least_once=True)
        self._emit_text(self._text[1:])
        self._text = "\n"
        return self._drain()

    def _drain(self) -> list[Piece]:
        """Text that was cut at markers is joined: each piece costs more than most of its text."""
        pieces, self._pieces = self._pieces, []
        return pieces if len(pieces) < 2 else [one for kind, group in groupby(pieces, type) for one in _joined(kind, group)]

    # -- scanning

    def _consume(self, text: str, *, at_least_once: bool = False) -> None:
        """Scan the text in chunks: what is behind a marker, or behind the end of a region, was looked at for nothing.

        Chunks are short at first, as the next marker may be near, and each is twice as long as the one before.
        """
        left = [(text, 0)] if text or at_least_once else []
        next_size = _SHORT_CHUNK
        while left:
            text, at = left.pop()
            contested = len(self._regions) > 1 and self._claimed == -1 and self._several_stream()
            size = 1 if contested else next_size  # however it is cut, the same region is the first to stream
            chunk = text[at : at + size]
            if at + size < len(text):
                left.append((text, at + size))
            self._consumed += len(chunk)
            behind = self._begin(chunk) if self._opener else self._in_region(chunk) if self._body else self._scan(chunk)
            next_size = _SHORT_CHUNK if behind else min(2 * next_size, _CHUNK)
            if behind:
                self._consumed -= len(behind)
                left.append((behind, 0))

    def _several_stream(self) -> bool:
        return sum(one.stream is not None for one in self._regions) > 1

    def _scan(self, text: str) -> str:
        """Emit plain text up to the next marker. Returns the text behind the marker."""
        self._text = seen = self._text + text
        markers = self._config.text if self._reasoning is None else self._config.reasoning_markers(self._reasoning)
        found = markers.find(seen, 1)
        self.examined += len(text) if found is None else found[0] + len(found[1])
        if found is None:
            keep = max(1, markers.buffer_from(seen, 1))
            self._emit_text(seen[1:keep])
            self._text = seen[keep - 1 :]
            return ""
        start, marker = found
        behind = self._text[start + len(marker) :]
        if not self._final:
            keep = min(start, max(1, markers.buffer_from(self._text, 1)))
            if keep < start or markers.is_prefix(self._text, start):  # it may become a longer marker, or one that began before
                self._emit_text(self._text[1:keep])
                self._text = self._text[keep - 1 :]
                return ""
        self._emit_text(self._text[1:start])
        self._text = self._text[start + len(marker) - 1 : start + len(marker)]
        at = self._consumed - len(behind)
        self._may_wait = self._rescanned <= _RESCANS * at
        self._at_marker(marker, may_open=self._opened < _MANY_REGIONS + at // _CHARACTERS_A_REGION)
        return behind

    def _at_marker(self, marker: str, *, may_open: bool) -> None:
        config = self._config
        if self._reasoning is not None and marker in (config.ends.get(self._reasoning) or config.closers):
            self._reasoning = None
            self._text = "\n"  # the answer begins here, as at the start of a line
        elif marker not in config.openings and _OPENING_BACKTICK.search(self._emitted):
            self._emit_text(marker)  # the reply explains the marker: `<think>`
        elif self._reasoning is None and marker in config.ends:
            self._reasoning = marker
        elif marker in config.openings and not may_open:
            self._emit_text(marker)
        elif marker in config.openings:
            if self._reasoning and marker.startswith(tuple(config.ends[self._reasoning])):
                self._reasoning = None  # the opener begins with what ends the reasoning
            self._opened += 1
            self._opener, self._beginning = marker, ""
            self._body, self._length = [marker], len(marker)
        elif _OPEN_TAG.search(self._emitted) or (
            marker not in config.dropped and (marker not in config.closers or not self._no_text_yet)
        ):
            self._emit_text(marker)  # a closer without an opener is text, unless it comes first

    def _emit_text(self, text: str) -> None:
        if text:
            if self._no_text_yet and not text.isspace():
                self._no_text_yet = False
            self._emitted = (self._emitted + text)[-_LONGEST_TAG:]
            self._pieces.append(TextPiece(text) if self._reasoning is None else ReasoningPiece(text))

    # -- regions

    def _begin(self, text: str) -> str:
        """Open the regions of the grammars that go on as the text does. Returns the text to feed them."""
        self._beginning = text = self._beginning + text
        found = _NON_SPACE.search(text, 0, _LONGEST_BEGINNING)
        if found is None and len(text) < _LONGEST_BEGINNING and not self._final:
            return ""
        marker, self._opener = self._opener, ""
        beginning = text[: found.end() if found else _LONGEST_BEGINNING]
        in_reasoning = self._reasoning is not None
        for order, opening in enumerate(self._config.openings_for(marker, beginning)):
            if opening.weak and in_reasoning:
                continue
            region = opening.grammar.open(marker)
            streams = self._stream_calls and not opening.weak and not in_reasoning and hasattr(region, "stream_calls")
            stream = region.stream_calls(self._config.tools) if streams else None
            self._regions.append(_Candidate(order, opening, region, stream))
        self._examined_to = len(marker) + len(beginning)
        return text or self._in_region("")

    def _in_region(self, text: str) -> str:
        """Feed the regions that share an opener. Returns the text behind the region that is accepted."""
        still: list[_Candidate] = []
        for candidate in self._regions:
            end = candidate.region.feed(text)
            looked = len(text) if end < 0 else end
            self.examined += looked
            self._examined_to = max(self._examined_to, self._length + looked)
            if candidate.stream is not None:
                self._stream(candidate, candidate.stream, text[:looked])
            if end < 0:
                still.append(candidate)
            else:
                self._region_ended(candidate, "".join(self._body) + text[:end])
        self._body.append(text)
        self._length += len(text)
        best, limit = self._best() if still and self._outcomes else (None, 0)
        if best is not None:
            wanted = [candidate for candidate in still if candidate.order < best.order or not best.clean]
            still = wanted if self._length < limit else []
        self._regions = still
        return "" if still else self._resolve()

    def _stream(self, candidate: _Candidate, stream: CallStream, text: str) -> None:
        """Stream the calls of the first region that has one. The end may retract it."""
        if self._claimed in {-1, candidate.order}:
            steps = stream.feed(text)
            if steps:
                self._claimed = candidate.order
                self._pieces.append(CallDelta(steps, candidate.opening.dialect))

    def _region_ended(self, candidate: _Candidate, whole: str) -> None:
        for one in self._outcomes:
            if one.order < candidate.order and one.size <= len(whole) and one.clean:
                return  # a preferred region ended earlier, without repairs
        self._parse(candidate, whole, complete=True)

    def _parse(self, candidate: _Candidate, whole: str, *, complete: bool) -> None:
        parsed = candidate.region.parse(whole, self._config.tools, complete=complete)
        if parsed.calls or parsed.problem:
            repaired = [call for call in parsed.calls if call.fixes and call.closed]
            clean = bool(parsed.calls) and not repaired
            self._outcomes.append(_Outcome(candidate.order, candidate.opening, parsed, len(whole), complete, clean))

    def _best(self) -> tuple[_Outcome | None, int]:
        """The preferred region of those that ended with calls, and how long to wait for a better one.

        One that ends far behind another does not count. If all of them needed repair, it waits for one that may not.
        """
        ends = [one.size for one in self._outcomes if one.clean or (one.parsed.calls and not self._may_wait)]
        limit = min(ends) + _MAX_WAIT if ends else sys.maxsize
        best: _Outcome | None = None
        for one in self._outcomes:
            preferred = best is None or (not one.clean, one.order) < (not best.clean, best.order)
            if preferred and one.parsed.calls and one.size <= limit:
                best = one
        return best, limit

    def _resolve(self) -> str:
        """All regions have ended, or the text has: emit the best result, or text. Returns the text to scan again."""
        whole, regions = "".join(self._body), self._regions
        self._regions = []
        best, limit = self._best()
        if best is None:
            for candidate in regions:
                self._parse(candidate, whole, complete=False)
            best, limit = self._best()
            if best is None and self._outcomes:  # none has calls: why they could not be parsed
                best, limit = min(self._outcomes, key=lambda one: one.order), 0
        self._body, self._outcomes, self._length = [], [], 0
        claimed, self._claimed = self._claimed, -1
        if claimed >= 0 and (best is None or best.order != claimed):
            self._pieces.append(Retracted())
        if best is not None:
            rest = best.parsed.rest if whole.endswith(best.parsed.rest, 0, best.size) else ""
            looked = self._examined_to if limit == sys.maxsize else best.size
            wasted = looked - (best.size - len(rest))
            self._rescanned += wasted if wasted > _FREE_SCAN else 0
            self._found(best, whole[: best.size - len(rest)], rest, streamed=best.order == claimed)
            return rest + whole[best.size :]  # text behind the call is scanned again
        reached = self._examined_to
        self._rescanned += reached if reached > _FREE_SCAN else 0
        if self._rescanned > _RESCANS * (self._consumed - len(whole) + reached):
            self._emit_text(whole[:reached])
            self._text = whole[reached - 1 : reached]
            return whole[reached:]
        self._emit_text(whole[:1])  # the rest of the opener is scanned again
        self._text = whole[:1]
        return whole[1:]

    def _found(self, outcome: _Outcome, text: str, rest: str, *, streamed: bool) -> None:
        in_reasoning, opening = self._reasoning is not None, outcome.opening
        parsed = msgspec.structs.replace(outcome.parsed, rest="") if rest else outcome.parsed
        self._pieces.append(CallFound(text, parsed, opening.dialect, opening.weak, in_reasoning, outcome.complete, streamed))
        self._no_text_yet = True
        self._text = text[-1:]
