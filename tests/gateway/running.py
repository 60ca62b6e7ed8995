"""Runs the real server on a real socket inside a test."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import msgspec

from tests.gateway.upstream_server import Upstream
from tests.steady_loop import run_steadily
from toolglot.client.http import HttpTransport, Proxies
from toolglot.client.transport import Answer, Limits
from toolglot.core.fold import fold
from toolglot.core.reply import Reply
from toolglot.gateway.config import Config, read_config
from toolglot.gateway.server import listen, make_server
from toolglot.gateway.state import Gateway
from toolglot.pipeline.convert import open_reader
from toolglot.pipeline.request.route import wire_format
from toolglot.wires import NAMES

WIRES = tuple(NAMES)
LIMITS = Limits(connect=300.0, first_byte=300.0, idle=300.0)  # against hanging only
GUARD = 300.0  # against hanging only

# a provider of the catalog for each wire
PROVIDERS = {**{wire: wire for wire in NAMES}, "openai-chat": "vllm", "ollama": "ollama-cloud"}


def run(work: Coroutine[Any, Any, None]) -> None:
    async def guarded() -> None:
        await asyncio.wait_for(work, GUARD)

    run_steadily(guarded())


def config(upstream: Upstream | str, *wires: str, server: str = "", route: str = "") -> Config:
    """An upstream named after each wire, and a route `<wire>/*` to it; `route` is added to every route."""
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
    stop: Callable[[], Awaitable[None]]  # like a signal

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def send(self, method: str, path: str, body: Any = b"", **headers: str) -> Answer:
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.send(method, self.url + path, sent, data, limits=LIMITS)

    async def raw(self, data: bytes) -> bytes:
        """The response to these bytes, until the server closes the connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(data)
        try:
            return await reader.read()
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def ask(self, method: str, path: str, body: Any = b"", **headers: str) -> tuple[int, Any, dict[str, str]]:
        """Status, body (decoded if it is JSON) and headers."""
        answer = await self.send(method, path, body, **headers)
        data = await answer.read()
        await answer.aclose()
        is_json = answer.headers.get("content-type", "") == "application/json"
        return answer.status, msgspec.json.decode(data) if is_json and data else data, dict(answer.headers)

    async def reply(self, wire: str, body: dict[str, Any], *, stream: bool, **headers: str) -> Reply:
        """Sends a request on one wire and parses the response."""
        path, sent = request_of(wire, body, stream=stream)
        status, body, _ = await self.ask("POST", path, sent, **headers)
        assert status == 200, body
        return read_back(wire, body)


def read_back(wire: str, body: Any) -> Reply:
    here = wire_format(wire)
    if isinstance(body, dict):
        return here.wire.read_reply(body, None)
    reader = open_reader(here)
    return fold([*reader.feed(body), *reader.close()])


def request_of(wire: str, body: dict[str, Any], *, stream: bool) -> tuple[str, dict[str, Any]]:
    """Path and body of a request on a wire."""
    sent = dict(body)
    if wire == "gemini":
        model = sent.pop("model")
        sent.pop("stream", None)
        return f"/v1beta/models/{model}:" + ("streamGenerateContent?alt=sse" if stream else "generateContent"), sent
    sent["stream"] = stream
    return wire_format(wire).wire.path(sent["model"], stream), sent


@contextlib.asynccontextmanager
async def serving(configuration: Config, *background_jobs: Callable[[Gateway], Awaitable[None]]) -> AsyncIterator[Running]:
    gateway = Gateway(configuration, HttpTransport(proxies=Proxies()))
    gateway.background_jobs += background_jobs
    server = make_server(gateway)
    listening = listen("127.0.0.1", 0)
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    await server.startup([listening])  # not `serve`, which installs signal handlers
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
