"""`toolglot init`: a commented configuration that the gateway accepts."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from toolglot.cli import init
from toolglot.cli.init import command
from toolglot.gateway.config import read_config
from toolglot.gateway.routing import Routing

FOUND = [("ollama", "qwen3:8b"), ("vllm", "big")]


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def find() -> list[tuple[str, str]]:
        return list(FOUND)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(init, "_find", find)
    for name in ("OPENAI_API_KEY", "TOOLGLOT_KEY"):
        monkeypatch.delenv(name, raising=False)


def written(*words: str, **more: Any) -> Result:
    return CliRunner().invoke(command, words, **more)


def config(**environ: str) -> Any:
    return read_config(Path("toolglot.toml").read_text(), environ=environ)


def test_the_defaults_are_the_first_model_found_for_this_machine() -> None:
    done = written("--yes")
    assert (done.exit_code, done.stdout) == (0, "written: toolglot.toml\n")
    found = config()
    assert (found.server.host, found.keys) == ("127.0.0.1", ())
    routing = Routing(found)
    assert [routing.candidates(name)[0].name for name in ("qwen3:8b", "claude-sonnet-5")] == ["ollama/qwen3:8b"] * 2
    assert "toolglot launch claude -m qwen3:8b" in done.stderr
    assert Path("toolglot.toml").read_text().count("#") >= 8  # commented


def test_without_a_server_it_is_the_embedded_model(monkeypatch: pytest.MonkeyPatch) -> None:
    async def find() -> list[tuple[str, str]]:
        return []

    monkeypatch.setattr(init, "_find", find)
    assert written("--yes").exit_code == 0
    assert Routing(config()).candidates("local")[0].name == "local/local"


def test_a_shared_gateway_with_a_vendors_model() -> None:
    done = written("-m", "openai/gpt-5", "--own-name", "--share", "--yes")
    assert done.exit_code == 0
    found = config(OPENAI_API_KEY="sk-123456789", TOOLGLOT_KEY="0123456789abcdef")
    assert found.server.host == "0.0.0.0"  # noqa: S104
    assert [row.model for row in found.routes] == ["gpt-5"]
    assert "export OPENAI_API_KEY=" in done.stderr
    assert "export TOOLGLOT_KEY=" in done.stderr
    assert "sk-" not in Path("toolglot.toml").read_text()


def test_what_is_commented_out_is_valid_too() -> None:
    written("--yes", "--own-name", "--base-url", "http://10.0.0.5:11434")
    text = Path("toolglot.toml").read_text()
    options = ("# [[", "# model", "# to", "# ask", "# retries")
    lines = [line.removeprefix("# ") if line.startswith(options) else line for line in text.splitlines()]
    assert len(read_config("\n".join(lines)).routes) == 2
    assert tomllib.loads(text)["upstream"][0]["base_url"] == "http://10.0.0.5:11434"


def test_three_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(init, "_is_terminal", lambda: True)
    done = written(input="vllm/big\nn\nn\n")
    assert done.exit_code == 0, done.stderr
    assert "ollama/qwen3:8b" in done.stderr
    assert [row.to for row in config().routes] == ["vllm/big"]


def test_json() -> None:
    printed = json.loads(written("--json").stdout)
    assert printed == {"file": "toolglot.toml", "model": "ollama/qwen3:8b", "found": ["ollama/qwen3:8b", "vllm/big"]}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "no terminal"),
        (["--yes", "-m", "opnai/gpt-5"], "did you mean openai?"),
        (["--yes", "-m", "openai"], 'write "openai/model"'),
        (["--yes", "--base-url", "10.0.0.5"], "http://"),
    ],
)
def test_usage_errors(words: list[str], expected: str) -> None:
    done = written(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert expected in done.stderr
    assert not Path("toolglot.toml").exists()


def test_a_file_is_not_overwritten() -> None:
    Path("toolglot.toml").write_text("mine")
    assert (written("--yes").exit_code, Path("toolglot.toml").read_text()) == (2, "mine")
    assert written("--yes", "--force").exit_code == 0
    assert written("--yes", "--file", "missing/x.toml").exit_code == 1
