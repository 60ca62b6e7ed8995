"""What is sent for a request, and what is needed to understand the answer."""

from __future__ import annotations

import msgspec

from toolglot.core.messages import Message
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool
from toolglot.pipeline.lately import Lately
from toolglot.pipeline.route import Route
from toolglot.pipeline.ways import Way


class Plan(msgspec.Struct, frozen=True):
    request: Request  # fitted: what the wire writes
    route: Route
    way: Way
    tools: tuple[Tool, ...] = ()  # as the caller gave them: calls are checked against these
    choice: Choice | None = None  # as the caller made it
    hears: str | None = None  # the dialect that is listened for in text, or auto; None: text is text
    nonce: str | None = None
    notes: tuple[str, ...] = ()
    filled: frozenset[str] = frozenset()  # tools sent under a strict schema, where null stands for "not given"
    single: bool = False  # the caller wants one call at a time
    conversation: tuple[Message, ...] | None = None  # as the caller gave it, where calls are to be held against it
    grounds: Lately | None = None  # what an answer in words is held against, where the model can't be believed
