"""Contents, as Gemini has them: two roles, and the system's instruction apart."""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.core.fold import join_extra
from toolglot.core.history import link_results
from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, Media, Message, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult
from toolglot.errors import CallerError
from toolglot.reading.shape import an_object, each_object, no_such_word, own_extra
from toolglot.wires.gemini.parts import read_part, write_call, write_part, write_result
from toolglot.wires.gemini.shapes import SIGNATURE, UNSIGNED, WIRE, camel, rest_of

Body = dict[str, Any]

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
    for read in each_object(listed, "contents", _read_content):
        for message in read:
            if runs and message.role in ("assistant", "tool") and runs[-1][-1].role == message.role:
                runs[-1].append(message)
            else:
                runs.append([message])
    return link_results([run[0] if len(run) == 1 else _joined(run) for run in runs])


def _read_content(held: Body) -> list[Message]:
    """One content: a message, or the results in it and what the user says beside them."""
    role = held.get("role") or "user"
    if not isinstance(role, str) or role not in _ROLES:
        raise no_such_word("role", "user or model", role)
    more = rest_of(held, _CONTENT_KEYS)
    extra = {WIRE: more} if more else {}
    parts = read_parts(held.get("parts"))
    kinds = set(map(type, parts))
    if role == "model" or ToolCall in kinds:
        if ToolResult in kinds:
            raise CallerError("a functionResponse can't stand in a model's content", "parts")
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
    return tuple([part for part in each_object(listed, "parts", read_part) if part is not None])


def read_system(value: Any) -> Message:
    if isinstance(value, str):
        return Message("system", (Text(value),))
    held = camel(an_object(value, "systemInstruction"))
    parts = read_parts(held.get("parts")) if "parts" in held else read_parts([held] if held else None)
    return Message("system", parts)


def _joined(run: list[Message]) -> Message:
    """One turn out of several contents: SDKs keep each chunk of a stream as a content of its own, so texts go on."""
    parts: list[Part] = []
    texts: list[str] = []  # what the last part's text is made of
    extra: Extra = {}
    for message in run:
        extra = join_extra(extra, message.extra)
        for at, part in enumerate(message.parts):
            last = parts[-1] if parts and at == 0 else None
            if isinstance(last, (Text, Reasoning)) and type(part) is type(last) and SIGNATURE not in last.extra.get(WIRE, {}):
                texts.append(part.text)
                parts[-1] = msgspec.structs.replace(part, extra=join_extra(last.extra, part.extra))
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
    """The system's messages that lead, and all the others."""
    at = 0
    while at < len(messages) and messages[at].role in ("system", "developer"):
        at += 1
    return messages[:at], messages[at:]


def write_system(leading: tuple[Message, ...], notes: list[str]) -> Body | None:
    parts = [held for message in leading for part in message.parts if (held := write_part(part, notes)) is not None]
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
            parts = [held for part in message.parts if (held := write_part(part, notes)) is not None]
        else:
            parts = _write_tagged(message, notes)
        own = _note_rest(message, notes)
        if not parts:
            continue  # a content without parts is refused
        if written and (message.role, previous) in _ONE_CONTENT:
            written[-1]["parts"] += parts
            written[-1].update(own)
        else:
            written.append({"role": "model" if message.role == "assistant" else "user", "parts": parts, **own})
        previous = message.role
        if message.role == "assistant" and at >= turn:
            _sign(written[-1]["parts"])
    return written


# What goes into the content that stands there already: a turn is one, and what is said beside results comes with them.
_ONE_CONTENT = {("assistant", "assistant"), ("user", "tool")}


def _note_rest(message: Message, notes: list[str]) -> Body:
    if message.name is not None:
        notes.append(f"{message.role} message: gemini has no place for the name {message.name}; left out")
    return own_extra(message.extra, WIRE, f"{message.role} message", notes) if message.extra else {}


def _current_turn(messages: tuple[Message, ...]) -> int:
    """Where the turn that goes on begins: behind the last words that are not a model's or a tool's."""
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
            own = own_extra(part.extra, WIRE, f"call {part.id}", notes) if part.extra else {}
            written.append(write_call(part, own, notes))
        elif isinstance(part, Reasoning):
            held = _write_reasoning(part, notes)
            if held is not None:
                written.append(held)
        elif (held := write_part(part, notes)) is not None:
            written.append(held)
    return written


def _write_reasoning(part: Reasoning, notes: list[str]) -> Body | None:
    if part.extra.get(WIRE):
        return {"text": part.text, "thought": True, **own_extra(part.extra, WIRE, "reasoning", notes)}
    notes.append("reasoning in the history: gemini takes back only what it signed; left out")
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
    return written + [held for part in others if (held := write_part(part, notes)) is not None]


def _write_tagged(message: Message, notes: list[str]) -> list[Body]:
    """A system's message in the middle: the user says it, marked as what it is."""
    notes.append(f"{message.role} message inside the conversation: gemini has none; it goes as the user's, in a <system> tag")
    said = [part.text for part in message.parts if isinstance(part, Text) and part.text]
    others = [held for part in message.parts if type(part) is not Text and (held := write_part(part, notes)) is not None]
    return [{"text": f"<system>\n{chr(10).join(said)}\n</system>"}, *others] if said else others
