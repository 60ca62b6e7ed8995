"""A server that misbehaves on command: each path names a script, and what the client did is kept."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@dataclass
class Request:
    line: str
    headers: dict[str, str]
    body: bytes
    connection: int


Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter, "FaultServer"], Awaitable[None]]


@dataclass
class FaultServer:
    port: int = 0
    scripts: dict[str, Script] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    open: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)  # a client closed while a script waited for it
    came: asyncio.Event = field(default_factory=asyncio.Event)  # a request was read whole

    def url(self, path: str, scheme: str = "http", host: str = "127.0.0.1") -> str:
        return f"{scheme}://{host}:{self.port}{path}"

    def says(self, path: str, *pieces: bytes, gap: float = 0.0, close: bool = True) -> None:
        """Send the pieces, `gap` seconds apart; then hang up, or wait for the next request."""

        async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: FaultServer) -> None:
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                if gap:
                    await asyncio.sleep(gap)
            if close:
                writer.close()

        self.scripts[path] = run

    def stalls(self, path: str, *pieces: bytes) -> None:
        """Send the pieces, then nothing until the client is gone: that is noted in `left`."""

        async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: FaultServer) -> None:
            for piece in pieces:
                writer.write(piece)
            await writer.drain()
            with contextlib.suppress(ConnectionError):
                await reader.read()
            server.left.set()
            writer.close()

        self.scripts[path] = run

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        number = self.connections
        try:
            await self._serve(reader, writer, number)
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            self.left.set()
        finally:
            self.open -= 1
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        while not writer.is_closing():
            request = await read_request(reader, number)
            if request is None:
                return
            self.requests.append(request)
            self.came.set()
            path = request.line.split(" ")[1].partition("?")[0]
            script = self.scripts.get(path)
            if script is None:
                writer.write(OK)
            else:
                await script(reader, writer, self)


async def read_request(reader: asyncio.StreamReader, number: int) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    line, *rest = head.decode("latin-1").rstrip().split("\r\n")
    headers = {name.lower(): value for name, value in (part.split(": ", 1) for part in rest)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(line, headers, body, number)


@contextlib.asynccontextmanager
async def fault_server(context: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> AsyncIterator[FaultServer]:
    held = FaultServer()
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(held.handle(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, host, 0, ssl=context, limit=1 << 22)
    held.port = server.sockets[0].getsockname()[1]
    try:
        yield held
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)
