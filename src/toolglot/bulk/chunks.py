"""The chunks of an input file, and the rows in one. Each kind of file has a class with the methods of `Input`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Protocol

import msgspec

from toolglot.bulk.rows import Row, RowParser
from toolglot.errors import CallerError, JobFailedError

CHUNK_BYTES = 256 * 1024  # large enough to be worth sending, small enough to be done again when a run is killed


class Chunk(msgspec.Struct, frozen=True):
    """From `begin` to `end`: bytes of a JSONL file, or rows of a Parquet file. `line`: the number of its first line."""

    begin: int
    end: int
    line: int
    lines: int


class Input(Protocol):
    size: int  # in the unit of a chunk's begin and end

    def chunks(self, begin: int, line: int) -> Iterator[Chunk]:
        """From a place that is the end of a chunk, or 0."""

    def rows(self, chunk: Chunk, parser: RowParser) -> Iterator[Row]: ...


class JsonLines:
    """A row is a line. Lines without content are counted, and give no row."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.size = Path(path).stat().st_size

    def chunks(self, begin: int, line: int) -> Iterator[Chunk]:
        """Each ends at a line break, so a line that is longer than a chunk makes the chunk longer."""
        with open(self._path, "rb") as file:
            at = file.seek(begin)
            while block := file.read(CHUNK_BYTES):
                end = at + block.rfind(b"\n") + 1
                if end > at:
                    lines = block.count(b"\n")
                    yield Chunk(begin, end, line, lines)
                    begin, line = end, line + lines
                at += len(block)
        if begin < at:
            yield Chunk(begin, at, line, 1)

    def rows(self, chunk: Chunk, parser: RowParser) -> Iterator[Row]:
        limit = parser.max_row_bytes
        with open(self._path, "rb") as file:
            file.seek(chunk.begin)
            line = chunk.line
            while file.tell() < chunk.end:
                data = file.readline(limit + 1)
                if not data:
                    raise JobFailedError(f"{self._path} was cut short during the run")
                too_long = len(data) > limit and _skip_line(file, data)
                if too_long or data.strip():
                    yield parser.parse_json(line, None if too_long else data)
                line += 1


def _skip_line(file: BinaryIO, data: bytes) -> bool:
    """Read to the end of the line, in pieces."""
    while data and not data.endswith(b"\n"):
        data = file.readline(CHUNK_BYTES)
    return True


@lru_cache(1)
def open_input(path: str) -> Input:
    """By the suffix of its name. Cached: a Parquet file is read forward, chunk by chunk."""
    suffix = kind_of(path)
    if suffix == "jsonl":
        return JsonLines(path)
    from toolglot.bulk.parquet import ParquetRows  # noqa: PLC0415

    return ParquetRows(path)


def kind_of(path: str) -> str:
    """`jsonl` or `parquet`."""
    suffix = Path(path).suffix.lower()
    if suffix in (".jsonl", ".ndjson"):
        return "jsonl"
    if suffix == ".parquet":
        return "parquet"
    raise CallerError("the name must end in .jsonl, .ndjson or .parquet", path)
