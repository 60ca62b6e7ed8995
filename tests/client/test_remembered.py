"""What is remembered of ways of asking: counted, capped, halved, written at once, shared, forgotten; and followed."""

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
from toolglot.client import remembered
from toolglot.client.remembered import HALF_LIFE, MOST_ENTRIES, MOST_TRIES, PAUSE, Remembered, server_name
from toolglot.errors import CallerError
from toolglot.pipeline.ways import Tally, choose_way


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("TOOLGLOT_REMEMBER", raising=False)
    return tmp_path / "deep" / "ways.json"


BATCH = 32  # here: fewer than the tries after which counts are halved


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "BATCH", BATCH)


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


QWEN = ("ollama", "qwen3:8b")


def tried(known: Remembered, way: str, times: int, good: int, where: tuple[str, str] = QWEN) -> None:
    for number in range(times):
        known.note(*where, way, number < good)


def test_what_was_noted_is_there_at_once_and_in_the_next_process(path: Path) -> None:
    known = Remembered(path, Clock())
    tried(known, "native", 5, 3)
    tried(known, "dialect:hermes", 2, 2)
    wanted = {"native": Tally(5, 3), "dialect:hermes": Tally(2, 2)}
    assert known.tallies("ollama", "qwen3:8b") == wanted
    assert known.tallies("ollama", "other") == {}
    assert known.tallies("llamacpp", "qwen3:8b") == {}
    assert not path.exists(), "a few calls do not touch the disk"
    known.flush()
    assert Remembered(path, Clock()).tallies("ollama", "qwen3:8b") == wanted
    assert [file.name for file in path.parent.iterdir()] == ["ways.json"], "nothing is left lying about"
    stamp = path.stat().st_mtime_ns, path.stat().st_ino
    known.flush()
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == stamp, "nothing new, nothing written"


def test_it_is_written_now_and_then(path: Path) -> None:
    clock = Clock()
    known = Remembered(path, clock)
    tried(known, "native", BATCH - 1, 1)
    assert not path.exists()
    tried(known, "native", 1, 1)
    assert Remembered(path, clock).tallies("ollama", "qwen3:8b") == {"native": Tally(BATCH, 2)}
    tried(known, "native", 1, 1)
    clock.now += PAUSE
    tried(known, "native", 1, 1)
    assert Remembered(path, clock).tallies("ollama", "qwen3:8b") == {"native": Tally(BATCH + 2, 4)}


def test_only_counts_are_kept(path: Path) -> None:
    known = Remembered(path, Clock())
    known.note("local", "/home/someone/secret place/model.gguf", "native", True)
    known.note("local", r"C:\Users\someone\model2.gguf", "native", True)
    known.note("ollama", "m", "say: my secret", True)
    known.note("ollama", "m", "dialect:../../x", True)
    known.flush()
    held = json.loads(path.read_text())
    assert held == {
        "format": 1,
        "entries": [
            {"server": "local", "model": model, "seen": Clock().now, "ways": {"native": [1, 1]}}
            for model in ("model.gguf", "model2.gguf")
        ],
    }
    assert known.tallies("local", "/elsewhere/model.gguf") == {"native": Tally(1, 1)}


def test_counts_are_capped_and_follow_change(path: Path) -> None:
    known = Remembered(path, Clock())
    tried(known, "native", 1000, 1000)
    assert known.tallies("ollama", "qwen3:8b")["native"].tried <= MOST_TRIES
    tried(known, "native", 100, 0)
    known.flush()
    tally = Remembered(path, Clock()).tallies("ollama", "qwen3:8b")["native"]
    assert tally.tried <= MOST_TRIES
    assert tally.share < 0.3, "a hundred bad ones weigh more than a thousand good ones of old"


def test_what_is_old_is_halved_and_at_last_forgotten(path: Path) -> None:
    clock = Clock()
    known = Remembered(path, clock)
    tried(known, "native", 20, 10)
    known.flush()
    for age, wanted in [(0.9, (20, 10)), (1.1, (10, 5)), (2.5, (5, 2)), (4.1, (1, 0))]:
        clock.now = Clock().now + age * HALF_LIFE
        assert Remembered(path, clock).tallies("ollama", "qwen3:8b") == {"native": Tally(*wanted)}
    clock.now = Clock().now + 5.1 * HALF_LIFE
    assert Remembered(path, clock).entries() == ()
    clock.now = 0.0  # a clock that was set back
    assert Remembered(path, clock).tallies("ollama", "qwen3:8b") == {"native": Tally(20, 10)}


def test_a_halved_count_is_not_halved_again_by_writing(path: Path) -> None:
    clock = Clock()
    tried(known := Remembered(path, clock), "native", 20, 10)
    known.flush()
    clock.now += 1.1 * HALF_LIFE
    for _ in range(3):
        later = Remembered(path, clock)
        later.note("ollama", "another", "native", True)
        later.flush()
    assert Remembered(path, clock).tallies("ollama", "qwen3:8b") == {"native": Tally(10, 5)}


def test_only_so_many_entries_the_oldest_go(path: Path) -> None:
    clock = Clock()
    known = Remembered(path, clock)
    for number in range(MOST_ENTRIES + 10):
        clock.now += 0.001
        known.note("ollama", f"m{number}", "native", True)
    known.flush()
    assert len(known.entries()) == MOST_ENTRIES
    held = Remembered(path, clock)
    assert len(held.entries()) == MOST_ENTRIES
    assert held.tallies("ollama", "m0") == {}
    assert held.tallies("ollama", f"m{MOST_ENTRIES + 9}")
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
def test_a_damaged_file_is_started_anew_with_a_note(path: Path, damage: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(damage)
    known = Remembered(path, Clock())
    assert known.tallies("ollama", "qwen3:8b") == {}
    assert len(known.notes) == 1
    assert "started anew" in known.notes[0]
    tried(known, "native", 1, 1)
    known.flush()
    again = Remembered(path, Clock())
    assert (again.tallies("ollama", "qwen3:8b"), again.notes) == ({"native": Tally(1, 1)}, [])


counts = st.tuples(st.integers(-(2**62), 2**62), st.integers(-(2**62), 2**62))
names = st.sampled_from(["native", "constrained", "dialect:hermes", "dialect:", "x", "dialect:" + "a" * 99])
entries = st.builds(
    remembered.Entry, st.text(max_size=300), st.text(max_size=300), st.floats(-1e300, 1e300), st.dictionaries(names, counts)
)


@settings(max_examples=60)
@given(held=st.lists(entries, max_size=5))
def test_whatever_a_file_says_the_counts_are_possible(held: list[remembered.Entry]) -> None:
    known = remembered._sound(remembered._File(1, held), 1.8e9)
    for entry in known.values():
        assert entry.seen <= 1.8e9
        assert max(len(entry.server), len(entry.model)) <= 200
        for way, (tries, good) in entry.ways.items():
            assert way in {"native", "constrained", "dialect:hermes"}
            assert 0 <= good <= tries <= MOST_TRIES
            assert tries > 0


def test_two_at_once_lose_no_file_and_in_turn_no_counts(path: Path) -> None:
    one, other = Remembered(path, Clock()), Remembered(path, Clock())
    tried(one, "native", 3, 3)
    tried(other, "native", 2, 0)
    tried(other, "constrained", 1, 1)
    one.flush()
    other.flush()
    wanted = {"native": Tally(5, 3), "constrained": Tally(1, 1)}
    assert other.tallies("ollama", "qwen3:8b") == wanted
    assert Remembered(path, Clock()).tallies("ollama", "qwen3:8b") == wanted


WORKER = """
import sys
from pathlib import Path
from toolglot.client.remembered import Remembered
known = Remembered(Path(sys.argv[1]))
for number in range(40):
    known.note("ollama", f"{sys.argv[2]}-{number}", "native", True)
    known.flush()
assert known.notes == [], known.notes
"""


def test_processes_and_threads_that_write_at_the_same_time(path: Path) -> None:
    workers = [subprocess.Popen([sys.executable, "-c", WORKER, str(path), name]) for name in ("a", "b")]
    assert [worker.wait(60) for worker in workers] == [0, 0]
    known = Remembered(path)
    assert known.entries()
    assert known.notes == []
    threads = [threading.Thread(target=tried, args=(known, "native", 10, 10, ("s", "m"))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    known.flush()
    assert Remembered(path).tallies("s", "m") == {"native": Tally(50, 50)}
    assert [file.name for file in path.parent.iterdir()] == ["ways.json"]


def test_it_can_be_turned_off(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried(before := Remembered(path, Clock()), "native", 3, 3)
    before.flush()
    held = path.read_bytes()
    for word in ("0", "off", " No "):
        monkeypatch.setenv("TOOLGLOT_REMEMBER", word)
        known = Remembered(path, Clock())
        tried(known, "native", 100, 0)
        known.flush()
        assert (known.on, known.tallies("ollama", "qwen3:8b"), known.entries()) == (False, {}, ())
        assert path.read_bytes() == held
    monkeypatch.setenv("TOOLGLOT_REMEMBER", "1")
    assert Remembered(path, Clock()).tallies("ollama", "qwen3:8b") == {"native": Tally(3, 3)}


def test_it_can_be_cleared_in_part_or_whole(path: Path) -> None:
    known = Remembered(path, Clock())
    for server, model in [("ollama", "a"), ("ollama", "b"), ("vllm", "a"), ("vllm", "c")]:
        tried(known, "native", 1, 1, (server, model))
    assert known.clear("ollama", "a") == 1, "also what was not written yet"
    assert known.clear(model="a") == 1
    assert known.clear("vllm") == 1
    known.flush()
    assert [(entry.server, entry.model) for entry in Remembered(path, Clock()).entries()] == [("ollama", "b")]
    assert known.clear() == 1
    assert (known.entries(), Remembered(path, Clock()).entries()) == ((), ())
    assert known.clear() == 0


def test_it_is_shared(path: Path, tmp_path: Path) -> None:
    known = Remembered(path, Clock())
    tried(known, "native", 10, 2)
    tried(known, "native", 4, 4, ("ollama@0123456789ab", "mine"))
    shared = known.export()
    assert b"mine" not in shared, "an address of one's own is nobody else's"
    other = Remembered(tmp_path / "other.json", Clock())
    tried(other, "native", 3, 3)
    tried(other, "constrained", 5, 5)
    for _ in range(2):
        assert other.take_in(shared) == 1
        assert other.tallies("ollama", "qwen3:8b") == {"native": Tally(10, 2), "constrained": Tally(5, 5)}
    assert Remembered(tmp_path / "other.json", Clock()).tallies("ollama", "qwen3:8b")["native"] == Tally(10, 2)
    for wrong in (b"", b"{}", b'{"format":2,"entries":[]}'):
        with pytest.raises(CallerError, match="--export"):
            other.take_in(wrong)


def test_a_place_that_can_not_be_is_a_note_and_an_error_where_a_person_asks(path: Path) -> None:
    path.parent.write_text("a file where the folder should be")
    known = Remembered(path, Clock())
    tried(known, "native", 2 * BATCH, 1)
    assert len(known.notes) == 2
    assert "can't be written" in known.notes[1]
    assert known.tallies("ollama", "qwen3:8b")["native"].tried == 2 * BATCH, "in memory it goes on"
    with pytest.raises(CallerError, match="TOOLGLOT_CACHE"):
        known.take_in(known.export())


def test_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("TOOLGLOT_CACHE", raising=False)
    assert Remembered().path == tmp_path / "xdg" / "toolglot" / "ways.json"
    monkeypatch.setenv("TOOLGLOT_CACHE", str(tmp_path / "own"))
    assert Remembered().path == tmp_path / "own" / "toolglot" / "ways.json"


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


def test_the_choice_follows_what_has_worked_once_there_is_enough(path: Path) -> None:
    row = provider("llamacpp")
    qwen = profile("qwen2.5-coder:1.5b", "llamacpp")
    known = Remembered(path, Clock())
    there = (server_name(row), "qwen2.5-coder:1.5b")

    def way() -> str:
        return choose_way("auto", qwen, row, None, known.tallies(*there)).name

    assert way() == "dialect:tagged"
    tried(known, "dialect:tagged", 12, 3, there)
    tried(known, "constrained", 4, 4, there)
    assert way() == "dialect:tagged", "four are not enough"
    tried(known, "constrained", 8, 8, there)
    assert way() == "constrained"
    known.flush()
    known = Remembered(path, Clock())
    assert way() == "constrained", "also in the next process"
    told = choose_way("auto", qwen, row, None, known.tallies(*there)).why
    assert "12 of 12 calls were good so, and 3 of 12 asked dialect:tagged" in told
    known.clear(*there)
    assert way() == "dialect:tagged"
