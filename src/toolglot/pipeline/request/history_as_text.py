"""Rewrite the history for models that don't support parts of it: calls and results as text, unsupported roles."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cached_property
from itertools import groupby
from typing import Any, Literal

import msgspec

from toolglot.core.fold import merge_extra
from toolglot.core.messages import Media, Message, Part, Text, ToolCall, ToolResult
from toolglot.core.result_matching import mark_error_text
from toolglot.grammars.dialect import Dialect
from toolglot.io.json_codec import loads_object

ResultsAs = Literal["user", "tool"]
_SYSTEM = ("system", "developer")
_GENERATED_ID = re.compile(r"call_[0-9a-ft][0-9a-f]{23}(?:_\d+)?")  # the format of the client and the gateway
_SIGN = re.compile(r"[<>\[\]|~=]")
_PLACE = "PLACE-OF-THE-RESULT"
_BETWEEN = "Done."  # after results that a user message follows directly
_NOW = "Now answer the user in a full sentence, with the values above. Make a further call only if something is still missing."
_FAILED = "Make the call that is needed now, or tell the user in plain words what is missing."
_OPEN = "{names} was not run yet. Make that call now, with what the results say."


class HistoryAsText:
    """Writes calls and results in a dialect, and adds notes."""

    def __init__(self, dialect: Dialect, notes: list[str]) -> None:
        self.dialect, self.notes = dialect, notes
        self._short: dict[str, str] = {}  # generated ids -> numbers: a small model copies long ids

    def history(self, messages: tuple[Message, ...], results_as: ResultsAs) -> list[Message]:
        rewritten: list[Message] = []
        calls = results = 0
        for message in messages:
            if message.role == "assistant" and any(isinstance(part, ToolCall) for part in message.parts):
                calls += sum(isinstance(part, ToolCall) for part in message.parts)
                message = msgspec.structs.replace(message, parts=self._assistant(message.parts))
            elif message.role == "tool" and results_as == "user":
                results += sum(isinstance(part, ToolResult) for part in message.parts)
                message = msgspec.structs.replace(message, role="user", parts=self._results(message.parts))
            rewritten.append(message)
        if calls or results:
            self.notes.append(f"history: {calls} calls and {results} results written as text")
        return rewritten

    def _assistant(self, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        """Adjacent calls are written as one group, on a new line."""
        output: list[Part] = []
        for is_call, group in groupby(parts, lambda part: isinstance(part, ToolCall)):
            if not is_call:
                output += group
                continue
            calls: tuple[Any, ...] = tuple(group)
            for call in calls:
                if loads_object(call.arguments_json) is None:
                    self.notes.append(f"call of {call.full_name}: its arguments are not a JSON object; left out")
            shown = tuple(msgspec.structs.replace(call, id=self._id(call.id)) for call in calls)
            output.append(Text(self.dialect.render_calls(shown)))
        return _joined(output, "\n")

    def _results(self, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        output: list[Part] = []
        for part in parts:
            output += self._result(part) if isinstance(part, ToolResult) else [part]
        return _joined(output, "\n\n")

    def _result(self, result: ToolResult) -> list[Part]:
        """The text in the dialect, with a placeholder for media, which follows it."""
        beside: list[Part] = [part for part in result.parts if not isinstance(part, Text)]
        parts: Any = [part for part in result.parts if isinstance(part, Text)]
        if beside:
            kinds = ", ".join(part.kind if isinstance(part, Media) else "a block" for part in beside)
            self.notes.append(f"result of {result.name or result.call_id}: {kinds} moved behind its text")
            parts.append(Text(f"{' ' if parts else ''}[{kinds}: below]"))
        if result.is_error:
            parts = mark_error_text(parts)
        parts = self._escaped(parts, result)
        shown = msgspec.structs.replace(result, call_id=self._id(result.call_id), parts=tuple(parts))
        return [Text(self.dialect.render_result(shown)), *beside]

    def _escaped(self, parts: list[Text], result: ToolResult) -> list[Text]:
        """A result can't end itself or begin a call: a backslash splits the dialect's markers in it."""
        found = re.compile("|".join(map(re.escape, self._markers))) if self._markers else None
        if found is None or not any(found.search(part.text) for part in parts):
            return parts
        self.notes.append(f"result of {result.name or result.call_id}: markers of the dialect escaped with a backslash")
        return [
            msgspec.structs.replace(part, text=found.sub(lambda one: f"{one[0][0]}\\{one[0][1:]}", part.text)) for part in parts
        ]

    @cached_property
    def _markers(self) -> list[str]:
        """The openers of calls, and what stands around a result; the longest first."""
        around = self.dialect.render_result(ToolResult("", "", (Text(_PLACE),))).split(_PLACE)
        openers = () if self.dialect.weak else (one for grammar in self.dialect.grammars for one in grammar.openers)
        markers = {line.strip() for text in (*around, *openers) for line in text.splitlines()}
        return sorted((one for one in markers if len(one) > 2 and _SIGN.search(one)), key=len, reverse=True)

    def _id(self, call_id: str) -> str:
        return self._short.setdefault(call_id, str(len(self._short) + 1)) if _GENERATED_ID.fullmatch(call_id) else call_id


def results_as_text(messages: tuple[Message, ...]) -> list[Message]:
    """The history without calls, which a small model would imitate. Each result becomes a line in a user message."""
    output: list[Message] = []
    for message in messages:
        results = [part for part in message.parts if isinstance(part, ToolResult)]
        if results:
            lines = [f"The result of {part.name or 'the call'} is: {part.text}" for part in results if part.rejected is None]
            output += [Message("user", (Text("\n".join(lines)),))] if lines else []
            continue
        parts = tuple(part for part in message.parts if not isinstance(part, ToolCall))
        if parts and not message.rejected:
            output.append(msgspec.structs.replace(message, parts=parts))
    return output


def with_reminder(messages: list[Message], original: tuple[Message, ...]) -> list[Message]:
    """Add an instruction after the latest results. Without it a small model repeats a call, forgets one, or gives up.

    `original` is the conversation before it was rewritten as `messages`.
    """
    results = [part for part in original[-1].parts if isinstance(part, ToolResult)]
    still_open = _rejected_and_open(original)
    if all(part.is_error for part in results):
        reminder = _FAILED
    else:
        reminder = _OPEN.format(names=" and ".join(still_open)) if still_open else _NOW
    last = messages[-1]
    return [*messages[:-1], msgspec.structs.replace(last, parts=_joined([*last.parts, Text(reminder)], "\n\n"))]


def _rejected_and_open(original: tuple[Message, ...]) -> list[str]:
    """Tools with a rejected call and no successful result since the last user message."""
    last_user = max((at for at, message in enumerate(original) if message.role == "user"), default=0)
    results = [part for message in original[last_user:] for part in message.parts if isinstance(part, ToolResult)]
    succeeded = {part.name for part in results if not part.is_error}
    rejected = (part.name for part in results if part.rejected is not None)
    return [name for name in dict.fromkeys(rejected) if name and name not in succeeded]


def system_as_user(messages: list[Message], notes: list[str]) -> list[Message]:
    """System messages as user messages, in the same place."""
    if not any(message.role in _SYSTEM for message in messages):
        return messages
    notes.append("system prompt: the model's chat template has none; moved to the first user message")
    return [
        msgspec.structs.replace(message, role="user", name=None) if message.role in _SYSTEM else message for message in messages
    ]


def fold_late_system(messages: list[Message], notes: list[str]) -> list[Message]:
    """One system message at the beginning. A later one becomes a marked part of a user turn in the same place.

    It is not moved to the beginning: that would change the start of the prompt, and lose the server's prefix cache.
    """
    leading = next((at for at, message in enumerate(messages) if message.role not in _SYSTEM), len(messages))
    late = sum(message.role in _SYSTEM for message in messages[leading:])
    if leading <= 1 and not late:
        return messages
    folded: list[Message] = []
    if leading:
        parts = _joined([part for message in messages[:leading] for part in message.parts], "\n\n")
        folded.append(Message("system", parts))
    before_folded = False  # the message before was a system message
    for message in messages[leading:]:
        is_late = message.role in _SYSTEM
        if is_late:
            message = Message("user", _marked(message.parts))
        if folded and folded[-1].role == message.role == "user" and (is_late or before_folded):
            parts = _joined([*folded[-1].parts, *message.parts], "\n\n")
            folded[-1] = msgspec.structs.replace(folded[-1], parts=parts, extra=merge_extra(folded[-1].extra, message.extra))
        else:
            folded.append(message)
        before_folded = is_late
    if late:
        notes.append(f"system messages: {late} later ones became parts of user turns, because the chat template refuses them")
    return folded


def _marked(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    text = "\n\n".join(part.text for part in parts if isinstance(part, Text))
    return (Text(f"<system>\n{text}\n</system>"), *(part for part in parts if not isinstance(part, Text)))


def fit_system(messages: list[Message], refuses: Collection[str], notes: list[str]) -> list[Message]:
    """The system messages in a form that the chat template takes."""
    if "system" in refuses:
        return system_as_user(messages, notes)
    return fold_late_system(messages, notes) if "late_system" in refuses else messages


def separate_results(messages: list[Message]) -> list[Message]:
    """For templates where user and assistant alternate: between results and a user message stands one of the assistant."""
    separated: list[Message] = []
    for message in messages:
        if message.role == "user" and separated and separated[-1].role == "tool":
            separated.append(Message("assistant", (Text(_BETWEEN),)))
        separated.append(message)
    return separated


def add_instructions(messages: list[Message], instructions: str) -> list[Message]:
    """Append the instructions to the leading system prompt, or add one."""
    if not messages or messages[0].role not in _SYSTEM:
        return [Message("system", (Text(instructions),)), *messages]
    first = messages[0]
    return [msgspec.structs.replace(first, parts=_joined([*first.parts, Text(instructions)], "\n\n")), *messages[1:]]


def merge_same_role(messages: list[Message]) -> list[Message]:
    """Merge adjacent messages of the same role: many chat templates require user and assistant to alternate."""
    merged: list[Message] = []
    for message in messages:
        last = merged[-1] if merged else None
        if last is None or message.role not in ("user", "assistant") or (last.role, last.name) != (message.role, message.name):
            merged.append(message)
        else:
            parts = _joined([*last.parts, *message.parts], "\n\n")
            merged[-1] = Message(last.role, parts, last.name, merge_extra(last.extra, message.extra))
    return merged


def _joined(parts: Iterable[Part], between: str) -> tuple[Part, ...]:
    """Join adjacent plain texts. A text with extra data stays a separate part."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, Text) and isinstance(last, Text) and part == Text(part.text) and last == Text(last.text):
            gap = "" if not last.text or last.text.endswith("\n") else between
            joined[-1] = Text(last.text + gap + part.text)
        else:
            joined.append(part)
    return tuple(joined)
