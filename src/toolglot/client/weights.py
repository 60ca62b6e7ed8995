"""The weights of the embedded models: found on this machine, else downloaded once and verified.

`weights.toml` lists them. `weights_download.py` downloads them; this module finds and verifies files on this machine, and
decides which model `local` means.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import sys
import threading
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from importlib.resources import files
from pathlib import Path

import msgspec

from toolglot.client.user_dirs import cache_folder, is_homeless
from toolglot.errors import CallerError, UpstreamError

Progress = Callable[[str, str, int, int], None]  # weights, source, bytes so far, bytes in all
BLOCK = 1 << 20
_BAR = 30  # characters


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A `url`, or packages of the package index that contain the file as data: one, or `parts` numbered ones."""

    url: str = ""
    package: str = ""
    parts: int = 1
    version: str = ""
    member: str = ""  # the file's name within the wheel, as a pattern

    @property
    def packages(self) -> tuple[str, ...]:
        return tuple(self.package.format(part=part) for part in range(1, self.parts + 1)) if self.package else ()

    def __str__(self) -> str:
        if self.url:
            return self.url.partition("/resolve/")[0]
        first, last = self.packages[0], self.packages[-1]
        return f"the Python package index ({first}{f' to {last}' if last != first else ''}, version {self.version})"


class Weights(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    description: str
    size: int
    sha256: str
    licence: str
    source: tuple[Source, ...]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    default: tuple[str, ...]
    weights: dict[str, Weights]


_FILE = msgspec.convert(tomllib.loads(files(__package__).joinpath("weights.toml").read_text("utf-8")), _File)
ROWS = _FILE.weights
DEFAULT = _FILE.default
LOCAL = "local"  # the first of DEFAULT that is available


def on_stderr(name: str, source: str, done: int, total: int) -> None:
    """Size and source first, then a bar on a terminal; elsewhere a line at the start and one at the end."""
    ended = done >= total
    bar = sys.stderr.isatty()
    if not done:
        _print(f"downloading {name}: {_mb(total)} MB from {source}")
    elif bar:
        filled = "#" * (_BAR * done // total)
        _print(f"\r[{filled:.<{_BAR}}] {_mb(done)} of {_mb(total)} MB", end="\n" if ended else "")
    elif ended:
        _print(f"downloaded {name}: sha256 verified, stored in {folder()}")


def _print(text: str, end: str = "\n") -> None:
    print(text, end=end, file=sys.stderr, flush=True)  # noqa: T201


def _mb(count: int) -> int:
    return round(count / 1e6)


def folder() -> Path:
    """The directory of downloaded weights."""
    return cache_folder() / "weights"


def find(name: str) -> Path | None:
    """The weights, if they are on this machine and have the right hash."""
    row = _row(name)
    places = (_installed(row), folder() / f"{name}.gguf")
    return next((path for path in places if path is not None and _is_right(path, row)), None)


def find_or_fetch(name: str, progress: Progress | None = on_stderr) -> Path:
    """The weights; downloaded first if they are not here. Safe from several threads and processes at once."""
    found = find(name)
    if found is not None:
        return found
    kept = folder() / f"{name}.gguf"
    if is_homeless(kept):
        raise CallerError(f"no home directory to store the weights of {name} in: set TOOLGLOT_CACHE")
    from toolglot.client.weights_download import download  # noqa: PLC0415  (needed once per machine)

    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with _exclusive(kept.with_suffix(".lock")):
            found = find(name)
            if found is None:
                found = download(name, ROWS[name], kept, progress or (lambda *_: None))
                _note_verified(found, ROWS[name].sha256)
            return found
    except OSError as error:
        raise CallerError(
            f"the weights of {name} can't be stored in {kept.parent} ({error}): free some space, or set TOOLGLOT_CACHE"
        ) from error


def best(progress: Progress | None = on_stderr, warn: Callable[[str], None] = _print) -> str:
    """The model that `local` means: the first of `default` that is here or can be downloaded."""
    *better, last = DEFAULT
    for name in better:
        try:
            find_or_fetch(name, progress)
        except UpstreamError as error:
            warn(f"`{LOCAL}` is {last}, a smaller and weaker model: {error.message}")
        else:
            return name
    return last


def _row(name: str) -> Weights:
    if name not in ROWS:
        raise CallerError(f"unknown weights {name!r}; known are {', '.join(ROWS)}, and any .gguf file by its path")
    return ROWS[name]


def _installed(row: Weights) -> Path | None:
    """A file from an installed package, used in place."""
    for source in row.source:
        with suppress(importlib.metadata.PackageNotFoundError):
            installed = importlib.metadata.files(source.packages[0]) if len(source.packages) == 1 else None
            for file in installed or ():
                if fnmatch(str(file), source.member):
                    return Path(str(file.locate()))
    return None


# -- the right file


def _is_right(path: Path, row: Weights) -> bool:
    """Hashed once, and again whenever its size or modification time changes."""
    try:
        if path.stat().st_size != row.size:
            return False
        if _verified().get(str(path)) == _stamp(path, row.sha256):
            return True
        digest = hash_of([path])
    except OSError:
        return False
    if digest == row.sha256:
        _note_verified(path, digest)
    return digest == row.sha256


def hash_of(paths: list[Path]) -> str:
    """The sha256 of these files as one."""
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
    return digest.hexdigest()


def _stamp(path: Path, sha256: str) -> list[str | int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, sha256]


def _verified() -> dict[str, list[str | int]]:
    try:
        return msgspec.json.decode((folder() / "verified.json").read_bytes(), type=dict[str, list[str | int]])
    except (OSError, msgspec.DecodeError):
        return {}


def _note_verified(path: Path, sha256: str) -> None:
    """If it can't be written, the file is hashed again next time."""
    record = folder() / "verified.json"
    if is_homeless(record):
        return
    with suppress(OSError):
        record.parent.mkdir(parents=True, exist_ok=True)
        known = {name: stamp for name, stamp in _verified().items() if Path(name).exists()}
        fresh = record.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        fresh.write_bytes(msgspec.json.encode({**known, str(path): _stamp(path, sha256)}))
        fresh.replace(record)


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    """One process or thread at a time; the system releases the lock when its owner ends, however it ends."""
    with path.open("a+b") as lock:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415

            lock.seek(0)
            msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl  # noqa: PLC0415

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
