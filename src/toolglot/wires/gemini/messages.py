"""Gemini contents: two roles, and a separate system instruction."""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.core.fold import merge_extra
from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, Media, Message, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult
from toolglot.core.result_matching import match_results
from toolglot.errors import CallerError
from toolglot.io.request_validation import Body, not_one_of, read_each, require_object, unknown_keys, wire_extra
from toolglot.wires.gemini.parts import read_part, write_call, write_part, write_result
from toolglot.wires.gemini.shapes import SIGNATURE, UNSIGNED, WIRE, camel

_CONTENT_KEYS = frozenset({"role", "parts"})
_ROLES: dict[str, Role] = {
    "user": "user",
    "model": "assistant",
    "function": "user",
    "tool": "user",
    "system": "system",
}


# -- reading


def read_messages(value: Any) -> tuple[Message, ...]:
    runs: list[list[Message]] = []  # contents that are one message
    listed = value if isinstance(value, list) else [value]
    for read in read_each(listed, "contents", _read_content):
        for message in read:
            if runs and message.role in ("assistant", "tool") and runs[-1][-1].role == message.role:
                runs[-1].append(message)
            else:
                runs.append([message])
    return match_results([run[0] if len(run) == 1 else _joined(run) for run in runs])


def _read_content(obj: Body) -> list[Message]:
    """One content: a message, or its results and the user's other parts."""
    role = obj.get("role") or "user"
    if not isinstance(role, str) or role not in _ROLES:
        raise not_one_of("role", "user or model", role)
    more = unknown_keys(obj, _CONTENT_KEYS)
    extra = {WIRE: more} if more else {}
    parts = read_parts(obj.get("parts"))
    kinds = set(map(type, parts))
    if role == "model" or ToolCall in kinds:
        if ToolResult in kinds:
            raise CallerError("a functionResponse is not allowed in a model's content", "parts")
        return [Message("assistant", parts, extra=extra)]
    if ToolResult not in kinds:
        return [Message(_ROLES[role], parts, extra=extra)]
    results = tuple(part for part in parts if isinstance(part, ToolResult))
    if len(results) == len(parts):
        return [Message("tool", results, extra=extra)]
    others = tuple(part for part in parts if not isinstance(part, ToolResult))
    return [Message("tool", results), Message("user", others, extra=extra)]


def read_parts(value: Any) -> tuple[Part, ...]:
    if value is None:
        return ()
    listed = value if isinstance(value, list) else [value]
    return tuple([part for part in read_each(listed, "parts", read_part) if part is not None])


def read_system(value: Any) -> Message:
    if isinstance(value, str):
        return Message("system", (Text(value),))
    obj = camel(require_object(value, "systemInstruction"))
    parts = read_parts(obj.get("parts")) if "parts" in obj else read_parts([obj] if obj else None)
    return Message("system", parts)


def _joined(run: list[Message]) -> Message:
    """One turn from several contents: SDKs keep each chunk of a stream as one content, so texts are joined."""
    parts: list[Part] = []
    texts: list[str] = []  # the pieces of the last part's text
    extra: Extra = {}
    for message in run:
        extra = merge_extra(extra, message.extra)
        for at, part in enumerate(message.parts):
            last = parts[-1] if parts and at == 0 else None
            if isinstance(last, (Text, Reasoning)) and type(part) is type(last) and SIGNATURE not in last.extra.get(WIRE, {}):
                texts.append(part.text)
                parts[-1] = msgspec.structs.replace(part, extra=merge_extra(last.extra, part.extra))
                continue
            _settle(parts, texts)
            parts.append(part)
            texts = [part.text] if isinstance(part, (Text, Reasoning)) else []
    _settle(parts, texts)
    return Message(run[0].role, tuple(parts), extra=extra)


def _settle(parts: list[Part], texts: list[str]) -> None:
    if len(texts) > 1:
        parts[-1] = msgspec.structs.replace(parts[-1], text="".join(texts))


# -- writing


def split_system(messages: tuple[Message, ...]) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """The leading system messages, and all others."""
    at = 0
    while at < len(messages) and messages[at].role in ("system", "developer"):
        at += 1
    return messages[:at], messages[at:]


def write_system(leading: tuple[Message, ...], notes: list[str]) -> Body | None:
    parts = [obj for message in leading for part in message.parts if (obj := write_part(part, notes)) is not None]
    for message in leading:
        _note_rest(message, notes)
    return {"parts": parts} if parts else None


def write_messages(messages: tuple[Message, ...], notes: list[str], quirks: Quirks) -> list[Any]:
    written: list[Body] = []
    turn = _current_turn(messages)
    calls: list[str] = []
    previous = ""
    for at, message in enumerate(messages):
        if message.role == "assistant":
            calls = calls if previous == "assistant" else []
            calls += [part.id for part in message.parts if isinstance(part, ToolCall)]
            parts = _write_turn(message, notes)
        elif message.role == "tool":
            parts = _write_results(message, calls, notes)
        elif message.role == "user":
            parts = [obj for part in message.parts if (obj := write_part(part, notes)) is not None]
        else:
            parts = _write_tagged(message, notes)
        fields = _note_rest(message, notes)
        if not parts:
            continue  # the API rejects a content without parts
        if written and (message.role, previous) in _ONE_CONTENT:
            written[-1]["parts"] += parts
            written[-1].update(fields)
        else:
            written.append({"role": "model" if message.role == "assistant" else "user", "parts": parts, **fields})
        previous = message.role
        if message.role == "assistant" and at >= turn:
            _sign(written[-1]["parts"])
    return written


# Roles that are appended to the content before: a turn is one content, and so are results and what follows them.
_ONE_CONTENT = {("assistant", "assistant"), ("user", "tool")}


def _note_rest(message: Message, notes: list[str]) -> Body:
    if message.name is not None:
        notes.append(f"{message.role} message: gemini has no place for the name {message.name}; left out")
    return wire_extra(message.extra, WIRE, f"{message.role} message", notes) if message.extra else {}


def _current_turn(messages: tuple[Message, ...]) -> int:
    """The start of the current turn: after the last message that is not the assistant's or a tool's."""
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if message.role not in ("assistant", "tool") and any(isinstance(part, (Text, Media)) for part in message.parts):
            return at + 1
    return 0


def _sign(parts: list[Body]) -> None:
    """In the current turn, the first call of each step must be signed; calls of other models are not."""
    for part in parts:
        if "functionCall" in part:
            part.setdefault(SIGNATURE, UNSIGNED)
            return


def _write_turn(message: Message, notes: list[str]) -> list[Body]:
    written: list[Body] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            fields = wire_extra(part.extra, WIRE, f"call {part.id}", notes) if part.extra else {}
            written.append(write_call(part, fields, notes))
        elif isinstance(part, Reasoning):
            obj = _write_reasoning(part, notes)
            if obj is not None:
                written.append(obj)
        elif (obj := write_part(part, notes)) is not None:
            written.append(obj)
    return written


def _write_reasoning(part: Reasoning, notes: list[str]) -> Body | None:
    if part.extra.get(WIRE):
        return {"text": part.text, "thought": True, **wire_extra(part.extra, WIRE, "reasoning", notes)}
    notes.append("reasoning in the history: gemini accepts only what it signed; left out")
    return None


def _write_results(message: Message, calls: list[str], notes: list[str]) -> list[Body]:
    """In the order of the calls. Anything else in the message is written behind them."""
    results = [part for part in message.parts if isinstance(part, ToolResult)]
    if [result.call_id for result in results] != calls:
        place = {call_id: at for at, call_id in enumerate(calls)}
        results.sort(key=lambda result: place.get(result.call_id, len(place)))
    written = [write_result(result, notes) for result in results]
    if len(results) == len(message.parts):
        return written
    others = [part for part in message.parts if isinstance(part, (Text, Media, Opaque))]
    return written + [obj for part in others if (obj := write_part(part, notes)) is not None]


def _write_tagged(message: Message, notes: list[str]) -> list[Body]:
    """A system message inside the conversation: written as a user message with a tag."""
    notes.append(f"{message.role} message inside the conversation: gemini has none; sent as a user message in a <system> tag")
    texts = [part.text for part in message.parts if isinstance(part, Text) and part.text]
    others = [obj for part in message.parts if type(part) is not Text and (obj := write_part(part, notes)) is not None]
    return [{"text": f"<system>\n{chr(10).join(texts)}\n</system>"}, *others] if texts else others
