"""What an attack gets: a live gateway in its own process, an upstream that the attack scripts, and raw sockets."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stall import Reading

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
ONE, TWO, ADMIN = "attack-key-one-0123", "attack-key-two-0123", "attack-key-admin-01"
UPSTREAM_KEY = "sk-upstream-secret-0123456789"
CHAT = "/v1/chat/completions"
_START_SECONDS = 60.0
WAIT = 60.0  # seconds for one answer; nothing here may take that long

TOML = """\
[server]
port = {port}
detect = false
keys = ["{one}", "{two}"]
admin_keys = ["{admin}"]
{server}
[[upstream]]
name = "up"
provider = "openai"
base_url = "http://127.0.0.1:{upstream}/v1"
api_key = "{key}"
[[upstream]]
name = "gemini"
provider = "gemini"
base_url = "http://127.0.0.1:{upstream}"
api_key = "{key}"
[[route]]
model = "gemini/*"
to = "gemini/*"
[[route]]
model = "m*"
to = "up/m*"
"""


def chat(content: str = "hi", model: str = "m", **more: Any) -> dict[str, Any]:
    return {"model": model, "messages": [{"role": "user", "content": content}], **more}


def head(*lines: str, line: str = f"POST {CHAT} HTTP/1.1", key: str | None = ONE) -> bytes:
    """A request head with a Host and, unless it is None, a key."""
    auth = [f"authorization: Bearer {key}"] if key is not None else []
    return "\r\n".join([line, "host: 127.0.0.1", *auth, *lines, "", ""]).encode("latin-1")


# -- the upstream


@dataclass
class Upstream:
    """`reply` gets the path and the body of a request, and writes the whole HTTP response."""

    reply: Callable[[str, bytes, asyncio.StreamWriter], Awaitable[None]]
    port: int = 0
    paths: list[str] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                length = next((int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:")), 0)
                path, body = lines[0].split(" ")[1], await reader.readexactly(length)
                self.paths.append(path)
                await self.reply(path, body, writer)
                await writer.drain()
        writer.close()


async def plain(_: str, body: bytes, writer: asyncio.StreamWriter) -> None:
    """A short answer, whole or streamed."""
    if b'"stream":true' in body.replace(b" ", b""):
        await stream(writer, 3)
        return
    message = {"role": "assistant", "content": "hello"}
    send(writer, 200, json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode())


def send(writer: asyncio.StreamWriter, status: int, body: bytes, *headers: str) -> None:
    lines = [f"HTTP/1.1 {status} X", "content-type: application/json", f"content-length: {len(body)}", *headers, "", ""]
    writer.write("\r\n".join(lines).encode("latin-1") + body)


def start_stream(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")


def chunk(text: str) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}).encode() + b"\n\n"


async def stream(writer: asyncio.StreamWriter, chunks: int, gap: float = 0.0, text: str = "word ") -> None:
    start_stream(writer)
    for _ in range(chunks):
        writer.write(chunk(text))
        await writer.drain()
        await asyncio.sleep(gap)
    writer.write(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
    await writer.drain()
    writer.close()


# -- the gateway


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Gateway:
    def __init__(self, folder: Path, upstream: Upstream, server: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self.upstream = upstream
        self.file = folder / f"{self.port}.toml"
        names = {"one": ONE, "two": TWO, "admin": ADMIN, "key": UPSTREAM_KEY}
        self.file.write_text(TOML.format(port=self.port, upstream=upstream.port, server=server, **names), encoding="utf-8")
        self._log = (folder / f"{self.port}.log").open("w+", encoding="utf-8")
        environ = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1", "TOOLGLOT_REMEMBER": "0"}
        probe = folder / f"{self.port}.stall"
        self.stall = Reading.create(probe)
        command = [sys.executable, str(HERE / "stall.py"), str(probe), "serve", "--config", str(self.file)]
        self.process = subprocess.Popen(command, env=environ, stdout=self._log, stderr=self._log)

    async def started(self) -> None:
        for _ in range(int(_START_SECONDS / 0.05)):
            with contextlib.suppress(OSError):
                if (await self.ask("GET", "/healthz")).status == 200:
                    return
            await asyncio.sleep(0.05)
        raise RuntimeError(f"the gateway did not start: {self.log()}")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self._log.close()

    def log(self) -> str:
        return Path(self._log.name).read_text(encoding="utf-8")

    def memory(self) -> int:
        """Resident bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(status.partition("VmRSS:")[2].split()[0]) * 1024

    def cpu_seconds(self) -> float:
        """So far, of all threads."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async def ask(self, method: str, path: str, body: Any = b"", key: str | None = ONE, **headers: str) -> Answer:
        """One request on its own connection."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        length = f"content-length: {len(data)}"
        sent = head(*lines, length, "connection: close", line=f"{method} {path} HTTP/1.1", key=key)
        return parse(await self.raw(sent + data))

    async def raw(self, *pieces: bytes, pause: float = 0.0, half_close: bool = False) -> bytes:
        """All that the gateway sends until it closes the connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        received = b""
        with contextlib.suppress(ConnectionError):
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(pause)
            if half_close:
                writer.write_eof()
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(WAIT):
                while data := await reader.read(1 << 20):
                    received += data
        writer.close()
        return received

    @contextlib.asynccontextmanager
    async def another(self, server: str = "") -> AsyncIterator[Gateway]:
        """A second gateway with more lines in [server]."""
        async with running(self.upstream, server) as gateway:
            yield gateway


def parse(data: bytes) -> Answer:
    """The first final response."""
    while data.startswith(b"HTTP/1.1 100"):
        data = data.partition(b"\r\n\r\n")[2]
    top, _, body = data.partition(b"\r\n\r\n")
    first, *lines = top.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Answer(int(parts[1]) if len(parts) > 1 else 0, headers, body)


@contextlib.asynccontextmanager
async def listener() -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server that nobody should ask: its URL, and how each request to it began."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.read(100))
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/x.png", asked


@contextlib.asynccontextmanager
async def running(upstream: Upstream, server: str = "") -> AsyncIterator[Gateway]:
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway(Path(folder), upstream, server)
        try:
            await gateway.started()
            yield gateway
        finally:
            gateway.stop()


@contextlib.asynccontextmanager
async def scripted() -> AsyncIterator[Upstream]:
    upstream = Upstream(plain)
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0, limit=1 << 26, backlog=4096)
    upstream.port = server.sockets[0].getsockname()[1]
    try:
        yield upstream
    finally:
        server.close()
