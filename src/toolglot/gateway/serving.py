"""The server itself: uvicorn with uvloop and httptools where they are to be had."""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
from pathlib import Path

import msgspec
import uvicorn

from toolglot.errors import CallerError
from toolglot.gateway.app import App
from toolglot.gateway.config import Config, must_be_safe
from toolglot.gateway.discover import Lookout, discover
from toolglot.gateway.protocol import HttpProtocol
from toolglot.gateway.state import Gateway
from toolglot.gateway.telemetry import telemetry
from toolglot.gateway.watch import Watch, load

_GRACE = 120  # seconds that requests may take to end when the server is told to
_BACKLOG = 2048
_OBJECTS = 5000  # that come before the youngest are looked through


def make_server(gateway: Gateway) -> uvicorn.Server:
    server = gateway.live.config.server
    limits = {"max_head": server.max_header, "head_seconds": server.client_timeout}
    return uvicorn.Server(
        uvicorn.Config(
            App(gateway),
            host=server.host,
            port=server.port,
            http=type("Protocol", (HttpProtocol,), limits),
            ws="none",
            lifespan="on",
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=_BACKLOG,
            timeout_graceful_shutdown=_GRACE,
        )
    )


def listen(host: str, port: int) -> socket.socket:
    """A socket that is known to be TCP's: only then does asyncio send small pieces at once (TCP_NODELAY)."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host.strip("[]"), port))
        listening.listen(_BACKLOG)  # who comes before the server has started waits a moment
    except OSError as error:
        listening.close()
        raise CallerError(f"{host}:{port} can't be listened on: {error.strerror or error}", "port") from None
    return listening


def calm_collector() -> None:
    """What is loaded stays and is looked at no more; and a request leaves no cycles unless it fails, so the rest may wait."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_OBJECTS, 10, 10)


def make_gateway(path: Path | None, host: str | None = None, port: int | None = None) -> Gateway:
    """From a file, or from what runs on this machine. Options of the command line go before what the file says."""
    config = load(path) if path is not None else asyncio.run(_discovered())
    config = _with_options(config, host, port)
    gateway = Gateway(config)
    gateway.around.append(Lookout() if path is None else Watch(path))
    if traces := telemetry(config.server.otel):
        gateway.around.append(traces)
    return gateway


def _with_options(config: Config, host: str | None, port: int | None) -> Config:
    given = {key: value for key, value in (("host", host), ("port", port)) if value is not None}
    if not given:
        return config
    config = msgspec.structs.replace(config, server=msgspec.structs.replace(config.server, **given))
    must_be_safe(config.server.host, config.keys)
    return config


async def _discovered() -> Config:
    from toolglot.client.http import HttpTransport  # noqa: PLC0415

    transport = HttpTransport()
    try:
        return await discover(transport)
    finally:
        await transport.aclose()
