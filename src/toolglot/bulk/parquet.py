"""Parquet files, in and out. Needs pyarrow, which is imported only here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from toolglot.bulk.chunks import CHUNK_BYTES, Chunk
from toolglot.bulk.rows import Row, RowParser
from toolglot.errors import CallerError, JobFailedError
from toolglot.io.json_codec import decode, encode

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    raise CallerError('Parquet files need pyarrow: pip install "toolglot[parquet]"') from None

_GROUP_BYTES = 32 * 1024 * 1024  # of JSON, in a row group of the output
_BUFFER = 1024 * 1024
_MAX_ROWS = 4096  # in a chunk: sizes in a file's metadata are those of encoded columns, often much smaller than the rows
_CALL = pa.struct(
    {
        **dict.fromkeys(("id", "name", "arguments", "source", "raw"), pa.string()),
        "fixes": pa.list_(pa.string()),
    }
)
SCHEMA = pa.schema(
    {
        "line": pa.int64(),
        "id": pa.string(),
        "calls": pa.list_(_CALL),
        "text": pa.string(),
        "reasoning": pa.string(),
        "decisions": pa.list_(pa.string()),
        "dialect": pa.string(),
        "error": pa.string(),
    }
)


class ParquetRows:
    """A chunk is a part of a row group. A worker that reads chunks in their order decodes each group once."""

    def __init__(self, path: str) -> None:
        try:
            self._file = pq.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)
        except pa.ArrowInvalid as error:
            raise CallerError(str(error), path) from None
        self.size = self._file.metadata.num_rows
        self._at = self._group_end = 0  # the next row of the batches, and the end of their group
        self._batches: Iterator[Any] = iter(())

    def chunks(self, begin: int, line: int) -> Iterator[Chunk]:
        for _, first, end, step in self._groups():
            for at in range(max(begin, first), end, step):
                yield Chunk(at, min(at + step, end), at + 1, min(step, end - at))

    def rows(self, chunk: Chunk, parser: RowParser) -> Iterator[Row]:
        line = chunk.line
        for batch in self._read(chunk.begin, chunk.end):
            may_exceed = batch.nbytes > parser.max_row_bytes
            for values in batch.to_pylist():
                if may_exceed and len(encode(values)) > parser.max_row_bytes:
                    yield parser.parse_json(line, None)
                else:
                    yield parser.parse(line, _without_nulls(values))
                line += 1

    def _read(self, begin: int, end: int) -> Iterator[Any]:
        if begin < self._at or not self._at <= begin < self._group_end:
            number, first, group_end, step = next(group for group in self._groups() if group[1] <= begin < group[2])
            self._at, self._group_end = first, group_end
            self._batches = self._file.iter_batches(step, [number])
        while self._at < end:
            try:
                batch = next(self._batches)
            except (pa.ArrowException, OSError, StopIteration) as error:
                raise JobFailedError(f"the input can't be read behind row {self._at}: {error}") from None
            first, self._at = self._at, self._at + batch.num_rows
            if self._at > begin:
                skipped = max(0, begin - first)
                yield batch.slice(skipped, min(end, self._at) - first - skipped)

    def _groups(self) -> Iterator[tuple[int, int, int, int]]:
        """Each row group's number, its first row, its end, and the rows of a chunk."""
        first = 0
        for number in range(self._file.metadata.num_row_groups):
            group = self._file.metadata.row_group(number)
            step = max(1, min(_MAX_ROWS, group.num_rows * CHUNK_BYTES // max(group.total_byte_size, 1)))
            yield number, first, first + group.num_rows, step
            first += group.num_rows


def _without_nulls(value: Any) -> Any:
    """Arrow gives every object of a column the keys of all others, with null: a key with null was not there."""
    if isinstance(value, dict):
        return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value] if isinstance(value, list) else value


def write_parquet(source: BinaryIO, target: str) -> None:
    """The rows of a JSONL file, in row groups of bounded size."""
    with pq.ParquetWriter(target, SCHEMA) as writer:
        while lines := source.readlines(_GROUP_BYTES):
            rows = [decode(line) for line in lines]
            for row in rows:
                row["id"] = None if row["id"] is None else str(row["id"])
            writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
