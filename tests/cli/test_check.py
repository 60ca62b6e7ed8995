"""`toolglot check`, `doctor` and `version`."""

from __future__ import annotations

import asyncio
import json
import shlex
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import toolglot
from tests.gateway.running import run
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server, whole
from toolglot.cli import check, doctor, version
from toolglot.client.detect import ANSWERS

WEB_TOOLS = Path(__file__).parents[1] / "gateway" / "web_tools.py"
UPSTREAM = '[[upstream]]\nname = "u"\nprovider = "vllm"\nbase_url = "{url}"\n'
ROUTE = '[[route]]\nmodel = "{model}"\nto = "u/{to}"\n'


def serves(*names: str, status: int = 200) -> Any:
    def play(_: UpstreamRequest) -> UpstreamResponse:
        return whole({"object": "list", "data": [{"id": name, "max_model_len": 40_000} for name in names]}, status)

    return play


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(doctor, "GATEWAY", "http://127.0.0.1:9")
    monkeypatch.setenv("PATH", str(tmp_path))
    ANSWERS.clear()


def checked(play: Any, command: Any, *words: str, text: str | None = None) -> Result:
    """What a command prints while an upstream runs; `{url}` is its address."""
    results = []

    async def work() -> None:
        async with upstream_server(play) as up:
            if text is not None:
                Path("toolglot.toml").write_text(text.replace("{url}", up.url).replace("{port}", up.url.rpartition(":")[2]))
            given = [word.replace("{url}", up.url) for word in words]
            results.append(await asyncio.to_thread(CliRunner().invoke, command, given))

    run(work())
    return results[0]


TWO = UPSTREAM + ROUTE.format(model="fast", to="m") + ROUTE.format(model="*", to="*")


def test_a_valid_configuration_whose_models_are_there() -> None:
    done = checked(serves("m"), check.command, text=TWO)
    assert done.exit_code == 0, done.stdout
    assert done.stdout.splitlines()[0] == "toolglot.toml is valid: 1 upstream, 2 routes"
    assert "fast -> u/m  40,000 tokens" in done.stdout
    found = json.loads(checked(serves("m"), check.command, "--json", text=TWO).stdout)
    assert [one["problem"] for one in found["routes"]] == ["", ""]
    assert found["routes"][0]["found"]["window"] == 40_000


def test_a_model_that_is_not_there() -> None:
    done = checked(serves("other"), check.command, text=TWO)
    assert done.exit_code == 1
    assert "fail fast -> u/m" in done.stdout
    assert "other" in done.stdout
    assert "ok   * -> u/*" in done.stdout


def test_a_key_that_is_rejected() -> None:
    text = UPSTREAM + 'api_key = "a-wrong-key"\n' + ROUTE.format(model="*", to="m")
    done = checked(serves(status=401), check.command, text=text)
    assert (done.exit_code, "rejects the API key from the configuration" in done.stdout) == (1, True)
    assert "a-wrong-key" not in done.stdout
    done = checked(serves(status=401), check.command, text=UPSTREAM + ROUTE.format(model="*", to="m"))
    assert "needs an API key, and there is none: set VLLM_API_KEY" in done.stdout


def test_an_upstream_that_is_not_there_and_offline() -> None:
    Path("toolglot.toml").write_text(TWO.replace("{url}", "http://127.0.0.1:9"))
    done = CliRunner().invoke(check.command)
    assert (done.exit_code, done.stdout.count("nothing answers at http://127.0.0.1:9")) == (1, 2)
    assert CliRunner().invoke(check.command, ["--offline"]).exit_code == 0


def test_invalid_files_are_usage_errors() -> None:
    done = CliRunner().invoke(check.command)
    assert (done.exit_code, "toolglot init" in done.stderr) == (2, True)
    Path("toolglot.toml").write_text("[server]\nprot = 1\n")
    done = CliRunner().invoke(check.command)
    assert (done.exit_code, "line 2, [server] prot" in done.stderr) == (2, True)


# -- doctor


def marks(done: Result) -> dict[str, str]:
    return {one["text"]: one["mark"] for one in json.loads(done.stdout)["findings"]}


def test_nothing_is_wrong() -> None:
    done = checked(serves("m"), doctor.command, "-m", "vllm/m", "--base-url", "{url}", "--json", text=TWO)
    assert done.exit_code == 0, done.stdout
    found = marks(done)
    assert found["toolglot.toml is valid, with 2 routes"] == "ok"
    assert "wrong" not in found.values()
    done = checked(serves("m"), doctor.command, text=TWO)
    assert done.stdout.endswith("nothing is wrong\n")


def test_what_is_wrong_with_the_configuration() -> None:
    Path("toolglot.toml").write_text("[server]\nprot = 1\n")
    done = CliRunner().invoke(doctor.command)
    assert done.exit_code == 1
    assert "wrong toolglot.toml, line 2, [server] prot" in done.stdout
    assert done.stdout.endswith("1 thing is wrong\n")


@pytest.mark.parametrize(
    ("agent", "address", "key"),
    [
        ("claude", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN"),
        ("gemini", "GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"),
        ("qwen", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    ],
)
def test_an_agent_with_the_address_and_without_a_key(
    agent: str, address: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(address, "http://127.0.0.1:9")
    monkeypatch.delenv(key, raising=False)
    assert f"{address} is set, but {key} is not" in CliRunner().invoke(doctor.command, [agent]).stdout
    monkeypatch.setenv(key, "any")
    assert f"{address} is set, but" not in CliRunner().invoke(doctor.command, [agent]).stdout


def test_a_port_that_another_program_has() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        other.close()  # refused: nothing is there
        Path("toolglot.toml").write_text(f"[server]\nport = {address.rpartition(':')[2]}\n")
        assert f"note  no gateway answers at http://{address}" in CliRunner().invoke(doctor.command).stdout
    done = checked(serves("m"), doctor.command, text="[server]\nport = {port}\n")
    assert done.exit_code == 1
    assert "wrong another program listens at http://127.0.0.1:" in done.stdout


def test_what_is_wrong_with_a_model_and_an_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "qwen"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-1")
    done = checked(serves("other"), doctor.command, "claude", "-m", "vllm/m", "--base-url", "{url}", "--json")
    found = marks(done)
    assert done.exit_code == 1
    assert found["Claude Code is not installed: claude is not on PATH"] == "wrong"
    assert found["ANTHROPIC_API_KEY is set: Claude Code would use it instead of the gateway"] == "note"
    assert "sk-ant-1" not in done.stdout
    assert [text for text, mark in found.items() if mark == "wrong" and "other" in text]

    def small(_: UpstreamRequest) -> UpstreamResponse:
        return whole({"object": "list", "data": [{"id": "m", "max_model_len": 4096}]})

    done = checked(small, doctor.command, "qwen", "-m", "vllm/m", "--base-url", "{url}")
    assert (done.exit_code, "window of vllm/m is 4,096 tokens, and the first request of Qwen Code" in done.stdout) == (1, True)


@pytest.mark.parametrize("words", [["nobody"], ["claude", "-m"]])
def test_usage_errors_of_doctor(words: list[str]) -> None:
    assert CliRunner().invoke(doctor.command, words).exit_code == 2


def test_a_missing_key_is_found() -> None:
    done = CliRunner().invoke(doctor.command, ["-m", "openai/gpt-5"], env={"OPENAI_API_KEY": ""})
    assert (done.exit_code, "OPENAI_API_KEY" in done.stdout) == (1, True)


# -- version


def test_version() -> None:
    done = CliRunner().invoke(version.command)
    assert done.stdout.startswith(f"toolglot {toolglot.__version__}\n")
    found = json.loads(CliRunner().invoke(version.command, ["--json"]).stdout)
    assert found["version"] == toolglot.__version__
    assert found["extras"]["gateway"]


def test_server_tools_are_found() -> None:
    table = '[[server_tool]]\nname = "{name}"\nmcp = {mcp}\n'
    server = json.dumps(shlex.join([sys.executable, str(WEB_TOOLS), "stdio"]))
    text = TWO + table.format(name="web_search", mcp=server) + table.format(name="web_fetch", mcp=server)
    done = checked(serves("m"), check.command, text=text.replace('"web_search"\n', '"web_search"\ntool = "search"\n'))
    assert done.exit_code == 0, done.stdout
    assert "server tool web_search  search" in done.stdout
    assert "server tool web_fetch  web_fetch" in done.stdout
    done = checked(serves("m"), check.command, text=TWO + table.format(name="web_search", mcp=server))
    assert done.exit_code == 1
    assert "has no tool web_search; there are: search, web_fetch, code_execution" in done.stdout
