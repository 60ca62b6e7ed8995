"""`toolglot serve` as a process of its own: what it prints, and how it stops."""

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
from tests.gateway.scripts import question, said, text
from tests.gateway.upstream_server import upstream_server
from toolglot.client.http import HttpTransport, Proxies
from toolglot.text.json_text import encode

HERE = {**os.environ, "PYTHONPATH": str(Path(toolglot.__file__).parents[1])}
COMMAND = [sys.executable, "-c", "from toolglot.cli.serve import command; command()"]


def test_it_serves_until_it_is_told_to_stop_and_ends_what_runs(tmp_path: Path) -> None:
    async def work() -> None:
        async with upstream_server(lambda asked: said(asked, text("slowly " * 9), 0.05)) as up:
            (tmp_path / "toolglot.toml").write_text(
                f'[server]\nport = 0\n[[upstream]]\nname = "u"\nprovider = "vllm"\nbase_url = "{up.url}"\n'
                '[[route]]\nmodel = "*"\nto = "u/m"\n'
            )
            process = await asyncio.create_subprocess_exec(*COMMAND, "--json", cwd=tmp_path, env=HERE, stdout=subprocess.PIPE)
            assert process.stdout is not None
            told = json.loads(await process.stdout.readline())
            assert told["routes"] == [{"model": "*", "to": "u/m"}]
            client = HttpTransport(proxies=Proxies())
            sent = encode({**question("openai-chat", "any", ()), "stream": True})
            answer = await client.send("POST", f"{told['url']}/v1/chat/completions", {}, sent)
            process.send_signal(signal.SIGTERM)
            data = await answer.read()
            assert data.count(b"slow") > 3
            assert data.endswith(b"data: [DONE]\n\n")
            await client.aclose()
            await process.wait()
            assert process.returncode == 0

    run(work())


def test_rows_about_models_count_in_a_configuration_of_any_name(tmp_path: Path) -> None:
    async def work() -> None:
        async with upstream_server(lambda asked: said(asked, text("Hello."))) as up:
            (tmp_path / "gate.toml").write_text(
                f'[server]\nport = 0\n[[upstream]]\nname = "u"\nprovider = "vllm"\nbase_url = "{up.url}"\n'
                '[[route]]\nmodel = "*"\nto = "u/house"\n[[model]]\nname = "house"\nask = "dialect:tagged"\n'
            )
            served = [*COMMAND, "--json", "--config", "gate.toml"]
            process = await asyncio.create_subprocess_exec(*served, cwd=tmp_path, env=HERE, stdout=subprocess.PIPE)
            assert process.stdout is not None
            told = json.loads(await process.stdout.readline())
            client = HttpTransport(proxies=Proxies())
            answer = await client.send("POST", f"{told['url']}/v1/chat/completions", {}, encode(question("openai-chat", "any")))
            await answer.read()
            await client.aclose()
            process.send_signal(signal.SIGTERM)
            await process.wait()
            sent = [asked for asked in up.asked if asked.path.endswith("/chat/completions")]
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
def test_what_is_wrong_is_told_and_nothing_is_served(
    tmp_path: Path, text: str | None, arguments: list[str], words: str
) -> None:
    if text is not None:
        (tmp_path / "toolglot.toml").write_text(text)
    done = subprocess.run(
        [*COMMAND, *arguments], cwd=tmp_path, env=HERE, capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
