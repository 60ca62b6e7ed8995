"""`toolglot serve --workers 2`: real processes on one port."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.running import run
from tests.gateway.scripts import question, response_to, text
from tests.gateway.test_serve import COMMAND, HERE
from tests.gateway.upstream_server import Upstream, UpstreamRequest, UpstreamResponse, upstream_server
from toolglot.client.http import HttpTransport, Proxies
from toolglot.io.json_codec import encode

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the workers in /proc")
FEW_FILES = ["sh", "-c", 'ulimit -Sn 128; exec "$@"', "sh", *COMMAND]
ROUTE = '[[upstream]]\nname = "u"\nprovider = "vllm"\nbase_url = "{url}"\n[[route]]\nmodel = "*"\nto = "u/{model}"\n'


@dataclass
class Master:
    process: asyncio.subprocess.Process
    url: str
    file: Path
    upstream: Upstream

    def configure(self, model: str, more: str = "") -> None:
        rows = more + ROUTE.format(url=self.upstream.url, model=model)
        self.file.write_text(f"[server]\nport = 0\ndetect = false\nworkers = 2\n{rows}")

    def workers(self) -> list[int]:
        """Those that run their own program already: before, the master waits for them."""
        pid = self.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return sorted(int(child) for child in children if b"toolglot.gateway.worker" in _command_line(child))

    @contextlib.contextmanager
    def only(self, pid: int) -> Any:
        """All other workers stand still, so this one answers."""
        others = [other for other in self.workers() if other != pid]
        for other in others:
            os.kill(other, signal.SIGSTOP)
            while _state(other) not in ("T", "Z", ""):  # until then it may still take a connection
                time.sleep(0.001)
        try:
            yield
        finally:
            for other in others:
                os.kill(other, signal.SIGCONT)

    async def get(self, path: str) -> tuple[int, bytes]:
        return await self.send("GET", path)

    async def chat(self, **fields: Any) -> tuple[int, bytes]:
        return await self.send("POST", "/v1/chat/completions", {**question("openai-chat", "any", ()), **fields})

    async def send(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """On a new connection: any worker may take it."""
        client = HttpTransport(proxies=Proxies())
        try:
            answer = await client.send(method, self.url + path, {}, b"" if body is None else encode(body))
            return answer.status, await answer.read()
        finally:
            await client.aclose()

    async def counted(self) -> float:
        _, metrics = await self.get("/metrics")
        lines = [line for line in metrics.decode().splitlines() if line.startswith("toolglot_requests_total")]
        return sum(float(line.rpartition(" ")[2]) for line in lines)

    async def has_counted(self, number: int) -> None:
        """A worker that takes seconds to say what it did, as on a loaded machine, is left out once."""
        while await self.counted() != number:
            await asyncio.sleep(0.02)


async def _until(condition: Callable[[], Any]) -> None:
    while not condition():
        await asyncio.sleep(0.02)


@contextlib.asynccontextmanager
async def master(folder: Path, play: Callable[[UpstreamRequest], UpstreamResponse]) -> AsyncIterator[Master]:
    async with upstream_server(play) as up:
        running = Master(None, "", folder / "toolglot.toml", up)  # type: ignore[arg-type]
        running.configure("m")
        process = await asyncio.create_subprocess_exec(*FEW_FILES, "--json", cwd=folder, env=HERE, stdout=subprocess.PIPE)
        try:
            assert process.stdout is not None
            running.process, running.url = process, json.loads(await process.stdout.readline())["url"]
            await _until(lambda: len(running.workers()) == 2)
            yield running
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
            await process.wait()


def test_two_workers(tmp_path: Path) -> None:
    """One gateway for all of it: each start of a worker costs as much as many requests."""

    async def work() -> None:
        async with master(tmp_path, lambda request: response_to(request, text(request.body["model"]), 0.05)) as gateway:
            await _both_serve_and_count_as_one(gateway)
            await _a_killed_worker_is_replaced(gateway)
            await _all_workers_follow_the_file(gateway)
            await _a_budget_counts_all_workers(gateway)
            await _all_workers_delete(gateway)
            await _a_running_stream_is_finished(gateway)

    run(work())


async def _both_serve_and_count_as_one(gateway: Master) -> None:
    one, two = gateway.workers()
    for worker in (one, two):
        _may_open_all_files(worker)
    for worker in (one, one, two):
        with gateway.only(worker):
            assert (await gateway.chat())[0] == 200
    await asyncio.gather(*(gateway.chat() for _ in range(17)))
    await gateway.has_counted(20)
    assert [await gateway.counted() for _ in range(4)] == [20] * 4
    rows = json.loads((await gateway.get("/toolglot/live"))[1])["rows"]
    assert len(rows) == 20
    for row in rows:
        status, found = await gateway.get(f"/toolglot/decisions/{row['id']}")
        assert (status, json.loads(found)["id"]) == (200, row["id"])
    assert (await gateway.get("/toolglot/decisions/req_unknown"))[0] == 404


async def _a_killed_worker_is_replaced(gateway: Master) -> None:
    one, two = gateway.workers()
    os.kill(one, signal.SIGKILL)
    assert (await gateway.chat())[0] == 200  # by the other one
    await _until(lambda: len(gateway.workers()) == 2 and one not in gateway.workers())
    [new] = [pid for pid in gateway.workers() if pid != two]
    with gateway.only(new):
        assert (await gateway.chat())[0] == 200
    await gateway.has_counted(22)  # with those of the killed worker


async def _all_workers_follow_the_file(gateway: Master) -> None:
    for model, notify in (("by-signal", True), ("by-watching", False)):
        gateway.configure(model)
        if notify:
            gateway.process.send_signal(signal.SIGHUP)
        for worker in gateway.workers():
            with gateway.only(worker):
                while model.encode() not in (await gateway.chat())[1]:
                    await asyncio.sleep(0.05)
    pids = gateway.workers()
    gateway.file.write_text("[server]\nprot = 1\n")  # rejected: a new worker starts with the last valid one
    os.kill(pids[0], signal.SIGKILL)
    await _until(lambda: len(gateway.workers()) == 2 and pids[0] not in gateway.workers())
    for worker in gateway.workers():
        with gateway.only(worker):
            assert b"by-watching" in (await gateway.chat())[1]


async def _a_budget_counts_all_workers(gateway: Master) -> None:
    budget = '[[budget]]\nkey = "*"\ntokens = {}\n'
    rows = json.loads((await gateway.get("/toolglot/usage"))[1])["usage"]
    gateway.configure("m", budget.format(sum(row["input_tokens"] + row["output_tokens"] for row in rows)))
    for worker in gateway.workers():
        with gateway.only(worker):
            while (await gateway.chat())[0] == 200:
                await asyncio.sleep(0.05)
            status, body = await gateway.chat()
            assert (status, b"budget_exceeded" in body) == (429, True)
    assert json.loads((await gateway.get("/toolglot/usage"))[1])["budgets"]
    gateway.configure("m")
    for worker in gateway.workers():
        with gateway.only(worker):
            while (await gateway.chat())[0] == 429:
                await asyncio.sleep(0.05)


async def _all_workers_delete(gateway: Master) -> None:
    stored: dict[int, str] = {}
    for worker in gateway.workers():
        with gateway.only(worker):
            status, body = await gateway.send("POST", "/v1/responses", {"model": "any", "input": "Hello"})
            stored[worker] = json.loads(body)["id"]
            assert (status, (await gateway.get(f"/v1/responses/{stored[worker]}"))[0]) == (200, 200)
    with gateway.only(next(iter(stored))):
        deleting = asyncio.ensure_future(gateway.send("DELETE", "/toolglot/records"))
        await asyncio.sleep(2.2)  # longer than it waits for what it only counts
    deleted = json.loads((await deleting)[1])["deleted"]
    assert (deleted["records"] > 2, deleted["responses"]) == (True, 2)
    assert json.loads((await gateway.get("/toolglot/live"))[1])["rows"] == []  # the master has them
    for worker, id in stored.items():
        with gateway.only(worker):
            assert (await gateway.get(f"/v1/responses/{id}"))[0] == 404


async def _a_running_stream_is_finished(gateway: Master) -> None:
    gateway.upstream.play = lambda request: response_to(request, text("slowly " * 9), 0.05)
    client = HttpTransport(proxies=Proxies())
    body = encode({**question("openai-chat", "any", ()), "stream": True})
    answers = [await client.send("POST", f"{gateway.url}/v1/chat/completions", {}, body) for _ in range(2)]
    gateway.process.send_signal(signal.SIGTERM)
    for answer in answers:
        data = await answer.read()
        assert data.count(b"slow") > 3
        assert data.endswith(b"data: [DONE]\n\n")
    await client.aclose()
    assert await gateway.process.wait() == 0


def test_workers_end_when_their_master_is_killed(tmp_path: Path) -> None:
    async def work() -> None:
        async with master(tmp_path, lambda request: response_to(request, text("Hello."))) as gateway:
            workers = gateway.workers()
            for worker in workers:
                with gateway.only(worker):  # it has started
                    assert (await gateway.chat())[0] == 200
            gateway.process.kill()
            await _until(lambda: all(_state(worker) in ("", "Z") for worker in workers))

    run(work())


def _may_open_all_files(pid: int) -> None:
    soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    assert soft == hard > 128


def _command_line(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _state(pid: int) -> str:
    """As in ps: R, S, T (stopped), Z; "" if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


@pytest.mark.parametrize(
    ("server", "crash", "code", "words"),
    [
        ('workers = 2\nstore = "toolglot.toml"', "", 2, "[server] store"),
        ("workers = 2", "os._exit(3)", 1, "workers do not start (exit code 3"),
        ("workers = 0", "", 2, "line 3, [server] workers"),
    ],
)
def test_workers_that_never_start(tmp_path: Path, server: str, crash: str, code: int, words: str) -> None:
    rows = ROUTE.format(url="http://127.0.0.1:9", model="m")
    (tmp_path / "toolglot.toml").write_text(f"[server]\nport = 0\n{server}\n{rows}")
    in_a_worker = f"import os, sys\nif sys.orig_argv[1] == '-m':\n    {crash or 'pass'}\n"
    (tmp_path / "sitecustomize.py").write_text(in_a_worker)
    environ = {**HERE, "PYTHONPATH": f"{tmp_path}{os.pathsep}{HERE['PYTHONPATH']}"}
    done = subprocess.run(COMMAND, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_one_worker_has_no_master(tmp_path: Path) -> None:
    async def work() -> None:
        async with upstream_server(lambda request: response_to(request, text("Hello."))) as up:
            (tmp_path / "toolglot.toml").write_text("[server]\nport = 0\n" + ROUTE.format(url=up.url, model="m"))
            process = await asyncio.create_subprocess_exec(*FEW_FILES, "--json", cwd=tmp_path, env=HERE, stdout=subprocess.PIPE)
            assert process.stdout is not None
            url = json.loads(await process.stdout.readline())["url"]
            gateway = Master(process, url, tmp_path / "toolglot.toml", up)
            assert (await gateway.chat())[0] == 200
            assert gateway.workers() == []
            _may_open_all_files(process.pid)
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0

    run(work())
