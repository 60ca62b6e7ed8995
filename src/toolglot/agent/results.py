"""What a tool gave, or how it failed, as the model sees it: text, JSON, images."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Literal

import msgspec

from toolglot.core.messages import Media, Text
from toolglot.errors import ToolglotError
from toolglot.text.json_text import shown, sound

Parts = tuple[Text | Media, ...]

_NOTHING = "(no output)"
_MOST_SAID = 400  # characters of an error
_MIME = re.compile(r"[\w.+-]+/[\w.+-]+")
_PAIR = 2  # bytes and their MIME type

# how files of a kind begin
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}


class ToolError(ToolglotError):
    """A tool says that it failed, in words (or parts) that are meant for the model."""

    def __init__(self, said: str | Parts) -> None:
        self.parts: Parts = (Text(said),) if isinstance(said, str) else said
        super().__init__(" ".join(part.text for part in self.parts if isinstance(part, Text)) or "the tool failed")


def as_result(value: Any) -> Parts:
    """Text as it is, images and other bytes as media, anything else as JSON. Never fails."""
    if value is None or (isinstance(value, (str, tuple)) and not value):
        return (Text(_NOTHING),)
    part = _part(value)
    if part is not None:
        return (part,)
    if isinstance(value, (list, tuple)) and any(isinstance(_part(item), Media) for item in value):
        return tuple(each for item in value for each in as_result(item))
    if isinstance(value, (list, tuple)) and all(isinstance(item, (Text, Media)) for item in value):
        return tuple(value) or (Text("[]"),)
    return (Text(_json(value)),)


def _part(value: Any) -> Text | Media | None:
    """A value that is one part by itself."""
    if isinstance(value, (Text, Media)):
        return value
    if isinstance(value, str):
        return Text(sound(value))
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _file(bytes(value))
    if isinstance(value, tuple) and len(value) == _PAIR and isinstance(value[0], bytes) and isinstance(value[1], str):
        return media(value[0], value[1]) if _MIME.fullmatch(value[1]) else None
    if not isinstance(value, type) and callable(getattr(value, "_repr_png_", None)):  # PIL's images, among others
        return _picture(value)
    return None


def _file(data: bytes) -> Text | Media:
    mime = next((mime for start, mime in _SIGNATURES if data.startswith(start)), None)
    if mime is None and data.startswith(b"RIFF"):
        mime = _RIFF.get(data[8:12])
    if mime is not None:
        return media(data, mime)
    try:
        return Text(data.decode() or _NOTHING)
    except UnicodeDecodeError:
        return media(data, "application/octet-stream")


def media(data: bytes, mime: str) -> Media:
    return Media(media_kind(mime), mime, base64.b64encode(data).decode())


def media_kind(mime: str) -> Literal["image", "audio", "file"]:
    if mime.startswith("image/"):
        return "image"
    return "audio" if mime.startswith("audio/") else "file"


def _picture(value: Any) -> Media | None:
    try:
        data = value._repr_png_()
    except Exception:  # noqa: BLE001  (an object of the user's: then it is no picture)
        return None
    return media(data, "image/png") if isinstance(data, bytes) else None


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value, enc_hook=_plain).decode()
    except Exception:  # noqa: BLE001  (what it holds is the user's: a model's own dump may raise anything)
        try:
            return sound(str(value))
        except Exception as error:  # noqa: BLE001  (an object of the user's)
            return f"(a {type(value).__name__} that can't be shown: {type(error).__name__})"


def _plain(value: Any) -> Any:
    """What JSON and msgspec don't know: pydantic's models, numpy's numbers and arrays, paths; at last, its own words."""
    if isinstance(value, PurePath):
        return str(value)
    if callable(dump := getattr(value, "model_dump", None)):
        return dump(mode="json")
    if callable(listed := getattr(value, "tolist", None)):
        return listed()
    return str(value)


# -- failures


_TOLD = "***"
_SECRETS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(://)[^/\s:@]*:[^/\s@]+@"), rf"\1{_TOLD}@"),
    (re.compile(r"\b(bearer|basic)\s+[\w.~+/=-]{8,}", re.IGNORECASE), rf"\1 {_TOLD}"),
    (
        re.compile(r"""((?:key|token|secret|password|passwd|signature)["']?\s*[=:]\s*["']?)[^\s"'&,;)}]{8,}""", re.IGNORECASE),
        rf"\1{_TOLD}",
    ),
    (re.compile(r"\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|xox[abp]|glpat|hf|gsk|AKIA|AIza)[-_A-Za-z0-9]{12,}"), _TOLD),
)
_SECRET_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$")
_SHORTEST_SECRET = 8


def error_result(error: BaseException) -> Parts:
    """How a tool failed, for the model: one short line, without a traceback and without what looks like a secret."""
    if isinstance(error, ToolError):
        return tuple(Text(sound(without_secrets(part.text))) if isinstance(part, Text) else part for part in error.parts)
    return (Text(_sentence(error)),)


def _sentence(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    try:
        said = next((line.strip() for line in sound(str(error)).splitlines() if line.strip()), "")
    except Exception:  # noqa: BLE001  (an error of the user's, whose words fail too)
        said = ""
    said = shown(without_secrets(said), _MOST_SAID)
    if isinstance(error, ToolglotError):
        return said
    if isinstance(error, TimeoutError) and not said:
        return "the tool took too long"
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def without_secrets(text: str, environ: Mapping[str, str] | None = None) -> str:
    """The text with passwords, keys and tokens hidden: by their look, and those that the environment holds."""
    for name, value in (os.environ if environ is None else environ).items():
        if len(value) >= _SHORTEST_SECRET and value in text and _SECRET_NAMES.search(name.upper()):
            text = text.replace(value, _TOLD)
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text
