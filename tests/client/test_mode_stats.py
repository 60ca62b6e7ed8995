"""The statistics of tool modes: counted, capped, halved, written atomically, shared, cleared; and used for the choice."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolglot.catalog.profiles import profile
from toolglot.catalog.providers import provider
from toolglot.client import mode_stats
from toolglot.client.mode_stats import HALF_LIFE, MOST_ENTRIES, MOST_TRIES, PAUSE, ModeStats, server_name
from toolglot.errors import CallerError
from toolglot.pipeline.request.tool_mode import ModeCount, choose_mode


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("TOOLGLOT_REMEMBER", raising=False)
    return tmp_path / "deep" / "tool_modes.json"


BATCH = 32  # here: fewer than the tries after which counts are halved


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mode_stats, "BATCH", BATCH)


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


QWEN = ("ollama", "qwen3:8b")


def tried(known: ModeStats, tool_mode: str, times: int, good: int, where: tuple[str, str] = QWEN) -> None:
    for number in range(times):
        known.note(*where, tool_mode, number < good)


def test_what_was_noted_is_there_at_once_and_in_the_next_process(path: Path) -> None:
    known = ModeStats(path, Clock())
    tried(known, "native", 5, 3)
    tried(known, "dialect:hermes", 2, 2)
    wanted = {"native": ModeCount(5, 3), "dialect:hermes": ModeCount(2, 2)}
    assert known.mode_counts("ollama", "qwen3:8b") == wanted
    assert known.mode_counts("ollama", "other") == {}
    assert known.mode_counts("llamacpp", "qwen3:8b") == {}
    assert not path.exists(), "a few calls do not touch the disk"
    known.flush()
    assert ModeStats(path, Clock()).mode_counts("ollama", "qwen3:8b") == wanted
    assert [file.name for file in path.parent.iterdir()] == ["tool_modes.json"], "nothing is left lying about"
    stamp = path.stat().st_mtime_ns, path.stat().st_ino
    known.flush()
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == stamp, "nothing new, nothing written"


def test_it_is_written_now_and_then(path: Path) -> None:
    clock = Clock()
    known = ModeStats(path, clock)
    tried(known, "native", BATCH - 1, 1)
    assert not path.exists()
    tried(known, "native", 1, 1)
    assert ModeStats(path, clock).mode_counts("ollama", "qwen3:8b") == {"native": ModeCount(BATCH, 2)}
    tried(known, "native", 1, 1)
    clock.now += PAUSE
    tried(known, "native", 1, 1)
    assert ModeStats(path, clock).mode_counts("ollama", "qwen3:8b") == {"native": ModeCount(BATCH + 2, 4)}


def test_only_counts_are_kept(path: Path) -> None:
    known = ModeStats(path, Clock())
    known.note("local", "/home/someone/secret place/model.gguf", "native", True)
    known.note("local", r"C:\Users\someone\model2.gguf", "native", True)
    known.note("ollama", "m", "say: my secret", True)
    known.note("ollama", "m", "dialect:../../x", True)
    known.flush()
    held = json.loads(path.read_text())
    assert held == {
        "format": 1,
        "entries": [
            {"server": "local", "model": model, "seen": Clock().now, "tool_modes": {"native": [1, 1]}}
            for model in ("model.gguf", "model2.gguf")
        ],
    }
    assert known.mode_counts("local", "/elsewhere/model.gguf") == {"native": ModeCount(1, 1)}


def test_counts_are_capped_and_follow_change(path: Path) -> None:
    known = ModeStats(path, Clock())
    tried(known, "native", 1000, 1000)
    assert known.mode_counts("ollama", "qwen3:8b")["native"].tried <= MOST_TRIES
    tried(known, "native", 100, 0)
    known.flush()
    tally = ModeStats(path, Clock()).mode_counts("ollama", "qwen3:8b")["native"]
    assert tally.tried <= MOST_TRIES
    assert tally.share < 0.3, "a hundred bad ones weigh more than a thousand good ones of old"


def test_what_is_old_is_halved_and_at_last_forgotten(path: Path) -> None:
    clock = Clock()
    known = ModeStats(path, clock)
    tried(known, "native", 20, 10)
    known.flush()
    for age, wanted in [(0.9, (20, 10)), (1.1, (10, 5)), (2.5, (5, 2)), (4.1, (1, 0))]:
        clock.now = Clock().now + age * HALF_LIFE
        assert ModeStats(path, clock).mode_counts("ollama", "qwen3:8b") == {"native": ModeCount(*wanted)}
    clock.now = Clock().now + 5.1 * HALF_LIFE
    assert ModeStats(path, clock).entries() == ()
    clock.now = 0.0  # a clock that was set back
    assert ModeStats(path, clock).mode_counts("ollama", "qwen3:8b") == {"native": ModeCount(20, 10)}


def test_a_halved_count_is_not_halved_again_by_writing(path: Path) -> None:
    clock = Clock()
    tried(known := ModeStats(path, clock), "native", 20, 10)
    known.flush()
    clock.now += 1.1 * HALF_LIFE
    for _ in range(3):
        later = ModeStats(path, clock)
        later.note("ollama", "another", "native", True)
        later.flush()
    assert ModeStats(path, clock).mode_counts("ollama", "qwen3:8b") == {"native": ModeCount(10, 5)}


def test_only_so_many_entries_the_oldest_go(path: Path) -> None:
    clock = Clock()
    known = ModeStats(path, clock)
    for number in range(MOST_ENTRIES + 10):
        clock.now += 0.001
        known.note("ollama", f"m{number}", "native", True)
    known.flush()
    assert len(known.entries()) == MOST_ENTRIES
    held = ModeStats(path, clock)
    assert len(held.entries()) == MOST_ENTRIES
    assert held.mode_counts("ollama", "m0") == {}
    assert held.mode_counts("ollama", f"m{MOST_ENTRIES + 9}")
    assert path.stat().st_size < 100_000


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"[]",
        b'{"format":1}',
        b'{"format":9,"entries":[]}',
        b"\xff\xfe",
        b"[" * 99_999,
        b'{"format":1,"entries":[' + b" " * (5 << 20) + b"]}",
    ],
)
def test_a_damaged_file_starts_again_with_a_note(path: Path, damage: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(damage)
    known = ModeStats(path, Clock())
    assert known.mode_counts("ollama", "qwen3:8b") == {}
    assert len(known.notes) == 1
    assert "start again" in known.notes[0]
    tried(known, "native", 1, 1)
    known.flush()
    again = ModeStats(path, Clock())
    assert (again.mode_counts("ollama", "qwen3:8b"), again.notes) == ({"native": ModeCount(1, 1)}, [])


counts = st.tuples(st.integers(-(2**62), 2**62), st.integers(-(2**62), 2**62))
names = st.sampled_from(["native", "constrained", "dialect:hermes", "dialect:", "x", "dialect:" + "a" * 99])
entries = st.builds(
    mode_stats.Entry, st.text(max_size=300), st.text(max_size=300), st.floats(-1e300, 1e300), st.dictionaries(names, counts)
)


@settings(max_examples=60)
@given(found=st.lists(entries, max_size=5))
def test_counts_from_any_file_are_plausible(found: list[mode_stats.Entry]) -> None:
    known = mode_stats._checked(mode_stats._File(1, found), 1.8e9)
    for entry in known.values():
        assert entry.seen <= 1.8e9
        assert max(len(entry.server), len(entry.model)) <= 200
        for tool_mode, (tries, good) in entry.tool_modes.items():
            assert tool_mode in {"native", "constrained", "dialect:hermes"}
            assert 0 <= good <= tries <= MOST_TRIES
            assert tries > 0


def test_two_at_once_lose_no_file_and_in_turn_no_counts(path: Path) -> None:
    one, other = ModeStats(path, Clock()), ModeStats(path, Clock())
    tried(one, "native", 3, 3)
    tried(other, "native", 2, 0)
    tried(other, "constrained", 1, 1)
    one.flush()
    other.flush()
    wanted = {"native": ModeCount(5, 3), "constrained": ModeCount(1, 1)}
    assert other.mode_counts("ollama", "qwen3:8b") == wanted
    assert ModeStats(path, Clock()).mode_counts("ollama", "qwen3:8b") == wanted


WORKER = """
import sys
from pathlib import Path
from toolglot.client.mode_stats import ModeStats
known = ModeStats(Path(sys.argv[1]))
for number in range(40):
    known.note("ollama", f"{sys.argv[2]}-{number}", "native", True)
    known.flush()
assert known.notes == [], known.notes
"""


def test_processes_and_threads_that_write_at_the_same_time(path: Path) -> None:
    workers = [subprocess.Popen([sys.executable, "-c", WORKER, str(path), name]) for name in ("a", "b")]
    assert [worker.wait(60) for worker in workers] == [0, 0]
    known = ModeStats(path)
    assert known.entries()
    assert known.notes == []
    threads = [threading.Thread(target=tried, args=(known, "native", 10, 10, ("s", "m"))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    known.flush()
    assert ModeStats(path).mode_counts("s", "m") == {"native": ModeCount(50, 50)}
    assert [file.name for file in path.parent.iterdir()] == ["tool_modes.json"]


def test_it_can_be_turned_off(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried(before := ModeStats(path, Clock()), "native", 3, 3)
    before.flush()
    held = path.read_bytes()
    for word in ("0", "off", " No "):
        monkeypatch.setenv("TOOLGLOT_REMEMBER", word)
        known = ModeStats(path, Clock())
        tried(known, "native", 100, 0)
        known.flush()
        assert (known.on, known.mode_counts("ollama", "qwen3:8b"), known.entries()) == (False, {}, ())
        assert path.read_bytes() == held
    monkeypatch.setenv("TOOLGLOT_REMEMBER", "1")
    assert ModeStats(path, Clock()).mode_counts("ollama", "qwen3:8b") == {"native": ModeCount(3, 3)}


def test_it_can_be_cleared_in_part_or_whole(path: Path) -> None:
    known = ModeStats(path, Clock())
    for server, model in [("ollama", "a"), ("ollama", "b"), ("vllm", "a"), ("vllm", "c")]:
        tried(known, "native", 1, 1, (server, model))
    assert known.clear("ollama", "a") == 1, "also what was not written yet"
    assert known.clear(model="a") == 1
    assert known.clear("vllm") == 1
    known.flush()
    assert [(entry.server, entry.model) for entry in ModeStats(path, Clock()).entries()] == [("ollama", "b")]
    assert known.clear() == 1
    assert (known.entries(), ModeStats(path, Clock()).entries()) == ((), ())
    assert known.clear() == 0


def test_it_is_shared(path: Path, tmp_path: Path) -> None:
    known = ModeStats(path, Clock())
    tried(known, "native", 10, 2)
    tried(known, "native", 4, 4, ("ollama@0123456789ab", "mine"))
    shared = known.export()
    assert b"mine" not in shared, "an address of one's own is nobody else's"
    other = ModeStats(tmp_path / "other.json", Clock())
    tried(other, "native", 3, 3)
    tried(other, "constrained", 5, 5)
    for _ in range(2):
        assert other.add_exported(shared) == 1
        assert other.mode_counts("ollama", "qwen3:8b") == {"native": ModeCount(10, 2), "constrained": ModeCount(5, 5)}
    assert ModeStats(tmp_path / "other.json", Clock()).mode_counts("ollama", "qwen3:8b")["native"] == ModeCount(10, 2)
    for wrong in (b"", b"{}", b'{"format":2,"entries":[]}'):
        with pytest.raises(CallerError, match="--export"):
            other.add_exported(wrong)


def test_a_place_that_can_not_be_is_a_note_and_an_error_where_a_person_asks(path: Path) -> None:
    path.parent.write_text("a file where the folder should be")
    known = ModeStats(path, Clock())
    tried(known, "native", 2 * BATCH, 1)
    assert len(known.notes) == 2
    assert "can't be written" in known.notes[1]
    assert known.mode_counts("ollama", "qwen3:8b")["native"].tried == 2 * BATCH, "in memory it goes on"
    with pytest.raises(CallerError, match="TOOLGLOT_CACHE"):
        known.add_exported(known.export())


def test_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("TOOLGLOT_CACHE", raising=False)
    assert ModeStats().path == tmp_path / "xdg" / "toolglot" / "tool_modes.json"
    monkeypatch.setenv("TOOLGLOT_CACHE", str(tmp_path / "own"))
    assert ModeStats().path == tmp_path / "own" / "toolglot" / "tool_modes.json"


def test_a_server_is_its_provider_or_a_hash_of_its_host() -> None:
    usual = provider("ollama")
    assert server_name(usual) == "ollama"
    assert server_name(msgspec.structs.replace(usual, base_url=usual.base_url + "/")) == "ollama"
    there = server_name(msgspec.structs.replace(usual, base_url="http://10.0.0.5:11434/v1"))
    assert there == server_name(msgspec.structs.replace(usual, base_url="http://10.0.0.5:11434"))
    assert there != server_name(msgspec.structs.replace(usual, base_url="http://10.0.0.6:11434"))
    assert there.startswith("ollama@")
    assert "10.0.0.5" not in there
    assert server_name(msgspec.structs.replace(usual, base_url="no address")).startswith("ollama@")
    assert server_name(provider("local")) == "local"


def test_the_choice_follows_the_counts_once_there_are_enough(path: Path) -> None:
    row = provider("llamacpp")
    qwen = profile("qwen2.5-coder:1.5b", "llamacpp")
    known = ModeStats(path, Clock())
    there = (server_name(row), "qwen2.5-coder:1.5b")

    def tool_mode() -> str:
        return choose_mode("auto", qwen, row, None, known.mode_counts(*there)).name

    assert tool_mode() == "constrained"
    tried(known, "constrained", 12, 3, there)
    tried(known, "dialect:tagged", 4, 4, there)
    assert tool_mode() == "constrained", "four are not enough"
    tried(known, "dialect:tagged", 8, 8, there)
    assert tool_mode() == "dialect:tagged"
    known.flush()
    known = ModeStats(path, Clock())
    assert tool_mode() == "dialect:tagged", "also in the next process"
    why = choose_mode("auto", qwen, row, None, known.mode_counts(*there)).why
    assert "12 of 12 calls were good, against 3 of 12 with constrained" in why
    known.clear(*there)
    assert tool_mode() == "constrained"
