"""`toolglot models`: the table, one model in detail, JSON, wrong use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from toolglot.catalog.profiles import catalog
from toolglot.cli.models import HEADS, command


@pytest.fixture(autouse=True)
def _no_rows_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def run(*words: str) -> Result:
    return CliRunner().invoke(command, list(words))


def test_the_table_has_every_family_in_columns() -> None:
    done = run()
    assert done.exit_code == 0
    head, *lines = done.stdout.splitlines()
    assert tuple(head.split()) == HEADS
    assert [line.split()[0] for line in lines] == [row.name for row in catalog().rows]
    by_name = {line.split()[0]: line for line in lines}
    assert by_name["kimi-k2"].split() == ["kimi-k2", "yes", "kimi_k2", "-", "64", "yes", "yes", "excellent", "131072"]
    assert by_name["mistral"].split()[1:] == ["yes", "mistral", "-", "128", "yes", "no", "excellent", "-"]
    assert "yes, not on llamacpp" in by_name["qwen2.5-coder"]
    assert "no " in by_name["gemma3"]
    starts = {line.index(line.split()[0]) for line in lines}
    assert starts == {0}
    assert len({line[: head.index("DIALECT")].endswith("  ") for line in lines}) == 1, "columns stand below each other"


def test_one_model_in_detail_with_where_each_fact_comes_from() -> None:
    done = run("qwen2.5-coder:1.5b", "--provider", "llamacpp")
    assert done.exit_code == 0
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert "its maker's documents" in lines["source"]
    assert lines["max_tools"].split() == ["max_tools", "64"], "from the row that `source` names"
    assert "dialect:tagged" in lines["ask"]
    assert "on llamacpp (measured here" in lines["ask"]
    assert lines["context_length"].split()[1:4] == ["32768", "catalog", "row"]
    assert lines["parameters"].split()[1:] == ["1.5", "its", "name"]
    assert lines["native"].split()[1:] == ["llamacpp", "no"]
    assert lines["reasoning"].split()[1:] == ["-", "default"]


def test_a_guess_says_so() -> None:
    assert "guessed from its family" in run("qwen9").stdout
    assert "guessed: no row fits" in run("zorblax").stdout


def test_json_has_every_field() -> None:
    one = json.loads(run("mistral", "--json").stdout)
    assert (one["family"], one["supports_tools"], one["max_tools"], one["supports_streaming"]) == ("mistral", True, 128, False)
    assert one["facts"]["reasoning"] == "default"
    all_of_them = json.loads(run("--json").stdout)
    assert [known["family"] for known in all_of_them] == [row.name for row in catalog().rows]


def test_a_row_of_ones_own_is_shown(tmp_path: Path) -> None:
    (tmp_path / "toolglot.toml").write_text('[[model]]\nname = "mistral"\nmax_tools = 9\n')
    assert "your row mistral in toolglot.toml" in run("mistral").stdout
    assert json.loads(run("mistral", "--json").stdout)["max_tools"] == 9


def test_wrong_use_ends_with_2(tmp_path: Path) -> None:
    for words, told in [
        (("m", "--provider", "olama"), "did you mean ollama?"),
        (("--provider", "ollama"), "needs the name"),
        (("--nope",), "nope"),
    ]:
        done = run(*words)
        assert (done.exit_code, told in done.stderr) == (2, True)
        assert done.stdout == ""
    (tmp_path / "toolglot.toml").write_text('[[model]]\nname = "mistral"\nmax_tool = 9\n')
    done = run("mistral")
    assert done.exit_code == 2
    assert "toolglot.toml: [[model]] 1 (mistral)" in done.stderr
    assert "max_tool" in done.stderr
