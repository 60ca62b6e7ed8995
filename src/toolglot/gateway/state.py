"""The gateway as a whole: what lives as long as the server, and what is replaced when the configuration changes."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import msgspec

from toolglot.client.carriers import Carriers
from toolglot.client.remembered import Remembered
from toolglot.client.transport import Limits, Transport
from toolglot.gateway.attempts import Asking
from toolglot.gateway.config import Config
from toolglot.gateway.limits import Gate
from toolglot.gateway.listing import Listing
from toolglot.gateway.metrics import Metrics
from toolglot.gateway.page.history import History
from toolglot.gateway.page.upstreams import UpstreamStates
from toolglot.gateway.records import Records
from toolglot.gateway.routing import Routing
from toolglot.gateway.store import Store
from toolglot.gateway.straight import Straight

log = logging.getLogger("toolglot.gateway")


class Live(msgspec.Struct, frozen=True):
    """One configuration at work. A request takes it at its beginning and keeps it to its end."""

    config: Config
    routing: Routing
    asking: Asking
    listing: Listing
    states: UpstreamStates


class Gateway:
    """`around`: coroutine functions that run while the server does (watching a file, say), each given the gateway."""

    def __init__(self, config: Config, transport: Transport | None = None) -> None:
        self.transport: Transport = Straight(Carriers() if transport is None else transport)
        self.store = Store(config.server.store)
        self.records = Records()
        self.metrics = Metrics()
        self.remembered = Remembered()
        self.history = History()
        self.records.observers += [self.metrics, self.history]
        self.gate = Gate()
        self.around: list[Callable[[Gateway], Awaitable[None]]] = []
        self.live = self._made_live(config)

    def use(self, config: Config) -> None:
        """From the next request on."""
        self.live = self._made_live(config)

    def _made_live(self, config: Config) -> Live:
        server = config.server
        limits = Limits(server.connect_timeout, server.first_byte_timeout, server.idle_timeout)
        asking = Asking(self.transport, limits, server.detect, self.remembered)
        return Live(config, Routing(config), asking, Listing(config, self.transport), UpstreamStates(config, self.transport))

    async def aclose(self) -> None:
        await self.transport.aclose()
        self.store.close()
        self.remembered.flush()
