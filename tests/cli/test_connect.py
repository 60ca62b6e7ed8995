"""`toolglot connect`: lasting settings of an agent, with a backup and an undo."""

from __future__ import annotations

import asyncio
import json
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.gateway.running import config, run, serving
from tests.gateway.upstream_server import upstream_server, whole
from toolglot.cli.connect import command
from toolglot.cli.settings_files import edited, merged
from toolglot.errors import CallerError

NOWHERE = ("--gateway", "http://127.0.0.1:9", "-m", "house", "--force")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("TOOLGLOT_KEY", raising=False)
    return tmp_path


def connect(*words: str) -> Result:
    return CliRunner().invoke(command, words)


def test_the_settings_are_printed_and_nothing_is_written(home: Path) -> None:
    done = connect("claude", *NOWHERE)
    assert done.exit_code == 0
    assert '"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"' in done.stdout
    assert list(home.iterdir()) == []
    plan = json.loads(connect("codex", *NOWHERE, "--json").stdout)
    assert plan["files"][0]["values"]["model_provider"] == "toolglot"


@pytest.mark.parametrize(
    ("agent", "variables"), [("goose", ["OPENAI_API_KEY"]), ("codex", ["TOOLGLOT_KEY"]), ("opencode", []), ("aider", [])]
)
def test_a_key_that_no_file_has_must_be_set(home: Path, agent: str, variables: list[str]) -> None:
    done = connect(agent, *NOWHERE, "--write")
    assert [line.split()[1] for line in done.stderr.splitlines() if line.startswith("Set ")] == variables


def test_a_file_is_merged_and_restored(home: Path) -> None:
    file = home / ".claude" / "settings.json"
    file.parent.mkdir()
    before = '{"theme":"dark","env":{"MINE":"1","ANTHROPIC_BASE_URL":"old"}}'
    file.write_text(before)
    file.chmod(0o640)
    assert connect("claude", *NOWHERE, "--write").exit_code == 0
    now = json.loads(file.read_text())
    assert (now["theme"], now["env"]["MINE"]) == ("dark", "1")
    assert now["env"]["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:9"
    assert now["env"]["ANTHROPIC_AUTH_TOKEN"] == "any"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    connect("claude", "--gateway", "http://127.0.0.1:8", "-m", "other", "--force", "--write")  # the backup stays the first
    assert json.loads(file.read_text())["env"]["ANTHROPIC_MODEL"] == "other"
    done = connect("claude", "--undo")
    assert (done.exit_code, done.stdout) == (0, f"restored {file}\n")
    assert file.read_text() == before
    assert [one.name for one in file.parent.iterdir()] == ["settings.json"]
    assert connect("claude", "--undo").exit_code == 2


def test_a_new_file_is_private_and_deleted_by_undo(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLGLOT_KEY", "a-key-of-the-gateway")
    shown = connect("gemini", *NOWHERE).stdout
    assert "a-key-of-the-gateway" not in shown
    assert "$TOOLGLOT_KEY" in shown
    for _ in range(2):
        assert connect("gemini", *NOWHERE, "--write").exit_code == 0
    file = home / ".gemini" / ".env"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert 'GEMINI_API_KEY="a-key-of-the-gateway"' in file.read_text().splitlines()
    assert connect("gemini", "--undo").exit_code == 0
    assert list((home / ".gemini").iterdir()) == []


def test_changes_after_write_are_not_lost(home: Path) -> None:
    file = home / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text('model = "gpt-5.5"\n')
    connect("codex", *NOWHERE, "--write")
    file.write_text(file.read_text() + "# mine\n")
    done = connect("codex", "--undo")
    assert (done.exit_code, "was changed since" in done.stderr) == (2, True)
    assert file.read_text().endswith("# mine\n")
    assert connect("codex", "--undo", "--force").exit_code == 0
    assert file.read_text() == 'model = "gpt-5.5"\n'


def test_no_file_is_written_if_one_cannot_be_edited(home: Path) -> None:
    file = home / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_text('{"a": 1, // a comment\n}')
    done = connect("gemini", *NOWHERE, "--write")
    assert (done.exit_code, "by hand" in done.stderr) == (2, True)
    assert [one.name for one in file.parent.iterdir()] == ["settings.json"]


def test_the_model_is_checked_at_the_gateway(home: Path) -> None:
    assert connect("claude", "--gateway", "http://127.0.0.1:9", "--write").exit_code == 1

    async def work() -> None:
        rows = {"data": [{"id": "big", "max_model_len": 99_000}]}
        async with upstream_server(lambda _: whole(rows)) as up:
            route = '[[route]]\nmodel = "big"\nto = "openai-chat/big"\n'
            async with serving(config(up, "openai-chat", route=route)) as gateway:
                done = await asyncio.to_thread(connect, "claude", "--gateway", gateway.url, "--write")
                assert done.exit_code == 0, done.stderr
                missing = await asyncio.to_thread(connect, "claude", "--gateway", gateway.url, "-m", "small")
                assert (missing.exit_code, "no route matches model 'small'" in missing.stderr) == (1, True)

    run(work())
    assert json.loads((home / ".claude" / "settings.json").read_text())["env"]["ANTHROPIC_MODEL"] == "openai-chat/big"


def test_write_and_undo_exclude_each_other() -> None:
    assert connect("claude", "--write", "--undo").exit_code == 2


# -- formats

TOML = """\
# my settings
model = "gpt-5.5" # the best
approval_policy = "never"

[model_providers.toolglot]
name = "old"
base_url = "old"

[model_providers.mine] # keep
name = "mine"
"""


def test_toml_keeps_comments_and_other_tables() -> None:
    values: dict[str, Any] = {"model": "m", "model_providers": {"toolglot": {"name": "t", "env_key": "K"}}}
    text = edited(Path("c.toml"), TOML, values)
    assert text.startswith('model = "m"\n# my settings\n')
    assert "[model_providers.mine] # keep" in text
    found = tomllib.loads(text)
    assert found["approval_policy"] == "never"
    assert found["model_providers"]["mine"] == {"name": "mine"}
    assert found["model_providers"]["toolglot"]["name"] == "t"


@pytest.mark.parametrize("text", ['model_providers = {mine = {name = "x"}}\n', "model = [\n 1,\n]\n", "not toml"])
def test_toml_that_can_not_be_edited_by_lines_is_left_alone(text: str) -> None:
    with pytest.raises(CallerError, match="by hand"):
        edited(Path("c.toml"), text, {"model": "m", "model_providers": {"toolglot": {"name": "t"}}})


def test_lines_of_env_and_yaml() -> None:
    assert edited(Path(".env"), 'export A=old\nB="kept"\n', {"A": "1", "C": "2"}) == 'B="kept"\nA="1"\nC="2"\n'
    yaml = "extensions:\n  A: nested\nA: old\n"
    assert edited(Path("c.yaml"), yaml, {"A": "new"}) == 'extensions:\n  A: nested\nA: "new"\n'


def test_merging_is_deep() -> None:
    assert merged({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 9}, "d": {"e": 1}}) == {"a": {"b": 9, "c": 2}, "d": {"e": 1}}


def test_an_agent_without_a_settings_file() -> None:
    ran = CliRunner().invoke(command, ["copilot", "-m", "x"])
    assert ran.exit_code == 2
    assert "toolglot launch copilot" in ran.stderr
