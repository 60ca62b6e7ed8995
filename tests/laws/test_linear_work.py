"""Law 7: work grows linearly with the input. Counted in characters examined, not timed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from toolglot.io.json_scanner import JsonScanner
from toolglot.io.lines import LineSplitter
from toolglot.io.ndjson import NdjsonFrames
from toolglot.io.sse import SseFrames

SIZE = 60_000
# inputs that may make a scanner look back: near misses, missing ends, many ends
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
@pytest.mark.parametrize("scanner", [LineSplitter, SseFrames, NdjsonFrames])
@pytest.mark.parametrize("size", [1, 4, 1000])
def test_bytes_are_examined_once(scanner: Callable[[], Any], flood: str, size: int) -> None:
    data = FLOODS[flood]
    assert fed(scanner(), data, size) <= 4 * len(data)


@pytest.mark.parametrize("flood", FLOODS)
@pytest.mark.parametrize("size", [1, 4, 1000])
def test_characters_are_examined_once(flood: str, size: int) -> None:
    data = FLOODS[flood].decode()
    assert fed(JsonScanner(), data, size) <= len(data) + size
