"""A request with tools, asked by prompt: for models and servers that take no tools, or make a mess of them.

The tools move into the system prompt; calls and results of the history become text, as the dialect writes them. What is left
is a plain conversation that every chat API takes.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any, Literal

import msgspec

from toolglot.catalog.providers import unknown
from toolglot.core.fold import join_extra
from toolglot.core.history import said_as_error
from toolglot.core.messages import Media, Message, Part, Text, ToolCall, ToolResult
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool
from toolglot.errors import CallerError
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.nonce import with_nonce
from toolglot.pipeline.prompts import callable_tools, named_style, teach
from toolglot.text.json_text import loads_object

ResultsAs = Literal["user", "tool"]
_SYSTEM = ("system", "developer")


def speak(
    request: Request,
    dialect: Dialect,
    *,
    style: str = "standard",
    nonce: str | None = None,
    results_as: ResultsAs = "user",
    refuses: Iterable[str] = (),
    notes: list[str] | None = None,
) -> Request:
    """The request without tools, which are taught in its system prompt instead.

    `results_as`: whose words results are; `tool` leaves them as they are, for servers whose template has a place for them.
    `refuses`: what the model's template can't take; of these `system` counts here. `notes` is appended to.
    """
    if results_as not in ("user", "tool"):
        raise CallerError(unknown("role for results", results_as, ["tool", "user"]), "results_as")
    said = _Speaker(with_nonce(dialect, nonce) if nonce is not None else dialect, [] if notes is None else notes)
    tools = said.taught(request.tools, request.choice)
    messages = said.history(request.messages, results_as)
    if tools:
        lesson = teach(tools, dialect, named_style(style), choice=request.choice, parallel=request.parallel, nonce=nonce)
        messages = _with_lesson(messages, lesson)
        said.notes.append(f"tools: {len(tools)} taught in the system prompt, in the dialect {dialect.name}")
    if "system" in tuple(refuses):
        messages = said.without_system(messages)
    return msgspec.structs.replace(request, messages=_merged(messages), tools=(), choice=None, parallel=None)


class _Speaker:
    """Turns a history into text; what it does to it is noted."""

    def __init__(self, dialect: Dialect, notes: list[str]) -> None:
        self.dialect, self.notes = dialect, notes

    def taught(self, tools: tuple[Tool, ...], choice: Choice | None) -> tuple[Tool, ...]:
        """The tools that the model is told of: none where it may call none, and only those it may choose from."""
        if choice is not None and choice.mode == "none":
            if tools:
                self.notes.append("tool choice: none; no tool is taught")
            return ()
        told = callable_tools(tools)
        self.notes += [f"tool {tool.name}: a server's own can't be taught; left out" for tool in tools if tool.kind == "server"]
        if choice is None:
            return told
        named = tuple(tool for tool in told if tool.name in choice.names or tool.full_name in choice.names)
        if choice.names and named:
            self.notes.append(f"tool choice: only {', '.join(tool.full_name for tool in named)} taught")
            told = named
        if choice.mode == "required" and told:
            self.notes.append("tool choice: required, said in words, which a model may ignore")
        return told

    def history(self, messages: tuple[Message, ...], results_as: ResultsAs) -> list[Message]:
        spoken: list[Message] = []
        calls = results = 0
        for message in messages:
            if message.role == "assistant" and any(isinstance(part, ToolCall) for part in message.parts):
                calls += sum(isinstance(part, ToolCall) for part in message.parts)
                message = msgspec.structs.replace(message, parts=self._assistant(message.parts))
            elif message.role == "tool" and results_as == "user":
                results += sum(isinstance(part, ToolResult) for part in message.parts)
                message = msgspec.structs.replace(message, role="user", parts=self._results(message.parts))
            spoken.append(message)
        if calls or results:
            self.notes.append(f"history: {calls} calls and {results} results written as text")
        return spoken

    def _assistant(self, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """Calls that stand together are written together; text before them ends its line."""
        said: list[Part] = []
        for is_call, group in groupby(parts, lambda part: isinstance(part, ToolCall)):
            if not is_call:
                said += group
                continue
            calls: tuple[Any, ...] = tuple(group)
            for call in calls:
                if loads_object(call.arguments_json) is None:
                    self.notes.append(f"call of {call.full_name}: its arguments are no JSON object; written as none")
            said.append(Text(self.dialect.render_calls(calls)))
        return _joined(said, "\n")

    def _results(self, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        said: list[Part] = []
        for part in parts:
            said += self._result(part) if isinstance(part, ToolResult) else [part]
        return _joined(said, "\n\n")

    def _result(self, result: ToolResult) -> list[Part]:
        """Its text in the dialect's form; what is no text follows as it is, and the text says so."""
        beside: list[Part] = [part for part in result.parts if not isinstance(part, Text)]
        parts: Any = [part for part in result.parts if isinstance(part, Text)]
        if beside:
            kinds = ", ".join(part.kind if isinstance(part, Media) else "a block" for part in beside)
            self.notes.append(f"result of {result.name or result.call_id}: {kinds} kept behind its text")
            parts.append(Text(f"{' ' if parts else ''}[{kinds}: below]"))
        if result.is_error:
            parts = said_as_error(parts)
        return [Text(self.dialect.render_result(msgspec.structs.replace(result, parts=tuple(parts)))), *beside]

    def without_system(self, messages: list[Message]) -> list[Message]:
        """What the system says, said by the user, at the place where it stood."""
        if not any(message.role in _SYSTEM for message in messages):
            return messages
        self.notes.append("system prompt: the model's template takes none; said in the first user message")
        return [
            msgspec.structs.replace(message, role="user", name=None) if message.role in _SYSTEM else message
            for message in messages
        ]


def _with_lesson(messages: list[Message], lesson: str) -> list[Message]:
    """Behind the system prompt that leads the conversation, or as one of its own."""
    if not messages or messages[0].role not in _SYSTEM:
        return [Message("system", (Text(lesson),)), *messages]
    first = messages[0]
    return [msgspec.structs.replace(first, parts=_joined([*first.parts, Text(lesson)], "\n\n")), *messages[1:]]


def _merged(messages: list[Message]) -> tuple[Message, ...]:
    """Neighbours of one role as one message, since many templates want user and assistant in turn."""
    merged: list[Message] = []
    for message in messages:
        last = merged[-1] if merged else None
        if last is None or message.role not in ("user", "assistant") or (last.role, last.name) != (message.role, message.name):
            merged.append(message)
        else:
            parts = _joined([*last.parts, *message.parts], "\n\n")
            merged[-1] = Message(last.role, parts, last.name, join_extra(last.extra, message.extra))
    return tuple(merged)


def _joined(parts: Iterable[Part], between: str) -> tuple[Part, ...]:
    """Plain texts that stand side by side as one; a text that carries more than words keeps its own part."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, Text) and isinstance(last, Text) and part == Text(part.text) and last == Text(last.text):
            gap = "" if not last.text or last.text.endswith("\n") else between
            joined[-1] = Text(last.text + gap + part.text)
        else:
            joined.append(part)
    return tuple(joined)
