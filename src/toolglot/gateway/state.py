"""The state of the gateway: what lives as long as the server, and what a configuration change replaces."""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from toolglot.client.mode_stats import ModeStats
from toolglot.client.session import Session
from toolglot.client.transport import Limits, Transport
from toolglot.client.transports import Transports
from toolglot.core.log import log as library_log
from toolglot.errors import CallerError
from toolglot.gateway.background import Background
from toolglot.gateway.balancing import Balancer
from toolglot.gateway.batches.batch_store import BatchStore
from toolglot.gateway.batches.runner import BatchRunner
from toolglot.gateway.budgets import Spending
from toolglot.gateway.concurrency import ConcurrencyGate
from toolglot.gateway.config import Config, state_address
from toolglot.gateway.configured_tools import ConfiguredTools
from toolglot.gateway.http_exchange import HttpExchange
from toolglot.gateway.kept_values import Leases, SharedValues, StoreValues, Values
from toolglot.gateway.metrics import Metrics
from toolglot.gateway.model_list import ModelList
from toolglot.gateway.overview import Overview
from toolglot.gateway.page.history import History
from toolglot.gateway.page.upstreams import UpstreamStates
from toolglot.gateway.recent_threads import Room
from toolglot.gateway.records import Records
from toolglot.gateway.retention import delete_old
from toolglot.gateway.routing import Routing
from toolglot.gateway.shared_state import RECORDS, RESPONSES, LocalState, SharedState, kept_for
from toolglot.gateway.shared_store import SharedStore
from toolglot.gateway.sharing import Sharing
from toolglot.gateway.store import Store
from toolglot.gateway.upstream_network import upstream_transport
from toolglot.gateway.upstream_request import RETRIES
from toolglot.gateway.usage import Usage

log = library_log.getChild("gateway")


class Live(msgspec.Struct, frozen=True):
    """The active configuration. A request uses the one that was active when it started."""

    config: Config
    routing: Routing
    session: Session
    model_list: ModelList
    upstream_states: UpstreamStates


def _connect(url: str) -> SharedState:
    try:
        from toolglot.gateway.redis_state import RedisState  # noqa: PLC0415
    except ImportError:
        raise CallerError("needs the package redis: pip install 'toolglot[redis]'", "[server] state") from None
    return RedisState(url)


async def _not_started(_: HttpExchange) -> None:
    raise RuntimeError("the application was not created")


class Gateway:
    """`background_jobs`: coroutine functions that run as long as the server, such as the configuration reload."""

    def __init__(self, config: Config, transport: Transport | None = None, nonce_secret: bytes = b"") -> None:
        self._nonce_secret = nonce_secret or secrets.token_bytes(16)  # unless it is configured
        self.transport: Transport = Transports() if transport is None else transport
        self.store = Store(config.server.store, config.server.max_store)
        self.records = Records(config.server.max_records)
        self.metrics = Metrics()
        self.mode_stats = ModeStats()
        self.history = History()
        self.records.observers += [self.metrics, self.history]
        self.gate = ConcurrencyGate()
        self.sockets: Counter[str] = Counter()  # open WebSockets by owner
        self.recent_room = Room(config.server.max_store)
        self.handle: Callable[[HttpExchange], Awaitable[None]] = _not_started
        self.balancer = Balancer()
        self.server_tools = ConfiguredTools()
        self.background_jobs: list[Callable[[Gateway], Awaitable[None]]] = []
        self.shared: SharedState = LocalState()
        self.shared_store: SharedStore | None = None
        self.usage, self.spending = Usage(), Spending()
        self.records.observers += [self.usage, self.spending]
        self.overview = Overview(self.records, self.metrics, self.history, self)
        if address := state_address(config.server):
            self.shared = _connect(address.reveal())
            seconds = config.server.retention
            responses = msgspec.structs.replace(kept_for(RESPONSES, seconds), max_bytes=config.server.max_store)
            self.shared_store = SharedStore(self.shared, self.store, responses)
            counted = (self.mode_stats, self.usage, self.spending)
            self.background_jobs.append(Sharing(self.records, *counted, self.shared, kind=kept_for(RECORDS, seconds)))
        self.values: Values = StoreValues(self.store) if self.shared.is_local else SharedValues(self.shared)
        self.leases = Leases(self.values, secrets.token_hex(8))
        self.background = Background(self.values, self.leases, config.server.retention)
        self.batches = BatchStore(self.values, config.server.max_store, config.server.retention)
        self.batch_runner = BatchRunner(self.batches, self.leases, lambda: self.handle, config.server.batch_rows)
        self.background_jobs.append(self.batch_runner)
        if config.server.retention:
            self.background_jobs.append(lambda _: delete_old(config.server.retention, self.records, self.store))
        self.live = self._live(config)

    def use(self, config: Config) -> None:
        """Applies a configuration from the next request on."""
        self.live = self._live(config)

    async def running(self, owner: str | None) -> int:
        """Requests in progress; None: of all owners."""
        return self.gate.running if owner is None else self.gate.running_for(owner)

    async def report_usage(self, days: int, owner: str | None) -> list[dict[str, Any]]:
        return await self.usage.report(self.shared, days, owner)

    async def delete_responses(self, owner: str | None) -> int:
        return await asyncio.to_thread(self.store.delete_all, owner)

    def _live(self, config: Config) -> Live:
        server = config.server
        limits = Limits(
            server.connect_timeout,
            server.first_byte_timeout,
            server.idle_timeout,
            queue=server.queue_timeout,
            connections=config.connections,
        )
        secret = config.nonce_secret.reveal().encode() if config.nonce_secret else self._nonce_secret
        transport = upstream_transport(config.upstreams.values(), self.transport)
        session = Session(
            transport,
            limits,
            RETRIES,
            server.detect,
            self.mode_stats,
            secret,
            keeps_received=server.record,
            server_tools=self.server_tools.use(config.server_tools),
        )
        return Live(config, Routing(config), session, ModelList(config, transport), UpstreamStates(config, transport))

    async def aclose(self) -> None:
        await self.background.aclose()
        await self.server_tools.aclose()
        await self.live.session.transport.aclose()
        await self.transport.aclose()
        await self.shared.aclose()
        self.store.close()
        self.mode_stats.flush()
