"""How the upstreams are: asked for their models, all at once, and not more often than every few seconds."""

from __future__ import annotations

import asyncio
import time
from typing import Any
from urllib.parse import urlsplit

from toolglot.client import weights
from toolglot.client.transport import Limits, Transport
from toolglot.gateway.config import Config
from toolglot.gateway.listing import Listed, ask_list
from toolglot.gateway.upstream import Upstream

_FRESH = 10.0  # seconds
_LIMITS = Limits(connect=2.0, first_byte=4.0, idle=4.0, body=16 * 1024 * 1024)
_SHOWN = 100  # models of one upstream


class UpstreamStates:
    """Of one configuration."""

    def __init__(self, config: Config, transport: Transport) -> None:
        self._config, self._transport = config, transport
        self._until = 0.0
        self._held: list[dict[str, Any]] = []
        self._asking = asyncio.Lock()

    async def shown(self) -> list[dict[str, Any]]:
        async with self._asking:  # who comes meanwhile takes the same answer
            if time.monotonic() >= self._until:
                self._held = list(await asyncio.gather(*map(self._state, self._config.upstreams.values())))
                self._until = time.monotonic() + _FRESH
            return self._held

    async def _state(self, upstream: Upstream) -> dict[str, Any]:
        begun = time.perf_counter()
        embedded = upstream.embedded
        listed = Listed(tuple(weights.ROWS)) if embedded else await ask_list(upstream, self._transport, _LIMITS)
        return {
            "name": upstream.name,
            "provider": upstream.row.name,
            "wire": upstream.row.wire,
            "address": "in this process" if embedded else _address(upstream.row.base_url),
            "reachable": not listed.problem,
            "problem": listed.problem,
            "seconds": round(time.perf_counter() - begun, 4),
            "models": list(listed.names[:_SHOWN]),
            "count": len(listed.names),
        }


def _address(url: str) -> str:
    """Without what may be a secret in it."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "") + parts.path
