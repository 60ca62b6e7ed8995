"""Builds the gateway and its uvicorn server."""

from __future__ import annotations

import asyncio
import errno
import gc
import secrets
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path

import msgspec
import uvicorn

from toolglot.catalog.profiles import catalog
from toolglot.dialects import all_dialects
from toolglot.errors import CallerError
from toolglot.gateway.app import App
from toolglot.gateway.config import Config, check_exposure, read_config, read_text
from toolglot.gateway.config_reload import ConfigReload
from toolglot.gateway.discover import DiscoveryRefresh, discover
from toolglot.gateway.http_protocol import HttpProtocol
from toolglot.gateway.request_log import log_request
from toolglot.gateway.startup_check import startup_check
from toolglot.gateway.state import Gateway, log
from toolglot.gateway.telemetry import telemetry

GRACE = 120  # seconds for running requests at shutdown
_BACKLOG = 2048
_SPARE_DESCRIPTORS = 64
_GC_THRESHOLD = 5000  # new objects before a collection
_SWITCH_INTERVAL = 0.001  # seconds; Python's own is 0.005


def make_server(gateway: Gateway) -> uvicorn.Server:
    server = gateway.live.config.server
    limits = {"max_head": server.max_header, "head_seconds": server.client_timeout}
    return uvicorn.Server(
        uvicorn.Config(
            App(gateway),
            interface="asgi3",
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
            timeout_graceful_shutdown=GRACE,
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
        advice = "; choose another with --port, or `port` under [server]" if error.errno == errno.EADDRINUSE else ""
        raise CallerError(f"can't listen on {host}:{port}: {error.strerror or error}{advice}", "port") from None
    return listening


def preload() -> None:
    """Rows and dialects, so that they don't hold up the first requests."""
    catalog()
    all_dialects()


def tune_interpreter() -> None:
    """Collects garbage rarely: loaded modules stay, and only failed requests leave reference cycles.

    A busy worker thread lets the event loop go on sooner: each of its system calls waits for that once.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GC_THRESHOLD, 10, 10)
    sys.setswitchinterval(_SWITCH_INTERVAL)


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


class Source(msgspec.Struct, frozen=True):
    """Where the configuration comes from: the text of a file, or without one the servers on this machine.

    `options`: of the command line; they override `[server]`.
    """

    path: str | None = None
    text: str = ""
    options: dict[str, str | int | float] = {}
    nonce_secret: bytes = msgspec.field(default_factory=lambda: secrets.token_bytes(16))  # the same in all workers

    def config(self) -> Config:
        config = asyncio.run(_discover()) if self.path is None else read_config(self.text, self.path)
        return _with_options(config, self.options)


def read_source(path: Path | None, **options: str | int | None) -> Source:
    given: dict[str, str | int | float] = {name: value for name, value in options.items() if value is not None}
    return Source(options=given) if path is None else Source(str(path), read_text(path), given)


def make_gateway(config: Config, nonce_secret: bytes = b"") -> Gateway:
    gateway = Gateway(config, nonce_secret=nonce_secret)
    if exporter := telemetry(config.server.otel):
        gateway.background_jobs.append(exporter)
    return gateway


def make_single_gateway(config: Config, path: Path | None) -> Gateway:
    """One that follows its configuration by itself. With several processes, their master does that."""
    gateway = make_gateway(config)
    gateway.records.observers.append(log_request)
    gateway.background_jobs += [DiscoveryRefresh() if path is None else ConfigReload(path), startup_check]
    return gateway


def run(gateway: Gateway, listening: socket.socket) -> None:
    """Until a signal; then running requests are finished, and the process exits with 0."""
    preload()
    tune_interpreter()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # uvicorn finishes open requests, then raises the signal again
    try:
        import uvloop  # noqa: PLC0415

        runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
    except ImportError:  # not available on Windows
        runner = asyncio.Runner()
    with runner:
        try:
            runner.run(make_server(gateway).serve(sockets=[listening]))
        except KeyboardInterrupt:
            sys.exit(0)  # uvicorn raises it again once all requests are finished


def _with_options(config: Config, options: dict[str, str | int | float]) -> Config:
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
