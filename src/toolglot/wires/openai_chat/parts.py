"""The parts that a message's content is made of, as OpenAI Chat has them, both ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from toolglot.core.fold import join_extra
from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, Media, Opaque, Part, Text
from toolglot.reading.media import data_url, from_url
from toolglot.reading.shape import a_string, an_object, each_object, misfit, or_none
from toolglot.wires.openai_chat.shapes import WIRE, own

Body = dict[str, Any]

_AUDIO_FORMATS = {"mpeg": "mp3", "x-wav": "wav", "wave": "wav", "vnd.wave": "wav"}  # a MIME type's word -> OpenAI's


# -- reading


def read_content(content: Any) -> tuple[Part, ...]:
    if content is None or content == "":
        return ()
    if isinstance(content, str):
        return (Text(content),)
    if not isinstance(content, list):
        raise misfit("content", "a string or a list of parts", content)
    return tuple(each_object(content, "content", read_part))


def read_part(held: Body) -> Part:
    kind = held.get("type")
    kind = "text" if kind is None else a_string(kind, "type")
    read = _READERS.get(kind)
    if read is None:
        return Opaque(WIRE, held)
    rest = {key: value for key, value in held.items() if key not in ("type", kind)}
    return read(held, {WIRE: rest} if rest else {})


def _read_text(held: Body, extra: Extra) -> Part:
    return Text(a_string(held.get("text"), "text"), extra=extra)


def _read_refusal(held: Body, extra: Extra) -> Part:
    return Text(a_string(held.get("refusal"), "refusal"), "refusal", extra)


def _read_image(held: Body, extra: Extra) -> Part:
    image = held.get("image_url")
    if isinstance(image, str):
        return from_url("image", image, extra)
    url, extra = _inner(image, "image_url", ("url",), extra)
    return from_url("image", a_string(url["url"], "image_url.url"), extra)


def _read_audio(held: Body, extra: Extra) -> Part:
    audio, extra = _inner(held.get("input_audio"), "input_audio", ("data", "format"), extra)
    form = or_none(a_string, audio["format"], "input_audio.format")
    return Media("audio", f"audio/{form or 'wav'}", a_string(audio["data"], "input_audio.data"), extra=extra)


def _read_file(held: Body, extra: Extra) -> Part:
    file, extra = _inner(held.get("file"), "file", ("file_data", "filename"), extra)
    data = or_none(a_string, file["file_data"], "file.file_data")
    name = or_none(a_string, file["filename"], "file.filename")
    if data is None:  # by id: a file that only this vendor has
        return Opaque(WIRE, held)
    if data.startswith("data:"):
        return msgspec.structs.replace(from_url("file", data, extra), name=name)
    return Media("file", data=data, name=name, extra=extra)


def _inner(value: Any, key: str, known: tuple[str, ...], extra: Extra) -> tuple[Body, Extra]:
    """A part's inner object: its known keys, and `extra` joined with the others."""
    held = an_object(value, key)
    more = {name: item for name, item in held.items() if name not in known}
    if more:
        extra = join_extra(extra, {WIRE: {key: more}})
    return {name: held.get(name) for name in known}, extra


_READERS: dict[str, Callable[[Body, Extra], Part]] = {
    "text": _read_text,
    "refusal": _read_refusal,
    "image_url": _read_image,
    "input_audio": _read_audio,
    "file": _read_file,
}


# -- writing


def write_content(parts: tuple[Part, ...], notes: list[str], quirks: Quirks) -> Any:
    """A string where one plain text is all there is, else a list of parts."""
    if len(parts) == 1 and type(parts[0]) is Text and not parts[0].extra:
        return parts[0].text
    listed = [held for part in parts if (held := _write_part(part, notes, quirks)) is not None]
    if not listed:
        return ""
    if len(listed) == 1 and listed[0].keys() == {"type", "text"}:  # what stood beside it was left out
        return listed[0]["text"]
    if not quirks.text_parts and all(held.get("type") == "text" for held in listed):
        return _as_string(listed, notes)
    return listed


def _as_string(listed: list[Body], notes: list[str]) -> str:
    lost = {key for held in listed for key in held} - {"type", "text"}
    if lost:
        notes.append(f"text: the server takes one string; {', '.join(sorted(lost))} left out")
    return "\n".join(held["text"] for held in listed)


def _write_part(part: Part, notes: list[str], quirks: Quirks) -> Body | None:
    if isinstance(part, Text):
        key = "refusal" if part.channel == "refusal" else "text"
        return {"type": key, key: part.text, **(own(part.extra, key, notes, quirks) if part.extra else {})}
    if isinstance(part, Media):
        return write_media(part, notes, quirks)
    if isinstance(part, Opaque):
        if part.wire == WIRE:
            return part.block
        notes.append(f"a block of {part.wire}'s own ({part.block.get('type', '?')}) was left out")
    return None


def write_media(media: Media, notes: list[str], quirks: Quirks) -> Body | None:
    kept = own(media.extra, media.kind, notes, quirks)
    if media.kind == "image":
        return _with_inner("image_url", {"url": data_url(media)}, kept)
    if media.data is None and not (media.kind == "file" and (media.url or "").startswith("data:")):
        notes.append(f"{media.kind}: openai-chat takes the data itself, not an address; left out")
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
