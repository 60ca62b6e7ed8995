"""A model's reply, and the decisions made about it."""

from __future__ import annotations

from typing import Literal

import msgspec

from toolglot.core.messages import Extra, Part, Reasoning, Text, ToolCall
from toolglot.errors import UpstreamError

StopReason = Literal["stop", "calls", "length", "stop_sequence", "filter", "pause", "error", "other"]


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """One recovered, repaired or rejected call, with a stable code and a message."""

    code: str
    message: str
    call: ToolCall | None = None


class Stop(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why the model stopped, and the provider's word for it."""

    reason: StopReason
    raw: str | None = None  # the provider's value
    sequence: str | None = None


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Totals: cached tokens are part of `input`, reasoning tokens part of `output`. None: not reported."""

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None
    extra: Extra = {}
    cache_write_1h: int | None = None  # the part of `cache_write` that is kept for an hour


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """The whole reply of a model: its parts, why it stopped, and what was decided about its calls."""

    id: str | None = None
    model: str | None = None
    parts: tuple[Part, ...] = ()
    stop: Stop | None = None
    usage: Usage | None = None
    created: int | None = None
    notes: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = ()
    error: UpstreamError | None = None  # the stream broke off; the parts are what came before
    extra: Extra = {}

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if type(part) is Text)

    @property
    def reasoning(self) -> str:
        return "".join(part.text for part in self.parts if type(part) is Reasoning)

    @property
    def calls(self) -> list[ToolCall]:
        """The calls that are whole. One cut short stays in `parts`, with `sealed` False."""
        return [part for part in self.parts if type(part) is ToolCall and part.sealed]


def add_usage(first: Usage | None, second: Usage | None) -> Usage | None:
    """The sum. A count that neither reports stays None."""
    if first is None or second is None:
        return first or second
    names = ("input", "output", "cache_read", "cache_write", "reasoning", "cache_write_1h")
    sums = {name: _sum(getattr(first, name), getattr(second, name)) for name in names}
    return Usage(**sums, extra=second.extra or first.extra)


def _sum(first: int | None, second: int | None) -> int | None:
    return second if first is None else first if second is None else first + second
