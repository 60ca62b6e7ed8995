"""Gemini parts, reading and writing."""

from __future__ import annotations

from typing import Any

from toolglot.core.envelope import seal, unseal
from toolglot.core.fold import merge_extra
from toolglot.core.messages import Extra, Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from toolglot.io.json_codec import dumps, loads_object
from toolglot.io.media import media_kind
from toolglot.io.request_validation import (
    Body,
    read_each,
    require_object,
    require_string,
    unknown_keys,
    wire_block,
    wire_extra,
    wrong_type,
)
from toolglot.wires.gemini.shapes import SIGNATURE, WIRE, camel

TEXT_KEYS = frozenset({"text", "thought"})
_SIGNATURE_KEY = frozenset({SIGNATURE})
_MEDIA_KEYS = frozenset({"mimeType", "displayName"})
_INNER_KEYS = {
    "functionCall": frozenset({"id", "name", "args"}),
    "functionResponse": frozenset({"id", "name", "response", "parts"}),
    "inlineData": _MEDIA_KEYS | {"data"},
    "fileData": _MEDIA_KEYS | {"fileUri"},
}
_OUTER_KEY = {key: frozenset({key}) for key in _INNER_KEYS}
_STANDARD_BASE64 = str.maketrans("-_", "+/")


# -- reading


def read_part(obj: Body) -> Part | None:
    """One part of a request. Other keys (a signature) go into `extra`. None: it is empty."""
    text = obj.get("text")
    if len(obj) == 1 and isinstance(text, str):
        return Text(text) if text else None
    obj = camel(obj)
    if obj.get("functionCall") is not None:
        return _read_call(obj)
    if obj.get("functionResponse") is not None:
        return _read_result(obj)
    for key, address in (("inlineData", "data"), ("fileData", "fileUri")):
        if obj.get(key) is not None:
            return _read_media(obj, key, address)
    return _read_text(obj)


def _read_text(obj: Body) -> Part | None:
    extra = read_state(unknown_keys(obj, TEXT_KEYS))
    text = obj.get("text")
    if text is None:
        if not extra:
            return None
        if obj.keys() - {"thought", SIGNATURE}:  # executableCode, toolCall and whatever comes next
            return Opaque(WIRE, obj)
        text = ""
    text = require_string(text, "text")
    if not text and not extra:
        return None
    return Reasoning(text, extra) if obj.get("thought") else Text(text, extra=extra)


def read_state(rest: Body, *, keep: bool = False) -> Extra:
    """Part-level keys as `extra`; a signature that contains another wire's sealed state is unsealed.

    `keep`: the sealed string is kept too, because a client must return to the sender what it wrote.
    """
    if not rest:
        return {}
    signature = rest.get(SIGNATURE)
    foreign = unseal(_standard(signature)) if isinstance(signature, str) else None
    if foreign is None:
        return {WIRE: rest}
    more = rest if keep else unknown_keys(rest, _SIGNATURE_KEY)
    return merge_extra(foreign, {WIRE: more}) if more else foreign


def _standard(text: str) -> str:
    """Base64 in its usual alphabet: the official SDKs decode bytes and encode them again in the other one."""
    return text.translate(_STANDARD_BASE64) if "-" in text or "_" in text else text


def inner_extra(extra: Extra, key: str, more: Body) -> Extra:
    """Keys inside the part's object, not next to it."""
    return merge_extra(extra, {WIRE: {key: more}})


def _both_extras(obj: Body, key: str, inner: Body) -> Extra:
    extra = read_state(unknown_keys(obj, _OUTER_KEY[key])) if len(obj) > 1 else {}
    more = unknown_keys(inner, _INNER_KEYS[key])
    return inner_extra(extra, key, more) if more else extra


def _read_call(obj: Body) -> ToolCall:
    function = camel(require_object(obj["functionCall"], "functionCall"))
    arguments = function.get("args")
    if isinstance(arguments, str) and loads_object(arguments or "{}") is not None:
        written = arguments or "{}"
    elif arguments is None or isinstance(arguments, dict):
        written = dumps(arguments) if arguments else "{}"
    else:
        raise wrong_type("functionCall.args", "an object", arguments)
    return ToolCall(
        require_string(function.get("id") or "", "functionCall.id"),
        require_string(function.get("name"), "functionCall.name"),
        written,
        extra=_both_extras(obj, "functionCall", function),
    )


def _read_result(obj: Body) -> ToolResult:
    answer = camel(require_object(obj["functionResponse"], "functionResponse"))
    response = answer.get("response")
    if not isinstance(response, dict) and response is not None:
        raise wrong_type("functionResponse.response", "an object", response)
    text, failed = _response_text(response or {})
    parts: list[Any] = [Text(text)] if text else []
    if shown := answer.get("parts"):
        parts += read_each(shown, "functionResponse.parts", _read_shown)
    name = answer.get("name")
    return ToolResult(
        require_string(answer.get("id") or "", "functionResponse.id"),
        require_string(name, "functionResponse.name") if name else None,
        tuple(parts),
        failed,
        _both_extras(obj, "functionResponse", answer),
    )


def _read_shown(obj: Body) -> Text | Media | Opaque:
    """The media of a result."""
    part = read_part(obj)
    return part if isinstance(part, (Text, Media, Opaque)) else Opaque(WIRE, obj)


def _response_text(response: Body) -> tuple[str, bool]:
    """The text of a response, and whether it is an error. `output` and `error` alone are unwrapped."""
    if len(response) == 1:
        for key in ("output", "error"):
            if key in response:
                value = response[key]
                return value if isinstance(value, str) else dumps(value), key == "error"
    return dumps(response) if response else "", False


def _read_media(obj: Body, key: str, address: str) -> Media:
    inner = camel(require_object(obj[key], key))
    value = require_string(inner.get(address), f"{key}.{address}")
    mime, name = inner.get("mimeType"), inner.get("displayName")
    extra = _both_extras(obj, key, inner)
    mime, name = mime if isinstance(mime, str) else None, name if isinstance(name, str) else None
    if key == "fileData":
        return Media(media_kind(mime), mime, url=value, name=name, extra=extra)
    return Media(media_kind(mime), mime, _standard(value), name=name, extra=extra)


# -- writing


def write_part(part: Part, notes: list[str]) -> Body | None:
    """Parts that any role may have: text, media, and opaque blocks."""
    if isinstance(part, Text):
        if not part.extra:
            return {"text": part.text} if part.text else None
        fields = wire_extra(part.extra, WIRE, "text", notes)
        return {"text": part.text, **fields} if part.text or fields else None
    if isinstance(part, Media):
        return _write_media(part, notes)
    if isinstance(part, Opaque):
        return wire_block(part, WIRE, notes)
    return None


def _write_media(media: Media, notes: list[str]) -> Body | None:
    fields = wire_extra(media.extra, WIRE, media.kind, notes)
    if media.data is not None:
        key, inner = "inlineData", {"mimeType": media.mime or "application/octet-stream", "data": media.data}
    elif media.url:
        key, inner = "fileData", {"fileUri": media.url}
        if media.mime:
            inner["mimeType"] = media.mime
    else:
        notes.append(f"{media.kind}: it has neither data nor a URL; left out")
        return None
    if media.name:
        inner["displayName"] = media.name
    return {key: {**inner, **fields.pop(key, {})}, **fields}


def write_call(call: ToolCall, fields: Body, notes: list[str]) -> Body:
    """`fields`: keys next to the call (its signature)."""
    arguments = loads_object(call.arguments_json or "{}")
    if arguments is None:
        notes.append(f"call {call.id}: its arguments are not a JSON object; sent as {{}}")
        arguments = {}
    function: Body = (
        {"id": call.id, "name": call.full_name, "args": arguments} if call.id else {"name": call.full_name, "args": arguments}
    )
    if not fields:
        return {"functionCall": function}
    fields = dict(fields)
    function.update(fields.pop("functionCall", {}))
    return {"functionCall": function, **fields}


def reply_state(extra: Extra, where: str, notes: list[str]) -> Body:
    """What a client must return with a part: Gemini's signature, or other wires' sealed state in its place."""
    fields = extra.get(WIRE, {})
    if SIGNATURE in fields:
        return wire_extra(extra, WIRE, where, notes)
    sealed = seal(extra, but=WIRE)
    return {**fields, SIGNATURE: sealed} if sealed else fields


def write_result(result: ToolResult, notes: list[str]) -> Body:
    answer: Body = {
        "id": result.call_id,
        "name": result.name or result.call_id,
        "response": _response(result, notes),
    }
    shown = [obj for part in result.parts if type(part) is not Text and (obj := write_part(part, notes)) is not None]
    if shown:
        answer["parts"] = shown
    if not result.extra:
        return {"functionResponse": answer}
    fields = wire_extra(result.extra, WIRE, f"result {result.call_id}", notes)
    answer.update(fields.pop("functionResponse", {}))
    return {"functionResponse": answer, **fields}


def _response(result: ToolResult, notes: list[str]) -> Body:
    texts = [part for part in result.parts if type(part) is Text]
    for part in texts:
        if part.extra:
            wire_extra(part.extra, "", f"result {result.call_id}", notes)
    if len(texts) > 1:
        notes.append(f"result {result.call_id}: its {len(texts)} texts were joined")
    text = texts[0].text if len(texts) == 1 else "\n".join(part.text for part in texts)
    if result.is_error:
        return {"error": text}
    obj = loads_object(text) if text[:1] == "{" else None
    # an object that looks like the wrapper stays a text, or it would be unwrapped when read
    return obj if obj and (len(obj) > 1 or not obj.keys() & {"output", "error"}) else {"output": text}
