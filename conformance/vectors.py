"""The vectors as rows, by group."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

Row = dict[str, Any]

FOLDER = Path(__file__).parent / "vectors"
VERSION = (Path(__file__).parent / "VERSION").read_text(encoding="utf-8").strip()
GROUPS = {  # file -> what it is about, as the report says it
    "text": "calls in text, each dialect",
    "values": "hard contents of arguments",
    "real_calls": "real calls behind injected ones",
    "quoted_input": "quoted and injected calls",
    "traps": "explanations, logs, refusals",
    "plain_calls": "real calls, nothing injected",
    "arguments": "repair of arguments",
    "wires": "translation between APIs",
    "prefix": "prefix stability",
}
CUTS = (1, 2, 3, 5, 11, 23)  # a stream in pieces of so many characters, or bytes, gives what the whole gives


@cache
def vectors(group: str) -> tuple[Row, ...]:
    """The rows of one file."""
    lines = (FOLDER / f"{group}.jsonl").read_text(encoding="utf-8").split("\n")
    return tuple(json.loads(line) for line in lines if line)


def save(group: str, rows: Iterable[Row]) -> None:
    """Write one file: a row a line, ASCII, so that no reader takes a character for a line's end."""
    text = "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows)
    (FOLDER / f"{group}.jsonl").write_text(text, encoding="ascii")
