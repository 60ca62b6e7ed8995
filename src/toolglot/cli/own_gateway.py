"""A gateway in a thread of this process, for as long as a command runs."""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from toolglot.catalog.providers import provider, providers, unknown
from toolglot.catalog.user_rows import also_read
from toolglot.cli.gateway_client import GatewayClient
from toolglot.client.http import HttpTransport
from toolglot.client.keys import Secret
from toolglot.errors import CallerError
from toolglot.gateway.config import Config, RouteRow, Server, client_key, read_config, read_text
from toolglot.gateway.discover import discover
from toolglot.gateway.request_log import LogSettings, launch_log, log_request, set_up_logging
from toolglot.gateway.server import listen, make_gateway, make_server
from toolglot.gateway.upstream import as_upstream

_HOST = "127.0.0.1"
_END_SECONDS = 10.0


def model_config(model: str, base_url: str | None = None, api_key: str | None = None) -> Config:
    """One upstream, and every name leads to the model: agents also request names of their own for small tasks."""
    name, _, rest = model.partition("/")
    if name not in providers():
        raise CallerError(f'{unknown("provider", name, list(providers()))}. Write "provider/model"', "--model")
    row = provider(name)
    if not rest and row.default_model is None:
        raise CallerError(f'which model of {name}? Write "{name}/model"', "--model")
    upstream = as_upstream(name, row, base_url=base_url, api_key=api_key)
    target = f"{name}/{rest or name}"
    return Config(Server(), upstreams={name: upstream}, routes=(RouteRow(model, target), RouteRow("*", target)))


def file_config(path: Path) -> Config:
    also_read(str(path))
    return read_config(read_text(path), str(path))


def found_config() -> Config:
    """The embedded models, and the model servers on this machine."""
    return asyncio.run(_discover())


async def _discover() -> Config:
    transport = HttpTransport()
    try:
        return await discover(transport)
    finally:
        await transport.aclose()


@contextmanager
def running_gateway(config: Config) -> Iterator[tuple[str, str]]:
    """Its address and a new key. Only this command knows the key: other users of the machine can't use the gateway."""
    key = secrets.token_hex(24)
    own = client_key(Secret(key, "this command"), is_admin=True)
    server = msgspec.structs.replace(config.server, host=_HOST, port=0, cors_origins=(), workers=1)
    config = msgspec.structs.replace(config, server=server, keys=(own,))
    listening = listen(_HOST, 0)
    set_up_logging(LogSettings(file=str(launch_log()), on_stderr=False))
    gateway = make_gateway(config)
    gateway.records.observers.append(log_request)
    uvicorn = make_server(gateway)
    uvicorn.config.timeout_graceful_shutdown = 1  # whoever used it has ended
    thread = threading.Thread(target=lambda: asyncio.run(uvicorn.serve(sockets=[listening])), name="gateway", daemon=True)
    thread.start()
    url = f"http://{_HOST}:{listening.getsockname()[1]}"
    try:
        GatewayClient(url, key).models()  # the socket listens already: the first answer comes once the server runs
        yield url, key
    finally:
        uvicorn.should_exit = True
        thread.join(_END_SECONDS)
