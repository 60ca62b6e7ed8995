"""OpenAI Chat messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import shake_128
from typing import Any

from toolglot.core.envelope import unseal
from toolglot.core.fold import merge_extra
from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, Media, Message, Part, Reasoning, Text, ToolCall, ToolResult
from toolglot.core.result_matching import ResultMatcher, mark_error_text
from toolglot.errors import CallerError
from toolglot.io.json_codec import dumps, loads_object
from toolglot.io.request_validation import (
    Body,
    not_one_of,
    read_each,
    require_object,
    require_string,
    unknown_extra,
    unknown_keys,
    wire_extra,
)
from toolglot.io.typed_fast_path import History, TypedMessages
from toolglot.wires.openai_chat import signatures
from toolglot.wires.openai_chat.parts import read_content, write_content, write_media
from toolglot.wires.openai_chat.shapes import WIRE
from toolglot.wires.openai_chat.typed_messages import SHAPES

_MESSAGE_KEYS = frozenset({"role", "content", "name"})
_RESULT_KEYS = _MESSAGE_KEYS | {"tool_call_id"}
_COMMON_ASSISTANT_KEYS = _MESSAGE_KEYS | {"tool_calls"}
_ASSISTANT_KEYS = _MESSAGE_KEYS | {"refusal", "tool_calls", "function_call"}
_REASONING_KEYS = frozenset({"reasoning_content", "reasoning", "reasoning_details"})
_CALL_KEYS = frozenset({"id", "type", "index", "function"})
_CUSTOM_KEYS = frozenset({"id", "type", "index", "custom"})
_FLAT_KEYS = frozenset({"id", "type", "index", "name", "arguments"})
_FUNCTION_KEYS = frozenset({"name", "arguments"})

# keys of a function's name and arguments, for error messages
_NESTED = ("function.name", "function.arguments")
_FLAT = ("name", "arguments")
_OLD = ("function_call.name", "function_call.arguments")


# -- reading


def read_messages(value: list[Any]) -> tuple[Message, ...]:
    return _group_results(read_each(value, "messages", _read_message))


def _group_results(items: Sequence[Any]) -> tuple[Message, ...]:
    messages: list[Message] = []
    results: list[ToolResult] = []  # those of one turn are one message
    calls = ResultMatcher()
    previous = ""
    for read in items:
        if type(read) is ToolResult:
            results.append(calls.result(read))
            continue
        if results:
            messages.append(Message("tool", tuple(results)))
            results, previous = [], "tool"
        if read.role == "assistant":
            read = calls.add_assistant(read, goes_on=previous == "assistant")
        previous = read.role
        messages.append(read)
    if results:
        messages.append(Message("tool", tuple(results)))
    return tuple(messages)


def _read_message(obj: Body) -> Message | ToolResult:
    role = obj.get("role")
    read = _READERS.get(role) if type(role) is str else None
    if read is None:
        raise not_one_of("role", "system, developer, user, assistant or tool", role)
    name = obj.get("name")
    if name is not None:
        require_string(name, "name")
    return read(obj, role, name)


def _read_plain(obj: Body, role: Any, name: str | None) -> Message:
    content = obj.get("content")
    content_parts: Any = (Text(content),) if type(content) is str and content else read_content(content)
    return Message(role, content_parts, name, {} if obj.keys() <= _MESSAGE_KEYS else unknown_extra(obj, _MESSAGE_KEYS, WIRE))


def _read_result(obj: Body, role: Any, name: str | None) -> ToolResult:
    call_id, content = obj.get("tool_call_id"), obj.get("content")
    if type(call_id) is not str:
        call_id = require_string(call_id or "", "tool_call_id")
    content_parts: Any = (Text(content),) if type(content) is str and content else read_content(content)
    return ToolResult(
        call_id, name, content_parts, False, {} if obj.keys() <= _RESULT_KEYS else unknown_extra(obj, _RESULT_KEYS, WIRE)
    )


def _read_assistant_message(obj: Body, role: Any, name: str | None) -> Message:
    """An assistant message; nearly all have only text and calls."""
    if not obj.keys() <= _COMMON_ASSISTANT_KEYS:
        parts, read = _read_assistant(obj)
        if not obj.get("annotations"):  # each reply has the field, and clients send it back
            read = read | {"annotations"}
        return Message(role, parts, name, unknown_extra(obj, read, WIRE))
    content, calls = obj.get("content"), obj.get("tool_calls")
    content_parts: tuple[Part, ...] = (Text(content),) if type(content) is str and content else read_content(content)
    made = () if calls is None else read_each(calls, "tool_calls", _read_call)
    return Message(role, (*content_parts, *made), name)


_READERS: dict[str, Callable[[Body, Any, str | None], Message | ToolResult]] = {
    **dict.fromkeys(("system", "developer", "user"), _read_plain),
    **dict.fromkeys(("tool", "function"), _read_result),
    "assistant": _read_assistant_message,
}
read_history = History(TypedMessages(SHAPES, _read_message), _group_results, read_messages)


def _read_assistant(obj: Body) -> tuple[tuple[Part, ...], frozenset[str]]:
    """The parts, and the keys that they were read from."""
    parts: list[Part] = []
    read = _ASSISTANT_KEYS
    if not _REASONING_KEYS.isdisjoint(obj):
        used, reasoning = read_reasoning(obj)
        parts += reasoning
        read = read | used
    parts += read_content(obj.get("content"))
    refusal = obj.get("refusal")
    if refusal:
        parts.append(Text(require_string(refusal, "refusal"), "refusal"))
    calls = obj.get("tool_calls")
    if calls is not None:
        parts += read_each(calls, "tool_calls", _read_call)
    legacy = obj.get("function_call")
    if legacy is not None:
        parts.append(_function_call("", require_object(legacy, "function_call"), _OLD, {}))
    return tuple(parts), read


def read_reasoning(obj: Body) -> tuple[set[str], tuple[Reasoning, ...]]:
    """The reasoning in an assistant message, under whichever key it came, and those keys."""
    used = {key for key in ("reasoning_content", "reasoning") if isinstance(obj.get(key), str)}
    text = obj.get("reasoning_content") or obj.get("reasoning")
    text = text if isinstance(text, str) else next((obj[key] for key in used if obj[key]), "")
    extra: Extra = {}
    details = obj.get("reasoning_details")
    if isinstance(details, list):
        used.add("reasoning_details")
        extra = _read_details(details)
        text = text or "".join(map(_detail_text, details))
    return used, (Reasoning(text, extra),) if text or extra else ()


def _read_details(details: list[Any]) -> Extra:
    """OpenRouter's reasoning_details, to be returned unchanged; another wire's sealed state in one is unsealed."""
    mine: list[Any] = []
    extra: Extra = {}
    for detail in details:
        foreign = unseal(detail.get("data")) if isinstance(detail, dict) else None
        if foreign is None:
            mine.append(detail)
        else:
            extra = merge_extra(extra, foreign)
    return merge_extra(extra, {WIRE: {"reasoning_details": mine}}) if mine else extra


def _detail_text(detail: Any) -> str:
    found = (detail.get("text") or detail.get("summary")) if isinstance(detail, dict) else None
    return found if isinstance(found, str) else ""


def _read_call(obj: Body) -> ToolCall:
    call_id = obj.get("id")
    if type(call_id) is not str:
        call_id = require_string(call_id or "", "id")
    if "function" in obj:
        extra = {} if obj.keys() <= _CALL_KEYS else signatures.from_client(unknown_extra(obj, _CALL_KEYS, WIRE))
        return _function_call(call_id, require_object(obj["function"], "function"), _NESTED, extra)
    if "custom" in obj:
        inner = require_object(obj["custom"], "custom")
        written = dumps({"input": require_string(inner.get("input") or "", "custom.input")})
        extra = signatures.from_client(unknown_extra(obj, _CUSTOM_KEYS, WIRE))
        return ToolCall(call_id, require_string(inner.get("name"), "custom.name"), written, custom=True, extra=extra)
    inner = {key: obj.get(key) for key in ("name", "arguments")}  # flat: they are in the call itself
    return _function_call(call_id, inner, _FLAT, unknown_extra(obj, _FLAT_KEYS, WIRE))


def _function_call(call_id: str, obj: Body, where: tuple[str, str], extra: Extra) -> ToolCall:
    """`where`: the function's keys, for error messages."""
    more = unknown_keys(obj, _FUNCTION_KEYS)
    if more:
        extra = merge_extra(extra, {WIRE: {"function": more}})
    name, arguments = obj.get("name"), obj.get("arguments")
    if type(arguments) is not str or not arguments:
        arguments = _arguments(arguments, where[1])
    return ToolCall(call_id, name if type(name) is str else require_string(name, where[0]), arguments, extra=extra)


def _arguments(value: Any, where: str) -> str:
    if value is None or value == "":
        return "{}"
    if isinstance(value, dict):
        try:
            return dumps(value)
        except RecursionError:
            raise CallerError("nested too deeply", where) from None
    return require_string(value, where)


# -- writing


def write_messages(messages: tuple[Message, ...], notes: list[str], quirks: Quirks) -> list[Any]:
    written: list[Any] = []
    pictures: list[Body] = []  # not allowed in a tool message: they follow all results, in a user message
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
    obj: Body = {"role": role, "content": write_content(message.parts, notes, quirks)}
    if message.name is not None or message.extra:
        _put_name_and_extra(message, obj, notes)
    return obj


def _put_name_and_extra(message: Message, obj: Body, notes: list[str]) -> None:
    if message.name is not None:
        obj["name"] = message.name
    if message.extra:
        obj.update(wire_extra(message.extra, WIRE, f"{message.role} message", notes))


def _write_assistant(message: Message, notes: list[str], quirks: Quirks) -> Body:
    content_parts: list[Part] = []
    calls: list[Body] = []
    obj: Body = {"role": "assistant"}
    refusals: list[str] = []
    for part in message.parts:
        if type(part) is ToolCall:
            calls.append(write_call(part, notes, quirks))
        elif type(part) is Reasoning:
            _write_reasoning(part, obj, notes, quirks)
        elif type(part) is Text and part.channel == "refusal":
            refusals.append(part.text)
        else:
            content_parts.append(part)
    # null is legal only if there is something else
    obj["content"] = write_content(tuple(content_parts), notes, quirks) if content_parts else None if calls or refusals else ""
    if refusals:
        obj["refusal"] = "".join(refusals)
    if calls:
        obj["tool_calls"] = calls
    if message.name is not None or message.extra:
        _put_name_and_extra(message, obj, notes)
    return obj


def _write_reasoning(part: Reasoning, obj: Body, notes: list[str], quirks: Quirks) -> None:
    details = part.extra.get(WIRE, {}).get("reasoning_details")
    if isinstance(details, list):
        obj.setdefault("reasoning_details", []).extend(details)
    if quirks.reasoning_key and part.text:
        obj[quirks.reasoning_key] = obj.get(quirks.reasoning_key, "") + part.text
    elif not details or (part.text and part.text != "".join(map(_detail_text, details))):
        notes.append("reasoning in the history: openai-chat has no place for it; left out")
    foreign = sorted(wire for wire in part.extra if wire != WIRE)
    if foreign:
        notes.append(f"reasoning: its signature is for {', '.join(foreign)} only; left out")


def write_call(call: ToolCall, notes: list[str], quirks: Quirks) -> Body:
    call_id = call.id if quirks.call_id_length is None else _fitted_id(call.id, quirks.call_id_length)
    if not call.extra and not call.custom:
        return {"id": call_id, "type": "function", "function": {"name": call.full_name, "arguments": call.arguments_json}}
    kept = wire_extra(signatures.kept(call.extra), WIRE, f"call {call.id}", notes) if call.extra else {}
    if call.custom and quirks.custom_tools:
        custom = {"name": call.full_name, "input": custom_input(call)}
        return {"id": call_id, "type": "custom", "custom": custom, **kept}
    function = {"name": call.full_name, "arguments": call.arguments_json, **kept.pop("function", {})}
    return {"id": call_id, "type": "function", "function": function, **kept}


def _fitted_id(call_id: str, length: int) -> str:
    """The id if the server accepts it, else a replacement derived from it, so that results still match."""
    if len(call_id) == length and call_id.isascii() and call_id.isalnum():
        return call_id
    return shake_128(call_id.encode("utf-8", "surrogatepass")).hexdigest(length)[:length]


def custom_input(call: ToolCall) -> str:
    """The free text of a custom call."""
    obj = loads_object(call.arguments_json) or {}
    value = obj.get("input", call.arguments_json)
    return value if isinstance(value, str) else dumps(value)


def _write_result(result: ToolResult, pictures: list[Body], notes: list[str], quirks: Quirks) -> Body:
    call_id = result.call_id if quirks.call_id_length is None else _fitted_id(result.call_id, quirks.call_id_length)
    obj: Body = {"role": "tool", "tool_call_id": call_id}
    if result.is_error or Media in map(type, result.parts):
        obj["content"] = write_content(_result_parts(result, pictures, notes, quirks), notes, quirks)
    else:
        obj["content"] = write_content(result.parts, notes, quirks)
    if result.extra:
        obj.update(wire_extra(result.extra, WIRE, f"result {result.call_id}", notes))
    return obj


def _result_parts(result: ToolResult, pictures: list[Body], notes: list[str], quirks: Quirks) -> tuple[Part, ...]:
    """Images follow elsewhere, and an error is marked in the text."""
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
        notes.append(f"result {result.call_id}: openai-chat has no error flag; marked in the text")
        parts = mark_error_text(parts)
    return tuple(parts)
