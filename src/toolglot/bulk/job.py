"""What is done with each chunk, wherever it runs, and the counts of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from toolglot.bulk.chunks import Chunk, open_input
from toolglot.bulk.rows import Row, RowOptions, RowParser
from toolglot.io.json_codec import encode


class Job(msgspec.Struct, frozen=True):
    path: str
    options: bytes  # RowOptions as JSON: hashable


class Counts(msgspec.Struct):
    rows: int = 0
    calls: int = 0
    rejected: int = 0
    errors: int = 0
    decisions: dict[str, int] = {}

    def add(self, other: Counts) -> None:
        self.rows += other.rows
        self.calls += other.calls
        self.rejected += other.rejected
        self.errors += other.errors
        self.decisions = dict(Counter(self.decisions) + Counter(other.decisions))


class Done(msgspec.Struct, frozen=True):
    """A finished chunk: its rows as JSONL."""

    chunk: Chunk
    output: bytes
    counts: Counts


def run_chunk(job: Job, chunk: Chunk) -> Done:
    rows = list(open_input(job.path).rows(chunk, _parser(job.options)))
    return Done(chunk, b"".join([encode(row) + b"\n" for row in rows]), _count(rows))


@lru_cache(1)
def _parser(options: bytes) -> RowParser:
    return RowParser(msgspec.json.decode(options, type=RowOptions))


def _count(rows: Iterable[Row]) -> Counts:
    counts, codes = Counts(), Counter[str]()
    for row in rows:
        counts.rows += 1
        counts.calls += len(row.calls)
        counts.errors += row.error is not None
        codes.update(row.decisions)
    counts.rejected = sum(number for code, number in codes.items() if code.startswith("rejected_"))
    counts.decisions = dict(codes)
    return counts
