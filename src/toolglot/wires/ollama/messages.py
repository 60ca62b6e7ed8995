"""Ollama messages: one string of content, separate images, complete calls with objects as arguments."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import msgspec

from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from toolglot.core.result_matching import mark_error_text, match_results
from toolglot.io.json_codec import dumps, loads_object
from toolglot.io.media import media_from_url
from toolglot.io.request_validation import (
    Body,
    not_one_of,
    optional,
    read_each,
    require_list,
    require_object,
    require_string,
    wire_block,
    wire_extra,
    wrong_type,
)
from toolglot.wires.ollama.shapes import WIRE

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_CALL_KEYS = frozenset({"id", "type", "function", "index"})
_FUNCTION_KEYS = frozenset({"name", "arguments", "index"})

# An image comes without its MIME type, which other wires require: it is detected from the first bytes.
_MAGIC = ((b"\x89PNG", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"), (b"RIFF", "image/webp"))


# -- reading


def read_messages(value: list[Any]) -> tuple[Message, ...]:
    messages: list[Message] = []
    for message in read_each(value, "messages", _read_message):
        if message.role == "tool" and messages and messages[-1].role == "tool":
            both = (*messages[-1].parts, *message.parts)
            messages[-1] = msgspec.structs.replace(messages[-1], parts=both)
        else:
            messages.append(message)
    return match_results(messages)


def _read_message(obj: Body) -> Message:
    rest = dict(obj)
    given = rest.pop("role", None)
    role: Any = given.lower() if isinstance(given, str) else ""  # the server ignores case too
    if role not in _ROLES:
        raise not_one_of("role", "system, user, assistant or tool", given)
    content = _read_content(rest)
    if role in ("tool", "function"):
        return Message("tool", (_read_result(rest, content),))
    if role != "assistant":
        return Message(role, content, extra={WIRE: rest} if rest else {})
    thought = optional(require_string, rest.pop("thinking", None), "thinking")
    calls = rest.pop("tool_calls", None)
    parts: tuple[Part, ...] = (Reasoning(thought), *content) if thought else content
    if calls is not None:
        parts = (*parts, *read_each(calls, "tool_calls", _read_call))
    return Message("assistant", parts, extra={WIRE: rest} if rest else {})


def _read_content(rest: Body) -> tuple[Text | Media, ...]:
    content, images = rest.pop("content", None), rest.pop("images", None)
    text = optional(require_string, content, "content")
    texts = (Text(text),) if text else ()
    if images is None:
        return texts
    pictures = enumerate(require_list(images, "images"))
    return (*texts, *(read_image(require_string(image, f"images[{at}]")) for at, image in pictures))


def read_image(data: str) -> Media:
    """Base64, a data URL, or a URL."""
    if data.startswith(("data:", "http://", "https://")):
        return media_from_url("image", data)
    try:
        head = b64decode(data[:8])
    except ValueError:
        head = b""
    return Media("image", next((mime for magic, mime in _MAGIC if head.startswith(magic)), None), data)


def _read_result(rest: Body, content: tuple[Text | Media, ...]) -> ToolResult:
    """Name and id may both be missing: then results are paired by their order."""
    call_id = optional(require_string, rest.pop("tool_call_id", None), "tool_call_id")
    name = optional(require_string, rest.pop("tool_name", None), "tool_name")
    if not name:
        name = optional(require_string, rest.pop("name", None), "name")
    return ToolResult(call_id or "", name or None, content, extra={WIRE: rest} if rest else {})


def _read_call(obj: Body) -> ToolCall:
    function = require_object(obj.get("function", obj), "function")
    name = require_string(function.get("name"), "function.name")
    arguments = arguments_text(function.get("arguments"))
    if arguments is None:
        raise wrong_type("function.arguments", "an object", function["arguments"])
    call_id = optional(require_string, obj.get("id"), "id")
    return ToolCall(call_id or "", name, arguments, extra=call_extra(obj, function))


def arguments_text(value: Any) -> str | None:
    """Arguments as JSON text: of an object, of nothing, of text that is an object's JSON; None for anything else."""
    if isinstance(value, dict):
        try:
            return dumps(value) if value else "{}"
        except RecursionError:
            return None
    if value is None:
        return "{}"
    if not isinstance(value, str):
        return None
    text = value.strip()
    if text in ("", "null"):
        return "{}"
    return text if loads_object(text) is not None else None


def call_extra(obj: Body, function: Body) -> Extra:
    """The keys of a call besides id, name and arguments. The index is only its position."""
    if _CALL_KEYS.issuperset(obj) and _FUNCTION_KEYS.issuperset(function):
        return {}
    if function is obj:
        more = {key: value for key, value in obj.items() if key not in _CALL_KEYS and key not in _FUNCTION_KEYS}
        return {WIRE: more} if more else {}
    fields = {key: value for key, value in obj.items() if key not in _CALL_KEYS}
    inner = {key: value for key, value in function.items() if key not in _FUNCTION_KEYS}
    if inner:
        fields["function"] = inner
    return {WIRE: fields} if fields else {}


# -- writing


def write_messages(messages: tuple[Message, ...], notes: list[str], quirks: Quirks) -> list[Any]:
    written: list[Any] = []
    developer = False
    for message in messages:
        if message.role == "tool":
            written += [_write_result(part, notes) for part in message.parts if isinstance(part, ToolResult)]
            if message.extra:
                wire_extra(message.extra, WIRE, "tool message", notes)
            continue
        if message.role == "assistant":
            obj = _write_assistant(message, notes)
        else:
            role = "system" if message.role == "developer" else message.role
            developer = developer or role != message.role
            obj = {"role": role, **_write_content(message.parts, f"{role} message", notes)}
        if message.name is not None:
            notes.append(f"name {message.name}: ollama has no names for participants; left out")
        if message.extra:
            obj.update(wire_extra(message.extra, WIRE, f"{message.role} message", notes))
        written.append(obj)
    if developer:
        notes.append("developer message: ollama has no such role; sent as system")
    return written


def _write_content(parts: tuple[Part, ...], where: str, notes: list[str]) -> Body:
    """`content`, which is one string, and `images` if there are any."""
    if len(parts) == 1 and type(parts[0]) is Text and not parts[0].extra:
        return {"content": parts[0].text}
    texts: list[str] = []
    images: list[str] = []
    for part in parts:
        if isinstance(part, Text):
            texts.append(part.text)
            if part.extra:
                wire_extra(part.extra, WIRE, f"{where}, text", notes)
            if images:
                notes.append(f"{where}: ollama has images separate from the text; their order is lost")
        elif isinstance(part, Media):
            images += write_image(part, where, notes)
        elif isinstance(part, Opaque):
            wire_block(part, "", notes, f"{where}: ")  # this wire has no blocks
    obj: Body = {"content": _joined(texts, where, "texts", notes)}
    if images:
        obj["images"] = images
    return obj


def _joined(texts: list[str], where: str, what: str, notes: list[str]) -> str:
    if len(texts) > 1:
        notes.append(f"{where}: ollama accepts one string; {len(texts)} {what} were joined with a line break")
    return "\n".join(texts)


def write_image(media: Media, where: str, notes: list[str]) -> list[str]:
    """The image as an entry of `images`, or nothing and a note."""
    if media.extra:
        wire_extra(media.extra, WIRE, f"{where}, {media.kind}", notes)
    if media.kind != "image":
        notes.append(f"{where}: ollama accepts no {media.kind}; left out")
    elif media.data is None:
        notes.append(f"{where}: ollama accepts image data, not a URL; left out")
    else:
        return [media.data]
    return []


def _write_assistant(message: Message, notes: list[str]) -> Body:
    content: list[Part] = []
    thoughts: list[str] = []
    calls: list[Body] = []
    for part in message.parts:
        if isinstance(part, ToolCall):
            calls.append(write_call(part, len(calls), notes))
        elif isinstance(part, Reasoning):
            if signers := _signers(part.extra):
                notes.append(f"reasoning in the history: it was signed for {signers}; left out")
            elif part.text:
                thoughts.append(part.text)
        else:
            content.append(part)
    obj: Body = {"role": "assistant", **_write_content(tuple(content), "assistant message", notes)}
    if thoughts:
        obj["thinking"] = _joined(thoughts, "assistant message", "thoughts", notes)
    if calls:
        obj["tool_calls"] = calls
    return obj


def _signers(extra: Extra) -> str:
    """The wires whose state a reasoning part contains. Ollama's thinking is plain text, without state."""
    return ", ".join(sorted(wire for wire, fields in extra.items() if fields)) if extra else ""


def note_state(extra: Extra, notes: list[str]) -> None:
    """In a reply the reasoning is written; only its signature is lost."""
    if signers := _signers(extra):
        notes.append(f"reasoning: ollama can't carry the signature or encrypted state of {signers}; left out")


def write_call(call: ToolCall, index: int, notes: list[str]) -> Body:
    arguments = loads_object(call.arguments_json) if call.arguments_json else {}
    if arguments is None:
        notes.append(f"call {call.id}: its arguments are not a JSON object; sent as {{}}")
        arguments = {}
    function: Body = {"index": index, "name": call.full_name, "arguments": arguments}
    obj: Body = {"id": call.id, "function": function} if call.id else {"function": function}
    if call.extra:
        fields = wire_extra(call.extra, WIRE, f"call {call.id}", notes)
        function.update(fields.pop("function", {}))
        obj.update(fields)
    return obj


def _write_result(result: ToolResult, notes: list[str]) -> Body:
    """Both name and id: models' templates differ in which they use."""
    parts: tuple[Part, ...] = result.parts
    if result.is_error:
        notes.append(f"result {result.call_id}: ollama has no error flag; marked in the text")
        parts = tuple(mark_error_text(parts))
    obj: Body = {"role": "tool"}
    if result.name:
        obj["tool_name"] = result.name
    if result.call_id:
        obj["tool_call_id"] = result.call_id
    obj.update(_write_content(parts, f"result {result.call_id}", notes))
    if result.extra:
        obj.update(wire_extra(result.extra, WIRE, f"result {result.call_id}", notes))
    return obj
