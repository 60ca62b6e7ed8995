"""The playground: parses model text character by character and shows what each character became, and when.

The public extractor gives the output and its timing. A second scanner gives the input range of each piece. The two
together give the spans; no call is validated twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from toolglot.core.events import Close, Delta, Event, Finish, Open
from toolglot.core.extraction import Extraction
from toolglot.core.messages import ToolCall
from toolglot.core.reply import Decision
from toolglot.errors import CallerError
from toolglot.pipeline.response.call_validator import Policy
from toolglot.pipeline.response.extract import StreamExtractor, toolset
from toolglot.pipeline.response.scanned_dialects import scanner_for
from toolglot.pipeline.response.tool_call_scanner import (
    CallFound,
    ReasoningPiece,
    ScannerConfig,
    SettledPiece,
    TextPiece,
    ToolCallScanner,
)

MAX_TEXT = 10_000  # characters
MAX_TOOLS = 64

Became = Literal["text", "reasoning", "call", "refused", "marker"]
Step = list[Any]  # [after how many characters, what, ...]


class ParseRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: str
    tools: list[Any] = []
    dialect: str = "auto"
    policy: Policy = "balanced"
    calls: Literal["hold", "pass"] = "hold"


class Span(msgspec.Struct, frozen=True, omit_defaults=True):
    """A range of the text. `after`: the number of characters after which it was decided; 0: each character at once."""

    start: int
    end: int
    became: Became
    label: str = ""
    after: int = 0


class ParseView(msgspec.Struct, frozen=True):
    calls: list[dict[str, Any]]
    text: str
    reasoning: str
    decisions: list[dict[str, Any]]
    dialect: str | None
    spans: list[Span]
    steps: list[Step]


def parse(request: ParseRequest) -> ParseView:
    if len(request.text) > MAX_TEXT:
        raise CallerError(f"{len(request.text)} characters; the limit is {MAX_TEXT}", "text")
    if len(request.tools) > MAX_TOOLS:
        raise CallerError(f"{len(request.tools)} tools; the limit is {MAX_TOOLS}", "tools")
    tools = toolset(request.tools)
    extractor = StreamExtractor(tools, dialect=request.dialect, policy=request.policy, calls=request.calls)
    output = _TimedOutput()
    for at, char in enumerate(request.text, 1):
        output.add(at, extractor.feed(char))
    output.add(len(request.text) + 1, extractor.close())
    result = extractor.result()
    config = scanner_for(tools, request.dialect, request.policy)
    return ParseView(
        [_call_fields(call) for call in result.calls],
        result.text,
        result.reasoning,
        [{"code": one.code, "message": one.message} for one in result.decisions],
        result.dialect,
        list(_Spans(request.text, config, result, output).spans()),
        output.steps,
    )


def _call_fields(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "name": call.full_name,
        "arguments": call.arguments_json,
        "source": call.source,
        "written": call.raw,
        "fixes": list(call.fixes),
    }


class _TimedOutput:
    """The output, with the number of input characters after which each part was emitted."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.text: list[int] = []  # for each emitted character
        self.reasoning: list[int] = []
        self.calls: list[int] = []  # for each closed call
        self._kinds: dict[int, str] = {}

    def add(self, at: int, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, Open):
                self._kinds[event.index] = event.kind
                if event.kind == "call":
                    self.steps.append([at, "call", event.index, event.full_name, event.source])
            elif isinstance(event, Delta):
                self._delta(at, event)
            elif isinstance(event, Close):
                if self._kinds[event.index] == "call":
                    self.calls.append(at)
                    codes = list(event.fixes) + [one.code for one in event.decisions]
                    self.steps.append([at, "close", event.index, event.sealed, codes])
            elif isinstance(event, Finish):
                self.steps.append([at, "end", [one.code for one in event.decisions]])

    def _delta(self, at: int, event: Delta) -> None:
        kind = self._kinds[event.index]
        if kind == "call":
            self.steps.append([at, "arguments", event.index, event.text])
        else:
            self.steps.append([at, kind, event.text])
            (self.text if kind == "text" else self.reasoning).extend([at] * len(event.text))


class _Spans:
    """Aligns the input text with the output."""

    def __init__(self, text: str, config: ScannerConfig, result: Extraction, output: _TimedOutput) -> None:
        self._text, self._config, self._result, self._output = text, config, result, output
        self._at = 0  # position in the text
        self._text_at = self._reasoning_at = self._calls_at = 0  # positions in the output
        self._decided = 0
        self._rejected = {
            (one.call.source, one.call.name, one.call.raw): one
            for one in result.decisions
            if _rejects(one) and one.call is not None
        }
        self._kept_as_text = [one for one in result.decisions if one.code == "quoted" or _unreadable(one)]
        self._reasoning_ignored = any(one.code == "in_reasoning" for one in result.decisions)

    def spans(self) -> Iterator[Span]:
        pieces = self._pieces()
        if self._result.calls and not any(isinstance(piece, CallFound) for piece in pieces):  # the whole message is one call
            call = self._result.calls[0]
            yield Span(0, len(self._text), "call", f"{call.full_name}, {call.source}", len(self._text) + 1)
            return
        for piece in pieces:
            yield from self._markers_before(piece.text)
            yield from self._piece(piece)
        if self._at < len(self._text):
            yield self._span(len(self._text) - self._at, "marker", "", len(self._text) + 1)

    def _pieces(self) -> list[SettledPiece]:
        scanner = ToolCallScanner(self._config)
        found = [*scanner.feed(self._text), *scanner.close()]
        return [piece for piece in found if isinstance(piece, TextPiece | ReasoningPiece | CallFound)]

    def _markers_before(self, text: str) -> Iterator[Span]:
        """What the scanner drops: markers around reasoning, and end-of-turn markers."""
        while not self._text.startswith(text, self._at):
            marker = self._marker() or self._text[self._at : max(self._text.find(text, self._at), self._at + 1)]
            yield self._span(len(marker), "marker", marker, self._at + len(marker))
            if self._at >= len(self._text):
                return

    def _marker(self) -> str:
        known = {*self._config.ends, *self._config.closers, *self._config.dropped}
        return max((one for one in known if self._text.startswith(one, self._at)), key=len, default="")

    def _piece(self, piece: SettledPiece) -> Iterator[Span]:
        size = len(piece.text)
        if isinstance(piece, TextPiece):
            yield from self._plain(size, "text")
        elif isinstance(piece, ReasoningPiece):
            yield from self._plain(size, "reasoning")
        elif not piece.in_reasoning and self._result.text.startswith(piece.text, self._text_at):
            code = self._kept_as_text.pop(0).code if self._kept_as_text else ""
            yield from self._plain(size, "text", code)
        elif piece.in_reasoning and (self._reasoning_ignored or not piece.parsed.calls):
            yield from self._plain(size, "reasoning")
        else:
            yield from self._found(piece)

    def _found(self, piece: CallFound) -> Iterator[Span]:
        """A region with several calls is split after each of them."""
        start, end = self._at, self._at + len(piece.text)
        if piece.in_reasoning:
            self._reasoning_at += len(piece.text)
        else:
            rest = piece.parsed.rest
            self._text_at += len(rest) if self._result.text.startswith(rest, self._text_at) else 0
        decided = len(self._text) + 1 if piece.weak or piece.in_reasoning else end
        calls = piece.parsed.calls
        for at, call in enumerate(calls):
            written = call.raw or call.arguments
            after = piece.text.find(written, self._at - start) + len(written)
            size = (end if at == len(calls) - 1 else start + after) - self._at
            label = f"{call.name}, {piece.dialect}"
            rejection = self._rejected.get((piece.dialect, call.name, written))
            if rejection is None:
                decided = max(self._output.calls[self._calls_at : self._calls_at + 1], default=decided)
                self._calls_at += 1
            if size > 0:
                became: Became = "call" if rejection is None else "refused"
                yield self._span(size, became, f"{label}: {rejection.code}" if rejection else label, decided)

    def _plain(self, size: int, kind: Literal["text", "reasoning"], label: str = "") -> Iterator[Span]:
        """Splits text into runs that were emitted character by character, or all at once."""
        if kind == "text":
            times = self._output.text[self._text_at : self._text_at + size]
            self._text_at += size
        else:
            times = self._output.reasoning[self._reasoning_at : self._reasoning_at + size]
            self._reasoning_at += size
        times += [len(self._text) + 1] * (size - len(times))
        waits = [0 if time == self._at + at else time for at, time in enumerate(times, 1)]
        start = 0
        for at in range(1, size + 1):
            if at == size or waits[at] != waits[start]:
                yield self._span(at - start, kind, label, waits[start])
                start = at

    def _span(self, size: int, became: Became, label: str, after: int) -> Span:
        """Nothing is decided before what precedes it."""
        start, self._at = self._at, self._at + size
        self._decided = max(self._decided, after)
        return Span(start, self._at, became, label, self._decided if after else 0)


def _rejects(one: Decision) -> bool:
    return one.code.startswith("rejected_") and not _unreadable(one)


def _unreadable(one: Decision) -> bool:
    """A malformed call, which is kept as text."""
    return one.code == "rejected_malformed" and (one.call is None or not one.call.name)
