"""A scripted server for all wires: it plays the fixtures' replies and streams, and records its requests."""

from __future__ import annotations

import asyncio
import contextlib
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from tests.laws.conversations import pieces, the_wire
from toolglot.wires import NAMES


@dataclass
class UpstreamRequest:
    method: str
    path: str
    headers: dict[str, str]
    body: Any

    @property
    def wire(self) -> str:
        path = self.path.partition("?")[0]
        return next(name for name in NAMES if re.fullmatch(the_wire(name).server.chat_path, path))

    @property
    def streams(self) -> bool:
        return ":streamGenerateContent" in self.path or bool(self.body.get("stream"))


@dataclass
class UpstreamResponse:
    """`chunks` are sent one by one, `gap` seconds apart, all but the first once `go_on` is set. Then the connection is reset
    (`breaks`), or the body ends when `end` is set.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    chunks: list[bytes] = field(default_factory=list)
    gap: float = 0.0
    breaks: bool = False
    go_on: asyncio.Event | None = None
    end: asyncio.Event | None = None


Play = Callable[[UpstreamRequest], UpstreamResponse | Awaitable[UpstreamResponse]]


@dataclass
class Upstream:
    play: Play = lambda _: UpstreamResponse(500)
    port: int = 0
    scheme: str = "http"
    requests: list[UpstreamRequest] = field(default_factory=list)
    connections: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)  # the gateway disconnected during a response

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    @property
    def chats(self) -> list[UpstreamRequest]:
        """All but the question for its models, which a gateway asks when it starts, before or after its first chat."""
        return [request for request in self.requests if request.method == "POST"]

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while (request := await _read(reader)) is not None:
                self.requests.append(request)
                response = self.play(request)
                await _write(writer, reader, response if isinstance(response, UpstreamResponse) else await response, self.left)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.left.set()
        finally:
            writer.transport.abort()


async def _read(reader: asyncio.StreamReader) -> UpstreamRequest | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    line, *rest = head.decode("latin-1").rstrip().split("\r\n")
    headers = {name.lower(): value for name, value in (part.split(": ", 1) for part in rest)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    method, path, _ = line.split(" ")
    return UpstreamRequest(method, path, headers, msgspec.json.decode(body) if body else None)


async def _write(
    writer: asyncio.StreamWriter, reader: asyncio.StreamReader, response: UpstreamResponse, left: asyncio.Event
) -> None:
    headers = {"content-type": "application/json", **response.headers, "transfer-encoding": "chunked"}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {response.status} Scripted\r\n{head}\r\n".encode())
    for number, chunk in enumerate(response.chunks):
        if number and (response.gap or response.go_on):
            gone = asyncio.ensure_future(reader.read(1))
            going_on = asyncio.ensure_future(_pause(response))
            await asyncio.wait({gone, going_on}, return_when=asyncio.FIRST_COMPLETED)
            if gone.done():
                going_on.cancel()
                left.set()
                raise ConnectionResetError
            gone.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await gone
        writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        await writer.drain()
    if response.breaks:
        raise ConnectionResetError
    if response.end is not None:
        await response.end.wait()
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def _pause(response: UpstreamResponse) -> None:
    await asyncio.sleep(response.gap)
    if response.go_on is not None:
        await response.go_on.wait()


@contextlib.asynccontextmanager
async def upstream_server(play: Play, tls: ssl.SSLContext | None = None) -> AsyncIterator[Upstream]:
    upstream = Upstream(play, scheme="https" if tls else "http")
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(upstream.handle(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, limit=1 << 22, ssl=tls)
    upstream.port = server.sockets[0].getsockname()[1]
    try:
        yield upstream
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


# -- responses


def whole(body: Any, status: int = 200, **headers: str) -> UpstreamResponse:
    return UpstreamResponse(
        status, {name.replace("_", "-"): value for name, value in headers.items()}, [msgspec.json.encode(body)]
    )


def streamed(wire: str, data: bytes, size: int = 61, gap: float = 0.0, breaks: bool = False) -> UpstreamResponse:
    media = "application/x-ndjson" if wire == "ollama" else "text/event-stream"
    return UpstreamResponse(200, {"content-type": media}, list(pieces(data, size)), gap, breaks)
