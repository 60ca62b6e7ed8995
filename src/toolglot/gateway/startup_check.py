"""At start: which upstreams can't be reached, and why."""

from __future__ import annotations

import asyncio

from toolglot.client.transport import Limits, Transport
from toolglot.gateway.config import Config
from toolglot.gateway.model_check import upstream_problem
from toolglot.gateway.model_list import fetch_listing
from toolglot.gateway.state import Gateway, log
from toolglot.gateway.upstream import Upstream

_LIMITS = Limits(connect=2.0, first_byte=4.0, idle=4.0, body=16 * 1024 * 1024)


async def warn_unreachable(config: Config, transport: Transport) -> None:
    async def check(upstream: Upstream) -> None:
        problem = upstream_problem(upstream, await fetch_listing(upstream, transport, _LIMITS))
        if problem:
            log.warning("upstream %s: %s", upstream.name, problem)

    await asyncio.gather(*(check(one) for one in config.upstreams.values() if not one.embedded))


async def startup_check(gateway: Gateway) -> None:
    """A background job of the gateway."""
    await warn_unreachable(gateway.live.config, gateway.live.session.transport)
