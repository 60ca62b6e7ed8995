"""`toolglot logs`: a log file, or the memory of a running gateway."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import toolglot
from tests.gateway.running import config, run, serving
from tests.gateway.scripts import in_turn, question, text
from tests.gateway.upstream_server import upstream_server, whole
from toolglot.cli import logs
from toolglot.cli.logs import command
from toolglot.client.http import HttpTransport, Proxies
from toolglot.io.json_codec import encode

HERE = {**os.environ, "PYTHONPATH": str(Path(toolglot.__file__).parents[1]) + os.pathsep + os.environ.get("PYTHONPATH", "")}


def entry(number: int, **fields: Any) -> dict[str, Any]:
    base = {"time": f"2026-11-18T20:00:{number:02}+0000", "level": "info", "id": f"req_{number}", "model": "m", "status": 200}
    return {**base, **fields}


WRITE = {"tool": "Write", "outcome": "fixed", "from": "hermes", "code": "trailing_comma"}
BAD = {"tool": "Read", "outcome": "refused", "from": "native", "code": "rejected_schema"}
ENTRIES = [
    entry(1, model="claude-sonnet", target="qwen3", upstream="home", calls=[WRITE]),
    entry(2, level="warning", calls=[BAD]),
    entry(3, level="warning", status=502, code="connect_failed", error="nothing answers"),
    {"time": "2026-11-18T20:00:04+0000", "level": "warning", "message": "upstream home: nothing answers"},
    entry(5),
]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOOLGLOT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(logs, "GATEWAY", "http://127.0.0.1:9")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """In two generations, the older one rotated."""
    path = tmp_path / "gate.jsonl"
    (tmp_path / "gate.jsonl.1").write_text("".join(json.dumps(one) + "\n" for one in ENTRIES[:2]))
    path.write_text("not json\n" + "".join(json.dumps(one) + "\n" for one in ENTRIES[2:]) + '{"id": "half')
    return path


def printed(*words: str | Path) -> Result:
    return CliRunner().invoke(command, [str(word) for word in words])


def ids(*words: str | Path) -> list[str]:
    done = printed(*words, "--json")
    assert done.exit_code == 0, done.stderr
    return [json.loads(line).get("id", "message") for line in done.stdout.splitlines()]


def test_all_generations_of_the_file_in_order(file: Path) -> None:
    assert ids(file) == ["req_1", "req_2", "req_3", "message", "req_5"]
    assert ids(file, "-n", "2") == ["message", "req_5"]
    first, *_ = printed(file).stdout.splitlines()
    assert first == (
        "2026-11-18 20:00:01 INFO    req_1 claude-sonnet -> home/qwen3 200 0 ms; "
        "Write from text (hermes) repaired (trailing_comma)"
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--model", "claude-*"], ["req_1"]),
        (["--model", "qwen3"], ["req_1"]),
        (["--tool", "Read"], ["req_2"]),
        (["--status", "5xx"], ["req_3"]),
        (["--status", "200", "--tool", "W*"], ["req_1"]),
        (["--status", "failed"], ["req_2", "req_3", "message"]),
        (["--reason", "rejected_*"], ["req_2"]),
        (["--reason", "connect_failed"], ["req_3"]),
        (["--model", "none"], []),
    ],
)
def test_filters(file: Path, words: list[str], expected: list[str]) -> None:
    assert ids(file, *words) == expected


def test_the_file_of_the_configuration_is_the_default(file: Path) -> None:
    Path("toolglot.toml").write_text(f'[server]\nlog_file = "{file}"\n')
    assert ids("-n", "1") == ["req_5"]


def test_without_a_log(tmp_path: Path) -> None:
    done = printed()
    assert (done.exit_code, "no gateway answers" in done.stderr) == (1, True)
    assert printed("missing.jsonl").exit_code == 1
    (tmp_path / "cache" / "toolglot").mkdir(parents=True)
    (tmp_path / "cache" / "toolglot" / "log.jsonl").write_text(json.dumps(ENTRIES[0]) + "\n")
    assert ids() == ["req_1"]


def test_the_memory_of_a_running_gateway() -> None:
    async def work() -> None:
        failed = whole({"error": {"message": "the queue is full"}}, 429)
        async with upstream_server(in_turn(text("x"), failed)) as up, serving(config(up, "openai-chat")) as gateway:
            for name in ("a", "b"):
                await gateway.ask("POST", "/v1/chat/completions", question("openai-chat", f"openai-chat/{name}", ()))
            rows = await asyncio.to_thread(printed, "--gateway", gateway.url)
            assert [line.split()[5] for line in rows.stdout.splitlines()] == ["openai-chat/a", "openai-chat/b"]
            assert "429" in rows.stdout
            assert "the queue is full" in rows.stdout
            found = await asyncio.to_thread(printed, "--gateway", gateway.url, "--status", "failed")
            assert len(found.stdout.splitlines()) == 1

    run(work())


def test_following_a_file_that_is_rotated(file: Path) -> None:
    words = [sys.executable, "-m", "toolglot.cli.main", "logs", str(file), "-f", "-n", "1", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=HERE) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["id"] == "req_5"
        file.write_text(json.dumps(entry(6)) + "\n")  # shorter than before
        assert json.loads(process.stdout.readline())["id"] == "req_6"
        with file.open("a") as opened:
            opened.write(json.dumps(entry(7)) + "\n" + '{"id": "half')
            opened.flush()
            assert json.loads(process.stdout.readline())["id"] == "req_7"
            opened.write('_8", "status": 200}\n')
        assert json.loads(process.stdout.readline())["id"] == "half_8"
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0


def test_the_log_of_a_server_survives_its_restart(tmp_path: Path) -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text("x"))) as up:
            (tmp_path / "toolglot.toml").write_text(
                f'[server]\nport = 0\nlog_file = "gate.jsonl"\n[[upstream]]\nname = "u"\nprovider = "vllm"\n'
                f'base_url = "{up.url}"\n[[route]]\nmodel = "*"\nto = "u/m"\n'
            )
            for workers in ("1", "2"):
                served = [sys.executable, "-m", "toolglot.cli.main", "serve", "--json", "--workers", workers]
                pipe = asyncio.subprocess.PIPE
                process = await asyncio.create_subprocess_exec(*served, env=HERE, stdout=pipe, stderr=pipe)
                assert process.stdout is not None
                url = json.loads(await process.stdout.readline())["url"]
                sent = question("openai-chat", f"with-{workers}", ())
                client = HttpTransport(proxies=Proxies())
                answer = await client.send("POST", f"{url}/v1/chat/completions", {}, encode(sent))
                await answer.read()
                await client.aclose()
                process.send_signal(signal.SIGTERM)
                _, errors = await process.communicate()
                assert f"with-{workers} -> u/m 200" in errors.decode()

    run(work())
    models = [json.loads(line)["model"] for line in printed("--json").stdout.splitlines()]
    assert models == ["with-1", "with-2"]
