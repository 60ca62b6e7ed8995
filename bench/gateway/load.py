"""Clients in a separate process: a number of them concurrently, for a time, each on one connection, which is kept
unless the server closes it.

Reads one JSON object a line, answers with one line: {"port", "path", "body" (a file), "at_once", "seconds", "header" (a line)}.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import uvloop

_PATIENCE = 60.0


class Client(asyncio.Protocol):
    """Reads as little as it can: a reply's end by its length, a stream's by the last chunk."""

    def __init__(self) -> None:
        self.seen = bytearray()
        self.done: asyncio.Future[None] | None = None
        self.first = 0.0
        self.all = -1  # bytes of a whole reply, once known
        self.closes = False  # the server, after this reply

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self.done is not None and not self.done.done():
            self.done.set_exception(exc or ConnectionError("the server closed the connection"))

    def data_received(self, data: bytes) -> None:
        seen = self.seen
        seen += data
        if self.all < 0:
            end = seen.find(b"\r\n\r\n")
            if end < 0:
                return
            head = bytes(seen[:end]).lower()
            self.closes = b"\r\nconnection: close" in head
            length_at = head.find(b"\r\ncontent-length:")
            self.all = end + 4 + int(head[length_at + 17 :].split(b"\r\n", 1)[0]) if length_at >= 0 else 0
        if not self.first and (self.all or len(seen) > seen.find(b"\r\n\r\n") + 4):
            self.first = perf_counter()
        over = len(seen) >= self.all if self.all else seen.endswith(b"\r\n0\r\n\r\n")
        if over and self.done is not None and not self.done.done():
            self.done.set_result(None)

    async def fetch(self, request: bytes) -> bytes:
        self.seen.clear()
        self.first, self.all = 0.0, -1
        self.done = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        await asyncio.wait_for(self.done, _PATIENCE)
        if not self.seen.startswith(b"HTTP/1.1 200"):
            raise ValueError(bytes(self.seen[:600]).decode(errors="replace"))
        return bytes(self.seen)


def body_of(answer: bytes) -> bytes:
    """The body, out of its chunks where it comes in chunks."""
    head, _, body = answer.partition(b"\r\n\r\n")
    if b"transfer-encoding: chunked" not in head.lower():
        return body
    pieces = []
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size, 16)
        pieces.append(body[:length])
        body = body[length + 2 :]
    return b"".join(pieces)


async def run(asked: dict[str, Any]) -> dict[str, Any]:
    body = Path(asked["body"]).read_bytes()
    head = (
        f"POST {asked['path']} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAuthorization: Bearer none\r\n"
    )
    if asked.get("header"):
        head += f"{asked['header']}\r\n"
    request = f"{head}anthropic-version: 2023-06-01\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    times: list[float] = []
    firsts: list[float] = []
    last = b""
    loop = asyncio.get_running_loop()

    async def client() -> None:
        nonlocal last
        transport, protocol = await loop.create_connection(Client, "127.0.0.1", asked["port"])
        try:
            while True:
                begun = perf_counter()
                if protocol.closes:
                    transport.close()
                    transport, protocol = await loop.create_connection(Client, "127.0.0.1", asked["port"])
                last = await protocol.fetch(request)
                times.append(perf_counter() - begun)
                firsts.append(protocol.first - begun)
                if perf_counter() >= until:
                    return
        finally:
            transport.close()

    start = perf_counter()
    until = start + asked["seconds"]
    await asyncio.gather(*(client() for _ in range(asked["at_once"])))
    seconds = perf_counter() - start
    times.sort()
    firsts.sort()
    return {
        "requests": len(times),
        "per_second": len(times) / seconds,
        "p50": _share(times, 0.5),
        "p99": _share(times, 0.99),
        "first": _share(firsts, 0.5),
        "body": body_of(last).decode(),
    }


def _share(values: list[float], share: float) -> float:
    """In milliseconds."""
    return values[min(len(values) - 1, int(len(values) * share))] * 1000


if __name__ == "__main__":
    for line in sys.stdin:
        try:
            said: dict[str, Any] = uvloop.run(run(json.loads(line)))
        except Exception as error:  # noqa: BLE001  (it is reported to the other process)
            said = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(said), flush=True)
