"""The state of each upstream, from a request for its model list. Cached for a few seconds."""

from __future__ import annotations

import asyncio
import time
from typing import Any
from urllib.parse import urlsplit

from toolglot.client.embedded import embedded_names
from toolglot.client.transport import Limits, Transport
from toolglot.gateway.config import Config
from toolglot.gateway.model_list import ModelListing, fetch_listing
from toolglot.gateway.upstream import Upstream

_CACHE_SECONDS = 10.0  # seconds
_LIMITS = Limits(connect=2.0, first_byte=4.0, idle=4.0, body=16 * 1024 * 1024)
_MAX_MODELS = 100  # per upstream


class UpstreamStates:
    """Belongs to one configuration."""

    def __init__(self, config: Config, transport: Transport) -> None:
        self._config, self._transport = config, transport
        self._cached_until = 0.0
        self._cache: list[dict[str, Any]] = []
        self._lock = asyncio.Lock()

    async def states(self) -> list[dict[str, Any]]:
        async with self._lock:  # concurrent requests share one result
            if time.monotonic() >= self._cached_until:
                self._cache = list(await asyncio.gather(*map(self._state, self._config.upstreams.values())))
                self._cached_until = time.monotonic() + _CACHE_SECONDS
            return self._cache

    async def _state(self, upstream: Upstream) -> dict[str, Any]:
        started = time.perf_counter()
        embedded = upstream.embedded
        listing = ModelListing(embedded_names()) if embedded else await fetch_listing(upstream, self._transport, _LIMITS)
        return {
            "name": upstream.name,
            "provider": upstream.row.name,
            "wire": upstream.row.wire,
            "address": shown_address(upstream),
            "reachable": not listing.problem,
            "problem": listing.problem,
            "seconds": round(time.perf_counter() - started, 4),
            "note": "small demo models: expect mistakes" if embedded else "",
            "models": list(listing.names[:_MAX_MODELS]),
            "count": len(listing.names),
        }


def shown_address(upstream: Upstream) -> str:
    """Without user info and query, which may contain a secret."""
    if upstream.embedded:
        return "in this process"
    parts = urlsplit(upstream.row.base_url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "") + parts.path
