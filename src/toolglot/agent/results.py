"""Converts the value or the error of a tool into a tool result: text, JSON, images."""

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
from toolglot.io.json_codec import preview, replace_surrogates

Parts = tuple[Text | Media, ...]

_NOTHING = "(no output)"
_MAX_ERROR = 400  # characters
_MIME = re.compile(r"[\w.+-]+/[\w.+-]+")
_PAIR = 2  # bytes and their MIME type

# the first bytes of a file type
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
    """Raised by a tool to report a failure to the model, as text or parts."""

    def __init__(self, message: str | Parts) -> None:
        self.parts: Parts = (Text(message),) if isinstance(message, str) else message
        super().__init__(" ".join(part.text for part in self.parts if isinstance(part, Text)) or "the tool failed")


def as_result(value: Any) -> Parts:
    """Text unchanged, images and other bytes as media, anything else as JSON. Never fails."""
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
    """The value as a single part, or None."""
    if isinstance(value, (Text, Media)):
        return value
    if isinstance(value, str):
        return Text(replace_surrogates(value))
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _file(bytes(value))
    if isinstance(value, tuple) and len(value) == _PAIR and isinstance(value[0], bytes) and isinstance(value[1], str):
        return media(value[0], value[1]) if _MIME.fullmatch(value[1]) else None
    if not isinstance(value, type) and callable(getattr(value, "_repr_png_", None)):  # PIL's images, among others
        return _image(value)
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


def _image(value: Any) -> Media | None:
    try:
        data = value._repr_png_()
    except Exception:  # noqa: BLE001  (the user's code may raise anything: then it is not an image)
        return None
    return media(data, "image/png") if isinstance(data, bytes) else None


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value, enc_hook=_to_builtins).decode()
    except Exception:  # noqa: BLE001  (the user's code, such as a model_dump, may raise anything)
        try:
            return replace_surrogates(str(value))
        except Exception as error:  # noqa: BLE001  (the user's __str__)
            return f"(a {type(value).__name__} that can't be shown: {type(error).__name__})"


def _to_builtins(value: Any) -> Any:
    """For types that msgspec does not know: pydantic models, numpy numbers and arrays, paths; else str."""
    if isinstance(value, PurePath):
        return str(value)
    if callable(dump := getattr(value, "model_dump", None)):
        return dump(mode="json")
    if callable(to_list := getattr(value, "tolist", None)):
        return to_list()
    return str(value)


# -- failures


_MASK = "***"
_SECRETS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(://)[^/\s:@]*:[^/\s@]+@"), rf"\1{_MASK}@"),
    (re.compile(r"""(authorization["']?\s*[=:]\s*["']?(?:\w+\s+)?)[^\s"',;)}]+""", re.IGNORECASE), rf"\1{_MASK}"),
    (re.compile(r"\b(bearer|basic)\s+[\w.~+/=-]{8,}", re.IGNORECASE), rf"\1 {_MASK}"),
    # "unknown key: x" is an ordinary message, so only a long word after a colon counts there
    (
        re.compile(
            r"""((?:(?:secret|passphrase|password|passwd|pwd)["']?\s*[=:]|(?:key|token|signature)["']?\s*=)\s*["']?)[^\s"'&,;)}]+""",
            re.IGNORECASE,
        ),
        rf"\1{_MASK}",
    ),
    (re.compile(r"""((?:key|token|signature)["']?\s*:\s*["']?)[^\s"'&,;)}]{8,}""", re.IGNORECASE), rf"\1{_MASK}"),
    (re.compile(r"\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|xox[abp]|glpat|hf|gsk|AKIA|AIza)[-_A-Za-z0-9]{12,}"), _MASK),
)
_SECRET_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$")
_SHORTEST_SECRET = 8


def error_result(error: BaseException) -> Parts:
    """The error for the model: one short line, without a traceback and with secrets masked."""
    if isinstance(error, ToolError):
        return tuple(
            Text(replace_surrogates(without_secrets(part.text))) if isinstance(part, Text) else part for part in error.parts
        )
    return (Text(_describe(error)),)


def _describe(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    try:
        message = next((line.strip() for line in replace_surrogates(str(error)).splitlines() if line.strip()), "")
    except Exception:  # noqa: BLE001  (the user's __str__)
        message = ""
    message = preview(without_secrets(message), _MAX_ERROR)
    if isinstance(error, ToolglotError):
        return message
    if isinstance(error, TimeoutError) and not message:
        return "the tool took too long"
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def without_secrets(text: str, environ: Mapping[str, str] | None = None) -> str:
    """Masks passwords, keys and tokens: those of the environment, and whatever looks like one."""
    for name, value in (os.environ if environ is None else environ).items():
        if len(value) >= _SHORTEST_SECRET and value in text and _SECRET_NAMES.search(name.upper()):
            text = text.replace(value, _MASK)
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text
