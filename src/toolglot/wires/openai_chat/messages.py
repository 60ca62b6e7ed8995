"""Messages, as OpenAI Chat has them."""

from __future__ import annotations

from hashlib import shake_128
from typing import Any

import msgspec

from toolglot.core.envelope import unseal
from toolglot.core.fold import join_extra
from toolglot.core.history import link_results, said_as_error
from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, Media, Message, Part, Reasoning, Text, ToolCall, ToolResult
from toolglot.errors import CallerError
from toolglot.reading.shape import a_string, an_object, each_object, misfit, or_none, own_extra
from toolglot.text.json_text import dumps, loads_object
from toolglot.wires.openai_chat import signatures
from toolglot.wires.openai_chat.parts import read_content, write_content, write_media
from toolglot.wires.openai_chat.shapes import WIRE

Body = dict[str, Any]

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")


_REASONING_KEYS = frozenset({"reasoning_content", "reasoning", "reasoning_details"})


# -- reading


def read_messages(value: list[Any]) -> tuple[Message, ...]:
    messages: list[Message] = []
    for message in each_object(value, "messages", _read_message):
        if message.role == "tool" and messages and messages[-1].role == "tool":
            both = (*messages[-1].parts, *message.parts)
            messages[-1] = msgspec.structs.replace(messages[-1], parts=both)
        else:
            messages.append(message)
    return link_results(messages)


def _read_message(held: Body) -> Message:
    rest = dict(held)
    role = rest.pop("role", None)
    if role not in _ROLES:
        raise misfit("role", "system, developer, user, assistant or tool", role)
    name = or_none(a_string, rest.pop("name", None), "name")
    if role in ("tool", "function"):
        call_id = a_string(rest.pop("tool_call_id", None) or "", "tool_call_id")
        shown: Any = read_content(rest.pop("content", None))
        return Message("tool", (ToolResult(call_id, name, shown, extra={WIRE: rest} if rest else {}),))
    parts = _read_assistant(rest) if role == "assistant" else read_content(rest.pop("content", None))
    return Message(role, parts, name, {WIRE: rest} if rest else {})


def _read_assistant(rest: Body) -> tuple[Part, ...]:
    parts: list[Part] = [*read_reasoning(rest), *read_content(rest.pop("content", None))]
    refusal = or_none(a_string, rest.pop("refusal", None), "refusal")
    if refusal:
        parts.append(Text(refusal, "refusal"))
    calls = rest.pop("tool_calls", None)
    if calls is not None:
        parts += each_object(calls, "tool_calls", _read_call)
    legacy = rest.pop("function_call", None)
    if legacy is not None:
        parts.append(_function_call("", an_object(legacy, "function_call"), "function_call.", {}))
    return tuple(parts)


def read_reasoning(rest: Body) -> tuple[Reasoning, ...]:
    """Takes the reasoning out of an assistant message, under whichever key it came."""
    if _REASONING_KEYS.isdisjoint(rest):
        return ()
    texts = [rest.pop(key) for key in ("reasoning_content", "reasoning") if isinstance(rest.get(key), str)]
    text = next(filter(None, texts), "")
    extra: Extra = {}
    if isinstance(rest.get("reasoning_details"), list):
        details = rest.pop("reasoning_details")
        extra = _read_details(details)
        text = text or "".join(map(_detail_text, details))
    return (Reasoning(text, extra),) if text or extra else ()


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
    call_id = a_string(held.get("id") or "", "id")
    kind = "custom" if "custom" in held else "function"
    rest = {key: value for key, value in held.items() if key not in ("id", "type", "index", kind)}
    if kind not in held:  # flat: the name and the arguments stand in the call itself
        inner = {key: rest.pop(key, None) for key in ("name", "arguments")}
        return _function_call(call_id, inner, "", {WIRE: rest} if rest else {})
    inner = an_object(held[kind], kind)
    extra: Extra = signatures.heard({WIRE: rest}) if rest else {}
    if kind == "function":
        return _function_call(call_id, inner, "function.", extra)
    written = dumps({"input": a_string(inner.get("input") or "", "custom.input")})
    return ToolCall(call_id, a_string(inner.get("name"), "custom.name"), written, custom=True, extra=extra)


def _function_call(call_id: str, held: Body, where: str, extra: Extra) -> ToolCall:
    """`where`: how the function's keys are called from the call's place."""
    more = {key: value for key, value in held.items() if key not in ("name", "arguments")}
    if more:
        extra = join_extra(extra, {WIRE: {"function": more}})
    arguments = _arguments(held.get("arguments"), f"{where}arguments")
    return ToolCall(call_id, a_string(held.get("name"), f"{where}name"), arguments, extra=extra)


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
        if pictures and message.role != "tool":
            written.append({"role": "user", "content": pictures})
            pictures = []
        if message.role == "tool":
            for part in message.parts:
                if isinstance(part, ToolResult):
                    written.append(_write_result(part, pictures, notes, quirks))
        elif message.role == "assistant":
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
        if isinstance(part, ToolCall):
            calls.append(write_call(part, notes, quirks))
        elif isinstance(part, Reasoning):
            _write_reasoning(part, held, notes, quirks)
        elif isinstance(part, Text) and part.channel == "refusal":
            refusals.append(part.text)
        else:
            said.append(part)
    # null is legal only where something else is said
    held["content"] = write_content(tuple(said), notes, quirks) if said else None if calls or refusals else ""
    if refusals:
        held["refusal"] = "".join(refusals)
    if calls:
        held["tool_calls"] = calls
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
    kept = own_extra(signatures.kept(call.extra), WIRE, f"call {call.id}", notes) if call.extra else {}
    call_id = _fitted_id(call.id, quirks)
    if call.custom and quirks.custom_tools:
        custom = {"name": call.full_name, "input": custom_input(call)}
        return {"id": call_id, "type": "custom", "custom": custom, **kept}
    function = {"name": call.full_name, "arguments": call.arguments_json, **kept.pop("function", {})}
    return {"id": call_id, "type": "function", "function": function, **kept}


def _fitted_id(call_id: str, quirks: Quirks) -> str:
    """The id itself where the server takes it, else a stand-in: the same for the same id, so that results still match."""
    length = quirks.call_id_length
    if length is None or (len(call_id) == length and call_id.isascii() and call_id.isalnum()):
        return call_id
    return shake_128(call_id.encode("utf-8", "surrogatepass")).hexdigest(length)[:length]


def custom_input(call: ToolCall) -> str:
    """The free text of a custom call."""
    held = loads_object(call.arguments_json) or {}
    value = held.get("input", call.arguments_json)
    return value if isinstance(value, str) else dumps(value)


def _write_result(result: ToolResult, pictures: list[Body], notes: list[str], quirks: Quirks) -> Body:
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
    held: Body = {
        "role": "tool",
        "tool_call_id": _fitted_id(result.call_id, quirks),
        "content": write_content(tuple(parts), notes, quirks),
    }
    if result.extra:
        held.update(own_extra(result.extra, WIRE, f"result {result.call_id}", notes))
    return held
