"""The playground: model text goes in character by character, and each character is told what it became, and when.

The public extractor says what left and when; a hearer of its own says which characters it was made of. Laid side by side
they give the spans. Only the time is walked twice: nothing is judged again.
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
from toolglot.pipeline.extract import StreamExtractor, listening, toolset
from toolglot.pipeline.guard_calls import Policy
from toolglot.pipeline.hear import Ear, Found, Hearer, Said, Settled, Thought

MOST_TEXT = 10_000  # characters
MOST_TOOLS = 64

Became = Literal["text", "reasoning", "call", "refused", "marker"]
Step = list[Any]  # [after how many characters, what, ...]


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: str
    tools: list[Any] = []
    dialect: str = "auto"
    policy: Policy = "balanced"
    calls: Literal["hold", "pass"] = "hold"


class Span(msgspec.Struct, frozen=True, omit_defaults=True):
    """A range of the text. `after`: how many characters must have come until this was sure; 0: each was as it came."""

    start: int
    end: int
    became: Became
    label: str = ""
    after: int = 0


class Heard(msgspec.Struct, frozen=True):
    calls: list[dict[str, Any]]
    text: str
    reasoning: str
    decisions: list[dict[str, Any]]
    dialect: str | None
    spans: list[Span]
    steps: list[Step]


def hear(asked: Asked) -> Heard:
    if len(asked.text) > MOST_TEXT:
        raise CallerError(f"{len(asked.text)} characters, and {MOST_TEXT} are allowed", "text")
    if len(asked.tools) > MOST_TOOLS:
        raise CallerError(f"{len(asked.tools)} tools, and {MOST_TOOLS} are allowed", "tools")
    known = toolset(asked.tools)
    extractor = StreamExtractor(known, dialect=asked.dialect, policy=asked.policy, calls=asked.calls)
    out = _Out()
    for at, char in enumerate(asked.text, 1):
        out.take(at, extractor.feed(char))
    out.take(len(asked.text) + 1, extractor.close())
    result = extractor.result()
    ear = listening(known, asked.dialect, asked.policy)
    return Heard(
        [_shown(call) for call in result.calls],
        result.text,
        result.reasoning,
        [{"code": one.code, "message": one.message} for one in result.decisions],
        result.dialect,
        list(_Spans(asked.text, ear, result, out).spans()),
        out.steps,
    )


def _shown(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "name": call.full_name,
        "arguments": call.arguments_json,
        "source": call.source,
        "written": call.raw,
        "fixes": list(call.fixes),
    }


class _Out:
    """What came out after how many characters."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.text: list[int] = []  # for each character that came out
        self.reasoning: list[int] = []
        self.calls: list[int] = []  # for each call that ended
        self._kinds: dict[int, str] = {}

    def take(self, at: int, events: list[Event]) -> None:
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
    """Walks the text beside what came out of it."""

    def __init__(self, text: str, ear: Ear, result: Extraction, out: _Out) -> None:
        self._text, self._ear, self._result, self._out = text, ear, result, out
        self._at = 0  # in the text
        self._said = self._thought = self._calls = 0  # in what came out
        self._sure = 0
        self._refused = {
            (one.call.source, one.call.name, one.call.raw): one
            for one in result.decisions
            if _refuses(one) and one.call is not None
        }
        self._rest = [one for one in result.decisions if one.code == "abstained_quoted" or _unreadable(one)]
        self._forgot = any(one.code == "abstained_reasoning" for one in result.decisions)

    def spans(self) -> Iterator[Span]:
        pieces = self._pieces()
        if self._result.calls and not any(isinstance(piece, Found) for piece in pieces):  # the whole message is one
            call = self._result.calls[0]
            yield Span(0, len(self._text), "call", f"{call.full_name}, {call.source}", len(self._text) + 1)
            return
        for piece in pieces:
            yield from self._markers_before(piece.text)
            yield from self._piece(piece)
        if self._at < len(self._text):
            yield self._span(len(self._text) - self._at, "marker", "", len(self._text) + 1)

    def _pieces(self) -> list[Settled]:
        hearer = Hearer(self._ear)
        found = [*hearer.feed(self._text), *hearer.close()]
        return [piece for piece in found if isinstance(piece, Said | Thought | Found)]

    def _markers_before(self, text: str) -> Iterator[Span]:
        """What the hearer takes in silence: the marks around thoughts, and ends of turns."""
        while not self._text.startswith(text, self._at):
            marker = self._marker() or self._text[self._at : max(self._text.find(text, self._at), self._at + 1)]
            yield self._span(len(marker), "marker", marker, self._at + len(marker))
            if self._at >= len(self._text):
                return

    def _marker(self) -> str:
        known = {*self._ear.ends, *self._ear.closers, *self._ear.dropped}
        return max((one for one in known if self._text.startswith(one, self._at)), key=len, default="")

    def _piece(self, piece: Settled) -> Iterator[Span]:
        size = len(piece.text)
        if isinstance(piece, Said):
            yield from self._flowing(size, "text")
        elif isinstance(piece, Thought):
            yield from self._flowing(size, "reasoning")
        elif not piece.in_reasoning and self._result.text.startswith(piece.text, self._said):
            why = self._rest.pop(0).code if self._rest else ""
            yield from self._flowing(size, "text", why)
        elif piece.in_reasoning and (self._forgot or not piece.parsed.calls):
            yield from self._flowing(size, "reasoning")
        else:
            yield from self._found(piece)

    def _found(self, piece: Found) -> Iterator[Span]:
        """A region of several calls is parted behind each of them."""
        start, end = self._at, self._at + len(piece.text)
        if piece.in_reasoning:
            self._thought += len(piece.text)
        else:
            rest = piece.parsed.rest
            self._said += len(rest) if self._result.text.startswith(rest, self._said) else 0
        sure = len(self._text) + 1 if piece.weak or piece.in_reasoning else end
        heard = piece.parsed.calls
        for at, call in enumerate(heard):
            written = call.raw or call.arguments
            behind = piece.text.find(written, self._at - start) + len(written)
            size = (end if at == len(heard) - 1 else start + behind) - self._at
            label = f"{call.name}, {piece.dialect}"
            refused = self._refused.get((piece.dialect, call.name, written))
            if refused is None:
                sure = max(self._out.calls[self._calls : self._calls + 1], default=sure)
                self._calls += 1
            if size > 0:
                yield self._span(
                    size, "call" if refused is None else "refused", f"{label}: {refused.code}" if refused else label, sure
                )

    def _flowing(self, size: int, kind: Literal["text", "reasoning"], label: str = "") -> Iterator[Span]:
        """Text in runs whose characters came out each as it came in, or all together."""
        if kind == "text":
            times = self._out.text[self._said : self._said + size]
            self._said += size
        else:
            times = self._out.reasoning[self._thought : self._thought + size]
            self._thought += size
        times += [len(self._text) + 1] * (size - len(times))
        waits = [0 if time == self._at + at else time for at, time in enumerate(times, 1)]
        begin = 0
        for at in range(1, size + 1):
            if at == size or waits[at] != waits[begin]:
                yield self._span(at - begin, kind, label, waits[begin])
                begin = at

    def _span(self, size: int, became: Became, label: str, after: int) -> Span:
        """What stands behind something that waits, waits as well."""
        start, self._at = self._at, self._at + size
        self._sure = max(self._sure, after)
        return Span(start, self._at, became, label, self._sure if after else 0)


def _refuses(one: Decision) -> bool:
    return one.code.startswith("rejected_") and not _unreadable(one)


def _unreadable(one: Decision) -> bool:
    """What was meant as a call and is none; it goes on as text."""
    return one.code == "rejected_malformed" and (one.call is None or not one.call.name)
