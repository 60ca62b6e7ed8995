"""CPU of one request and of one streamed chunk: toolglot's transport, the raw floor, aiohttp and httpx, in one run.

Each client runs in a separate process against one server in another process, over loopback and one kept connection.
Only the client's CPU counts (user and system, time.process_time). The server leaves a pause between chunks, so that each
arrives alone, as a model's do. Rounds go through all clients in turn; the least of the rounds counts, for what a busy
machine adds (a cold cache, another core) is not the client's.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import platform
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

from plot import bar_chart
from toolglot.client.http import HttpTransport
from toolglot.speed.timing import Case, measure

ROOT = Path(__file__).parent.parent
OUT = ROOT / ".bench"
PICTURE = ROOT / "docs" / "assets" / "client.png"
CHUNKS = 200
PAUSE = 0.001  # the timers' resolution
QUESTION = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * 2000}]}).encode()
REPLY = json.dumps({"choices": [{"message": {"role": "assistant", "content": "y" * 500}}]}).encode()
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"word "}}]}\n\n'
HEADERS = {"Content-Type": "application/json", "Authorization": "Bearer none"}
REPLY_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(REPLY)
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
CHUNK = b"%x\r\n%b\r\n" % (len(EVENT), EVENT)
LAST = b"0\r\n\r\n"
TARGET_US = 29.0

# -- the server


class Server(asyncio.Protocol):
    """Reads as little as possible: a request ends where its body's known length does."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self.seen = bytearray()

    def data_received(self, data: bytes) -> None:
        self.seen += data
        end = self.seen.find(b"\r\n\r\n")
        if end < 0 or len(self.seen) < end + 4 + len(QUESTION):
            return
        streams = self.seen.startswith(b"POST /stream")
        self.seen.clear()
        if streams:
            self.transport.write(STREAM_HEAD)
            asyncio.get_running_loop().call_later(PAUSE, self.chunk, CHUNKS)
        else:
            self.transport.write(REPLY_HEAD + REPLY)

    def chunk(self, left: int) -> None:
        if self.transport.is_closing():
            return
        if left:
            self.transport.write(CHUNK)
            asyncio.get_running_loop().call_later(PAUSE, self.chunk, left - 1)
        else:
            self.transport.write(LAST)


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


# -- the clients: each gives a coroutine function from a path to the body's length

Fetch = Callable[[str], Awaitable[int]]


class Raw(asyncio.Protocol):
    """The floor: a fixed request, no parsing; each piece wakes the reader, which counts bytes up to the known length."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self.come: asyncio.Future[None] | None = None
        self.seen = 0

    def data_received(self, data: bytes) -> None:
        self.seen += len(data)
        if self.come is not None and not self.come.done():
            self.come.set_result(None)


async def floor(port: int, _: AsyncExitStack) -> Fetch:
    loop = asyncio.get_running_loop()
    _, protocol = await loop.create_connection(Raw, "127.0.0.1", port)
    lines = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
    lengths = {"/": len(REPLY_HEAD + REPLY), "/stream": len(STREAM_HEAD) + CHUNKS * len(CHUNK) + len(LAST)}
    bodies = {"/": len(REPLY), "/stream": CHUNKS * len(EVENT)}
    tail = f" HTTP/1.1\r\nHost: 127.0.0.1\r\n{lines}Content-Length: {len(QUESTION)}\r\n\r\n".encode() + QUESTION
    requests = {path: b"POST " + path.encode() + tail for path in lengths}

    async def fetch(path: str) -> int:
        protocol.seen = 0
        protocol.transport.write(requests[path])
        while protocol.seen < lengths[path]:
            protocol.come = loop.create_future()
            await protocol.come
        return bodies[path]

    return fetch


async def toolglot(port: int, stack: AsyncExitStack) -> Fetch:
    client = await stack.enter_async_context(HttpTransport())
    url = f"http://127.0.0.1:{port}"

    async def fetch(path: str) -> int:
        answer = await client.send("POST", url + path, HEADERS, QUESTION)
        if path == "/":
            return len(await answer.read())
        size = 0
        async for piece in answer:
            size += len(piece)
        return size

    return fetch


async def aiohttp(port: int, stack: AsyncExitStack) -> Fetch:
    library: Any = import_module("aiohttp")  # installed or not

    client = await stack.enter_async_context(library.ClientSession())
    url = f"http://127.0.0.1:{port}"

    async def fetch(path: str) -> int:
        async with client.post(url + path, data=QUESTION, headers=HEADERS) as answer:
            if path == "/":
                return len(await answer.read())
            size = 0
            async for piece in answer.content.iter_any():
                size += len(piece)
            return size

    return fetch


async def httpx(port: int, stack: AsyncExitStack) -> Fetch:
    library: Any = import_module("httpx")

    client = await stack.enter_async_context(library.AsyncClient(trust_env=False))
    url = f"http://127.0.0.1:{port}"

    async def fetch(path: str) -> int:
        if path == "/":
            return len((await client.post(url + path, content=QUESTION, headers=HEADERS)).content)
        size = 0
        async with client.stream("POST", url + path, content=QUESTION, headers=HEADERS) as answer:
            async for piece in answer.aiter_raw():
                size += len(piece)
        return size

    return fetch


SIDES = {"floor": floor, "toolglot": toolglot, "aiohttp": aiohttp, "httpx": httpx}


async def run_side(name: str, port: int, requests: int, streams: int) -> dict[str, float]:
    async with AsyncExitStack() as stack:
        fetch = await SIDES[name](port, stack)
        for path, wanted in (("/", len(REPLY)), ("/stream", CHUNKS * len(EVENT))):
            if await fetch(path) != wanted:
                raise AssertionError(f"{name}: {path} came short")
        for _ in range(requests // 4):  # the interpreter specialises
            await fetch("/")
        start = process_time()
        for _ in range(requests):
            await fetch("/")
        middle = process_time()
        for _ in range(streams):
            await fetch("/stream")
        end = process_time()
        return {"request": (middle - start) / requests * 1e6, "chunk": (end - middle) / streams / CHUNKS * 1e6}


def pin() -> None:
    """Client and server on one core: they take turns anyway, and waking another core costs up to three times the request."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


# -- the parent


def started(*arguments: str, loop: str) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, "--loop", loop, *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT / "src")})


def measured(sides: list[tuple[str, str]], rounds: int, requests: int, streams: int) -> dict[str, dict[str, float]]:
    taken: dict[str, list[dict[str, float]]] = {}
    server = started("--serve", loop="uvloop" if _there("uvloop") else "asyncio")
    try:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        for _ in range(rounds):
            for name, loop in sides:
                side = started("--side", name, "--port", port, "--sizes", str(requests), str(streams), loop=loop)
                output, _ = side.communicate(timeout=120)
                taken.setdefault(_label(name, loop), []).append(json.loads(output))
    finally:
        server.terminate()
        server.wait()
        if server.stdout is not None:
            server.stdout.close()
    return {name: {kind: min(one[kind] for one in runs) for kind in runs[0]} for name, runs in taken.items()}


def _label(name: str, loop: str) -> str:
    return name if loop == "asyncio" else f"{name} on {loop}"


def _there(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def table(found: dict[str, dict[str, float]]) -> str:
    lines = [f"{'client':<22}{'us a request':>14}{'x floor':>9}{'us a chunk':>13}{'x floor':>9}"]
    for name, row in found.items():
        base = found["floor on uvloop" if name.endswith("uvloop") else "floor"]
        cells = [(row[kind], row[kind] / base[kind]) for kind in ("request", "chunk")]
        lines.append(f"{name:<22}{cells[0][0]:>14.1f}{cells[0][1]:>9.2f}{cells[1][0]:>13.2f}{cells[1][1]:>9.2f}")
    return "\n".join(lines)


def draw(found: dict[str, dict[str, float]]) -> bool:
    """The picture for the documents, if matplotlib is installed."""
    if not _there("matplotlib"):
        return False
    import_module("matplotlib").use("Agg")
    pyplot: Any = import_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.2))
    names = list(found)[::-1]
    titles = {"request": "one request", "chunk": "one streamed chunk"}
    for at, (kind, title) in enumerate(titles.items()):
        values = [found[name][kind] for name in names]
        colours = ["#1a73e8" if name.startswith("toolglot") else "#9aa0a6" for name in names]
        axes[at].bar_label(axes[at].barh(names, values, color=colours), fmt="%.3g", padding=3, fontsize=8)
        axes[at].set(title=title, xlabel="us of the client's CPU (logarithmic)", xscale="log")
        axes[at].set_xlim(min(values) / 1.6, max(values) * 2)
        axes[at].spines[["top", "right"]].set_visible(False)
        axes[at].tick_params(labelsize=8)
    figure.tight_layout()
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=120)
    return True


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="one short round: rough figures in seconds")
    options.add_argument("--json", action="store_true", help="print the results as JSON")
    options.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    options.add_argument("--port", type=int, help=argparse.SUPPRESS)
    options.add_argument("--loop", default="asyncio", help=argparse.SUPPRESS)
    options.add_argument("--sizes", type=int, nargs=2, help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.serve or asked.side:
        pin()
        work = serve() if asked.serve else run_side(asked.side, asked.port, *asked.sizes)
        if asked.loop == "uvloop":
            got = import_module("uvloop").run(work)
        else:
            got = asyncio.run(work)
        print(json.dumps(got))
        return 0
    sides = [(name, "asyncio") for name in SIDES if name in {"floor", "toolglot"} or _there(name)]
    if _there("uvloop"):
        sides += [(name, "uvloop") for name, _ in sides if name != "httpx"]
    rounds, requests, streams = (1, 400, 1) if asked.quick else (3, 1500, 2)
    found = measured(sides, rounds, requests, streams)
    loops = measure([Case("nothing", lambda: None)], 3, 0.01)["calibration"].us
    results = {"python": platform.python_version(), "machine": platform.machine(), "calibration_us": loops, "rows": found}
    OUT.mkdir(exist_ok=True)
    (OUT / "client.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    series: dict[str, list[float | None]] = {kind: [row[kind] for row in found.values()] for kind in ("request", "chunk")}
    (OUT / "client.svg").write_text(
        bar_chart(list(found), series, "The client's CPU (logarithmic)", "us", log=True), encoding="utf-8"
    )
    drawn = not asked.quick and draw(found)
    if asked.json:
        print(json.dumps(results, indent=1))
    else:
        print(f"Python {results['python']}; client CPU, the least of {rounds} rounds; one calibration loop {loops:.0f} us\n")
        print(table(found))
        print(f"\nthe mark to reach: {TARGET_US:.0f} us a request{'; picture: docs/assets/client.png' if drawn else ''}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
