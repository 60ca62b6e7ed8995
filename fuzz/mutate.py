"""Mutations of bytes and of JSON: small damage, joined inputs, and the tokens of the formats themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

import msgspec

MAX_SIZE = 3000  # bytes; small inputs are cheap, and most faults need little
_TOKENS = re.compile(rb"<[^<>\s]{1,30}>|[\[{(<|]{2}[^\s]{0,12}|\\u[0-9a-f]{4}|\"[a-z_]{2,20}\"|[a-z-]{2,20}: ?")
_SPECIAL: tuple[bytes, ...] = (
    *(bytes([byte]) for byte in b"\"'{}[]()<>\\/:,=|`#*&%;\0\t\n\r -_0"),
    *(
        text.encode()
        for text in ("\r\n", "\n\n", "\ufeff", "\u2028", "é", "語", "😀", "\u200b", "```", "</", "<|", "|>", '\\"')
    ),
    *(b"\xff", b"\xc3", b"\xf0\x9f", b"\x1b", b"null", b"true", b"NaN", b"1e999", b"-0", b"9" * 30, b"[" * 40, b"{" * 40),
    *(b'{"a":', b"\\ud83d", b"\\u0000", b"\n0\r\n\r\n", b"0" * 20),
)
# what a faulty client or server puts in place of a value
_STRANGE: tuple[Any, ...] = (
    *(None, True, False, "", "x", "null", "\u0000", "語😀", 0, -1, 1.5, 1e308, 2**70, [], {}, [None], [[]], {"": {}}),
    *(
        {"type": "x"},
        {"error": None},
        {"$ref": "#"},
        {"type": ["string", 5]},
        {"anyOf": []},
        {"enum": []},
        [{}],
        {"type": "object"},
    ),
)


def tokens(seeds: Iterable[bytes]) -> tuple[bytes, ...]:
    """Tags, keys and header names of the seeds: a random byte rarely makes one."""
    return (*_SPECIAL, *sorted({found for seed in seeds for found in _TOKENS.findall(seed)}))


def mutate_bytes(data: bytes, other: bytes, words: Sequence[bytes], chance: Random) -> bytes:
    for _ in range(chance.choice((1, 1, 1, 2, 3, 5))):
        at = chance.randint(0, len(data))
        end = min(len(data), at + chance.choice((0, 0, 1, 1, 2, 4, 8, 20, 80)))
        match chance.randrange(8):
            case 0:
                data = data[:at] + data[end:]
            case 1:
                data = data[:end] + data[at:]  # doubled
            case 2:
                data = data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
            case 3 | 4 | 5:
                data = data[:at] + chance.choice(words) + data[end:]
            case 6:
                start = chance.randint(0, len(other))
                data = data[:at] + other[start : start + chance.choice((5, 20, 80, 300))] + data[end:]
            case _:
                data = data[:at]
    return data[:MAX_SIZE]


def mutate_text(data: bytes, other: bytes, words: Sequence[bytes], chance: Random) -> bytes:
    """As `mutate_bytes`, and still UTF-8."""
    return mutate_bytes(data, other, words, chance).decode("utf-8", "ignore").encode()


def mutate_json(data: bytes, other: bytes, words: Sequence[bytes], chance: Random) -> bytes:
    """Changes one or two values in a JSON text; what is not JSON is mutated as bytes."""
    if chance.random() < 0.25:
        return mutate_bytes(data, other, words, chance)
    try:
        value = msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return mutate_bytes(data, other, words, chance)
    for _ in range(chance.choice((1, 1, 2, 3))):
        value = _changed(value, words, chance)
    return msgspec.json.encode(value)


def mutate_lines(data: bytes, other: bytes, words: Sequence[bytes], chance: Random) -> bytes:
    """For streams: changes the JSON of one line, or moves, doubles or drops lines; else bytes."""
    lines = data.splitlines(keepends=True)
    with_json = [at for at, line in enumerate(lines) if b"{" in line]
    way = chance.randrange(4)
    if way == 0 or not with_json:
        return mutate_bytes(data, other, words, chance)
    at = chance.choice(with_json)
    if way == 1:
        to = chance.choice(with_json)
        lines[at], lines[to] = lines[to], lines[at] if chance.random() < 0.5 else b"\n"
        return b"".join(lines)[: 2 * MAX_SIZE]
    head, brace, tail = lines[at].partition(b"{")
    lines[at] = head + mutate_json((brace + tail).strip(), other, words, chance) + b"\n"
    return b"".join(lines)[: 2 * MAX_SIZE]


def _changed(value: Any, words: Sequence[bytes], chance: Random) -> Any:
    places: list[tuple[Any, Any]] = []
    left = [value]
    while left:
        holder = left.pop()
        keys = holder if isinstance(holder, dict) else range(len(holder)) if isinstance(holder, list) else ()
        for key in keys:
            places.append((holder, key))
            left.append(holder[key])
    if not places:
        return _strange(chance)
    holder, key = chance.choice(places)
    match chance.randrange(6):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder.insert(key, holder[key])
        case 1:
            holder[f"{key}_"] = holder.pop(key)
        case 2:
            other, its_key = chance.choice(places)
            holder[key] = _copy(other[its_key])
        case 3 if isinstance(holder[key], str):
            word = chance.choice(words).decode("utf-8", "replace")
            at = chance.randint(0, len(holder[key]))
            holder[key] = holder[key][:at] + word + holder[key][at:]
        case _:
            holder[key] = _strange(chance)
    return value


def _strange(chance: Random) -> Any:
    return _copy(chance.choice(_STRANGE))


def _copy(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))
