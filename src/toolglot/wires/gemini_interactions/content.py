"""The content of a step: text, images, sounds, videos and documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolglot.core.messages import Media, Opaque, Part, Text
from toolglot.io.media import media_kind
from toolglot.io.request_validation import (
    Body,
    read_each,
    require_string,
    unknown_extra,
    unknown_keys,
    wire_block,
    wire_extra,
    wrong_type,
)
from toolglot.wires.gemini_interactions.shapes import WIRE

CONTENT_TYPES = frozenset({"text", "image", "audio", "video", "document"})
_MIME = {"image": "image/png", "audio": "audio/wav", "video": "video/mp4", "document": "application/pdf"}
_TEXT_KEYS = frozenset({"type", "text"})
_MEDIA_KEYS = frozenset({"type", "mime_type", "data", "uri"})
_STANDARD_BASE64 = str.maketrans("-_", "+/")  # SDKs decode bytes and encode them again in the other alphabet


def type_of(value: object) -> str:
    """The type of a step, a content or a delta; empty, if it has none."""
    kind = value.get("type") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else ""


def is_content(value: object) -> bool:
    return type_of(value) in CONTENT_TYPES


# -- reading


def read_content(value: Any, key: str) -> list[Part]:
    """A string, one object, or a list of both."""
    if value is None or value == "":
        return []
    if isinstance(value, (str, dict)):
        value = [value]
    if not isinstance(value, list):
        raise wrong_type(key, "a string, an object or a list", value)
    listed = [{"type": "text", "text": item} if isinstance(item, str) else item for item in value]
    found: list[Part] = read_each(listed, key, read_one)
    return [part for part in found if type(part) is not Text or part.text or part.extra]


def read_one(obj: Body) -> Text | Media | Opaque:
    kind = type_of(obj)
    if kind == "text":
        text = obj.get("text")
        fields = text_state(obj)
        return Text(require_string("" if text is None else text, "text"), extra={WIRE: fields} if fields else {})
    if kind in _MIME and (obj.get("data") is not None or obj.get("uri") is not None):
        return _read_media(obj)
    return Opaque(WIRE, obj)


def text_state(obj: Body) -> Body:
    """The other fields of a text."""
    return {key: value for key, value in unknown_keys(obj, _TEXT_KEYS).items() if value != []}


def _read_media(obj: Body) -> Media:
    mime, data = obj.get("mime_type"), obj.get("data")
    mime = mime if isinstance(mime, str) else _MIME[obj["type"]]
    extra = unknown_extra(obj, _MEDIA_KEYS, WIRE)
    if data is None:
        return Media(media_kind(mime), mime, url=require_string(obj["uri"], "uri"), extra=extra)
    return Media(media_kind(mime), mime, require_string(data, "data").translate(_STANDARD_BASE64), extra=extra)


# -- writing


def write_content(parts: Sequence[Part], notes: list[str]) -> list[Body]:
    return [obj for part in parts if (obj := write_one(part, notes)) is not None]


def write_one(part: Part, notes: list[str]) -> Body | None:
    if isinstance(part, Text):
        fields = wire_extra(part.extra, WIRE, "text", notes)
        return {"type": "text", "text": part.text, **fields} if part.text or fields else None
    if isinstance(part, Media):
        return _write_media(part, notes)
    if isinstance(part, Opaque):
        return wire_block(part, WIRE, notes)
    return None


def _write_media(media: Media, notes: list[str]) -> Body | None:
    if media.data is None and not media.url:
        notes.append(f"{media.kind}: it has neither data nor a URL; left out")
        return None
    if media.name:
        notes.append(f"{media.kind}: {WIRE} has no place for its name; left out")
    is_video = (media.mime or "").startswith("video/")
    obj: Body = {"type": media.kind if media.kind != "file" else "video" if is_video else "document"}
    if media.mime:
        obj["mime_type"] = media.mime
    if media.data is not None:
        obj["data"] = media.data
    else:
        obj["uri"] = media.url
    return {**obj, **wire_extra(media.extra, WIRE, media.kind, notes)}
