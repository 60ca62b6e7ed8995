"""Where each key of a TOML file stands, which tomllib does not tell: a small scan that is only used for messages."""

from __future__ import annotations

import re

Place = tuple[str, int, str]  # the table, which one of several (0 for a plain table), the key; "" for the table itself

_HEAD = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_.\-\"' ]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"\s*([A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')\s*=")


def key_lines(text: str) -> dict[Place, int]:
    """Line numbers from 1. The first of a repeated key counts."""
    found: dict[Place, int] = {}
    table, number = "", 0
    seen: dict[str, int] = {}
    for line_number, line in enumerate(text.splitlines(), 1):
        head = _HEAD.match(line)
        if head is not None:
            table = head[2].strip("\"' ")
            number = seen.get(table, -1) + 1 if head[1] == "[[" else 0
            seen[table] = number
            found.setdefault((table, number, ""), line_number)
            continue
        key = _KEY.match(line)
        if key is not None:
            found.setdefault((table, number, key[1].strip("\"'")), line_number)
    return found
