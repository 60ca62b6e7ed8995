"""`toolglot batch`, run as a process: files in and out, killed and continued, and on a real Ray cluster (TOOLGLOT_RAY=1)."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.bulk.test_rows import CALL, TOOLS
from tests.cli.test_convert import run

COMMAND = [sys.executable, "-m", "toolglot.cli.main", "batch"]
UNKNOWN = '<tool_call>{"name": "launch", "arguments": {}}</tool_call>'


@pytest.fixture
def tools(tmp_path: Path) -> str:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(TOOLS))
    return str(path)


def write(path: Path, texts: list[str]) -> Path:
    rows = [{"id": str(number), "text": text} for number, text in enumerate(texts)]
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=700)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        for row in found:
            for call in row["calls"]:
                call["arguments"] = json.loads(call["arguments"])
        return found
    return [json.loads(line) for line in path.read_text().splitlines()]


def texts(number: int) -> list[str]:
    return [CALL.replace("Rome", f"Rome {at} {'x' * 300}") for at in range(number)]


def check(path: Path, number: int) -> None:
    """Every row once, in order."""
    rows = read(path)
    assert [row["id"] for row in rows] == [str(at) for at in range(number)]
    assert [row["line"] for row in rows] == list(range(1, number + 1))
    assert all(row["calls"][0]["arguments"]["city"].startswith(f"Rome {at} ") for at, row in enumerate(rows))
    assert [one.name for one in path.parent.glob(f"{path.name}.*")] == []


@pytest.mark.parametrize("source", ["in.jsonl", "in.parquet"])
@pytest.mark.parametrize("target", ["out.jsonl", "out.parquet"])
def test_files_of_both_kinds_with_two_workers(source: str, target: str, tmp_path: Path, tools: str) -> None:
    given = write(tmp_path / source, texts(1500))
    done = run("batch", str(given), str(tmp_path / target), "--tools", tools, "--workers", "2", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no bar where there is no terminal
    check(tmp_path / target, 1500)
    summary = json.loads(done.stdout)
    assert (summary["rows"], summary["calls"], summary["decisions"]) == (1500, 1500, {"rescued_text": 1500})
    assert summary["rows_per_second_per_core"] > 0


def test_bad_rows_are_rows_with_an_error(tmp_path: Path, tools: str) -> None:
    given, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    long = json.dumps(CALL + " " * 600_000).encode()  # longer than a chunk
    lines = [b"{", b"", long, b"\xff", json.dumps(UNKNOWN).encode(), b"[" * 100_000, json.dumps(CALL).encode()]
    given.write_bytes(b"\n".join(lines))
    done = run("batch", str(given), str(out), "--tools", tools, "--max-row-bytes", "200000", "--json")
    assert done.returncode == 0, done.stderr
    rows = read(out)
    assert [(row["line"], row["error"] is None, len(row["calls"])) for row in rows] == [
        (1, False, 0),
        (3, False, 0),
        (4, False, 0),
        (5, True, 0),
        (6, False, 0),
        (7, True, 1),
    ]
    assert "larger than 200000 bytes" in rows[1]["error"]
    summary = json.loads(done.stdout)
    assert (summary["errors"], summary["rejected"], summary["calls"]) == (4, 1, 1)
    assert summary["decisions"]["rejected_unknown_tool"] == 1


# a run that is killed once its first rows are there
KILLED = """
import os, signal
from toolglot.bulk.output import Output
from toolglot.cli.main import main
save = Output._save
def killed(self):
    save(self)
    os.kill(os.getpid(), signal.SIGKILL)
Output._save = killed
if __name__ == "__main__":
    main()
"""


def kill_midway(given: Path, out: Path, tools: str, *words: str) -> int:
    """How many rows are there then."""
    program = out.with_name("killed.py")
    program.write_text(KILLED)
    command = [sys.executable, str(program), "batch", str(given), str(out), "--tools", tools, "--workers", "2", *words]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert not out.exists()
    return int(json.loads(Path(f"{out}.progress").read_text())["counts"]["rows"])


@pytest.mark.parametrize(("source", "target"), [("in.jsonl", "out.jsonl"), ("in.parquet", "out.parquet")])
def test_a_killed_run_continues(source: str, target: str, tmp_path: Path, tools: str) -> None:
    given, out = write(tmp_path / source, texts(3000)), tmp_path / target
    before = kill_midway(given, out, tools)
    with Path(f"{out}.partial").open("ab") as file:
        file.write(b'{"half a row')  # killed between the rows and the progress
    done = run("batch", str(given), str(out), "--tools", tools, "--json")
    assert done.returncode == 0, done.stderr
    assert 0 < before < 3000
    summary = json.loads(done.stdout)
    assert (summary["resumed_rows"], summary["rows"], summary["calls"]) == (before, 3000, 3000)
    check(out, 3000)


def test_an_unfinished_run_continues_only_with_the_same_input_and_options(tmp_path: Path, tools: str) -> None:
    given, out = write(tmp_path / "in.jsonl", texts(3000)), tmp_path / "out.jsonl"
    kill_midway(given, out, tools)
    done = run("batch", str(given), str(out), "--tools", tools, "--policy", "eager")
    assert (done.returncode, "other options" in done.stderr) == (2, True)
    partial = Path(f"{out}.partial")
    rows = partial.read_bytes()
    partial.write_bytes(b"x" + rows[1:])
    done = run("batch", str(given), str(out), "--tools", tools)
    assert (done.returncode, "damaged" in done.stderr) == (2, True)
    partial.write_bytes(rows)
    write(given, texts(900))
    done = run("batch", str(given), str(out), "--tools", tools)
    assert (done.returncode, "the input changed" in done.stderr, out.exists()) == (2, True, False)
    assert run("batch", str(given), str(out), "--tools", tools, "--overwrite").returncode == 0
    check(out, 900)


def test_usage_errors_exit_with_2(tmp_path: Path, tools: str) -> None:
    given, out = write(tmp_path / "in.jsonl", [CALL]), tmp_path / "out.jsonl"
    for words, expected in (
        ((str(given), str(tmp_path / "out.csv")), ".parquet"),
        ((str(tmp_path / "none.jsonl"), str(out)), "does not exist"),
        ((str(given), str(given), "--overwrite"), "same file"),
        ((str(given), str(out), "--dialect", "hermse"), "did you mean hermes?"),
        ((str(given), str(out), "--workers", "0"), "--workers"),
    ):
        done = run("batch", *words)
        assert (done.returncode, expected in done.stderr, "Traceback" in done.stderr) == (2, True, False), done.stderr
    assert given.exists()
    assert run("batch", str(given), str(out)).returncode == 0
    done = run("batch", str(given), str(out))
    assert (done.returncode, "it exists" in done.stderr) == (2, True)


def test_a_folder_that_does_not_exist_fails_with_1(tmp_path: Path) -> None:
    done = run("batch", str(write(tmp_path / "in.jsonl", [CALL])), str(tmp_path / "none" / "out.jsonl"))
    assert (done.returncode, "No such file" in done.stderr, "Traceback" in done.stderr) == (1, True, False)


def test_a_missing_package_names_the_extra(tmp_path: Path) -> None:
    given = write(tmp_path / "in.parquet", [CALL])
    code = "import sys; sys.modules['pyarrow'] = None; from toolglot.cli.main import main; main()"
    words = [sys.executable, "-c", code, "batch", str(given), str(tmp_path / "out.jsonl")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, "toolglot[parquet]" in done.stderr) == (2, True)


def test_a_bar_on_a_terminal(tmp_path: Path) -> None:
    given = write(tmp_path / "in.jsonl", [CALL])
    ours, theirs = pty.openpty()
    words = [*COMMAND, str(given), str(tmp_path / "out.jsonl"), "--workers", "1"]
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=theirs, check=True, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    shown = os.read(ours, 65536)
    os.close(ours)
    assert b"100%" in shown


@pytest.mark.skipif(os.environ.get("TOOLGLOT_RAY") != "1", reason="needs toolglot[ray]; run with TOOLGLOT_RAY=1")
def test_a_ray_cluster_gives_the_same_file(tmp_path: Path, tools: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))  # Ray keeps the token of its cluster there
    given = write(tmp_path / "in.jsonl", [*texts(3000), UNKNOWN])
    here, there = tmp_path / "here.jsonl", tmp_path / "there.jsonl"
    assert run("batch", str(given), str(here), "--tools", tools).returncode == 0
    done = run("batch", str(given), str(there), "--tools", tools, "--ray", "local", "--workers", "2", "--json")
    assert done.returncode == 0, done.stderr
    assert there.read_bytes() == here.read_bytes()
    assert json.loads(done.stdout)["rejected"] == 1
