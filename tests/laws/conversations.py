"""The fixtures as values: every case, in its meaning and on every wire."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from toolglot.core.events import Event
from toolglot.core.interfaces import Wire
from toolglot.core.reply import Reply
from toolglot.core.request import Request
from toolglot.wires import NAMES, find_wire

ROOT = Path(__file__).parents[2] / "fixtures"
CASES = sorted(path.name for path in (ROOT / "conversations").iterdir() if path.is_dir())
PAIRS = [(case, wire) for case in CASES for wire in NAMES]
CUTS = (1, 2, 3, 5, 11, 23)


class Meaning(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    request: Request
    reply: Reply


@cache
def meaning(case: str) -> Meaning:
    return msgspec.json.decode((ROOT / "conversations" / case / "meaning.json").read_bytes(), type=Meaning)


def body(case: str, wire: str, kind: str) -> dict[str, Any]:
    """kind: request | reply."""
    value = msgspec.json.decode((ROOT / "conversations" / case / f"{wire}.{kind}.json").read_bytes())
    assert isinstance(value, dict)
    return value


@cache
def stream(case: str, wire: str) -> bytes:
    return (ROOT / "conversations" / case / f"{wire}.stream").read_bytes()


def the_wire(name: str) -> Wire:
    wire = find_wire(name)
    assert wire is not None
    return wire


def pieces(data: bytes, size: int) -> Iterator[bytes]:
    for at in range(0, len(data), size):
        yield data[at : at + size]


def events(wire: str, cut: Iterator[bytes], channel: str | None = None) -> list[Event]:
    reader = the_wire(wire).reader(channel)
    found = [event for piece in cut for event in reader.feed(piece)]
    return found + reader.close()
