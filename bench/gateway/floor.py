"""The least that a gateway can do: uvicorn, a raw client, and JSON read and written with orjson. Nothing is checked.

python bench/gateway/floor.py PORT UPSTREAM_PORT
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import httptools
import orjson
import uvicorn
import uvloop

_JSON = [(b"content-type", b"application/json")]
_SSE = [(b"content-type", b"text/event-stream")]


class Upstream(asyncio.Protocol):
    """One connection: pieces of the body as they come, None at the end."""

    def __init__(self) -> None:
        self.pieces: list[bytes | None] = []
        self.come: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)
        if self.come is not None and not self.come.done():
            self.come.set_result(None)

    def on_body(self, body: bytes) -> None:
        self.pieces.append(body)

    def on_message_complete(self) -> None:
        self.pieces.append(None)

    def ask(self, path: str, body: bytes) -> None:
        self.parser = httptools.HttpResponseParser(self)
        head = (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self.transport.write(head.encode() + body)

    async def next(self) -> bytes | None:
        while not self.pieces:
            self.come = asyncio.get_running_loop().create_future()
            await self.come
        return self.pieces.pop(0)


class Floor:
    def __init__(self, port: int) -> None:
        self._port = port
        self._free: list[Upstream] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        message = await receive()
        data = message.get("body", b"")
        while message.get("more_body"):
            message = await receive()
            data += message["body"]
        if not data:
            await send({"type": "http.response.start", "status": 200, "headers": _JSON})
            await send({"type": "http.response.body", "body": b"{}"})
            return
        body = orjson.loads(data)
        body["model"] = "gpt-5.2"
        upstream = self._free.pop() if self._free else await self._connected()
        upstream.ask(scope["path"], orjson.dumps(body))
        if body.get("stream"):
            await send({"type": "http.response.start", "status": 200, "headers": _SSE})
            while (piece := await upstream.next()) is not None:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        else:
            pieces = []
            while (piece := await upstream.next()) is not None:
                pieces.append(piece)
            written = orjson.dumps(orjson.loads(b"".join(pieces)))
            headers = [*_JSON, (b"content-length", b"%d" % len(written))]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": written})
        self._free.append(upstream)

    async def _connected(self) -> Upstream:
        _, protocol = await asyncio.get_running_loop().create_connection(Upstream, "127.0.0.1", self._port)
        return protocol


if __name__ == "__main__":
    settings = uvicorn.Config(
        Floor(int(sys.argv[2])), port=int(sys.argv[1]), http="httptools", lifespan="off", log_level="error", access_log=False
    )
    uvloop.run(uvicorn.Server(settings).serve())
