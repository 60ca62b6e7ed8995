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

# an escape in JSON; the second half of a surrogate pair goes with its first, and one alone is told apart
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)

BadJson = (ValueError, RecursionError, msgspec.MsgspecError)  # what decode may raise

decode = _DECODER.decode


def encode(value: Any) -> bytes:
    """Compact JSON. Lone surrogates, which no encoding can carry, become U+FFFD."""
    try:
        return _ENCODER.encode(value)
    except UnicodeError:
        return _ENCODER.encode(_scrubbed(value))


def sound(text: str) -> str:
    """The text with U+FFFD for each lone surrogate: names of files and words of a command line may hold some."""
    return _SURROGATE.sub("\ufffd", text)


def without_halves(data: bytes) -> bytes:
    """JSON text with U+FFFD for each escape that is half of a surrogate pair: it is JSON, but no text."""
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found["half"] else found[0], data)


def dumps(value: Any) -> str:
    """As `encode`, but text."""
    return encode(value).decode()


def dumps_anyhow(value: Any) -> str:
    """As `dumps`; of what is nested too deeply, words that nobody takes for JSON."""
    try:
        return dumps(value)
    except RecursionError:
        return "(nested too deeply)"


def shown(value: Any, limit: int = 200) -> str:
    """A value for people to see: text as it is, else JSON; never too long, never an error."""
    text = value if isinstance(value, str) else dumps_anyhow(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def decode_leniently(data: bytes | str) -> Any:
    """As `decode`, but takes raw control characters, NaN and lone surrogates, as some servers write them."""
    try:
        return _DECODER.decode(data)
    except BadJson:
        text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
        return _scrubbed(json.loads(text.removeprefix("\ufeff"), strict=False))


def loads_object(text: str) -> dict[str, Any] | None:
    """The JSON object that `text` is, or None."""
    try:
        value = _DECODER.decode(text)
    except BadJson:
        return None
    return value if isinstance(value, dict) else None


def values(data: bytes) -> tuple[list[Any], str]:
    """The JSON values that stand one after another in `data`, and the text from the first that can't be read.

    An array that breaks off gives the values in it: the stream of a server that was not asked for events.
    """
    try:
        return [decode_leniently(data)], ""
    except BadJson:
        pass
    text, at = data.decode("utf-8", "replace"), 0
    found: list[Any] = []
    reader = json.JSONDecoder(strict=False)
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        if at >= len(text):
            return found, ""
        try:
            value, at = reader.raw_decode(text, at)
            found.append(_scrubbed(value))
        except (ValueError, RecursionError):
            if found or at or text[at] != "[":
                return found, text[at:]
            at = 1


def _scrubbed(value: Any) -> Any:
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, (list, tuple)):
        return [_scrubbed(item) for item in value]
    if isinstance(value, dict):
        return {_scrubbed(key): _scrubbed(item) for key, item in value.items()}
    return value
