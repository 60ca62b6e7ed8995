"""The calls in a model's text as inference servers want them: text and whole calls, in order, whole or delta by delta."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from toolglot.client.exchange import new_call_id
from toolglot.core.events import Close, Delta, Event, Finish, Open, StageEvent
from toolglot.core.messages import ToolCall
from toolglot.dialects import find_dialect, known_dialects
from toolglot.errors import ToolglotError
from toolglot.grammars.dialect import THINK
from toolglot.pipeline.response.call_ids import AssignIds
from toolglot.pipeline.response.extract import StreamExtractor
from toolglot.pipeline.response.rejected_text import explain_rejected

AUTO = "toolglot"  # the name of the parser that recognizes the dialect; `toolglot_<dialect>` are the others


def parser_names() -> dict[str, str]:
    """The name of each parser, and its dialect."""
    return {AUTO: "auto", **{f"{AUTO}_{name}": name for name in known_dialects()}}


class Found(msgspec.Struct, frozen=True):
    text: str = ""
    calls: tuple[ToolCall, ...] = ()


class EngineParser:
    """For one response. Servers separate the reasoning themselves: if it is still in the text, it stays there, with its marks.

    `messages`: what the model was given; a call that stands in a tool result is text.
    """

    def __init__(self, dialect: str, tools: Iterable[Any], messages: Iterable[Any] = ()) -> None:
        self._extractor = _extractor(dialect, tools, messages)
        named = None if dialect == "auto" else find_dialect(dialect)
        self._think = named.reasoning[0] if named is not None and named.reasoning else THINK
        self._ids = AssignIds(new_call_id)
        self._reasoning: set[int] = set()  # blocks
        self._calls: set[int] = set()
        self._empty = True

    def feed(self, text: str) -> Found:
        return self._found(self._extractor.feed(text))

    def close(self) -> Found:
        return self._found(self._extractor.close())

    def whole(self, text: str) -> Found:
        first, last = self.feed(text), self.close()
        return Found(first.text + last.text, first.calls + last.calls)

    def _found(self, events: list[Event]) -> Found:
        text: list[str] = []
        calls: list[ToolCall] = []
        identified: list[StageEvent] = self._ids.feed([*events])
        for event in identified:
            if isinstance(event, Finish) and self._empty and not calls and not any(text):
                text.append(explain_rejected(event.decisions))
            elif isinstance(event, Open) and event.kind == "call":
                self._calls.add(event.index)
                call = self._extractor.whole_calls.pop(event.index)
                calls.append(msgspec.structs.replace(call, id=event.call_id))
            elif isinstance(event, Open | Delta | Close) and event.index not in self._calls:
                text.append(self._text(event))
        self._empty = self._empty and not calls and not any(text)
        return Found("".join(text), tuple(calls))

    def _text(self, event: Open | Delta | Close) -> str:
        if isinstance(event, Delta):
            return event.text
        if isinstance(event, Open) and event.kind == "reasoning":
            self._reasoning.add(event.index)
        if event.index not in self._reasoning:
            return ""
        return self._think[0] if isinstance(event, Open) else self._think[1]


def remember(parser: Any, call: ToolCall) -> int:
    """Record a streamed call where the server looks for it, and return its number."""
    parser.prev_tool_call_arr.append({"name": call.name, "arguments": call.arguments_json})
    parser.streamed_args_for_tool.append(call.arguments_json)
    return len(parser.prev_tool_call_arr) - 1


def _extractor(dialect: str, tools: Iterable[Any], messages: Iterable[Any]) -> StreamExtractor:
    try:
        return StreamExtractor(tools, messages=messages, dialect=dialect)
    except ToolglotError:  # messages in a form that only this server knows
        return StreamExtractor(tools, dialect=dialect)
