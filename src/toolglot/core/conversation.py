"""The messages of a request, and what is in them.

Many steps ask something of all messages: how long they are, whether each result has its call, whether there is an image. One
pass gathers it, when the first step asks.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import Any

import msgspec

from toolglot.core.messages import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult


class Contents(msgspec.Struct, frozen=True, gc=False):
    """The parts of all messages by kind; also those inside a result."""

    texts: list[str]  # what a model reads: texts, reasoning, names and arguments of calls
    calls: list[ToolCall]
    results: list[ToolResult]
    media: list[Media]
    blocks: list[Opaque]  # that only one wire has
    characters: int  # of the texts
    is_paired: bool  # each result has an open call, and no call is open when the next turn begins
    is_named: bool  # each result has the name of its call


class Conversation(tuple[Message, ...]):
    """The messages of a request, with their contents once they were asked for."""

    @cached_property
    def contents(self) -> Contents:
        return _gathered(self)


def contents(messages: tuple[Message, ...]) -> Contents:
    return messages.contents if type(messages) is Conversation else _gathered(messages)


def conversation(messages: tuple[Message, ...]) -> Conversation:
    return messages if type(messages) is Conversation else Conversation(messages)


def _gathered(messages: tuple[Message, ...]) -> Contents:
    found: defaultdict[type, list[Any]] = defaultdict(list)
    for message in messages:
        for part in message.parts:
            found[type(part)].append(part)
            if type(part) is ToolResult:
                for inner in part.parts:
                    found[type(inner)].append(inner)
    calls: list[ToolCall] = found[ToolCall]
    texts: list[str] = [part.text for kind in (Text, Reasoning) for part in found[kind]]
    for call in calls:
        texts += (call.name, call.arguments_json)
    characters = sum(map(len, texts))
    return Contents(texts, calls, found[ToolResult], found[Media], found[Opaque], characters, *_pairing(messages))


def _pairing(messages: tuple[Message, ...]) -> tuple[bool, bool]:
    """`is_paired` and `is_named`."""
    waiting: dict[str, str] = {}  # calls without a result so far: id -> name
    is_named = True
    for message in messages:
        if message.role == "tool":
            for part in message.parts:
                if type(part) is ToolResult:
                    name = waiting.pop(part.call_id, None)
                    if name is None:
                        return False, False
                    is_named = is_named and name == part.name
        elif waiting:
            return False, False
        elif message.role == "assistant":
            for part in message.parts:
                if type(part) is ToolCall:
                    waiting[part.id] = part.name
    return not waiting or messages[-1].role != "tool", is_named  # else results of the last calls may still follow
