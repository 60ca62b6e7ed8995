"""`toolglot serve` as a process: its output and its shutdown."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import toolglot
from tests.gateway.running import run
from tests.gateway.scripts import question, response_to, text
from tests.gateway.upstream_server import upstream_server
from toolglot.client.http import HttpTransport, Proxies
from toolglot.io.json_codec import encode

HERE = {**os.environ, "PYTHONPATH": str(Path(toolglot.__file__).parents[1])}
COMMAND = [sys.executable, "-c", "from toolglot.cli.serve import command; command()"]


def test_serve_finishes_running_requests_at_shutdown(tmp_path: Path) -> None:
    async def work() -> None:
        async with upstream_server(lambda request: response_to(request, text("slowly " * 9), 0.05)) as up:
            (tmp_path / "toolglot.toml").write_text(
                f'[server]\nport = 0\n[[upstream]]\nname = "u"\nprovider = "vllm"\nbase_url = "{up.url}"\n'
                '[[route]]\nmodel = "*"\nto = "u/m"\n'
            )
            process = await asyncio.create_subprocess_exec(*COMMAND, "--json", cwd=tmp_path, env=HERE, stdout=subprocess.PIPE)
            assert process.stdout is not None
            printed = json.loads(await process.stdout.readline())
            assert printed["routes"] == [{"model": "*", "to": "u/m"}]
            client = HttpTransport(proxies=Proxies())
            sent = encode({**question("openai-chat", "any", ()), "stream": True})
            answer = await client.send("POST", f"{printed['url']}/v1/chat/completions", {}, sent)
            process.send_signal(signal.SIGTERM)
            data = await answer.read()
            assert data.count(b"slow") > 3
            assert data.endswith(b"data: [DONE]\n\n")
            await client.aclose()
            await process.wait()
            assert process.returncode == 0

    run(work())


def test_model_rows_apply_from_a_configuration_with_any_name(tmp_path: Path) -> None:
    async def work() -> None:
        async with upstream_server(lambda request: response_to(request, text("Hello."))) as up:
            (tmp_path / "gate.toml").write_text(
                f'[server]\nport = 0\n[[upstream]]\nname = "u"\nprovider = "vllm"\nbase_url = "{up.url}"\n'
                '[[route]]\nmodel = "*"\nto = "u/house"\n[[model]]\nname = "house"\nask = "dialect:tagged"\n'
            )
            served = [*COMMAND, "--json", "--config", "gate.toml"]
            process = await asyncio.create_subprocess_exec(*served, cwd=tmp_path, env=HERE, stdout=subprocess.PIPE)
            assert process.stdout is not None
            printed = json.loads(await process.stdout.readline())
            client = HttpTransport(proxies=Proxies())
            answer = await client.send(
                "POST", f"{printed['url']}/v1/chat/completions", {}, encode(question("openai-chat", "any"))
            )
            await answer.read()
            await client.aclose()
            process.send_signal(signal.SIGTERM)
            await process.wait()
            sent = [request for request in up.requests if request.path.endswith("/chat/completions")]
            assert len(sent) == 1
            assert "tools" not in sent[0].body

    run(work())


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        ("[server]\nprot = 1\n", [], "line 2, [server] prot"),
        ("", ["--host", "0.0.0.0"], "no keys"),  # noqa: S104
        (None, ["--config", "missing.toml"], "missing.toml"),
        ('[server]\nstore = "toolglot.toml"\n', [], "[server] store"),
        ('[[model]]\nname = "m"\nmax_tool = 3\n', [], "toolglot.toml: [[model]] 1 (m)"),
    ],
)
def test_configuration_errors_are_printed(tmp_path: Path, text: str | None, arguments: list[str], words: str) -> None:
    if text is not None:
        (tmp_path / "toolglot.toml").write_text(text)
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=tmp_path, env=HERE, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("installed", [True, False])
def test_without_a_configuration_it_says_what_the_embedded_models_lack(tmp_path: Path, installed: bool) -> None:
    there = "types.ModuleType('xllamacpp')" if installed else "None"
    code = f"import importlib.machinery as m, sys, types; sys.modules['xllamacpp'] = {there}\n"
    code += "if sys.modules['xllamacpp']: sys.modules['xllamacpp'].__spec__ = m.ModuleSpec('xllamacpp', None)\n"
    code += "from toolglot.cli.serve import command; command()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "--port", "0"], cwd=tmp_path, env=HERE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    printed = []
    for line in process.stdout:
        printed.append(line)
        if line.startswith("Point a client"):
            break
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert any("local/local" in line for line in printed), printed
    assert any("pip install 'toolglot[local]'" in line for line in printed) is not installed
