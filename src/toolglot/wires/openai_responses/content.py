"""The parts of a message or of a result: text, pictures, files, sounds."""

from __future__ import annotations

from typing import Any

import msgspec

from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, Media, Opaque, Part, Text
from toolglot.reading.media import data_url, from_url
from toolglot.reading.shape import a_string, an_object, each_object, misfit, own_extra
from toolglot.wires.openai_responses.shapes import WIRE, Body

_TEXTS = ("input_text", "output_text", "text", "summary_text", "reasoning_text")
# Of an output_text part; whatever else a Text of the assistant's keeps belongs to the item around it.
PART_KEYS = frozenset({"annotations", "logprobs", "prompt_cache_breakpoint"})


def is_part(block: Body) -> bool:
    """Whether an opaque block stood inside a message, and not beside it."""
    kind = block.get("type")
    return isinstance(kind, str) and (kind.startswith(("input_", "output_")) or kind in _TEXTS or kind == "refusal")


def part_state(held: Body) -> Body:
    """What a text part says beside its text."""
    if len(held) <= 2:
        return {}
    return {key: value for key, value in held.items() if key not in ("type", "text", "refusal") and value not in ([], None)}


# -- reading


def read_content(content: Any, key: str) -> list[Any]:
    if content is None or content == "":
        return []
    if isinstance(content, str):
        return [Text(content)]
    if not isinstance(content, list):
        raise misfit(key, "a string or a list of parts", content)
    found: list[Part] = each_object(content, key, _read_part)
    return [part for part in found if type(part) is not Text or part.text or part.extra]


def _read_part(held: Body) -> Part:
    kind = held.get("type", "text")
    if kind in _TEXTS:
        own = part_state(held)
        return Text(a_string(held.get("text"), "text"), None, {WIRE: own} if own else {})
    if kind == "refusal":
        own = part_state(held)
        return Text(a_string(held.get("refusal"), "refusal"), "refusal", {WIRE: own} if own else {})
    if kind == "input_image" and held.get("image_url") is not None:
        return _read_image(held)
    if kind == "input_file" and (held.get("file_data") is not None or held.get("file_url") is not None):
        return _read_file(held)
    if kind == "input_audio":
        audio = an_object(held.get("input_audio"), "input_audio")
        return Media("audio", f"audio/{audio.get('format') or 'wav'}", a_string(audio.get("data"), "input_audio.data"))
    return Opaque(WIRE, held)


def _read_image(held: Body) -> Media:
    address = held["image_url"]
    if isinstance(address, dict):  # nested, as Chat has it
        address = address.get("url")
    extra = _more(held, "image_url")
    if extra and extra[WIRE].get("detail") == "auto":
        del extra[WIRE]["detail"]
    return from_url("image", a_string(address, "image_url"), extra if extra.get(WIRE) else {})


def _read_file(held: Body) -> Media:
    name = held.get("filename")
    name = a_string(name, "filename") if name is not None else None
    extra = _more(held, "file_data", "file_url", "filename")
    if held.get("file_data") is None:
        return Media("file", url=a_string(held["file_url"], "file_url"), name=name, extra=extra)
    data = a_string(held["file_data"], "file_data")
    if not data.startswith("data:"):
        return Media("file", data=data, name=name, extra=extra)
    return msgspec.structs.replace(from_url("file", data, extra), name=name)


def _more(held: Body, *known: str) -> Extra:
    rest = {key: value for key, value in held.items() if key not in known and key != "type" and value is not None}
    return {WIRE: rest} if rest else {}


# -- writing


def write_content(parts: list[Part], notes: list[str], quirks: Quirks) -> Any:
    """What goes to the model."""
    listed = [held for part in parts if (held := _write_part(part, notes)) is not None]
    if not quirks.text_parts and all(held.get("type") == "input_text" for held in listed):
        return "\n".join(held["text"] for held in listed)
    return listed


def write_result(parts: list[Part], notes: list[str], quirks: Quirks) -> Any:
    """A string where one plain text is all there is."""
    if len(parts) == 1 and type(parts[0]) is Text and not parts[0].extra:
        return parts[0].text
    return write_content(parts, notes, quirks) or ""


def _write_part(part: Part, notes: list[str]) -> Body | None:
    if isinstance(part, Text):
        return {"type": "input_text", "text": part.text, **(own_extra(part.extra, WIRE, "text", notes) if part.extra else {})}
    if isinstance(part, Media):
        return _write_media(part, notes)
    if isinstance(part, Opaque):
        return own_block(part, notes)
    return None


def own_block(part: Opaque, notes: list[str]) -> Body | None:
    if part.wire == WIRE:
        return part.block
    notes.append(f"a block of {part.wire}'s own ({part.block.get('type', '?')}) was left out")
    return None


def _write_media(media: Media, notes: list[str]) -> Body | None:
    own = own_extra(media.extra, WIRE, media.kind, notes) if media.extra else {}
    if media.kind == "image":
        return {"type": "input_image", "image_url": data_url(media), "detail": "auto", **own}
    if media.kind == "audio":
        if media.data is None:
            notes.append("audio: openai-responses takes the data itself, not an address; left out")
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
    return {**file, **own}


def write_said(part: Text) -> Body:
    """A text of the assistant's, as the part of a message."""
    if part.channel == "refusal":
        return {"type": "refusal", "refusal": part.text}
    held: Body = {"type": "output_text", "text": part.text, "annotations": []}
    own = part.extra.get(WIRE)
    if own:
        held.update({key: own[key] for key in PART_KEYS if key in own})
    return held
