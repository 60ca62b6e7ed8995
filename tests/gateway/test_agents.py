"""Claude Code, Codex and Gemini CLI, as their users run them, with a model behind the gateway that only writes text.

They are installed from the npm registry: `TOOLGLOT_AGENTS=1 pytest -m agents`.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.programs import finished
from tests.gateway.running import config, run, serving
from tests.gateway.scripts import response_to, text
from tests.gateway.text_model import FORMS, MODEL
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server
from tests.node import Node

pytestmark = pytest.mark.agents

CONTENT = "Made by a model without tools.\n"
SHELL = f"echo '{CONTENT.strip()}' > hello.txt"
ANSWER = "The file is there now."
CALLED = f"openai-chat/{MODEL}"
KNOWN_TO_CODEX = "gpt-5.5"  # for this name Codex offers its patch tool; a route maps it to the same model

CODEX = """\
model = "{model}"
model_provider = "toolglot"
check_for_update_on_startup = false
web_search = "disabled"
[analytics]
enabled = false
[feedback]
enabled = false
[features]
plugins = false
apps = false
remote_plugin = false
[model_providers.toolglot]
name = "toolglot"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "TOOLGLOT_KEY"
"""

# without the key type it treats the gateway's URL as a login server and rejects it
GEMINI = '{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}}'


class Steps:
    """A model that makes these calls, each after the result of the previous one, and then answers."""

    def __init__(self, form: str, *calls: tuple[str, dict[str, Any]]) -> None:
        self._form, self._calls = form, calls
        self.results: list[str] = []

    def __call__(self, request: UpstreamRequest) -> UpstreamResponse:
        assert "tools" not in request.body
        user_messages = [str(one["content"]) for one in request.body["messages"] if one["role"] == "user"]
        self.results = [one for one in user_messages if one.startswith("Result of ")]
        if len(self.results) == len(self._calls):
            return response_to(request, text(ANSWER))
        return response_to(request, text(FORMS[self._form](*self._calls[len(self.results)])))


async def claude(node: Node, packages: Path, url: str, folder: Path) -> str:
    program = packages / "@anthropic-ai" / "claude-code" / "cli-wrapper.cjs"
    words = ("-p", "Make the file hello.txt", "--dangerously-skip-permissions", "--model", CALLED)
    environ = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_AUTH_TOKEN": "test",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    }
    return await agent(node, program, words, folder, environ)


async def codex(node: Node, packages: Path, url: str, folder: Path, model: str = CALLED) -> str:
    settings = folder / "home" / ".codex" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(CODEX.format(url=url, model=model), encoding="utf-8")
    words = ("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "Make the file hello.txt")
    return await agent(node, packages / "@openai" / "codex" / "bin" / "codex.js", words, folder, {"TOOLGLOT_KEY": "test"})


async def gemini(node: Node, packages: Path, url: str, folder: Path) -> str:
    settings = folder / "home" / ".gemini" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(GEMINI, encoding="utf-8")
    words = ("-p", "Make the file hello.txt", "--yolo", "-m", CALLED)
    environ = {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "test", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    return await agent(node, packages / "@google" / "gemini-cli" / "bundle" / "gemini.js", words, folder, environ)


async def agent(node: Node, program: Path, words: tuple[str, ...], folder: Path, environ: dict[str, str]) -> str:
    """Its output. It runs with a separate home directory and environment."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    environ = {**environ, "PATH": os.environ["PATH"], "HOME": str(home)}
    printed, _ = await finished(node.program, str(program), *words, folder=folder, environ=environ)
    return printed


def check_file(folder: Path, printed: str) -> None:
    assert (folder / "hello.txt").read_text(encoding="utf-8") == CONTENT
    assert ANSWER in printed


@pytest.mark.parametrize("form", FORMS)
def test_claude_code_makes_a_file(form: str, node: Node, js_agents: Path, tmp_path: Path) -> None:
    play = Steps(form, ("Write", {"file_path": str(tmp_path / "hello.txt"), "content": CONTENT}))

    async def work() -> None:
        async with upstream_server(play) as up, serving(config(up, "openai-chat")) as gateway:
            check_file(tmp_path, await claude(node, js_agents, gateway.url, tmp_path))

    run(work())


@pytest.mark.parametrize("form", FORMS)
def test_codex_makes_a_file(form: str, node: Node, js_agents: Path, tmp_path: Path) -> None:
    play = Steps(form, ("exec_command", {"cmd": SHELL}))

    async def work() -> None:
        async with upstream_server(play) as up, serving(config(up, "openai-chat")) as gateway:
            check_file(tmp_path, await codex(node, js_agents, gateway.url, tmp_path))

    run(work())


@pytest.mark.parametrize("form", FORMS)
def test_gemini_cli_makes_a_file(form: str, node: Node, js_agents: Path, tmp_path: Path) -> None:
    play = Steps(form, ("write_file", {"file_path": str(tmp_path / "hello.txt"), "content": CONTENT}))

    async def work() -> None:
        async with upstream_server(play) as up, serving(config(up, "openai-chat")) as gateway:
            check_file(tmp_path, await gemini(node, js_agents, gateway.url, tmp_path))

    run(work())


def test_codex_gets_namespaced_tool_names_unchanged(node: Node, js_agents: Path, tmp_path: Path) -> None:
    play = Steps("tagged", ("multi_agent_v1__close_agent", {"target": "nobody"}), ("exec_command", {"cmd": SHELL}))

    async def work() -> None:
        async with upstream_server(play) as up, serving(config(up, "openai-chat")) as gateway:
            check_file(tmp_path, await codex(node, js_agents, gateway.url, tmp_path))
            assert "invalid agent id nobody" in play.results[0]  # the tool was found and run

    run(work())


def test_codex_gets_a_patch_as_free_text(node: Node, js_agents: Path, tmp_path: Path) -> None:
    patch = f"*** Begin Patch\n*** Add File: hello.txt\n+{CONTENT}*** End Patch\n"
    play = Steps("tagged", ("apply_patch", {"input": patch}))
    route = f'[[route]]\nmodel = "{KNOWN_TO_CODEX}"\nto = "openai-chat/{MODEL}"'

    async def work() -> None:
        async with upstream_server(play) as up, serving(config(up, "openai-chat", route=route)) as gateway:
            check_file(tmp_path, await codex(node, js_agents, gateway.url, tmp_path, KNOWN_TO_CODEX))
            assert "A hello.txt" in play.results[0]

    run(work())


def test_claude_code_retries_after_a_broken_stream(node: Node, js_agents: Path, tmp_path: Path) -> None:
    steps = Steps("hermes", ("Write", {"file_path": str(tmp_path / "hello.txt"), "content": CONTENT}))
    broken: list[UpstreamRequest] = []

    def play(request: UpstreamRequest) -> UpstreamResponse:
        answer = steps(request)
        if not broken:
            broken.append(request)
            return replace(answer, chunks=answer.chunks[: len(answer.chunks) // 2], breaks=True)
        return answer

    async def work() -> None:
        async with upstream_server(play) as up, serving(config(up, "openai-chat")) as gateway:
            check_file(tmp_path, await claude(node, js_agents, gateway.url, tmp_path))
            broken_one, again, *rest = [request.streams for request in up.requests]
            assert (broken_one, again, all(rest)) == (True, False, True)

    run(work())
