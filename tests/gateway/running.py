"""The real server on a real socket, within a test."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import msgspec

from tests.gateway.upstream_server import Upstream
from toolglot.client.http import HttpTransport, Proxies
from toolglot.client.transport import Answer, Limits
from toolglot.core.fold import fold
from toolglot.core.reply import Reply
from toolglot.gateway.config import Config, read_config
from toolglot.gateway.serving import listen, make_server
from toolglot.gateway.state import Gateway
from toolglot.pipeline.convert import open_reader
from toolglot.pipeline.route import speech
from toolglot.wires import NAMES

WIRES = tuple(NAMES)
QUICK = Limits(connect=5.0, first_byte=10.0, idle=10.0)
GUARD = 30.0

# a provider of the catalog for each wire, whose key need not be there
PROVIDERS = {
    "openai-chat": "vllm",
    "openai-responses": "openai-responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "ollama": "ollama-cloud",
}


def run(work: Coroutine[Any, Any, None]) -> None:
    async def guarded() -> None:
        await asyncio.wait_for(work, GUARD)

    asyncio.run(guarded())


def config(upstream: Upstream | str, *wires: str, server: str = "", route: str = "") -> Config:
    """Each wire an upstream of its name, and a route `<wire>/*` to it; `route` is added to every one."""
    url = upstream if isinstance(upstream, str) else upstream.url
    text = f"[server]\nport = 0\ndetect = false\n{server}\n"
    for wire in wires or WIRES:
        text += f'[[upstream]]\nname = "{wire}"\nprovider = "{PROVIDERS[wire]}"\nbase_url = "{url}"\napi_key = "k-up"\n'
        text += f'[[route]]\nmodel = "{wire}/*"\nto = "{wire}/*"\n{route}\n'
    return read_config(text)


@dataclass
class Running:
    gateway: Gateway
    port: int
    client: HttpTransport
    stop: Callable[[], Awaitable[None]]  # as a signal would

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def send(self, method: str, path: str, body: Any = b"", **headers: str) -> Answer:
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.send(method, self.url + path, sent, data, limits=QUICK)

    async def raw(self, data: bytes) -> bytes:
        """All that comes for these bytes, until the server closes."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(data)
        try:
            return await asyncio.wait_for(reader.read(), 5)
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def ask(self, method: str, path: str, body: Any = b"", **headers: str) -> tuple[int, Any, dict[str, str]]:
        """Status, body (as JSON where it is) and headers."""
        answer = await self.send(method, path, body, **headers)
        data = await answer.read()
        await answer.aclose()
        is_json = answer.headers.get("content-type", "") == "application/json"
        return answer.status, msgspec.json.decode(data) if is_json and data else data, dict(answer.headers)

    async def reply(self, wire: str, body: dict[str, Any], *, stream: bool, **headers: str) -> Reply:
        """A turn on one wire, read back as its own client would."""
        path, sent = request_of(wire, body, stream=stream)
        status, held, _ = await self.ask("POST", path, sent, **headers)
        assert status == 200, held
        return read_back(wire, held)


def read_back(wire: str, held: Any) -> Reply:
    here = speech(wire)
    if isinstance(held, dict):
        return here.wire.read_reply(held, None)
    reader = open_reader(here)
    return fold([*reader.feed(held), *reader.close()])


def request_of(wire: str, body: dict[str, Any], *, stream: bool) -> tuple[str, dict[str, Any]]:
    """Path and body of a request on a wire."""
    sent = dict(body)
    if wire == "gemini":
        model = sent.pop("model")
        sent.pop("stream", None)
        return f"/v1beta/models/{model}:" + ("streamGenerateContent?alt=sse" if stream else "generateContent"), sent
    sent["stream"] = stream
    return speech(wire).wire.path(sent["model"], stream), sent


@contextlib.asynccontextmanager
async def serving(made: Config, *around: Callable[[Gateway], Awaitable[None]]) -> AsyncIterator[Running]:
    gateway = Gateway(made, HttpTransport(proxies=Proxies()))
    gateway.around += around
    server = make_server(gateway)
    listening = listen("127.0.0.1", 0)
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    await server.startup([listening])  # and not `serve`, whose signal handlers are the process's
    client = HttpTransport(proxies=Proxies())
    stopped = asyncio.Event()

    async def stop() -> None:
        if not stopped.is_set():
            stopped.set()
            await server.shutdown([listening])

    try:
        yield Running(gateway, listening.getsockname()[1], client, stop)
    finally:
        await client.aclose()
        await stop()
