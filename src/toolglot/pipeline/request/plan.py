"""The plan of a request: what is sent, and what the response pipeline needs."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from toolglot.core.messages import Message
from toolglot.core.reply import Decision
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool
from toolglot.pipeline.request.route import Route
from toolglot.pipeline.request.tool_mode import ToolMode
from toolglot.pipeline.response.grounding import Grounding


class Plan(msgspec.Struct, frozen=True):
    request: Request  # fitted: what the wire writes
    route: Route
    tool_mode: ToolMode
    tools: tuple[Tool, ...] = ()  # the caller's tools: calls are validated against these
    choice: Choice | None = None  # the caller's tool choice
    text_dialect: str | None = None  # the dialect to scan text for, or auto; None: text is not scanned
    nonce: str | None = None
    weak_forms: bool = True  # scan text for forms without a marker, too
    notes: tuple[str, ...] = ()
    filled: frozenset[str] = frozenset()  # tools sent with a strict schema, where null means "omitted"
    single: bool = False  # the caller allows one call at a time
    plain: Callable[[], Request] | None = None  # makes what is sent after a `no_tool` answer: the same without the schema
    grounding: Grounding | None = None  # only for small models
    given: tuple[Message, ...] = ()  # the caller's messages: a call in text that stands in a tool result is quoted
    decisions: tuple[Decision, ...] = ()  # about the request; they are reported with those about the response
