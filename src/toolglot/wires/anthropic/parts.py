"""Content blocks, reading and writing: text, images, documents, calls and results."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable
from typing import Any

import msgspec

from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, Media, Opaque, Part, Reasoning, Text, ToolCall, ToolResult
from toolglot.io.cache_marks import as_cache_control
from toolglot.io.json_codec import dumps, loads_object
from toolglot.io.media import media_from_url
from toolglot.io.request_validation import (
    Body,
    optional,
    read_each,
    require_boolean,
    require_object,
    require_string,
    wire_block,
    wire_extra,
    wrong_type,
)
from toolglot.wires.anthropic.reasoning import read_redacted, read_thinking, take_kept, write_kept
from toolglot.wires.anthropic.shapes import WIRE, call_rest, rest_of

_TEXT = frozenset({"type", "text"})
_IMAGE = frozenset({"type", "source"})
_DOCUMENT = frozenset({"type", "source", "title"})
_RESULT = frozenset({"type", "tool_use_id", "content", "is_error"})

_MAY_KEEP = frozenset({Text, ToolCall})  # may have a signature block next to them

# Base64 prefixes of the supported image formats, for sources without a MIME type.
_MAGIC = {"/9j/": "image/jpeg", "R0lGOD": "image/gif", "UklGR": "image/webp"}


# -- reading


def read_content(content: Any) -> list[Part]:
    if isinstance(content, str):
        return [Text(content)] if content else []
    if content is None:
        return []
    if not isinstance(content, list):
        raise wrong_type("content", "a string or a list of blocks", content)
    return [part for part in read_each(content, "content", _read_block) if part is not None]


def _read_block(obj: Body) -> Part | None:
    """One block; None if it is empty."""
    read = _READERS.get(require_string(obj.get("type"), "type"))
    return Opaque(WIRE, obj) if read is None else read(obj)


def _read_text(obj: Body) -> Text | None:
    text = require_string(obj.get("text"), "text")
    if not text:
        return None
    return Text(text, extra=rest_of(obj, _TEXT)) if len(obj) > 2 else Text(text)


def _read_image(obj: Body) -> Part:
    source = require_object(obj.get("source"), "source")
    return _read_source("image", source, None, rest_of(obj, _IMAGE)) or Opaque(WIRE, obj)


def _read_document(obj: Body) -> Part:
    source, name = require_object(obj.get("source"), "source"), optional(require_string, obj.get("title"), "title")
    return _read_source("file", source, name, rest_of(obj, _DOCUMENT)) or Opaque(WIRE, obj)


def _read_source(kind: Any, source: Body, name: str | None, extra: Extra) -> Media | None:
    """None: a source that only Anthropic can follow (an uploaded file, blocks within a block)."""
    form = source.get("type")
    if form == "base64":
        mime = optional(require_string, source.get("media_type"), "source.media_type")
        return Media(kind, mime, require_string(source.get("data"), "source.data"), None, name, extra)
    if form == "url":
        media = media_from_url(kind, require_string(source.get("url"), "source.url"), extra)
        return media if name is None else Media(kind, media.mime, media.data, media.url, name, extra)
    if form == "text":
        text = require_string(source.get("data"), "source.data")
        return Media(kind, "text/plain", b64encode(text.encode("utf-8", "replace")).decode(), None, name, extra)
    return None


def _read_call(obj: Body) -> ToolCall:
    call_id, name = require_string(obj.get("id"), "id"), require_string(obj.get("name"), "name")
    arguments = _read_input(obj.get("input"))
    return ToolCall(call_id, name, arguments, extra=call_rest(obj)) if len(obj) > 4 else ToolCall(call_id, name, arguments)


def _read_input(given: Any) -> str:
    if given is None or given == "":
        return "{}"
    if isinstance(given, str) and loads_object(given) is not None:  # an accumulator's raw text
        return given
    return dumps(require_object(given, "input"))


def _read_result(obj: Body) -> ToolResult:
    parts: Any = tuple(read_content(obj.get("content")))
    failed = bool(optional(require_boolean, obj.get("is_error"), "is_error"))
    return ToolResult(require_string(obj.get("tool_use_id"), "tool_use_id"), None, parts, failed, rest_of(obj, _RESULT))


_READERS: dict[str, Callable[[Body], Part | None]] = {
    "text": _read_text,
    "image": _read_image,
    "document": _read_document,
    "thinking": read_thinking,
    "redacted_thinking": read_redacted,
    "tool_use": _read_call,
    "tool_result": _read_result,
}


# -- writing


def write_blocks(parts: tuple[Part, ...], notes: list[str], quirks: Quirks) -> list[Body]:
    blocks: list[Body] = []
    for part in parts:
        kind = type(part)
        if kind in _MAY_KEEP and part.extra and WIRE in part.extra:  # type: ignore[union-attr]
            beside, extra = take_kept(part.extra)  # type: ignore[union-attr]
            if beside:
                blocks += beside
                part = msgspec.structs.replace(part, extra=extra)
        obj = _WRITERS[kind](part, notes, quirks)
        if obj is not None:
            blocks.append(obj)
    return blocks


def _write_text(part: Text, notes: list[str], quirks: Quirks) -> Body | None:
    obj: Body = {"type": "text", "text": part.text}
    if part.extra:
        obj.update(wire_extra(as_cache_control(part.extra, WIRE), WIRE, "text", notes))
    if part.text and not part.text.isspace():
        return obj
    if part.text:
        notes.append("text: anthropic rejects text that is only white space; left out")
    return None


def _write_call(call: ToolCall, notes: list[str], quirks: Quirks) -> Body:
    return write_call(call, call.extra, notes)


def write_call(call: ToolCall, extra: Extra, notes: list[str]) -> Body:
    given: Body | None = {}
    if call.arguments_json not in ("", "{}"):
        given = loads_object(call.arguments_json)
        if given is None:
            notes.append(f"call {call.id}: its arguments are not a JSON object; sent as {{}}")
    obj: Body = {"type": "tool_use", "id": call.id, "name": call.full_name, "input": given or {}}
    if extra:
        obj.update(wire_extra(extra, WIRE, f"call {call.id}", notes))
    return obj


def _write_result(result: ToolResult, notes: list[str], quirks: Quirks) -> Body:
    parts = result.parts
    plain = len(parts) == 1 and type(parts[0]) is Text and not parts[0].extra
    content: Any = parts[0].text if plain else write_blocks(parts, notes, quirks)  # type: ignore[union-attr]
    obj: Body = {"type": "tool_result", "tool_use_id": result.call_id, "content": content or ""}
    if result.is_error:
        obj["is_error"] = True
    if result.extra:
        obj.update(wire_extra(result.extra, WIRE, f"result {result.call_id}", notes))
    return obj


def _write_opaque(part: Opaque, notes: list[str], quirks: Quirks) -> Body | None:
    return wire_block(part, WIRE, notes)


def _write_media(media: Media, notes: list[str], quirks: Quirks) -> Body | None:
    source = _SOURCES[media.kind](media, notes)
    if source is None:
        return None
    obj: Body = {"type": "image" if media.kind == "image" else "document", "source": source}
    if media.name is not None:
        if media.kind == "image":
            notes.append("image: anthropic has no names for images; left out")
        else:
            obj["title"] = media.name
    if media.extra:
        obj.update(wire_extra(as_cache_control(media.extra, WIRE), WIRE, media.kind, notes))
    return obj


def _image_source(media: Media, notes: list[str]) -> Body | None:
    data = media.data
    if data is None:
        return _address(media, notes)
    mime = media.mime or next((mime for head, mime in _MAGIC.items() if data.startswith(head)), "image/png")
    return {"type": "base64", "media_type": mime, "data": data}


def _file_source(media: Media, notes: list[str]) -> Body | None:
    if media.data is None:
        return _address(media, notes)
    mime = media.mime or "application/pdf"
    if mime == "application/pdf":
        return {"type": "base64", "media_type": mime, "data": media.data}
    text = _plain_text(media.data) if mime.startswith("text/") else None
    if text is None:
        notes.append(f"file {mime}: anthropic accepts PDF and text; left out")
        return None
    if mime != "text/plain":
        notes.append(f"file {mime}: anthropic labels every text text/plain")
    return {"type": "text", "media_type": "text/plain", "data": text}


def _no_source(media: Media, notes: list[str]) -> None:
    notes.append(f"{media.kind}: anthropic has no place for it; left out")


def _address(media: Media, notes: list[str]) -> Body | None:
    if media.url:
        return {"type": "url", "url": media.url}
    notes.append(f"{media.kind}: it has neither data nor a URL; left out")
    return None


def _plain_text(data: str) -> str | None:
    try:
        return b64decode(data).decode()
    except ValueError:
        return None


_SOURCES: dict[str, Callable[[Media, list[str]], Body | None]] = {
    "image": _image_source,
    "file": _file_source,
    "audio": _no_source,
}


_WRITERS: dict[type[Part], Callable[[Any, list[str], Quirks], Body | None]] = {
    Text: _write_text,
    ToolCall: _write_call,
    ToolResult: _write_result,
    Reasoning: write_kept,
    Media: _write_media,
    Opaque: _write_opaque,
}
