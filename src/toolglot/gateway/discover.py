"""The configuration without a file: the embedded models, and model servers on their default ports on this machine."""

from __future__ import annotations

import asyncio

from toolglot.catalog.providers import provider
from toolglot.client.embedded import embedded_names
from toolglot.client.transport import Limits, Transport
from toolglot.gateway.config import Config, RouteRow, Server
from toolglot.gateway.model_list import fetch_model_names
from toolglot.gateway.state import Gateway, log
from toolglot.gateway.upstream import Upstream

# providers of the catalog on local ports; the first that has a model serves it
SERVERS = ("ollama", "llamacpp", "lmstudio", "vllm")
EMBEDDED = "local"
_LIMITS = Limits(connect=0.5, first_byte=2.0, idle=2.0, body=4 * 1024 * 1024)
_INTERVAL = 20.0  # seconds


async def find_servers(transport: Transport) -> list[tuple[Upstream, tuple[str, ...]]]:
    """The model servers that answer on this machine, and their models."""
    upstreams = [Upstream(name, provider(name)) for name in SERVERS]
    lists = await asyncio.gather(*(fetch_model_names(upstream, transport, _LIMITS) for upstream in upstreams))
    return [(upstream, names) for upstream, names in zip(upstreams, lists, strict=True) if names]


async def discover(transport: Transport, server: Server | None = None) -> Config:
    found = await find_servers(transport)
    local = Upstream(EMBEDDED, provider("local"))
    upstreams_by_name = {one.name: one for one, _ in [*found, (local, ())]}
    return Config(server or Server(), upstreams=upstreams_by_name, routes=_routes(found))


def _routes(found: list[tuple[Upstream, tuple[str, ...]]]) -> tuple[RouteRow, ...]:
    """Routes for each model by `name` and by `server/name`. Other names are an error, never a different model."""
    rows = [RouteRow(name, f"{upstream.name}/{name}") for upstream, names in found for name in names]
    rows += [RouteRow(f"{upstream.name}/*", f"{upstream.name}/*") for upstream, _ in found]
    rows += [RouteRow(name, f"{EMBEDDED}/{name}") for name in embedded_names()]
    rows.append(RouteRow(f"{EMBEDDED}/*", f"{EMBEDDED}/*"))
    return tuple(rows)


class DiscoveryRefresh:
    """A background job of the gateway: finds servers that start or stop later."""

    def __init__(self, interval: float = _INTERVAL) -> None:
        self._interval = interval

    async def __call__(self, gateway: Gateway) -> None:
        while True:
            await asyncio.sleep(self._interval)
            config = await discover(gateway.transport, gateway.live.config.server)
            if config.routes != gateway.live.config.routes:
                gateway.use(config)
                log.warning("local servers changed: %s", ", ".join(config.upstreams))
