"""JSON decoding and encoding, tolerant of what providers send wrong. The only decoder and encoder in the project.

msgspec is as fast as any here and keeps whole numbers of any size, where orjson turns them into floats.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator
from typing import Any

import msgspec

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder()
_VALUES = msgspec.json.Decoder(list[msgspec.Raw])
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LONG, _MANY = 512 * 1024, 5000  # bytes; values
# Python's splitlines ends a line here, and with it the SDKs of Gemini and Ollama, Gemini CLI, LiteLLM and LangChain
_LINE_ENDS = ((b"\xe2\x80\xa8", b"\\u2028"), (b"\xe2\x80\xa9", b"\\u2029"), (b"\xc2\x85", b"\\u0085"))
_FEW = 1000  # bytes that are looked at one by one
_SURROGATE = re.compile("[\ud800-\udfff]")

# a surrogate escape in JSON; a pair is matched as one
_SURROGATE_ESCAPE = re.compile(
    rb"\\u[dD](?:(?P<pair>[89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|[89a-fA-F][0-9a-fA-F]{2})"
)
_MAX_REPLACED = 50_000  # surrogate escapes; a text with more that are halves stays invalid

JSON_ERRORS = (ValueError, RecursionError, msgspec.MsgspecError)  # what decode may raise

decode = _DECODER.decode


def decode_in_parts(data: bytes | msgspec.Raw, levels: int = 8) -> Any:
    """As `decode`. The values of long lists and objects are decoded one by one: while one is, nothing else in the process runs.

    `levels`: how deep, as each one scans all that is below it.
    """
    view = memoryview(data)
    if view.nbytes >= _LONG and levels:
        first = bytes(view[:1])
        if first == b"[":
            return [decode_in_parts(value, levels - 1) for value in _VALUES.decode(data)]
        if first == b"{":
            return {key: decode_in_parts(value, levels - 1) for key, value in _FIELDS.decode(data).items()}
    return decode(data)


def encode_in_parts(value: dict[str, Any]) -> bytes:
    """As `encode`: the values of long lists one by one."""
    return _without_line_ends(_encode({key: _in_parts(inner) for key, inner in value.items()}))


def _in_parts(values: Any) -> Any:
    if type(values) is not list or len(values) <= _MANY:
        return values
    return msgspec.Raw(b"[" + b",".join([_encode(value) for value in values]) + b"]")


def encode(value: Any) -> bytes:
    """Compact JSON. Lone surrogates, which no encoding can carry, become U+FFFD. What some readers of streams take for the end
    of a line is escaped.
    """
    return _without_line_ends(_encode(value))


def _without_line_ends(data: bytes) -> bytes:
    if not data.isascii():
        for raw, escaped in _LINE_ENDS:
            if _contains(data, raw):
                data = data.replace(raw, escaped)
    return data


def _contains(data: bytes, text: bytes) -> bool:
    """As `text in data`. Single bytes are found a hundred times as fast, and in most data few are in any of these texts."""
    if not all(byte in data for byte in text):
        return False
    end = 0
    for _ in range(_FEW):
        end = data.find(text[-1:], end) + 1
        if not end or data.endswith(text, 0, end):
            return bool(end)
    return text in data


def _encode(value: Any) -> bytes:
    try:
        return _ENCODER.encode(value)
    except UnicodeError:
        return _ENCODER.encode(without_surrogates(value))


def replace_surrogates(text: str) -> str:
    """The text with U+FFFD for each lone surrogate: file names and command lines may contain some."""
    return _SURROGATE.sub("\ufffd", text)


def replace_surrogate_escapes(data: bytes) -> bytes:
    """JSON text with U+FFFD for each escape that is half of a surrogate pair: valid JSON, but not valid text."""
    if b"\0" in data:  # not JSON
        return data
    unescaped = data.replace(b"\\\\", b"\0\0")  # an escaped backslash does not start an escape
    found = _SURROGATE_ESCAPE.sub(lambda found: found[0] if found["pair"] else rb"\ufffd", unescaped, count=_MAX_REPLACED)
    return found.replace(b"\0\0", b"\\\\")


def dumps(value: Any) -> str:
    """Compact JSON as text, for use inside other JSON or a prompt: ends of lines are not escaped."""
    return _encode(value).decode()


def dumps_or_placeholder(value: Any) -> str:
    """As `dumps`; a value that is nested too deeply gives a text that is not JSON."""
    try:
        return dumps(value)
    except RecursionError:
        return "(nested too deeply)"


def preview(value: Any, limit: int = 200) -> str:
    """A value for messages: text as it is, anything else as JSON; shortened, and never an error."""
    text = value if isinstance(value, str) else dumps_or_placeholder(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def decode_lenient(data: bytes | str) -> Any:
    """As `decode`, but accepts raw control characters, NaN and lone surrogates, as some servers write them."""
    try:
        return _DECODER.decode(data)
    except JSON_ERRORS:
        text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
        return without_surrogates(json.loads(text.removeprefix("\ufeff"), strict=False))


def loads_object(text: str) -> dict[str, Any] | None:
    """The JSON object that `text` is, or None."""
    try:
        value = _DECODER.decode(text)
    except JSON_ERRORS:
        return None
    return value if isinstance(value, dict) else None


def decode_values(data: bytes) -> tuple[list[Any], str]:
    """The consecutive JSON values in `data`, and the text from the first one that can't be decoded.

    An incomplete array gives the values in it: some servers stream one if SSE was not requested.
    """
    try:
        return [decode_lenient(data)], ""
    except JSON_ERRORS:
        pass
    text, at = data.decode("utf-8", "replace"), 0
    found: list[Any] = []
    before = 0  # values before it
    array: int | None = None  # where an incomplete one begins; only the first is entered, so that the work stays linear
    reader = json.JSONDecoder(strict=False)
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        if at >= len(text):
            return found, ""
        try:
            value, at = reader.raw_decode(text, at)
            found.append(without_surrogates(value))
        except (ValueError, RecursionError):
            if array is None and text[at] == "[":
                array, before, at = at, len(found), at + 1
                continue
            return found, text[at if array is None or len(found) > before else array :]


def string_leaves(value: Any, skipped_keys: Container[str] = ()) -> Iterator[str]:
    """The strings in a JSON value, in order, without keys and without the values of `skipped_keys`."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            left += [inner for key, inner in reversed(one.items()) if key not in skipped_keys]
        elif isinstance(one, list):
            left += reversed(one)


def without_surrogates(value: Any) -> Any:
    """A decoded value with U+FFFD for each lone surrogate in its texts and keys."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, (list, tuple)):
        return [without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {without_surrogates(key): without_surrogates(item) for key, item in value.items()}
    return value
