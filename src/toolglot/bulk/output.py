"""The output file of a run that may be killed at any time and continued.

Until the end the rows are in OUT.partial, as JSONL, and OUT.progress has the place in the input up to which they are complete.
OUT itself appears only when it is.
"""

from __future__ import annotations

import os
import sys
import zlib
from pathlib import Path
from typing import BinaryIO

import msgspec

from toolglot.bulk.chunks import kind_of
from toolglot.bulk.job import Counts, Done, Job
from toolglot.errors import CallerError
from toolglot.io.json_codec import encode

_PIECE = 1024 * 1024
_ANEW = "--overwrite starts anew"


class Made(msgspec.Struct, frozen=True):
    """What the rows are made of. Rows of different runs go into one file only if this is equal."""

    version: str
    size: int
    modified_ns: int
    options: msgspec.Raw


class Progress(msgspec.Struct):
    made: Made
    begin: int = 0  # where the input continues
    line: int = 1
    length: int = 0  # of OUT.partial, in bytes
    checksum: int = 0
    counts: Counts = msgspec.field(default_factory=Counts)


def made_of(job: Job, version: str) -> Made:
    status = os.stat(job.path)
    return Made(version, status.st_size, status.st_mtime_ns, msgspec.Raw(job.options))


class Output:
    """Opens or continues OUT. Raises CallerError if another run's rows are there, or another process writes them."""

    def __init__(self, path: str, made: Made, *, overwrite: bool) -> None:
        self._path, self._kind = Path(path), kind_of(path)
        self._partial, self._state = Path(f"{path}.partial"), Path(f"{path}.progress")
        if self._path.exists() and not overwrite:
            raise CallerError(f"it exists; {_ANEW}", path)
        self._file = self._partial.open("a+b")
        _lock(self._file, path)
        if overwrite:
            self._path.unlink(missing_ok=True)
            self._state.unlink(missing_ok=True)
        self.progress = self._read_state() or Progress(made)
        self._check(made)
        self._file.truncate(self.progress.length)
        self._file.seek(0, os.SEEK_END)
        self.resumed = self.progress.counts.rows

    def _read_state(self) -> Progress | None:
        try:
            return msgspec.json.decode(self._state.read_bytes(), type=Progress)
        except FileNotFoundError:
            return None
        except (msgspec.MsgspecError, UnicodeError):
            raise CallerError(f"it can't be read; {_ANEW}", str(self._state)) from None

    def _check(self, made: Made) -> None:
        before = self.progress.made
        if (before.size, before.modified_ns) != (made.size, made.modified_ns):
            raise CallerError(f"the input changed since this unfinished run began; {_ANEW}", str(self._partial))
        if (before.version, bytes(before.options)) != (made.version, bytes(made.options)):
            raise CallerError(f"this unfinished run has other options or another version; {_ANEW}", str(self._partial))
        if _checksum(self._file, self.progress.length) != self.progress.checksum:
            raise CallerError(f"it is damaged; {_ANEW}", str(self._partial))

    def add(self, done: Done) -> None:
        """The rows first: if the process is killed in between, they are cut off again and the chunk is done again."""
        self._file.write(done.output)
        self._file.flush()
        now = self.progress
        now.begin, now.line = done.chunk.end, done.chunk.line + done.chunk.lines
        now.length += len(done.output)
        now.checksum = zlib.crc32(done.output, now.checksum)
        now.counts.add(done.counts)
        self._save()

    def _save(self) -> None:
        fresh = Path(f"{self._state}.new")
        fresh.write_bytes(encode(self.progress))
        fresh.replace(self._state)

    def finish(self, made: Made) -> None:
        """Make OUT of the rows. `made`: what the input is now."""
        self._check(made)
        if self._kind == "parquet":
            from toolglot.bulk.parquet import write_parquet  # noqa: PLC0415

            fresh = Path(f"{self._partial}.parquet")
            self._file.seek(0)
            write_parquet(self._file, str(fresh))
            with fresh.open("rb+") as file:
                os.fsync(file.fileno())
            self._file.close()  # Windows neither replaces nor removes an open file
            fresh.replace(self._path)
            self._partial.unlink()
        else:
            os.fsync(self._file.fileno())
            self._file.close()
            self._partial.replace(self._path)
        self._state.unlink(missing_ok=True)

    def close(self) -> None:
        self._file.close()


def _checksum(file: BinaryIO, length: int) -> int:
    file.seek(0)
    found = 0
    while length and (piece := file.read(min(_PIECE, length))):
        found = zlib.crc32(piece, found)
        length -= len(piece)
    return -1 if length else found


def _lock(file: BinaryIO, path: str) -> None:
    """The system releases the lock when its owner ends, however it ends. On Windows an open file can't be replaced anyway."""
    if sys.platform == "win32":
        return
    import fcntl  # noqa: PLC0415

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CallerError("another run writes it", path) from None
