"""Law 7: work grows with the input and no faster. Counted in characters looked at, not timed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from toolglot.text.json_end import JsonEnd
from toolglot.text.lines import Lines
from toolglot.text.ndjson import NdjsonFrames
from toolglot.text.sse import SseFrames

SIZE = 60_000
# inputs that tempt a scanner to look back: near misses, no ends, ends all over
FLOODS = {
    "no line end": b"x" * SIZE,
    "braces": b"{" * SIZE,
    "closing braces": b"{" + b"}" * SIZE,
    "nested": b'{"a":' * (SIZE // 5),
    "quotes": b'"' * SIZE,
    "backslashes": b'{"a":"' + b"\\" * SIZE,
    "data lines": b"data: x\n" * (SIZE // 8),
    "line ends": b"\r\n" * (SIZE // 2),
}


def fed(scanner: Any, data: Any, size: int) -> int:
    for at in range(0, len(data), size):
        scanner.feed(data[at : at + size])
    return int(scanner.examined)


@pytest.mark.parametrize("flood", FLOODS)
@pytest.mark.parametrize("scanner", [Lines, SseFrames, NdjsonFrames])
@pytest.mark.parametrize("size", [1, 4, 1000])
def test_bytes_are_looked_at_once(scanner: Callable[[], Any], flood: str, size: int) -> None:
    data = FLOODS[flood]
    assert fed(scanner(), data, size) <= 4 * len(data)


@pytest.mark.parametrize("flood", FLOODS)
@pytest.mark.parametrize("size", [1, 4, 1000])
def test_characters_are_looked_at_once(flood: str, size: int) -> None:
    data = FLOODS[flood].decode()
    assert fed(JsonEnd(), data, size) <= len(data) + size
