"""`toolglot launch` with the real agents, on a model that only writes text. They come from the npm registry: tests/node.py."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

import toolglot
from tests.gateway.programs import finished
from tests.gateway.running import run
from tests.gateway.scripts import response_to, text
from tests.gateway.text_model import FORMS, MODEL
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server, whole
from tests.node import find_node

pytestmark = pytest.mark.agents

CONTENT = "Made by a model without tools.\n"
ANSWER = "The file is there now."
PROMPT = "Make the file hello.txt"
SHELL = {"cmd": f"echo '{CONTENT.strip()}' > hello.txt"}
WINDOW = 131_072

PROGRAMS = {
    "claude": "@anthropic-ai/claude-code/cli-wrapper.cjs",
    "codex": "@openai/codex/bin/codex.js",
    "gemini": "@google/gemini-cli/bundle/gemini.js",
}
# agent -> the tool that makes the file, its arguments (with the path, or relative), the agent's own arguments
AGENTS: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "claude": ("Write", {"file_path": "{path}", "content": CONTENT}, ["-p", PROMPT, "--dangerously-skip-permissions"]),
    "codex": (
        "exec_command",
        SHELL,
        ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT],
    ),
    "gemini": ("write_file", {"file_path": "{path}", "content": CONTENT}, ["-p", PROMPT, "--yolo", "--skip-trust"]),
}


class Model:
    """Answers the questions of detection, makes one call as text, and then answers."""

    def __init__(self, name: str, arguments: dict[str, Any]) -> None:
        self._call = FORMS["hermes"](name, arguments)
        self.largest = 0

    def __call__(self, request: UpstreamRequest) -> UpstreamResponse:
        if request.method == "GET":
            return whole({"object": "list", "data": [{"id": MODEL, "object": "model", "max_model_len": WINDOW}]})
        assert "tools" not in request.body
        self.largest = max(self.largest, len(str(request.body)))
        is_result = any("Result of " in str(one["content"]) for one in request.body["messages"] if one["role"] == "user")
        return response_to(request, text(ANSWER if is_result else self._call))


async def launched(agent: str, url: str, folder: Path, program: Path, *arguments: str) -> tuple[str, str]:
    home = folder / "home"
    home.mkdir()
    (folder / "bin").mkdir()
    started = folder / "bin" / agent  # as npm install --global would make it
    started.write_text(f'#!/bin/sh\nexec "{find_node().program}" "{program}" "$@"\n')
    started.chmod(0o755)
    environ = {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "PYTHONPATH": str(Path(toolglot.__file__).parents[1]) + os.pathsep + os.environ.get("PYTHONPATH", ""),
        "IS_SANDBOX": "1",  # Claude Code skips no permissions as root otherwise
    }
    words = ("-m", "toolglot.cli.main", "launch", agent, "-m", f"vllm/{MODEL}", "--base-url", url, "--", *arguments)
    return await finished(sys.executable, *words, folder=folder, environ=environ)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_launched_agent_makes_a_file(agent: str, js_agents: Path, tmp_path: Path) -> None:
    tool, arguments, words = AGENTS[agent]
    path = tmp_path / "hello.txt"
    model = Model(tool, {name: value.replace("{path}", str(path)) for name, value in arguments.items()})

    async def work() -> None:
        async with upstream_server(model) as up:
            printed, errors = await launched(agent, up.url, tmp_path, js_agents / PROGRAMS[agent], *words)
            assert path.read_text(encoding="utf-8") == CONTENT
            assert ANSWER in printed
            assert f"uses {MODEL} of vllm ({up.url})" in errors

    run(work())
