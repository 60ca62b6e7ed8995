"""The models that clients can use: those that routes name, and those of upstreams that match a route's pattern."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import msgspec

from toolglot.client.cloud_credentials import send
from toolglot.client.embedded import embedded_names
from toolglot.client.transport import Limits, Transport
from toolglot.errors import ToolglotError, UpstreamError
from toolglot.gateway.config import Config
from toolglot.gateway.upstream import Upstream
from toolglot.gateway.wildcards import captures, client_names, has_glob
from toolglot.io.json_codec import JSON_ERRORS, decode
from toolglot.pipeline.request.route import provider_url

_CACHE_SECONDS = 30.0  # seconds to cache an upstream's list
_LIMITS = Limits(connect=2.0, first_byte=4.0, idle=4.0, body=16 * 1024 * 1024)
_MAX_MODELS = 5000


class Model(msgspec.Struct, frozen=True):
    name: str  # as clients use it
    upstream: str


class ModelList:
    def __init__(self, config: Config, transport: Transport) -> None:
        self._config, self._transport = config, transport
        self._cache: dict[str, tuple[float, tuple[str, ...]]] = {}

    async def models(self) -> list[Model]:
        """In route order, without duplicates."""
        pattern_rows = [row for row in self._config.routes if "*" in row.target and has_glob(row.model)]
        names = {row.upstream for row in pattern_rows}
        lists = dict(
            zip(names, await asyncio.gather(*(self._names(self._config.upstreams[name]) for name in names)), strict=True)
        )
        found: dict[str, Model] = {}
        for row in self._config.routes:
            if not has_glob(row.model):
                found.setdefault(row.model, Model(row.model, row.upstream))
            elif "*" in row.target:
                for name in client_names(row.model, row.target, lists[row.upstream]):
                    found.setdefault(name, Model(name, row.upstream))
            elif captures(row.model, row.target) is not None:
                found.setdefault(row.target, Model(row.target, row.upstream))
        return list(found.values())

    async def _names(self, upstream: Upstream) -> tuple[str, ...]:
        """An upstream that does not respond has no models for now."""
        until, cached = self._cache.get(upstream.name, (0.0, ()))
        if time.monotonic() < until:
            return cached
        names = embedded_names() if upstream.embedded else await fetch_model_names(upstream, self._transport)
        self._cache[upstream.name] = (time.monotonic() + _CACHE_SECONDS, names)
        return names


class ModelListing(msgspec.Struct, frozen=True):
    names: tuple[str, ...] = ()
    problem: str = ""  # an error code


async def fetch_model_names(upstream: Upstream, transport: Transport, limits: Limits = _LIMITS) -> tuple[str, ...]:
    """The server's model list; empty if it can't be fetched."""
    return (await fetch_listing(upstream, transport, limits)).names


async def fetch_listing(upstream: Upstream, transport: Transport, limits: Limits = _LIMITS) -> ModelListing:
    listed = upstream.wire.model_list
    url = provider_url(upstream.row, listed.path)
    try:
        headers = {**upstream.row.headers, **upstream.headers()}
        response = await send(transport, upstream.row, "GET", url, headers, limits=limits)
        try:
            if response.status != 200:
                return ModelListing(problem=f"status {response.status}")
            body: Any = decode(await response.read())
        finally:
            await response.aclose()
    except UpstreamError as error:
        return ModelListing(problem=error.code or "fault")
    except (ToolglotError, *JSON_ERRORS):
        return ModelListing(problem="bad_answer")
    rows = body.get(listed.rows) if isinstance(body, dict) else None
    names = (row.get(listed.name) for row in (rows if isinstance(rows, list) else ()) if isinstance(row, dict))
    return ModelListing(tuple(name.removeprefix("models/") for name in names if isinstance(name, str) and name)[:_MAX_MODELS])
