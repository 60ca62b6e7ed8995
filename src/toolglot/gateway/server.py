"""Builds the gateway and its uvicorn server."""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
from contextlib import suppress
from pathlib import Path

import msgspec
import uvicorn

from toolglot.errors import CallerError
from toolglot.gateway.app import App
from toolglot.gateway.config import Config, check_exposure
from toolglot.gateway.config_reload import ConfigReload, load
from toolglot.gateway.discover import DiscoveryRefresh, discover
from toolglot.gateway.http_protocol import HttpProtocol
from toolglot.gateway.state import Gateway, log
from toolglot.gateway.telemetry import telemetry

_GRACE = 120  # seconds for running requests at shutdown
_BACKLOG = 2048
_SPARE_DESCRIPTORS = 64
_GC_THRESHOLD = 5000  # new objects before a collection


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
    """A socket with an explicit TCP protocol number: asyncio sets TCP_NODELAY only on those."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host.strip("[]"), port))
        listening.listen(_BACKLOG)  # early connections wait until the server has started
    except OSError as error:
        listening.close()
        raise CallerError(f"can't listen on {host}:{port}: {error.strerror or error}", "port") from None
    return listening


def tune_garbage_collector() -> None:
    """Collects garbage rarely: loaded modules stay, and only failed requests leave reference cycles."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD, 10, 10)


def raise_descriptor_limit(config: Config) -> None:
    """As far as the system allows. Logs a warning if that is less than the configured limits need."""
    try:
        import resource  # noqa: PLC0415
    except ImportError:  # not available on Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    needed = config.connections + config.server.max_concurrent * max(1, len(config.keys)) + _SPARE_DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < needed:
        log.warning("%d open files are allowed, but the limits need up to %d: raise them with ulimit -n", soft, needed)


def make_gateway(path: Path | None, host: str | None = None, port: int | None = None) -> Gateway:
    """From a file, or from the servers on this machine. Command-line options override the file."""
    config = load(path) if path is not None else asyncio.run(_discover())
    config = _with_options(config, host, port)
    raise_descriptor_limit(config)
    gateway = Gateway(config)
    gateway.background_jobs.append(DiscoveryRefresh() if path is None else ConfigReload(path))
    if exporter := telemetry(config.server.otel):
        gateway.background_jobs.append(exporter)
    return gateway


def _with_options(config: Config, host: str | None, port: int | None) -> Config:
    options = {key: value for key, value in (("host", host), ("port", port)) if value is not None}
    if not options:
        return config
    config = msgspec.structs.replace(config, server=msgspec.structs.replace(config.server, **options))
    check_exposure(config.server.host, config.keys)
    return config


async def _discover() -> Config:
    from toolglot.client.http import HttpTransport  # noqa: PLC0415

    transport = HttpTransport()
    try:
        return await discover(transport)
    finally:
        await transport.aclose()
