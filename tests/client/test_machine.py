"""Threads and the context window of an embedded model: what the machine has left decides."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from toolglot.client import embedded_runtime, machine
from toolglot.client.gguf import Window, read_window


@pytest.mark.parametrize(
    ("cores", "loadavg", "threads"),
    [
        (2, "0.05 0.10 0.10 1/100 7", 2),
        (2, "0.40 0.10 0.10 1/100 7", 2),
        (2, "1.00 0.10 0.10 1/100 7", 1),
        (2, "9.00 0.10 0.10 1/100 7", 1),
        (2, "0.05 0.10 0.10 3/100 7", 1),  # busy since a moment ago
        (8, "2.00 0.10 0.10 1/100 7", 6),
    ],
)
def test_as_many_threads_as_cores_are_idle(
    cores: int, loadavg: str, threads: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "loadavg").write_text(loadavg)
    monkeypatch.setattr(machine, "_LOAD", tmp_path / "loadavg")
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(cores), raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    assert machine.free_cores() == threads


def test_without_proc_the_load_average_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(machine, "_LOAD", tmp_path / "none")
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(4), raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    monkeypatch.setattr("os.getloadavg", lambda: (3.0, 0.0, 0.0), raising=False)
    assert machine.free_cores() == 1


def test_memory_is_what_the_container_may_use(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, content in (("meminfo", "MemTotal: 9 kB\nMemAvailable:  1000 kB\n"), ("max", "max\n"), ("current", "4096\n")):
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(machine, "_MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(machine, "_LIMIT", tmp_path / "max")
    monkeypatch.setattr(machine, "_USED", tmp_path / "current")
    assert machine.free_memory() == 1_024_000
    (tmp_path / "max").write_text("104096\n")
    assert machine.free_memory() == 100_000
    (tmp_path / "meminfo").unlink()
    assert machine.free_memory() is None


def gguf(trained: int = 32768, heads: int = 14, **more: int) -> bytes:
    """A header with a text and a list before the numbers, and a tokenizer behind them that must not be read."""
    numbers = {"context_length": trained, "block_count": 24, "embedding_length": 896, "attention.head_count": heads, **more}
    entries = [_text("general.name") + struct.pack("<I", 8) + _text("Tiny")]
    entries.append(_text("general.sizes") + struct.pack("<IIQ", 9, 4, 2) + struct.pack("<II", 1, 2))
    entries += [_text(f"qwen2.{key}") + struct.pack("<II", 4, value) for key, value in numbers.items()]
    entries.append(_text("tokenizer.ggml.tokens") + b"anything")
    return struct.pack("<4sIQQ", b"GGUF", 3, 0, len(entries)) + b"".join(entries)


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def test_the_header_says_how_much_memory_a_token_takes(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(gguf(**{"attention.head_count_kv": 2}))
    assert read_window(path) == Window(32768, 24 * 2 * (64 + 64) * 2)
    path.write_bytes(gguf(**{"attention.head_count_kv": 2, "attention.key_length": 128, "attention.value_length": 128}))
    assert read_window(path) == Window(32768, 24 * 2 * (128 + 128) * 2)
    for broken in (b"", b"GGUF", b"roses are red, violets are blue", gguf()[:60]):
        path.write_bytes(broken)
        assert read_window(path) is None


@pytest.mark.parametrize(
    ("trained", "megabytes", "tokens"),
    [
        (32768, None, 32768),
        (32768, 8000, 32768),
        (131072, 8000, 32768),
        (32768, 300, 12032),  # half of it, in steps of 256
        (32768, 10, 4096),  # less is of no use: loading may fail, and says so
        (2048, 8000, 2048),
    ],
)
def test_the_window_is_as_large_as_model_and_memory_allow(
    trained: int, megabytes: int | None, tokens: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(gguf(trained, **{"attention.head_count_kv": 2}))
    monkeypatch.setattr(machine, "free_memory", lambda: megabytes and megabytes * 1_000_000)
    assert embedded_runtime.context(path) == tokens
