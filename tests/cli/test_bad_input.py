"""What each command answers to bad input: the rows of bad_input.toml, which docs/reference/cli.md shows."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from toolglot.cli.main import COMMANDS, main

TABLE: dict[str, Any] = tomllib.loads(Path(__file__).with_name("bad_input.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", TABLE["case"], ids=lambda case: case["command"])
def test_bad_input(case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "PATH"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name, text in TABLE["files"].items():
        if case.get("without") != name:
            (tmp_path / name).write_text(text)
    _, *words = shlex.split(case["command"])
    done = CliRunner().invoke(main, words, prog_name="toolglot", input="")
    lines = [line.strip().replace(f"{tmp_path}/", "") for line in done.output.splitlines()]
    wanted = re.compile(re.escape(case["answer"]).replace(re.escape("..."), ".*"))
    assert (done.exit_code, [line for line in lines if wanted.fullmatch(line)] != []) == (case["exit"], True), done.output
    assert "Traceback" not in done.output


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_rows(name: str) -> None:
    rows = [case for case in TABLE["case"] if case["command"].split()[1] == name]
    assert rows
    if name != "demo":
        assert len(rows) > 1
