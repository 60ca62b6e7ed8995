"""JSON in and out, tolerant where a provider is sloppy: one decoder and one encoder for the whole program.

msgspec is as fast as any here and keeps whole numbers of any size, where orjson turns them into floats.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder()
_SURROGATE = re.compile("[\ud800-\udfff]")

BadJson = (ValueError, RecursionError, msgspec.MsgspecError)  # what decode may raise

encode = _ENCODER.encode
decode = _DECODER.decode


def dumps(value: Any) -> str:
    """Compact JSON text. Lone surrogates, which no encoding can carry, become U+FFFD."""
    try:
        return _ENCODER.encode(value).decode()
    except UnicodeError:
        return json.dumps(_scrubbed(value), ensure_ascii=False, separators=(",", ":"))


def decode_leniently(data: bytes | str) -> Any:
    """As `decode`, but takes raw control characters, NaN and lone surrogates, as some servers write them."""
    try:
        return _DECODER.decode(data)
    except BadJson:
        text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
        return _scrubbed(json.loads(text, strict=False))


def loads_object(text: str) -> dict[str, Any] | None:
    """The JSON object that `text` is, or None."""
    try:
        value = _DECODER.decode(text)
    except BadJson:
        return None
    return value if isinstance(value, dict) else None


def values(data: bytes) -> list[Any]:
    """The JSON values that stand one after another in `data`, up to the first that can't be read."""
    try:
        return [decode_leniently(data)]
    except BadJson:
        pass
    text, at = data.decode("utf-8", "replace"), 0
    found: list[Any] = []
    reader = json.JSONDecoder(strict=False)
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        if at >= len(text):
            return found
        try:
            value, at = reader.raw_decode(text, at)
        except (ValueError, RecursionError):
            return found
        found.append(_scrubbed(value))


def _scrubbed(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_scrubbed(item) for item in value]
    if isinstance(value, dict):
        return {_scrubbed(key): _scrubbed(item) for key, item in value.items()}
    return value
