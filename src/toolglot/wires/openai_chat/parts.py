"""OpenAI Chat content parts, reading and writing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from toolglot.core.fold import merge_extra
from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, Media, Opaque, Part, Text
from toolglot.io.media import data_url, media_from_url
from toolglot.io.request_validation import Body, optional, read_each, require_object, require_string, wire_block, wrong_type
from toolglot.wires.openai_chat.shapes import WIRE, chat_extra

_AUDIO_FORMATS = {"mpeg": "mp3", "x-wav": "wav", "wave": "wav", "vnd.wave": "wav"}  # MIME subtype -> OpenAI's format


# -- reading


def read_content(content: Any) -> tuple[Part, ...]:
    if content is None or content == "":
        return ()
    if isinstance(content, str):
        return (Text(content),)
    if not isinstance(content, list):
        raise wrong_type("content", "a string or a list of parts", content)
    return tuple(read_each(content, "content", read_part))


def read_part(obj: Body) -> Part:
    kind = obj.get("type")
    kind = "text" if kind is None else require_string(kind, "type")
    read = _READERS.get(kind)
    if read is None:
        return Opaque(WIRE, obj)
    rest = {key: value for key, value in obj.items() if key not in ("type", kind)}
    return read(obj, {WIRE: rest} if rest else {})


def _read_text(obj: Body, extra: Extra) -> Part:
    return Text(require_string(obj.get("text"), "text"), extra=extra)


def _read_refusal(obj: Body, extra: Extra) -> Part:
    return Text(require_string(obj.get("refusal"), "refusal"), "refusal", extra)


def _read_image(obj: Body, extra: Extra) -> Part:
    image = obj.get("image_url")
    if isinstance(image, str):
        return media_from_url("image", image, extra)
    url, extra = _inner(image, "image_url", ("url",), extra)
    return media_from_url("image", require_string(url["url"], "image_url.url"), extra)


def _read_audio(obj: Body, extra: Extra) -> Part:
    audio, extra = _inner(obj.get("input_audio"), "input_audio", ("data", "format"), extra)
    form = optional(require_string, audio["format"], "input_audio.format")
    return Media("audio", f"audio/{form or 'wav'}", require_string(audio["data"], "input_audio.data"), extra=extra)


def _read_file(obj: Body, extra: Extra) -> Part:
    file, extra = _inner(obj.get("file"), "file", ("file_data", "filename"), extra)
    data = optional(require_string, file["file_data"], "file.file_data")
    name = optional(require_string, file["filename"], "file.filename")
    if data is None:  # by id: a file that was uploaded to this vendor
        return Opaque(WIRE, obj)
    if data.startswith("data:"):
        return msgspec.structs.replace(media_from_url("file", data, extra), name=name)
    return Media("file", data=data, name=name, extra=extra)


def _inner(value: Any, key: str, known: tuple[str, ...], extra: Extra) -> tuple[Body, Extra]:
    """A part's inner object: its known keys, and `extra` joined with the others."""
    obj = require_object(value, key)
    more = {name: item for name, item in obj.items() if name not in known}
    if more:
        extra = merge_extra(extra, {WIRE: {key: more}})
    return {name: obj.get(name) for name in known}, extra


_READERS: dict[str, Callable[[Body, Extra], Part]] = {
    "text": _read_text,
    "refusal": _read_refusal,
    "image_url": _read_image,
    "input_audio": _read_audio,
    "file": _read_file,
}


# -- writing


def write_content(parts: tuple[Part, ...], notes: list[str], quirks: Quirks) -> Any:
    """A string if there is only one plain text, else a list of parts."""
    if len(parts) == 1 and type(parts[0]) is Text and not parts[0].extra:
        return parts[0].text
    listed = [obj for part in parts if (obj := _write_part(part, notes, quirks)) is not None]
    if not listed:
        return ""
    if len(listed) == 1 and listed[0].keys() == {"type", "text"}:  # other keys were left out
        return listed[0]["text"]
    if not quirks.text_parts and all(obj.get("type") == "text" for obj in listed):
        return _as_string(listed, notes)
    return listed


def _as_string(listed: list[Body], notes: list[str]) -> str:
    lost = {key for obj in listed for key in obj} - {"type", "text"}
    if lost:
        notes.append(f"text: the server accepts one string; {', '.join(sorted(lost))} left out")
    return "\n".join(obj["text"] for obj in listed)


def _write_part(part: Part, notes: list[str], quirks: Quirks) -> Body | None:
    if isinstance(part, Text):
        key = "refusal" if part.channel == "refusal" else "text"
        return {"type": key, key: part.text, **(chat_extra(part.extra, key, notes, quirks) if part.extra else {})}
    if isinstance(part, Media):
        return write_media(part, notes, quirks)
    if isinstance(part, Opaque):
        return wire_block(part, WIRE, notes)
    return None


def write_media(media: Media, notes: list[str], quirks: Quirks) -> Body | None:
    kept = chat_extra(media.extra, media.kind, notes, quirks)
    if media.kind == "image":
        return _with_inner("image_url", {"url": data_url(media)}, kept)
    if media.data is None and not (media.kind == "file" and (media.url or "").startswith("data:")):
        notes.append(f"{media.kind}: openai-chat accepts data, not a URL; left out")
        return None
    if media.kind == "audio":
        form = (media.mime or "audio/wav").partition("/")[2]
        return _with_inner("input_audio", {"data": media.data, "format": _AUDIO_FORMATS.get(form, form)}, kept)
    file: Body = {"file_data": data_url(media) if media.mime or media.data is None else media.data}
    if media.name:
        file["filename"] = media.name
    return _with_inner("file", file, kept)


def _with_inner(kind: str, inner: Body, kept: Body) -> Body:
    inner.update(kept.pop(kind, {}))
    return {"type": kind, kind: inner, **kept}
