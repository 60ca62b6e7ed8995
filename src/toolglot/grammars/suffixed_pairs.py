"""The notation of Hy3 and Hy4: as `arg_pairs`, with a suffix in every tag that differs from checkpoint to checkpoint.

<tool_calls:6124c78e> <tool_call:6124c78e>f <arg_key:6124c78e>a</arg_key:6124c78e> ...

The tag that opens a region gives the suffix. Tags with another suffix are text. Nothing is compiled for a suffix: a text may
contain many.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from toolglot.grammars.arg_pairs import pair_tags, value_head
from toolglot.grammars.call_streaming import Step
from toolglot.grammars.parsed_call import RegionResult, Tools
from toolglot.grammars.tag_scanner import Tags
from toolglot.grammars.tag_streaming import TagValueStream
from toolglot.grammars.tagged_xml import TaggedXml, TagRegion

_CALL = ("<tool_call>", "</tool_call>")
_OUTER = ("<tool_calls>", "</tool_calls>")
_SEPARATOR = "<tool_sep>"
_SUFFIX = r"[\w.-]{1,40}"
_END = re.compile(rf"{_SUFFIX}>")
_DEAD = re.compile(r"[\w.-]{0,40}+[^>]|>")  # what can't become a suffix
_TAG = re.compile(rf"</?(?:tool_calls?|tool_sep|arg_key|arg_value):{_SUFFIX}>|\\n")
_TAG_START = re.compile(r"[<\\]")
_VALUE_HEAD = value_head(lambda text: text.replace(">", f":{_SUFFIX}>"))


@dataclass(frozen=True)
class _Search:
    """Searches a pattern, and returns only these tags; `partial`: the beginning of one at the end of the text."""

    pattern: re.Pattern[str]
    tags: dict[str, str]
    partial: bool = False

    def search(self, text: str, at: int) -> re.Match[str] | None:
        return next(self._found(text, at), None)

    def _found(self, text: str, at: int) -> Iterator[re.Match[str]]:
        for found in self.pattern.finditer(text, at):
            if any(tag.startswith(text[found.start() :]) for tag in self.tags) if self.partial else found[0] in self.tags:
                yield found


@dataclass(frozen=True, eq=False)
class _SuffixedTags(Tags):
    @cached_property
    def token(self) -> _Search:  # type: ignore[override]
        return _Search(_TAG, self.roles)

    @cached_property
    def cut_token(self) -> _Search:  # type: ignore[override]
        return _Search(_TAG_START, self.roles, partial=True)


@lru_cache(64)
def _with_suffix(suffix: str) -> TaggedXml:
    tags = pair_tags(lambda text: text.replace(">", f":{suffix}>"), _CALL, _OUTER, (_SEPARATOR,), of=_SuffixedTags)
    return TaggedXml(tags, _VALUE_HEAD, strong=True, weak_name=True)


class SuffixedPairs:
    openers = (_OUTER[0].replace(">", ":"), _CALL[0].replace(">", ":"))

    def open(self, opener: str, /) -> SuffixedRegion:
        return SuffixedRegion(opener)


class SuffixedRegion:
    """Reads the suffix, then the region of its tags."""

    def __init__(self, opener: str) -> None:
        self._opener = opener
        self._buffer = ""
        self._examined = 0
        self.inner: TagRegion | None = None

    @property
    def examined(self) -> int:
        return self._examined + (self.inner.examined if self.inner else 0)

    def feed(self, text: str, /) -> int:
        if self.inner is not None:
            return self.inner.feed(text)
        buffered = len(self._buffer)
        self._buffer += text
        self._examined += len(text)
        found = _END.match(self._buffer)
        if found is None:
            dead = _DEAD.match(self._buffer)
            return dead.end() - buffered if dead else -1
        self._opener += found[0]
        self.inner = _with_suffix(found[0][:-1]).open(self._opener)
        at = found.end() - buffered
        end = self.inner.feed(text[at:])
        return at + end if end >= 0 else -1

    def stream_calls(self, tools: Tools) -> _SuffixedStream:
        return _SuffixedStream(self, len(self._opener), tools)

    def parse(self, text: str, tools: Tools, /, *, complete: bool) -> RegionResult:
        return RegionResult() if self.inner is None else self.inner.parse(text, tools, complete=complete)

    @property
    def opener(self) -> str:
        return self._opener


class _SuffixedStream:
    def __init__(self, region: SuffixedRegion, size: int, tools: Tools) -> None:
        self._region, self._size, self._tools = region, size, tools
        self._buffer = ""
        self._stream: TagValueStream | None = None

    def feed(self, piece: str, /) -> list[Step]:
        if self._stream is None:
            self._buffer += piece
            if self._region.inner is None:
                return []
            self._stream = self._region.inner.stream_calls(self._tools)
            piece = self._buffer[len(self._region.opener) - self._size :]
        return self._stream.feed(piece) if self._stream is not None else []
