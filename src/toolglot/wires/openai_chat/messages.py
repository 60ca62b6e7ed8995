"""Messages, as OpenAI Chat has them."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import shake_128
from typing import Any

import msgspec

from toolglot.core.envelope import unseal
from toolglot.core.fold import join_extra
from toolglot.core.history import Linking, said_as_error
from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, Media, Message, Part, Reasoning, Text, ToolCall, ToolResult
from toolglot.errors import CallerError
from toolglot.reading.plainly import Plainly
from toolglot.reading.shape import a_string, an_object, beyond, each_object, no_such_word, own_extra
from toolglot.text.json_text import decode, dumps, loads_object
from toolglot.wires.openai_chat import signatures
from toolglot.wires.openai_chat.parts import read_content, write_content, write_media
from toolglot.wires.openai_chat.plain import SHAPES
from toolglot.wires.openai_chat.shapes import WIRE

Body = dict[str, Any]

_MESSAGE_KEYS = frozenset({"role", "content", "name"})
_RESULT_KEYS = _MESSAGE_KEYS | {"tool_call_id"}
_SPOKEN_KEYS = _MESSAGE_KEYS | {"tool_calls"}
_ASSISTANT_KEYS = _MESSAGE_KEYS | {"refusal", "tool_calls", "function_call"}
_REASONING_KEYS = frozenset({"reasoning_content", "reasoning", "reasoning_details"})
_CALL_KEYS = frozenset({"id", "type", "index", "function"})
_CUSTOM_KEYS = frozenset({"id", "type", "index", "custom"})
_FLAT_KEYS = frozenset({"id", "type", "index", "name", "arguments"})
_FUNCTION_KEYS = frozenset({"name", "arguments"})

# how a function's name and arguments are called from the call's place
_NESTED = ("function.name", "function.arguments")
_FLAT = ("name", "arguments")
_OLD = ("function_call.name", "function_call.arguments")


# -- reading


def read_messages(value: list[Any]) -> tuple[Message, ...]:
    return _gathered(each_object(value, "messages", _read_message))


def read_history(data: bytes | msgspec.Raw) -> tuple[Message, ...]:
    """As `read_messages`, from bytes."""
    read = _plainly(data)
    return read_messages(decode(data)) if read is None else _gathered(read)


def _gathered(said: list[Any]) -> tuple[Message, ...]:
    messages: list[Message] = []
    results: list[ToolResult] = []  # those of one turn are one message
    calls = Linking()
    previous = ""
    for read in said:
        if type(read) is ToolResult:
            results.append(calls.result(read))
            continue
        if results:
            messages.append(Message("tool", tuple(results)))
            results, previous = [], "tool"
        if read.role == "assistant":
            read = calls.made(read, goes_on=previous == "assistant")
        previous = read.role
        messages.append(read)
    if results:
        messages.append(Message("tool", tuple(results)))
    return tuple(messages)


def _read_message(held: Body) -> Message | ToolResult:
    role = held.get("role")
    read = _READERS.get(role) if type(role) is str else None
    if read is None:
        raise no_such_word("role", "system, developer, user, assistant or tool", role)
    name = held.get("name")
    if name is not None:
        a_string(name, "name")
    return read(held, role, name)


def _read_plain(held: Body, role: Any, name: str | None) -> Message:
    content = held.get("content")
    said: Any = (Text(content),) if type(content) is str and content else read_content(content)
    return Message(role, said, name, {} if held.keys() <= _MESSAGE_KEYS else beyond(held, _MESSAGE_KEYS, WIRE))


def _read_result(held: Body, role: Any, name: str | None) -> ToolResult:
    call_id, content = held.get("tool_call_id"), held.get("content")
    if type(call_id) is not str:
        call_id = a_string(call_id or "", "tool_call_id")
    said: Any = (Text(content),) if type(content) is str and content else read_content(content)
    return ToolResult(call_id, name, said, False, {} if held.keys() <= _RESULT_KEYS else beyond(held, _RESULT_KEYS, WIRE))


def _read_spoken(held: Body, role: Any, name: str | None) -> Message:
    """An assistant's message; nearly all hold a text and calls alone."""
    if not held.keys() <= _SPOKEN_KEYS:
        parts, read = _read_assistant(held)
        return Message(role, parts, name, beyond(held, read, WIRE))
    content, calls = held.get("content"), held.get("tool_calls")
    said: tuple[Part, ...] = (Text(content),) if type(content) is str and content else read_content(content)
    made = () if calls is None else each_object(calls, "tool_calls", _read_call)
    return Message(role, (*said, *made), name)


_READERS: dict[str, Callable[[Body, Any, str | None], Message | ToolResult]] = {
    **dict.fromkeys(("system", "developer", "user"), _read_plain),
    **dict.fromkeys(("tool", "function"), _read_result),
    "assistant": _read_spoken,
}
_plainly = Plainly(SHAPES, _read_message)


def _read_assistant(held: Body) -> tuple[tuple[Part, ...], frozenset[str]]:
    """The parts, and the keys that they were read from."""
    parts: list[Part] = []
    read = _ASSISTANT_KEYS
    if not _REASONING_KEYS.isdisjoint(held):
        used, reasoning = read_reasoning(held)
        parts += reasoning
        read = read | used
    parts += read_content(held.get("content"))
    refusal = held.get("refusal")
    if refusal:
        parts.append(Text(a_string(refusal, "refusal"), "refusal"))
    calls = held.get("tool_calls")
    if calls is not None:
        parts += each_object(calls, "tool_calls", _read_call)
    legacy = held.get("function_call")
    if legacy is not None:
        parts.append(_function_call("", an_object(legacy, "function_call"), _OLD, {}))
    return tuple(parts), read


def read_reasoning(held: Body) -> tuple[set[str], tuple[Reasoning, ...]]:
    """The reasoning in an assistant message, under whichever key it came, and those keys."""
    used = {key for key in ("reasoning_content", "reasoning") if isinstance(held.get(key), str)}
    text = held.get("reasoning_content") or held.get("reasoning")
    text = text if isinstance(text, str) else next((held[key] for key in used if held[key]), "")
    extra: Extra = {}
    details = held.get("reasoning_details")
    if isinstance(details, list):
        used.add("reasoning_details")
        extra = _read_details(details)
        text = text or "".join(map(_detail_text, details))
    return used, (Reasoning(text, extra),) if text or extra else ()


def _read_details(details: list[Any]) -> Extra:
    """OpenRouter's reasoning_details, to be given back unchanged; what another wire sealed into one comes out here."""
    mine: list[Any] = []
    extra: Extra = {}
    for detail in details:
        foreign = unseal(detail.get("data")) if isinstance(detail, dict) else None
        if foreign is None:
            mine.append(detail)
        else:
            extra = join_extra(extra, foreign)
    return join_extra(extra, {WIRE: {"reasoning_details": mine}}) if mine else extra


def _detail_text(detail: Any) -> str:
    found = (detail.get("text") or detail.get("summary")) if isinstance(detail, dict) else None
    return found if isinstance(found, str) else ""


def _read_call(held: Body) -> ToolCall:
    call_id = held.get("id")
    if type(call_id) is not str:
        call_id = a_string(call_id or "", "id")
    if "function" in held:
        extra = {} if held.keys() <= _CALL_KEYS else signatures.heard(beyond(held, _CALL_KEYS, WIRE))
        return _function_call(call_id, an_object(held["function"], "function"), _NESTED, extra)
    if "custom" in held:
        inner = an_object(held["custom"], "custom")
        written = dumps({"input": a_string(inner.get("input") or "", "custom.input")})
        extra = signatures.heard(beyond(held, _CUSTOM_KEYS, WIRE))
        return ToolCall(call_id, a_string(inner.get("name"), "custom.name"), written, custom=True, extra=extra)
    inner = {key: held.get(key) for key in ("name", "arguments")}  # flat: they stand in the call itself
    return _function_call(call_id, inner, _FLAT, beyond(held, _FLAT_KEYS, WIRE))


def _function_call(call_id: str, held: Body, where: tuple[str, str], extra: Extra) -> ToolCall:
    """`where`: how the function's keys are called from the call's place."""
    if not held.keys() <= _FUNCTION_KEYS:
        extra = join_extra(extra, {WIRE: {"function": beyond(held, _FUNCTION_KEYS, WIRE)[WIRE]}})
    name, arguments = held.get("name"), held.get("arguments")
    if type(arguments) is not str or not arguments:
        arguments = _arguments(arguments, where[1])
    return ToolCall(call_id, name if type(name) is str else a_string(name, where[0]), arguments, extra=extra)


def _arguments(value: Any, where: str) -> str:
    if value is None or value == "":
        return "{}"
    if isinstance(value, dict):
        try:
            return dumps(value)
        except RecursionError:
            raise CallerError("nested too deeply", where) from None
    return a_string(value, where)


# -- writing


def write_messages(messages: tuple[Message, ...], notes: list[str], quirks: Quirks) -> list[Any]:
    written: list[Any] = []
    pictures: list[Body] = []  # a tool's message can't hold them: they follow all results, as the user's
    for message in messages:
        role = message.role
        if pictures and role != "tool":
            written.append({"role": "user", "content": pictures})
            pictures = []
        if role == "tool":
            for part in message.parts:
                if type(part) is ToolResult:
                    written.append(_write_result(part, pictures, notes, quirks))
        elif role == "assistant":
            written.append(_write_assistant(message, notes, quirks))
        else:
            written.append(_write_plain(message, notes, quirks))
    if pictures:
        written.append({"role": "user", "content": pictures})
    return written


def _write_plain(message: Message, notes: list[str], quirks: Quirks) -> Body:
    role = message.role
    if role == "developer" and not quirks.developer_role:
        role = "system"
    held: Body = {"role": role, "content": write_content(message.parts, notes, quirks)}
    if message.name is not None or message.extra:
        _put_name_and_extra(message, held, notes)
    return held


def _put_name_and_extra(message: Message, held: Body, notes: list[str]) -> None:
    if message.name is not None:
        held["name"] = message.name
    if message.extra:
        held.update(own_extra(message.extra, WIRE, f"{message.role} message", notes))


def _write_assistant(message: Message, notes: list[str], quirks: Quirks) -> Body:
    said: list[Part] = []
    calls: list[Body] = []
    held: Body = {"role": "assistant"}
    refusals: list[str] = []
    for part in message.parts:
        if type(part) is ToolCall:
            calls.append(write_call(part, notes, quirks))
        elif type(part) is Reasoning:
            _write_reasoning(part, held, notes, quirks)
        elif type(part) is Text and part.channel == "refusal":
            refusals.append(part.text)
        else:
            said.append(part)
    # null is legal only where something else is said
    held["content"] = write_content(tuple(said), notes, quirks) if said else None if calls or refusals else ""
    if refusals:
        held["refusal"] = "".join(refusals)
    if calls:
        held["tool_calls"] = calls
    if message.name is not None or message.extra:
        _put_name_and_extra(message, held, notes)
    return held


def _write_reasoning(part: Reasoning, held: Body, notes: list[str], quirks: Quirks) -> None:
    details = part.extra.get(WIRE, {}).get("reasoning_details")
    if isinstance(details, list):
        held.setdefault("reasoning_details", []).extend(details)
    if quirks.reasoning_key and part.text:
        held[quirks.reasoning_key] = held.get(quirks.reasoning_key, "") + part.text
    elif not details:
        notes.append("reasoning in the history: openai-chat has no place for it; left out")
    foreign = sorted(wire for wire in part.extra if wire != WIRE)
    if foreign:
        notes.append(f"reasoning: its signature is for {', '.join(foreign)} alone; left out")


def write_call(call: ToolCall, notes: list[str], quirks: Quirks) -> Body:
    call_id = call.id if quirks.call_id_length is None else _fitted_id(call.id, quirks.call_id_length)
    if not call.extra and not call.custom:
        return {"id": call_id, "type": "function", "function": {"name": call.full_name, "arguments": call.arguments_json}}
    kept = own_extra(signatures.kept(call.extra), WIRE, f"call {call.id}", notes) if call.extra else {}
    if call.custom and quirks.custom_tools:
        custom = {"name": call.full_name, "input": custom_input(call)}
        return {"id": call_id, "type": "custom", "custom": custom, **kept}
    function = {"name": call.full_name, "arguments": call.arguments_json, **kept.pop("function", {})}
    return {"id": call_id, "type": "function", "function": function, **kept}


def _fitted_id(call_id: str, length: int) -> str:
    """The id itself where the server takes it, else a stand-in: the same for the same id, so that results still match."""
    if len(call_id) == length and call_id.isascii() and call_id.isalnum():
        return call_id
    return shake_128(call_id.encode("utf-8", "surrogatepass")).hexdigest(length)[:length]


def custom_input(call: ToolCall) -> str:
    """The free text of a custom call."""
    held = loads_object(call.arguments_json) or {}
    value = held.get("input", call.arguments_json)
    return value if isinstance(value, str) else dumps(value)


def _write_result(result: ToolResult, pictures: list[Body], notes: list[str], quirks: Quirks) -> Body:
    call_id = result.call_id if quirks.call_id_length is None else _fitted_id(result.call_id, quirks.call_id_length)
    held: Body = {"role": "tool", "tool_call_id": call_id}
    if result.is_error or Media in map(type, result.parts):
        held["content"] = write_content(_result_parts(result, pictures, notes, quirks), notes, quirks)
    else:
        held["content"] = write_content(result.parts, notes, quirks)
    if result.extra:
        held.update(own_extra(result.extra, WIRE, f"result {result.call_id}", notes))
    return held


def _result_parts(result: ToolResult, pictures: list[Body], notes: list[str], quirks: Quirks) -> tuple[Part, ...]:
    """Pictures follow elsewhere, and an error is said in words."""
    parts: list[Part] = []
    for part in result.parts:
        if isinstance(part, Media):
            shown = write_media(part, notes, quirks)
            if shown is not None:
                notes.append(f"result {result.call_id}: its {part.kind} follows in a user message")
                pictures += [{"type": "text", "text": f"({part.kind} of the result of {result.call_id})"}, shown]
                parts.append(Text(f"({part.kind} follows)"))
        else:
            parts.append(part)
    if result.is_error:
        notes.append(f"result {result.call_id}: openai-chat has no error flag; the text says so")
        parts = said_as_error(parts)
    return tuple(parts)
