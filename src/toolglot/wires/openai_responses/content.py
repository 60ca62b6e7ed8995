"""The parts of a message or a result: text, images, files, audio."""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Media, Opaque, Part, Text
from toolglot.io.cache_marks import as_breakpoint
from toolglot.io.media import data_url, media_from_url
from toolglot.io.request_validation import (
    Body,
    read_each,
    require_object,
    require_string,
    unknown_extra,
    wire_block,
    wire_extra,
    wrong_type,
)
from toolglot.wires.openai_responses.shapes import WIRE

_IMAGE_KEYS = frozenset({"type", "image_url"})
_FILE_KEYS = frozenset({"type", "file_data", "file_url", "filename"})
_TEXTS = ("input_text", "output_text", "text", "summary_text", "reasoning_text")
# Keys of an output_text part; other extras of an assistant's Text belong to the item.
PART_KEYS = frozenset({"annotations", "logprobs", "prompt_cache_breakpoint"})


def is_part(block: Body) -> bool:
    """Whether an opaque block is part of a message, and not an item."""
    kind = block.get("type")
    return isinstance(kind, str) and (kind.startswith(("input_", "output_")) or kind in _TEXTS or kind == "refusal")


def part_state(obj: Body) -> Body:
    """The other fields of a text part."""
    if len(obj) <= 2:
        return {}
    return {key: value for key, value in obj.items() if key not in ("type", "text", "refusal") and value not in ([], None)}


# -- reading


def read_content(content: Any, key: str) -> list[Any]:
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [Text(content)]
    if not isinstance(content, list):
        raise wrong_type(key, "a string or a list of parts", content)
    found: list[Part] = read_each(content, key, _read_part)
    return [part for part in found if type(part) is not Text or part.text or part.extra]


def _read_part(obj: Body) -> Part:
    kind = obj.get("type", "text")
    if kind in _TEXTS:
        fields = part_state(obj)
        return Text(require_string(obj.get("text"), "text"), None, {WIRE: fields} if fields else {})
    if kind == "refusal":
        fields = part_state(obj)
        return Text(require_string(obj.get("refusal"), "refusal"), "refusal", {WIRE: fields} if fields else {})
    if kind == "input_image" and obj.get("image_url") is not None:
        return _read_image(obj)
    if kind == "input_file" and (obj.get("file_data") is not None or obj.get("file_url") is not None):
        return _read_file(obj)
    if kind == "input_audio":
        audio = require_object(obj.get("input_audio"), "input_audio")
        return Media("audio", f"audio/{audio.get('format') or 'wav'}", require_string(audio.get("data"), "input_audio.data"))
    return Opaque(WIRE, obj)


def _read_image(obj: Body) -> Media:
    address = obj["image_url"]
    if isinstance(address, dict):  # nested, as in Chat
        address = address.get("url")
    extra = unknown_extra(obj, _IMAGE_KEYS, WIRE)
    if extra and extra[WIRE].get("detail") == "auto":
        del extra[WIRE]["detail"]
    return media_from_url("image", require_string(address, "image_url"), extra if extra.get(WIRE) else {})


def _read_file(obj: Body) -> Media:
    name = obj.get("filename")
    name = require_string(name, "filename") if name is not None else None
    extra = unknown_extra(obj, _FILE_KEYS, WIRE)
    if obj.get("file_data") is None:
        return Media("file", url=require_string(obj["file_url"], "file_url"), name=name, extra=extra)
    data = require_string(obj["file_data"], "file_data")
    if not data.startswith("data:"):
        return Media("file", data=data, name=name, extra=extra)
    return msgspec.structs.replace(media_from_url("file", data, extra), name=name)


# -- writing


def write_content(parts: list[Part], notes: list[str], quirks: Quirks) -> Any:
    """Content for the model."""
    listed = [obj for part in parts if (obj := _write_part(part, notes, quirks)) is not None]
    if not quirks.text_parts and all(obj.get("type") == "input_text" for obj in listed):
        return "\n".join(obj["text"] for obj in listed)
    return listed


def write_result(parts: list[Part], notes: list[str], quirks: Quirks) -> Any:
    """A string if there is only one plain text."""
    if len(parts) == 1 and type(parts[0]) is Text and not parts[0].extra:
        return parts[0].text
    return write_content(parts, notes, quirks) or ""


def _write_part(part: Part, notes: list[str], quirks: Quirks) -> Body | None:
    if isinstance(part, Text):
        extra = as_breakpoint(part.extra, WIRE, quirks) if part.extra else {}
        return {"type": "input_text", "text": part.text, **(wire_extra(extra, WIRE, "text", notes) if extra else {})}
    if isinstance(part, Media):
        return _write_media(part, notes, quirks)
    if isinstance(part, Opaque):
        return wire_block(part, WIRE, notes)
    return None


def _write_media(media: Media, notes: list[str], quirks: Quirks) -> Body | None:
    fields = wire_extra(as_breakpoint(media.extra, WIRE, quirks), WIRE, media.kind, notes) if media.extra else {}
    if media.kind == "image":
        return {"type": "input_image", "image_url": data_url(media), "detail": "auto", **fields}
    if media.kind == "audio":
        if media.data is None:
            notes.append("audio: openai-responses accepts data, not a URL; left out")
            return None
        form = (media.mime or "audio/wav").partition("/")[2]
        return {"type": "input_audio", "input_audio": {"data": media.data, "format": form}}
    file: Body = {"type": "input_file"}
    if media.data is None:
        file["file_url"] = media.url or ""
    else:
        file["file_data"] = data_url(media)
    if media.name:
        file["filename"] = media.name
    return {**file, **fields}


def write_output_text(part: Text) -> Body:
    """An assistant's text as a message part."""
    if part.channel == "refusal":
        return {"type": "refusal", "refusal": part.text}
    obj: Body = {"type": "output_text", "text": part.text, "annotations": []}
    fields = part.extra.get(WIRE)
    if fields:
        obj.update({key: fields[key] for key in PART_KEYS if key in fields})
    return obj
