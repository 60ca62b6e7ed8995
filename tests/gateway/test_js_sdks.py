"""The vendors' JavaScript SDKs against the gateway, with a model that only writes text: each creates real files."""

from __future__ import annotations

import json
import os
import shutil
from itertools import product
from pathlib import Path

import pytest

from tests.gateway.programs import finished
from tests.gateway.running import config, run, serving
from tests.gateway.text_model import ANSWER, CONTENT, FORMS, MODEL, writes_files
from tests.gateway.upstream_server import upstream_server
from tests.node import HERE, Node

# the script of an SDK and its modes
SCRIPTS = {
    "openai": ("chat", "responses", "socket", "batch"),
    "anthropic": ("messages",),
    "gemini": ("generate", "interact"),
    "ollama": ("chat",),
}


@pytest.mark.parametrize("sdk", SCRIPTS)
def test_an_sdk_calls_a_tool(sdk: str, node: Node, js_sdks: Path, tmp_path: Path) -> None:
    for script in (HERE / "sdks").glob("*.mjs"):
        shutil.copy(script, tmp_path)
    (tmp_path / "node_modules").symlink_to(js_sdks)  # imports are resolved next to the script
    environ = {**os.environ, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}

    async def work() -> None:
        async with upstream_server(writes_files) as up, serving(config(up, "openai-chat")) as gateway:
            files = [f"{form}.txt" for form in FORMS]
            command = (node.program, f"{sdk}.mjs", gateway.url, f"openai-chat/{MODEL}", *files)
            printed, errors = await finished(*command, folder=tmp_path, environ=environ)
            assert errors == ""
            wanted = [
                f"{tool_mode}-{mode}-{file}" for tool_mode, file, mode in product(SCRIPTS[sdk], files, ("whole", "streamed"))
            ]
            assert [json.loads(line) for line in printed.splitlines()] == [
                {"path": path, "answer": ANSWER.format(path=path)} for path in wanted
            ]
            assert [(tmp_path / path).read_text(encoding="utf-8") for path in wanted] == [CONTENT] * len(wanted)

    run(work())
