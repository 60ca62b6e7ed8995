"""One measured operation: what is run, how many units it has, and the floor to compare with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from toolglot.io.json_codec import decode, encode
from toolglot.speed.timing import Case


@dataclass(frozen=True)
class Subject:
    name: str
    run: Callable[[], object]
    unit: str  # what the time is per: a request, a chunk, a text, ...
    units: int = 1  # per run
    size: int = 0  # bytes per run, if throughput is reported
    floor: Case | None = None


def json_floor(name: str, *documents: bytes) -> Case:
    """The minimum of any translation: decode the JSON and encode it."""

    def run() -> None:
        for document in documents:
            encode(decode(document))

    return Case(f"floor of {name}", run, len(documents))
