"""The streams of the process: a full disk, a closed pipe, a closed stream, a limited encoding."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

import pytest

REQUEST = json.dumps({"model": "m", "messages": [{"role": "user", "content": "\u65e5"}]})
COMMANDS: dict[str, tuple[list[str], str]] = {
    "help": (["--help"], ""),
    "ask": (["ask", "-m", "ollama/x", "--dry-run"], "hi"),
    "bench": (["bench", "--only", "validate", "--rounds", "1"], ""),
    "convert": (["convert"], REQUEST),
    "convert a stream": (["convert", "--kind", "stream"], 'data: {"choices":[{"delta":{"content":"hi"}}]}\n\n'),
    "demo": (["demo", "--pairs"], ""),
    "models": (["models"], ""),
    "models --export": (["models", "--export", "-"], ""),
    "parse": (["parse"], "hi"),
}
FULL = Path("/dev/full")


def run(name: str, *, stdout: int | IO[Any] = subprocess.PIPE, closed: int | None = None) -> Any:
    words, given = COMMANDS[name]
    return subprocess.run(
        [sys.executable, "-m", "toolglot", *words],
        input=None if closed == 0 else given.encode(),
        stdout=stdout,
        stderr=subprocess.PIPE,
        preexec_fn=None if closed is None else lambda: os.close(closed),
        check=False,
    )


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_a_one_line_error(name: str) -> None:
    with FULL.open("wb") as full:
        done = run(name, stdout=full)
    *_, line = done.stderr.decode().splitlines()
    assert (done.returncode, line) == (1, "error: the output can't be written: No space left on device")
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")
def test_a_file_on_a_full_disk_is_not_reported_as_written() -> None:
    words = [sys.executable, "-m", "toolglot", "models", "--export", str(FULL)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "error: the output can't be written: No space left on device\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_closed_pipe_is_not_an_error_message(name: str) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as gone:
        done = run(name, stdout=gone)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert b"error" not in done.stderr


@pytest.mark.parametrize("name", ["convert", "models --export", "parse"])
def test_output_to_a_closed_stdout_is_discarded(name: str) -> None:
    done = run(name, closed=1)
    assert done.returncode == 0, done.stderr


def test_a_closed_input_is_an_empty_one() -> None:
    assert json.loads(run("parse", closed=0).stdout)["calls"] == []
    done = run("convert", closed=0)
    assert (done.returncode, done.stderr) == (2, b"error: the input is not JSON: it is empty; give a file, or pipe JSON in\n")


def test_json_is_utf_8_whatever_the_terminal_knows() -> None:
    words = [sys.executable, "-m", "toolglot", "parse"]
    environment = os.environ | {"PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(words, input="\u65e5".encode(), capture_output=True, env=environment, check=False)
    assert json.loads(done.stdout)["text"] == "\u65e5"


def test_what_is_piped_in_need_not_be_text() -> None:
    words = [sys.executable, "-m", "toolglot", *COMMANDS["ask"][0]]
    environment = os.environ | {"PYTHONIOENCODING": "utf-8:strict"}
    done = subprocess.run(words, input=b"a \xff b", capture_output=True, env=environment, check=False)
    assert json.loads(done.stdout)["body"]["messages"][0]["content"] == "a \ufffd b"
