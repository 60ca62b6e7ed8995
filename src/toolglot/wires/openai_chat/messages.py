"""Messages and their parts, as OpenAI Chat has them."""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.core.envelope import unseal
from toolglot.core.fold import join_extra
from toolglot.core.history import link_results, said_as_error
from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from toolglot.reading.media import data_url, from_url
from toolglot.reading.shape import a_string, an_object, each_object, misfit, own_extra
from toolglot.text.json_text import dumps, loads_object
from toolglot.wires.openai_chat.shapes import WIRE

Body = dict[str, Any]

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


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
    name = rest.pop("name", None)
    if role in ("tool", "function"):
        call_id = rest.pop("tool_call_id", None) or ""
        parts: Any = read_content(rest.pop("content", None))
        extra = {WIRE: rest} if rest else {}
        return Message("tool", (ToolResult(a_string(call_id, "tool_call_id"), name, parts, extra=extra),))
    if role == "assistant":
        parts = (*read_reasoning(rest), *read_content(rest.pop("content", None)))
        refusal = rest.pop("refusal", None)
        if refusal:
            parts = (*parts, Text(a_string(refusal, "refusal"), "refusal"))
        calls = rest.pop("tool_calls", None) or []
        parts = (*parts, *each_object(calls, "tool_calls", _read_call))
        legacy = rest.pop("function_call", None)
        if legacy:
            parts = (*parts, _read_call({"function": an_object(legacy, "function_call")}))
    else:
        parts = read_content(rest.pop("content", None))
    return Message(role, parts, name, {WIRE: rest} if rest else {})


def read_content(content: Any) -> tuple[Part, ...]:
    if content is None or content == "":
        return ()
    if isinstance(content, str):
        return (Text(content),)
    if not isinstance(content, list):
        raise misfit("content", "a string or a list of parts", content)
    return tuple(each_object(content, "content", _read_part))


def _read_part(held: Body) -> Part:
    kind = held.get("type", "text")
    rest = {key: value for key, value in held.items() if key not in ("type", kind)}
    extra: Extra = {WIRE: rest} if rest else {}
    if kind == "text":
        return Text(a_string(held.get("text"), "text"), extra=extra)
    if kind == "refusal":
        return Text(a_string(held.get("refusal"), "refusal"), "refusal", extra)
    if kind == "image_url":
        image = held.get("image_url")
        image = {"url": image} if isinstance(image, str) else an_object(image, "image_url")
        more = {key: value for key, value in image.items() if key != "url"}
        if more:
            extra = join_extra(extra, {WIRE: {"image_url": more}})
        return from_url("image", a_string(image.get("url"), "image_url.url"), extra)
    if kind == "input_audio":
        audio = an_object(held.get("input_audio"), "input_audio")
        return Media("audio", f"audio/{audio.get('format') or 'wav'}", a_string(audio.get("data"), "input_audio.data"))
    if kind == "file" and isinstance(held.get("file"), dict) and isinstance(held["file"].get("file_data"), str):
        media = from_url("file", held["file"]["file_data"], extra)
        return msgspec.structs.replace(media, name=held["file"].get("filename"))
    return Opaque(WIRE, held)


def read_reasoning(rest: Body) -> tuple[Reasoning, ...]:
    """Takes the reasoning out of an assistant message, under whichever key it came."""
    text = rest.pop("reasoning_content", None) or rest.pop("reasoning", None)
    rest.pop("reasoning", None)
    details = rest.pop("reasoning_details", None)
    if not isinstance(text, str):
        text = ""
    extra: Extra = read_details(details) if isinstance(details, list) else {}
    if not text and isinstance(details, list):
        text = "".join(map(_detail_text, details))
    return (Reasoning(text, extra),) if text or extra else ()


def read_details(details: list[Any]) -> Extra:
    """OpenRouter's reasoning_details, to be given back unchanged; what another wire sealed into one comes out here."""
    own: list[Any] = []
    extra: Extra = {}
    for detail in details:
        foreign = unseal(detail.get("data")) if isinstance(detail, dict) else None
        if foreign is None:
            own.append(detail)
        else:
            extra = join_extra(extra, foreign)
    return join_extra(extra, {WIRE: {"reasoning_details": own}}) if own else extra


def _detail_text(detail: Any) -> str:
    found = (detail.get("text") or detail.get("summary")) if isinstance(detail, dict) else None
    return found if isinstance(found, str) else ""


def _read_call(held: Body) -> ToolCall:
    rest = {key: value for key, value in held.items() if key not in ("id", "type", "function", "custom", "index")}
    extra: Extra = {WIRE: rest} if rest else {}
    call_id = held.get("id") or ""
    if "custom" in held:
        custom = an_object(held["custom"], "custom")
        written = dumps({"input": custom.get("input") or ""})
        name = a_string(custom.get("name"), "custom.name")
        return ToolCall(a_string(call_id, "id"), name, written, custom=True, extra=extra)
    function = an_object(held.get("function", held), "function")
    arguments = function.get("arguments")
    if arguments is None or arguments == "":
        arguments = "{}"
    elif isinstance(arguments, dict):
        arguments = dumps(arguments)
    return ToolCall(
        a_string(call_id, "id"),
        a_string(function.get("name"), "function.name"),
        a_string(arguments, "function.arguments"),
        extra=extra if function is not held else {},
    )


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
    if message.name is not None:
        held["name"] = message.name
    if message.extra:
        held.update(own_extra(message.extra, WIRE, f"{role} message", notes))
    return held


def write_content(parts: tuple[Part, ...], notes: list[str], quirks: Quirks) -> Any:
    """A string where one plain text is all there is, else a list of parts."""
    if len(parts) == 1 and type(parts[0]) is Text and not parts[0].extra:
        return parts[0].text
    listed = [held for part in parts if (held := _write_part(part, notes, quirks)) is not None]
    if not listed:
        return ""
    if not quirks.text_parts and all(held.get("type") == "text" for held in listed):
        return "\n".join(held["text"] for held in listed)
    return listed


def _write_part(part: Part, notes: list[str], quirks: Quirks) -> Body | None:
    if isinstance(part, Text):
        key = "refusal" if part.channel == "refusal" else "text"
        return {"type": key, key: part.text, **(_own(part.extra, key, notes, quirks) if part.extra else {})}
    if isinstance(part, Media):
        return _write_media(part, notes)
    if isinstance(part, Opaque):
        if part.wire == WIRE:
            return part.block
        notes.append(f"a block of {part.wire}'s own ({part.block.get('type', '?')}) was left out")
    return None


def _own(extra: Extra, where: str, notes: list[str], quirks: Quirks) -> Body:
    cache = extra.get("anthropic", {}).get("cache_control")
    if cache is not None and quirks.cache_control:
        return {"cache_control": cache, **extra.get(WIRE, {})}
    return own_extra(extra, WIRE, where, notes)


def _write_media(media: Media, notes: list[str]) -> Body | None:
    own = own_extra(media.extra, WIRE, media.kind, notes)
    if media.kind == "image":
        return {"type": "image_url", "image_url": {"url": data_url(media), **own.pop("image_url", {})}, **own}
    if media.data is None:
        notes.append(f"{media.kind}: openai-chat takes the data itself, not an address; left out")
        return None
    if media.kind == "audio":
        form = (media.mime or "audio/wav").partition("/")[2]
        return {"type": "input_audio", "input_audio": {"data": media.data, "format": form}}
    file: Body = {"file_data": data_url(media)}
    if media.name:
        file["filename"] = media.name
    return {"type": "file", "file": file, **own}


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
    held["content"] = write_content(tuple(said), notes, quirks) if said else None
    if refusals:
        held["refusal"] = "".join(refusals)
    if calls:
        held["tool_calls"] = calls
    if message.name is not None:
        held["name"] = message.name
    if message.extra:
        held.update(own_extra(message.extra, WIRE, "assistant message", notes))
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
    own = own_extra(call.extra, WIRE, f"call {call.id}", notes) if call.extra else {}
    if call.custom and quirks.custom_tools:
        custom = {"name": call.name, "input": custom_input(call)}
        return {"id": call.id, "type": "custom", "custom": custom, **own}
    function = {"name": call.name, "arguments": call.arguments_json}
    return {"id": call.id, "type": "function", "function": function, **own}


def custom_input(call: ToolCall) -> str:
    """The free text of a custom call."""
    held = loads_object(call.arguments_json) or {}
    value = held.get("input", call.arguments_json)
    return value if isinstance(value, str) else dumps(value)


def _write_result(result: ToolResult, pictures: list[Body], notes: list[str], quirks: Quirks) -> Body:
    parts: list[Part] = []
    for part in result.parts:
        if isinstance(part, Media):
            shown = _write_media(part, notes)
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
        "tool_call_id": result.call_id,
        "content": write_content(tuple(parts), notes, quirks),
    }
    if result.extra:
        held.update(own_extra(result.extra, WIRE, f"result {result.call_id}", notes))
    return held
