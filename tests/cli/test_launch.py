"""`toolglot launch` with a program in place of the agent. The real ones: test_launch_agents.py."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

import toolglot
from tests.gateway.running import config, run, serving
from tests.gateway.scripts import response_to, text
from tests.gateway.text_model import MODEL
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server, whole
from toolglot.cli import launch
from toolglot.cli.agents import Agent, agents, find_agent
from toolglot.cli.launch import command, environment
from toolglot.errors import CallerError

HERE = str(Path(toolglot.__file__).parents[1])
WORDS = [sys.executable, "-m", "toolglot.cli.main", "launch"]

# asks the gateway one question as Claude Code would, and prints what it was started with
PROGRAM = """\
#!{python}
import json, os, sys, urllib.request
settings = json.load(open(sys.argv[sys.argv.index("--settings") + 1]))
url, key = os.environ["ANTHROPIC_BASE_URL"], os.environ["ANTHROPIC_AUTH_TOKEN"]
messages = [{{"role": "user", "content": "Hi"}}]
body = {{"model": os.environ["ANTHROPIC_DEFAULT_HAIKU_MODEL"], "max_tokens": 9, "messages": messages}}
sent = urllib.request.Request(url + "/v1/messages", json.dumps(body).encode(), {{"authorization": "Bearer " + key}})
answer = json.load(urllib.request.urlopen(sent))["content"][0]["text"]
print(json.dumps({{"answer": answer, "settings": settings, "arguments": sys.argv[1:], "env": dict(os.environ)}}))
sys.exit(7)
"""
WAITS = """\
#!{python}
import signal, sys, time
signal.signal(signal.{name}, lambda *_: sys.exit(5))
print("ready", flush=True)
time.sleep(60)
"""


def model(window: int = 100_000, *names: str) -> Any:
    def play(request: UpstreamRequest) -> UpstreamResponse:
        if request.method == "GET":
            rows = [{"id": name, "object": "model", "max_model_len": window} for name in (names or (MODEL,))]
            return whole({"object": "list", "data": rows})
        return response_to(request, text("Hello."))

    return play


def program(folder: Path, source: str, name: str = "claude") -> dict[str, str]:
    """The environment in which it is found."""
    (folder / "bin").mkdir()
    file = folder / "bin" / name
    file.write_text(source)
    file.chmod(0o755)
    python_path = HERE + os.pathsep + os.environ.get("PYTHONPATH", "")
    path = str(folder / "bin") + os.pathsep + os.environ["PATH"]
    return {**os.environ, "PATH": path, "HOME": str(folder), "PYTHONPATH": python_path, "ANTHROPIC_API_KEY": "sk-users-own"}


async def started(folder: Path, environ: dict[str, str], *words: str) -> asyncio.subprocess.Process:
    pipe = subprocess.PIPE
    null = subprocess.DEVNULL
    return await asyncio.create_subprocess_exec(*WORDS, *words, cwd=folder, env=environ, stdin=null, stdout=pipe, stderr=pipe)


def test_the_agent_gets_a_gateway_of_its_own(tmp_path: Path) -> None:
    environ = program(tmp_path, PROGRAM.format(python=sys.executable))

    async def work() -> None:
        async with upstream_server(model()) as up:
            words = ("claude", "-m", f"vllm/{MODEL}", "--base-url", up.url, "--", "-p", "Hi", "--model", "x")
            process = await started(tmp_path, environ, *words)
            printed, errors = await process.communicate()
            assert process.returncode == 7, errors.decode()  # that of the agent
            seen = json.loads(printed)
            assert seen["answer"] == "Hello."
            assert seen["arguments"][2:] == ["-p", "Hi", "--model", "x"]
            env = seen["env"]
            assert env["ANTHROPIC_MODEL"] == f"vllm/{MODEL}"
            assert "ANTHROPIC_API_KEY" not in env
            assert len(env["ANTHROPIC_AUTH_TOKEN"]) == 48
            assert seen["settings"] == {"env": {name: env[name] for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN")}}
            assert "127.0.0.1" in env["NO_PROXY"].split(",")
            assert f"Claude Code uses {MODEL} of vllm ({up.url})" in errors.decode()
            assert env["ANTHROPIC_AUTH_TOKEN"] not in errors.decode()
            assert not Path(seen["arguments"][1]).exists()  # temporary files are gone
            with pytest.raises(OSError):  # noqa: PT011  (refused, so is the gateway)
                await asyncio.open_connection(*env["ANTHROPIC_BASE_URL"].removeprefix("http://").split(":"))

    run(work())


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_signals_reach_the_agent(tmp_path: Path, name: str) -> None:
    environ = program(tmp_path, WAITS.format(python=sys.executable, name=name))

    async def work() -> None:
        async with upstream_server(model()) as up:
            process = await started(tmp_path, environ, "claude", "-m", f"vllm/{MODEL}", "--base-url", up.url)
            assert process.stdout is not None
            assert await process.stdout.readline() == b"ready\n"
            process.send_signal(getattr(signal, name))
            _, errors = await process.communicate()
            assert process.returncode == 5, errors.decode()

    run(work())


def test_a_signal_that_comes_while_the_agent_starts_reaches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Started(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(subprocess, "Popen", Started)
    assert launch._run([sys.executable, "-c", "import time; time.sleep(9)"], os.environ) == 128 + signal.SIGTERM


def test_an_agent_that_a_signal_ends_gives_the_shells_exit_code(tmp_path: Path) -> None:
    environ = program(tmp_path, f"#!{sys.executable}\nimport os\nos.kill(os.getpid(), 9)\n")

    async def work() -> None:
        async with upstream_server(model()) as up:
            process = await started(tmp_path, environ, "claude", "-m", f"vllm/{MODEL}", "--base-url", up.url)
            await process.communicate()
            assert process.returncode == 128 + 9

    run(work())


def test_a_running_gateway_that_has_the_model_is_used(tmp_path: Path) -> None:
    environ = program(tmp_path, PROGRAM.format(python=sys.executable))
    route = f'[[route]]\nmodel = "fast"\nto = "openai-chat/{MODEL}"\n'

    async def work() -> None:
        async with upstream_server(model()) as up, serving(config(up, "openai-chat", route=route)) as gateway:
            process = await started(tmp_path, environ, "claude", "-m", "fast", "--gateway", gateway.url)
            printed, errors = await process.communicate()
            assert process.returncode == 7, errors.decode()
            env = json.loads(printed)["env"]
            assert (env["ANTHROPIC_BASE_URL"], env["ANTHROPIC_MODEL"]) == (gateway.url, "fast")

    run(work())


# -- refused before anything is started


def launched(*words: str, **environ: str) -> Result:
    return CliRunner().invoke(command, words, env=environ)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", program(tmp_path, "#!/bin/sh\nexit 3\n")["PATH"])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(launch, "GATEWAY", "http://127.0.0.1:9")


def asking(folder: Path, play: Any, *words: str) -> tuple[int | None, str]:
    """Exit code and errors."""
    ended: list[tuple[int | None, str]] = []

    async def work() -> None:
        async with upstream_server(play) as up:
            environ = {**os.environ, "PYTHONPATH": HERE + os.pathsep + os.environ.get("PYTHONPATH", "")}
            process = await started(folder, environ, "claude", "-m", f"vllm/{MODEL}", "--base-url", up.url, *words)
            _, errors = await process.communicate()
            ended.append((process.returncode, errors.decode()))

    run(work())
    return ended[0]


@pytest.mark.usefixtures("installed")
def test_a_window_that_is_too_small(tmp_path: Path) -> None:
    code, errors = asking(tmp_path, model(8192))
    assert code == 1
    assert "is 8,192 tokens, and the first request of Claude Code takes about 30,000" in errors
    code, errors = asking(tmp_path, model(8192), "--force")
    assert code == 3
    assert "warning: the context window" in errors


@pytest.mark.usefixtures("installed")
def test_a_model_that_the_server_does_not_have(tmp_path: Path) -> None:
    code, errors = asking(tmp_path, model(100_000, "other"))
    assert (code, "other" in errors) == (1, True)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (["claude", "-m", "vllm/m", "--base-url", "http://127.0.0.1:9"], 1, "nothing answers at http://127.0.0.1:9"),
        (["claude", "-m", "openai/gpt-5"], 2, "set the environment variable OPENAI_API_KEY"),
        (["claude", "-m", "opnai/gpt-5"], 2, "did you mean openai?"),
        (["claude", "-m", "vllm"], 2, 'Write "vllm/model"'),
        (["claude", "-m", "m", "--gateway", "http://127.0.0.1:9"], 1, "no gateway answers at http://127.0.0.1:9"),
        (["claude", "-m", "vllm/m", "--api-key", "sk-123"], 2, "env:NAME"),
        (["codex", "-m", "vllm/m"], 1, "Codex is not installed"),
        (["cluade"], 2, "did you mean claude?"),
        (["claude", "--config", "missing.toml"], 2, "missing.toml"),
        (["claude", "--json"], 2, "needs --dry-run"),
        (["claude", "-p", "hi"], 2, "No such option"),
    ],
)
def test_errors(words: list[str], code: int, expected: str) -> None:
    done = launched(*words, OPENAI_API_KEY="")
    assert (done.exit_code, done.stdout) == (code, "")
    assert expected in done.stderr


@pytest.mark.usefixtures("installed")
def test_a_configuration_in_the_folder_is_used(tmp_path: Path) -> None:
    async def work() -> None:
        async with upstream_server(model()) as up:
            (tmp_path / "toolglot.toml").write_text(
                f'[[upstream]]\nname = "u"\nprovider = "vllm"\nbase_url = "{up.url}"\n'
                f'[[route]]\nmodel = "big"\nto = "u/{MODEL}"\n'
            )
            done = await asyncio.to_thread(launched, "claude", "--dry-run", "--json")
            assert done.exit_code == 0, done.stderr
            plan = json.loads(done.stdout)
            assert plan["env"]["ANTHROPIC_MODEL"] == "big"
            assert plan["env"]["ANTHROPIC_AUTH_TOKEN"] == "$TOOLGLOT_KEY"  # never the key itself
            assert plan["command"][0] == "claude"
            assert "ANTHROPIC_MODEL=big" in (await asyncio.to_thread(launched, "claude", "--dry-run")).stdout

    run(work())


# -- rows


def test_the_agents_are_listed_with_where_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", program(tmp_path, "", "codex")["PATH"])
    rows = {row["agent"]: row for row in json.loads(launched("--json").stdout)}
    assert set(rows) == set(agents())
    assert rows["codex"]["program"] == str(tmp_path / "bin" / "codex")
    assert "npm install -g @anthropic-ai/claude-code" in launched().stdout or rows["claude"]["program"]


@pytest.mark.parametrize("name", agents())
def test_each_row_leads_every_request_to_the_gateway(name: str) -> None:
    row = agents()[name].filled(url="http://gate:1", key="secret-key", model="the-model", folder="/tmp/f")  # noqa: S108
    everything = str(msgspec.to_builtins(row))
    assert not [mark for mark in ("{url}", "{key}", "{model}", "{folder}") if mark in everything]
    settings = [str(msgspec.to_builtins(row.settings))] if row.settings else []  # some agents only have environment variables
    for part in (str([row.env, row.files, row.arguments]), *settings):
        assert "http://gate:1" in part
        assert "the-model" in part
    assert "secret-key" not in str(row.arguments)  # other users can see them
    assert row.source


def test_the_settings_of_opencode_win_over_those_of_a_project() -> None:
    """Its documentation: of all sources, only this variable does. A model's name may contain any character."""
    filled = find_agent("opencode").filled(url="http://x", key="k", model='a"b', folder="f")
    given = json.loads(filled.env["OPENCODE_CONFIG_CONTENT"])
    assert given["model"] == given["small_model"] == 'toolglot/a"b'
    assert given["provider"]["toolglot"]["options"] == {"baseURL": "http://x/v1", "apiKey": "k"}


def test_values_are_never_read_as_placeholders() -> None:
    row = find_agent("claude").filled(url="http://x", key="{model}{url}", model="m", folder="f")
    assert row.env["ANTHROPIC_AUTH_TOKEN"] == "{model}{url}"
    with pytest.raises(CallerError, match="there is no agent"):
        find_agent("nobody")


def test_an_overlay_has_the_users_files_and_our_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, folder = tmp_path / "home", tmp_path / "folder"
    users = home / ".gemini"
    (users / "commands").mkdir(parents=True)
    folder.mkdir()
    settings = '{"ui": {"theme": "dark"}, "security": {"auth": {"selectedType": "oauth-personal"}}}'
    (users / "settings.json").write_text(settings)
    (users / "GEMINI.md").write_text("remember")
    monkeypatch.setenv("HOME", str(home))
    agents()["gemini"].filled(url="u", key="k", model="m", folder=str(folder)).write_files(folder)
    found = json.loads((folder / ".gemini" / "settings.json").read_text())
    assert found == {"ui": {"theme": "dark"}, "security": {"auth": {"selectedType": "gemini-api-key"}}}
    assert (folder / ".gemini" / "GEMINI.md").read_text() == "remember"
    assert (users / "settings.json").read_text() == settings


def test_the_environment_keeps_what_is_not_in_the_way() -> None:
    row = Agent("T", "t", "", 1, "", unset=("OLD",), env={"NEW": "1"})
    found = environment(row, {"OLD": "x", "KEPT": "y", "no_proxy": "corp.example"})
    assert found["no_proxy"] == "corp.example,127.0.0.1,localhost"
    assert {name: found.get(name) for name in ("OLD", "KEPT", "NEW")} == {"OLD": None, "KEPT": "y", "NEW": "1"}
