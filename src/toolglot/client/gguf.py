"""Reads from the header of a GGUF file: the trained context window, and the bytes of cache per token.

Format: ggml's docs/gguf.md. Only numbers are read; texts and lists of texts are skipped.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9
_LONGEST = 4096  # numbers of a list: one for each layer; longer lists are the tokenizer's
_KEYS = ("context_length", "block_count", "embedding_length", "attention.head_count")


class Window(msgspec.Struct, frozen=True):
    trained: int  # tokens
    token_bytes: int  # of the key-value cache, in 16-bit floats


def read_window(path: Path) -> Window | None:
    """None: not in the file, or not a readable GGUF file."""
    try:
        with path.open("rb") as file:
            return _window(_numbers(file))
    except (OSError, struct.error, UnicodeDecodeError):
        return None


def _window(found: dict[str, Any]) -> Window | None:
    trained, layers, width, heads = (found.get(key) for key in _KEYS)
    if not (isinstance(trained, int) and isinstance(layers, int) and isinstance(width, int) and heads):
        return None
    widest = max(heads) if isinstance(heads, list) else heads
    cached = found.get("attention.head_count_kv", heads)
    cached_heads = sum(cached) if isinstance(cached, list) else cached * layers
    key = found.get("attention.key_length", width // widest)
    value = found.get("attention.value_length", width // widest)
    return Window(trained, cached_heads * (key + value) * 2)


def _numbers(file: BinaryIO) -> dict[str, Any]:
    """Keys without the architecture prefix. Reading ends at the tokenizer, which comes last and is long."""
    magic, version, _, count = struct.unpack("<4sIQQ", file.read(24))
    found: dict[str, Any] = {}
    if magic != b"GGUF" or version < 2:
        return found
    for _ in range(count):
        key = _text(file).decode()
        if key.startswith("tokenizer."):
            break
        found[key.partition(".")[2]] = _value(file, *_unpack(file, "I"))
    return found


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _TEXT:
        return _text(file) and None
    if kind != _LIST:
        return _unpack(file, _NUMBERS.get(kind, ""))[0]
    inner, length = _unpack(file, "IQ")
    values = [_value(file, inner) for _ in range(length)]
    return values if length <= _LONGEST else None


def _text(file: BinaryIO) -> bytes:
    return file.read(*_unpack(file, "Q"))


def _unpack(file: BinaryIO, form: str) -> tuple[Any, ...]:
    return struct.unpack(f"<{form}", file.read(struct.calcsize(f"<{form}")))
