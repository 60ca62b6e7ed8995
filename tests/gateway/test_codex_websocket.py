"""Codex over a WebSocket (it warms up, sends only what is new, and stores nothing), and its compaction.

It is installed from the npm registry: `TOOLGLOT_AGENTS=1 pytest -m agents`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gateway.running import config, run, serving
from tests.gateway.scripts import response_to, text
from tests.gateway.test_agents import ANSWER, CALLED, CODEX, SHELL, agent, check_file
from tests.gateway.text_model import FORMS
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server
from tests.node import Node

pytestmark = pytest.mark.agents


def _play(request: UpstreamRequest) -> UpstreamResponse:
    results = sum("Result of " in str(one["content"]) for one in request.body["messages"] if one["role"] == "user")
    steps = [("exec_command", {"cmd": SHELL}), ("exec_command", {"cmd": "cat hello.txt"})]
    return response_to(request, text(ANSWER if results == len(steps) else FORMS["hermes"](*steps[results])))


def test_codex_makes_a_file_over_a_websocket(node: Node, js_agents: Path, tmp_path: Path) -> None:
    async def work() -> None:
        async with upstream_server(_play) as up, serving(config(up, "openai-chat")) as gateway:
            settings = CODEX.format(url=gateway.url, model=CALLED) + "supports_websockets = true\n"
            check_file(tmp_path, await _codex(node, js_agents, tmp_path, settings))
            assert len(up.requests) == 3
            records = gateway.gateway.records.recent()
            assert [one.upstream for one in records] == ["openai-chat"] * 3 + [""]  # the first one warmed up

    run(work())


def _compacted(request: UpstreamRequest) -> UpstreamResponse:
    seen = str(request.body["messages"])
    if "Write a summary of the conversation" in seen:
        return response_to(request, text("The file was made."))
    done = "The file was made." in seen
    return response_to(request, text(ANSWER if done else FORMS["hermes"]("exec_command", {"cmd": SHELL})))


@pytest.mark.parametrize("transport", ["", "supports_websockets = true\n"], ids=["http", "websocket"])
def test_codex_compacts_its_conversation(transport: str, node: Node, js_agents: Path, tmp_path: Path) -> None:
    async def work() -> None:
        async with upstream_server(_compacted) as up, serving(config(up, "openai-chat")) as gateway:
            settings = CODEX.format(url=gateway.url, model=CALLED).replace('name = "toolglot"', 'name = "OpenAI"')
            printed = await _codex(node, js_agents, tmp_path, f"model_auto_compact_token_limit = 12\n{settings}{transport}")
            check_file(tmp_path, printed)
            assert len(up.requests) == 3

    run(work())


async def _codex(node: Node, packages: Path, folder: Path, settings: str) -> str:
    file = folder / "home" / ".codex" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(settings, encoding="utf-8")
    words = ("exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "Make the file hello.txt")
    program = packages / "@openai" / "codex" / "bin" / "codex.js"
    return await agent(node, program, words, folder, {"TOOLGLOT_KEY": "test"})
