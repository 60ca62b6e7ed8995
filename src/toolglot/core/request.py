"""A request to a model."""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.core.messages import Extra, Message
from toolglot.core.tools import Choice, Tool

EFFORTS = ("off", "minimal", "low", "medium", "high", "xhigh", "max")


class Thinking(msgspec.Struct, frozen=True, omit_defaults=True):
    effort: str | None = None  # one of EFFORTS, or a provider's value
    budget: int | None = None  # tokens; -1 lets the model choose
    show: bool | None = None  # return the reasoning, or a summary of it
    extra: Extra = {}


class Output(msgspec.Struct, frozen=True, omit_defaults=True):
    """Structured output; without a schema it is plain JSON mode."""

    schema: dict[str, Any] | None = None
    name: str | None = None
    description: str | None = None
    strict: bool | None = None


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request, whatever API it came in or goes to. What one API alone has is in `extra`."""

    model: str
    messages: tuple[Message, ...] = ()
    tools: tuple[Tool, ...] = ()
    choice: Choice | None = None
    parallel: bool | None = None
    stream: bool = False
    stream_usage: bool = False  # the caller wants usage at the end of the stream
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    verbosity: str | None = None
    user: str | None = None
    thinking: Thinking | None = None
    output: Output | None = None
    extra: Extra = {}
