"""Turns of a conversation for those who can't take them as they are: calls and results as text, roles that are refused."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Any, Literal

import msgspec

from toolglot.core.fold import join_extra
from toolglot.core.history import said_as_error
from toolglot.core.messages import Media, Message, Part, Text, ToolCall, ToolResult
from toolglot.grammars.dialect import Dialect
from toolglot.pipeline.refusals import NOT_RUN
from toolglot.text.json_text import loads_object

ResultsAs = Literal["user", "tool"]
_SYSTEM = ("system", "developer")
_MADE_UP = re.compile(r"call_[0-9a-f]{24}(?:_\d+)?")  # as the client and the gateway make them
_ANSWER = "Write the answer in one sentence."  # of four wordings, the one that a model of 135 million parameters did best with
_NOW = "Now answer the user in a full sentence, with the values above. Make a further call only if something is still missing."
_FAILED = "Make the call that is needed now, or tell the user in plain words what is missing."
_OPEN = "{names} was not run yet. Make that call now, with what the results say."


class Spoken:
    """Writes calls and results as a dialect does; what it does is noted."""

    def __init__(self, dialect: Dialect, notes: list[str]) -> None:
        self.dialect, self.notes = dialect, notes
        self._short: dict[str, str] = {}  # ids that we made up, as numbers: a small model copies what it sees, at length

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
            shown = tuple(msgspec.structs.replace(call, id=self._id(call.id)) for call in calls)
            said.append(Text(self.dialect.render_calls(shown)))
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
        told = msgspec.structs.replace(result, call_id=self._id(result.call_id), parts=tuple(parts))
        return [Text(self.dialect.render_result(told)), *beside]

    def _id(self, call_id: str) -> str:
        return self._short.setdefault(call_id, str(len(self._short) + 1)) if _MADE_UP.fullmatch(call_id) else call_id


def in_words(messages: tuple[Message, ...]) -> list[Message]:
    """Without a trace of calls, for a model that would imitate them: what they gave is said in words, behind the question."""
    said: list[Message] = []
    for message in messages:
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        if results:
            told = [Text(f"The result of {part.name or 'it'} is: {part.text}") for part in results]
            said.append(Message("user", tuple(told)))
            continue
        parts = tuple(part for part in message.parts if not isinstance(part, ToolCall))
        if parts:
            said.append(msgspec.structs.replace(message, parts=parts))
    if not messages or messages[-1].role != "tool":
        return said
    return [*said[:-1], msgspec.structs.replace(said[-1], parts=(*said[-1].parts, Text(_ANSWER)))]


def reminded(messages: list[Message], said: tuple[Message, ...]) -> list[Message]:
    """Behind results that came last: what to do with them. A small model makes the same call again, forgets one, or gives up.

    `said` is the conversation as it was, `messages` as it is written now.
    """
    results = [part for part in said[-1].parts if isinstance(part, ToolResult)]
    still_open = _refused_and_not_made(said)
    if all(part.is_error for part in results):
        told = _FAILED
    else:
        told = _OPEN.format(names=" and ".join(still_open)) if still_open else _NOW
    last = messages[-1]
    return [*messages[:-1], msgspec.structs.replace(last, parts=_joined([*last.parts, Text(told)], "\n\n"))]


def _refused_and_not_made(said: tuple[Message, ...]) -> list[str]:
    """Tools whose call was refused since the user spoke, and that have given nothing since."""
    asked = max((at for at, message in enumerate(said) if message.role == "user"), default=0)
    results = [part for message in said[asked:] for part in message.parts if isinstance(part, ToolResult)]
    made = {part.name for part in results if not part.is_error}
    refused = (part.name for part in results if part.is_error and part.text.startswith(NOT_RUN))
    return [name for name in dict.fromkeys(refused) if name and name not in made]


def without_system(messages: list[Message], notes: list[str]) -> list[Message]:
    """What the system says, said by the user, at the place where it stood."""
    if not any(message.role in _SYSTEM for message in messages):
        return messages
    notes.append("system prompt: the model's template takes none; said in the first user message")
    return [
        msgspec.structs.replace(message, role="user", name=None) if message.role in _SYSTEM else message for message in messages
    ]


def with_lesson(messages: list[Message], lesson: str) -> list[Message]:
    """Behind the system prompt that leads the conversation, or as one of its own."""
    if not messages or messages[0].role not in _SYSTEM:
        return [Message("system", (Text(lesson),)), *messages]
    first = messages[0]
    return [msgspec.structs.replace(first, parts=_joined([*first.parts, Text(lesson)], "\n\n")), *messages[1:]]


def merged(messages: list[Message]) -> tuple[Message, ...]:
    """Neighbours of one role as one message, since many templates want user and assistant in turn."""
    found: list[Message] = []
    for message in messages:
        last = found[-1] if found else None
        if last is None or message.role not in ("user", "assistant") or (last.role, last.name) != (message.role, message.name):
            found.append(message)
        else:
            parts = _joined([*last.parts, *message.parts], "\n\n")
            found[-1] = Message(last.role, parts, last.name, join_extra(last.extra, message.extra))
    return tuple(found)


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
