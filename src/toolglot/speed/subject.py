"""One thing whose speed is told: what is run, what it amounts to, and the least that it could take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from toolglot.speed.timing import Case
from toolglot.text.json_text import decode, encode


@dataclass(frozen=True)
class Subject:
    name: str
    run: Callable[[], object]
    unit: str  # what the time is for: a request, a chunk, a text, ...
    units: int = 1  # how many of them one run has
    size: int = 0  # bytes of one run, where a throughput says something
    floor: Case | None = None


def json_floor(name: str, *documents: bytes) -> Case:
    """No translation does less than to read the JSON and to write it."""

    def run() -> None:
        for document in documents:
            encode(decode(document))

    return Case(f"floor of {name}", run, len(documents))
