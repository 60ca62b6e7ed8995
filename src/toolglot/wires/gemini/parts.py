"""The parts of a content, as Gemini has them, both ways."""

from __future__ import annotations

from typing import Any

from toolglot.core.envelope import seal, unseal
from toolglot.core.fold import join_extra
from toolglot.core.messages import Extra, Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from toolglot.reading.media import kind_of
from toolglot.reading.shape import a_string, an_object, each_object, misfit, own_extra
from toolglot.text.json_text import dumps, loads_object
from toolglot.wires.gemini.shapes import SIGNATURE, WIRE, camel, rest_of

Body = dict[str, Any]

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


def read_part(held: Body) -> Part | None:
    """One part of a request. What stands beside its content (a signature) is `extra`. None: nothing is in it."""
    text = held.get("text")
    if len(held) == 1 and isinstance(text, str):
        return Text(text) if text else None
    held = camel(held)
    if held.get("functionCall") is not None:
        return _read_call(held)
    if held.get("functionResponse") is not None:
        return _read_result(held)
    for key, address in (("inlineData", "data"), ("fileData", "fileUri")):
        if held.get(key) is not None:
            return _read_media(held, key, address)
    return _read_text(held)


def _read_text(held: Body) -> Part | None:
    extra = read_state(rest_of(held, TEXT_KEYS))
    text = held.get("text")
    if text is None:
        if not extra:
            return None
        if held.keys() - {"thought", SIGNATURE}:  # executableCode, toolCall and whatever comes next
            return Opaque(WIRE, held)
        text = ""
    text = a_string(text, "text")
    if not text and not extra:
        return None
    return Reasoning(text, extra) if held.get("thought") else Text(text, extra=extra)


def read_state(rest: Body, *, keep: bool = False) -> Extra:
    """Part-level keys as `extra`; a signature that was another wire's state under seal is that state again.

    `keep`: the seal stays too, for who reads a reply must give back to its sender what the sender wrote.
    """
    if not rest:
        return {}
    signature = rest.get(SIGNATURE)
    foreign = unseal(_standard(signature)) if isinstance(signature, str) else None
    if foreign is None:
        return {WIRE: rest}
    more = rest if keep else rest_of(rest, _SIGNATURE_KEY)
    return join_extra(foreign, {WIRE: more}) if more else foreign


def _standard(text: str) -> str:
    """Base64 in its usual alphabet: the official SDKs decode bytes and encode them again in the other one."""
    return text.translate(_STANDARD_BASE64) if "-" in text or "_" in text else text


def inner_extra(extra: Extra, key: str, more: Body) -> Extra:
    """Keys that stood inside the part's own object, not beside it."""
    return join_extra(extra, {WIRE: {key: more}})


def _both_extras(held: Body, key: str, inner: Body) -> Extra:
    extra = read_state(rest_of(held, _OUTER_KEY[key])) if len(held) > 1 else {}
    more = rest_of(inner, _INNER_KEYS[key])
    return inner_extra(extra, key, more) if more else extra


def _read_call(held: Body) -> ToolCall:
    function = camel(an_object(held["functionCall"], "functionCall"))
    arguments = function.get("args")
    if isinstance(arguments, str) and loads_object(arguments or "{}") is not None:
        written = arguments or "{}"
    elif arguments is None or isinstance(arguments, dict):
        written = dumps(arguments) if arguments else "{}"
    else:
        raise misfit("functionCall.args", "an object", arguments)
    return ToolCall(
        a_string(function.get("id") or "", "functionCall.id"),
        a_string(function.get("name"), "functionCall.name"),
        written,
        extra=_both_extras(held, "functionCall", function),
    )


def _read_result(held: Body) -> ToolResult:
    answer = camel(an_object(held["functionResponse"], "functionResponse"))
    response = answer.get("response")
    if not isinstance(response, dict) and response is not None:
        raise misfit("functionResponse.response", "an object", response)
    text, failed = _said(response or {})
    parts: list[Any] = [Text(text)] if text else []
    if shown := answer.get("parts"):
        parts += each_object(shown, "functionResponse.parts", _read_shown)
    name = answer.get("name")
    return ToolResult(
        a_string(answer.get("id") or "", "functionResponse.id"),
        a_string(name, "functionResponse.name") if name else None,
        tuple(parts),
        failed,
        _both_extras(held, "functionResponse", answer),
    )


def _read_shown(held: Body) -> Text | Media | Opaque:
    """What a tool shows beside its answer."""
    part = read_part(held)
    return part if isinstance(part, (Text, Media, Opaque)) else Opaque(WIRE, held)


def _said(response: Body) -> tuple[str, bool]:
    """The text of a response, and whether it is an error: `output` and `error` are wrappings, all else is meant."""
    if len(response) == 1:
        for key in ("output", "error"):
            if key in response:
                value = response[key]
                return value if isinstance(value, str) else dumps(value), key == "error"
    return dumps(response) if response else "", False


def _read_media(held: Body, key: str, address: str) -> Media:
    inner = camel(an_object(held[key], key))
    value = a_string(inner.get(address), f"{key}.{address}")
    mime, name = inner.get("mimeType"), inner.get("displayName")
    extra = _both_extras(held, key, inner)
    mime, name = mime if isinstance(mime, str) else None, name if isinstance(name, str) else None
    if key == "fileData":
        return Media(kind_of(mime), mime, url=value, name=name, extra=extra)
    return Media(kind_of(mime), mime, _standard(value), name=name, extra=extra)


# -- writing


def write_part(part: Part, notes: list[str]) -> Body | None:
    """What users, tools and models alike may say: text, media, and blocks of Gemini's own."""
    if isinstance(part, Text):
        if not part.extra:
            return {"text": part.text} if part.text else None
        own = own_extra(part.extra, WIRE, "text", notes)
        return {"text": part.text, **own} if part.text or own else None
    if isinstance(part, Media):
        return _write_media(part, notes)
    if isinstance(part, Opaque):
        if part.wire == WIRE:
            return dict(part.block)
        notes.append(f"a block of {part.wire}'s own ({part.block.get('type', '?')}) was left out")
    return None


def _write_media(media: Media, notes: list[str]) -> Body | None:
    own = own_extra(media.extra, WIRE, media.kind, notes)
    if media.data is not None:
        key, inner = "inlineData", {"mimeType": media.mime or "application/octet-stream", "data": media.data}
    elif media.url:
        key, inner = "fileData", {"fileUri": media.url}
        if media.mime:
            inner["mimeType"] = media.mime
    else:
        notes.append(f"{media.kind}: gemini takes data or an address, and there is neither; left out")
        return None
    if media.name:
        inner["displayName"] = media.name
    return {key: {**inner, **own.pop(key, {})}, **own}


def write_call(call: ToolCall, own: Body, notes: list[str]) -> Body:
    """`own`: what stands beside the call (its signature)."""
    arguments = loads_object(call.arguments_json or "{}")
    if arguments is None:
        notes.append(f"call {call.id}: its arguments are no JSON object; sent as {{}}")
        arguments = {}
    function: Body = (
        {"id": call.id, "name": call.full_name, "args": arguments} if call.id else {"name": call.full_name, "args": arguments}
    )
    if not own:
        return {"functionCall": function}
    own = dict(own)
    function.update(own.pop("functionCall", {}))
    return {"functionCall": function, **own}


def reply_state(extra: Extra, where: str, notes: list[str]) -> Body:
    """What a client shall give back with a part: Gemini's own signature, or in its place other wires' state under seal."""
    own = extra.get(WIRE, {})
    if SIGNATURE in own:
        return own_extra(extra, WIRE, where, notes)
    sealed = seal(extra, but=WIRE)
    return {**own, SIGNATURE: sealed} if sealed else own


def write_result(result: ToolResult, notes: list[str]) -> Body:
    answer: Body = {
        "id": result.call_id,
        "name": result.name or result.call_id,
        "response": _response(result, notes),
    }
    shown = [held for part in result.parts if type(part) is not Text and (held := write_part(part, notes)) is not None]
    if shown:
        answer["parts"] = shown
    if not result.extra:
        return {"functionResponse": answer}
    own = own_extra(result.extra, WIRE, f"result {result.call_id}", notes)
    answer.update(own.pop("functionResponse", {}))
    return {"functionResponse": answer, **own}


def _response(result: ToolResult, notes: list[str]) -> Body:
    texts = [part for part in result.parts if type(part) is Text]
    for part in texts:
        if part.extra:
            own_extra(part.extra, "", f"result {result.call_id}", notes)
    if len(texts) > 1:
        notes.append(f"result {result.call_id}: its {len(texts)} texts are joined to one")
    text = texts[0].text if len(texts) == 1 else "\n".join(part.text for part in texts)
    if result.is_error:
        return {"error": text}
    held = loads_object(text) if text[:1] == "{" else None
    # an object that looks like the wrapping itself stays a text, or it would be unwrapped when read
    return held if held and (len(held) > 1 or not held.keys() & {"output", "error"}) else {"output": text}
