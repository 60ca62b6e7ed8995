"""A real proxy, small: CONNECT and absolute form, with or without a password."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.client.fault_server import read_request


@dataclass
class ProxyServer:
    port: int = 0
    auth: str | None = None
    answer: bytes | None = None  # said instead of doing the work
    lines: list[str] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)  # the client closed while it was kept waiting

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            request = await read_request(reader, 0)
            if request is None:
                return
            self.lines.append(request.line)
            self.came.set()
            method, where, _ = request.line.split(" ")
            if self.answer is not None:
                writer.write(self.answer)
                await writer.drain()
                if self.answer:
                    return
                await reader.read()
                self.left.set()
            elif self.auth is not None and request.headers.get("proxy-authorization") != self.auth:
                writer.write(b"HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n")
                await writer.drain()
            elif method == "CONNECT":
                host, _, port = where.rpartition(":")
                writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
                await self._join(host.strip("[]"), int(port), reader, writer)
            else:
                parts = urlsplit(where)
                kept = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items() if "proxy" not in name)
                head = f"{method} {parts.path} HTTP/1.1\r\n{kept}\r\n".encode() + request.body
                await self._join(parts.hostname or "", parts.port or 80, reader, writer, head)
        except (ConnectionError, ssl.SSLError):
            pass
        finally:
            writer.transport.abort()

    async def _join(
        self, host: str, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first: bytes = b""
    ) -> None:
        there, back = await asyncio.open_connection(host, port)
        back.write(first)
        both = [asyncio.create_task(_copy(reader, back)), asyncio.create_task(_copy(there, writer))]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in both:
                one.cancel()
            await asyncio.gather(*both, return_exceptions=True)
            back.transport.abort()


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()


@contextlib.asynccontextmanager
async def proxy_server(auth: str | None = None, context: ssl.SSLContext | None = None) -> AsyncIterator[ProxyServer]:
    held = ProxyServer(auth=auth)
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(held.handle(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=context)
    held.port = server.sockets[0].getsockname()[1]
    try:
        yield held
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)
