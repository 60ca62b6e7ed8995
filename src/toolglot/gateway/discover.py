"""Without a configuration: the embedded model, and whatever answers on the usual ports of this machine."""

from __future__ import annotations

import asyncio

from toolglot.catalog.providers import provider
from toolglot.client import weights
from toolglot.client.embedded import DEFAULT
from toolglot.client.transport import Limits, Transport
from toolglot.gateway.config import Config, RouteRow, Server
from toolglot.gateway.listing import model_names
from toolglot.gateway.state import Gateway, log
from toolglot.gateway.upstream import Upstream

# rows of the catalog whose address is a port of this machine, in the order in which an unknown name is offered to them
SERVERS = ("ollama", "llamacpp", "lmstudio", "vllm")
EMBEDDED = "local"
_QUICK = Limits(connect=0.5, first_byte=2.0, idle=2.0, body=4 * 1024 * 1024)
_EVERY = 20.0  # seconds between two looks


async def discover(transport: Transport, server: Server | None = None) -> Config:
    upstreams = [Upstream(name, provider(name)) for name in SERVERS]
    lists = await asyncio.gather(*(model_names(upstream, transport, _QUICK) for upstream in upstreams))
    found = [(upstream, names) for upstream, names in zip(upstreams, lists, strict=True) if names]
    local = Upstream(EMBEDDED, provider("local"))
    return Config(server or Server(), (), {one.name: one for one, _ in [*found, (local, ())]}, _routes(found))


def _routes(found: list[tuple[Upstream, tuple[str, ...]]]) -> tuple[RouteRow, ...]:
    """Each model by its name, and by `server/name`; any other name goes to the first model that is there."""
    rows = [RouteRow(name, f"{upstream.name}/{name}") for upstream, names in found for name in names]
    rows += [RouteRow(f"{upstream.name}/*", f"{upstream.name}/*") for upstream, _ in found]
    rows += [RouteRow(name, f"{EMBEDDED}/{name}") for name in weights.ROWS]
    rows.append(RouteRow(f"{EMBEDDED}/*", f"{EMBEDDED}/*"))
    rows.append(RouteRow("*", rows[0].to if found else f"{EMBEDDED}/{DEFAULT}"))
    return tuple(rows)


class Lookout:
    """Part of `Gateway.around`: servers that are started or stopped later are seen too."""

    def __init__(self, every: float = _EVERY) -> None:
        self._every = every

    async def __call__(self, gateway: Gateway) -> None:
        while True:
            await asyncio.sleep(self._every)
            config = await discover(gateway.transport, gateway.live.config.server)
            if config.routes != gateway.live.config.routes:
                gateway.use(config)
                log.warning("the servers on this machine have changed: %s", ", ".join(config.upstreams))
