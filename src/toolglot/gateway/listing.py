"""Which models can be asked for: those that routes name, and those that upstreams have where a route takes their names."""

from __future__ import annotations

import asyncio
import time
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from toolglot.client import weights
from toolglot.client.transport import Limits, Transport
from toolglot.errors import ToolglotError, UpstreamError
from toolglot.gateway.config import Config
from toolglot.gateway.upstream import Upstream
from toolglot.pipeline.route import join_url
from toolglot.text.json_text import BadJson, decode

_FRESH = 30.0  # seconds that an upstream's list is believed
_LIMITS = Limits(connect=2.0, first_byte=4.0, idle=4.0, body=16 * 1024 * 1024)
_GLOB = frozenset("*?[")
_MOST = 5000

# wire -> where its servers list their models, under which key, and what a name is called there
_LISTS = {
    "openai-chat": ("/v1/models", "data", "id"),
    "openai-responses": ("/v1/models", "data", "id"),
    "anthropic": ("/v1/models", "data", "id"),
    "gemini": ("/v1beta/models", "models", "name"),
    "ollama": ("/api/tags", "models", "name"),
}


class Model(msgspec.Struct, frozen=True):
    name: str  # as clients ask for it
    upstream: str


class Listing:
    def __init__(self, config: Config, transport: Transport) -> None:
        self._config, self._transport = config, transport
        self._held: dict[str, tuple[float, tuple[str, ...]]] = {}

    async def models(self) -> list[Model]:
        """In the order of the routes, each name once."""
        open_rows = [row for row in self._config.routes if row.target is None]
        names = {row.upstream for row in open_rows}
        lists = dict(zip(names, await asyncio.gather(*(self._of(self._config.upstreams[name]) for name in names)), strict=True))
        found: dict[str, Model] = {}
        for row in self._config.routes:
            if not _GLOB & set(row.model):
                found.setdefault(row.model, Model(row.model, row.upstream))
            elif row.target is None:
                for name in lists[row.upstream]:
                    if fnmatchcase(name, row.model):
                        found.setdefault(name, Model(name, row.upstream))
            elif fnmatchcase(row.target, row.model):
                found.setdefault(row.target, Model(row.target, row.upstream))
        return list(found.values())

    async def _of(self, upstream: Upstream) -> tuple[str, ...]:
        """An upstream that does not answer has no models for now."""
        until, held = self._held.get(upstream.name, (0.0, ()))
        if time.monotonic() < until:
            return held
        names = tuple(weights.ROWS) if upstream.embedded else await model_names(upstream, self._transport)
        self._held[upstream.name] = (time.monotonic() + _FRESH, names)
        return names


class Listed(msgspec.Struct, frozen=True):
    names: tuple[str, ...] = ()
    problem: str = ""  # a code: why there are none


async def model_names(upstream: Upstream, transport: Transport, limits: Limits = _LIMITS) -> tuple[str, ...]:
    """What the server lists; nothing where it can't be asked."""
    return (await ask_list(upstream, transport, limits)).names


async def ask_list(upstream: Upstream, transport: Transport, limits: Limits = _LIMITS) -> Listed:
    path, key, field = _LISTS[upstream.row.wire]
    url = join_url(upstream.row.base_url, path)
    try:
        answer = await transport.send("GET", url, {**upstream.row.headers, **upstream.headers()}, limits=limits)
        try:
            if answer.status != 200:
                return Listed(problem=f"status {answer.status}")
            held: Any = decode(await answer.read())
        finally:
            await answer.aclose()
    except UpstreamError as error:
        return Listed(problem=error.code or "fault")
    except (ToolglotError, *BadJson):
        return Listed(problem="bad_answer")
    rows = held.get(key) if isinstance(held, dict) else None
    names = (row.get(field) for row in (rows if isinstance(rows, list) else ()) if isinstance(row, dict))
    return Listed(tuple(name.removeprefix("models/") for name in names if isinstance(name, str) and name)[:_MOST])
