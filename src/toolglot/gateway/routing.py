"""Maps the model name of a request to upstream models, in the order in which they are tried."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from toolglot.catalog.profiles import server_kind
from toolglot.client.mode_stats import server_name
from toolglot.client.session import Target
from toolglot.errors import UpstreamError
from toolglot.gateway.config import Config, RouteRow, Schemas
from toolglot.gateway.upstream import Upstream
from toolglot.gateway.wildcards import captures, fill
from toolglot.pipeline.response.call_validator import UnsupportedSchemas

_CACHED_NAMES = 512
_MAX_LISTED = 30  # names in an error
MAX_NAME = 256  # longer names never match, because names are cached


class Candidate(msgspec.Struct, frozen=True):
    """A model of an upstream."""

    upstream: Upstream
    target: Target
    weight: int = 0
    group: str = ""  # of equal targets
    attempts: int = 2

    @property
    def name(self) -> str:
        return f"{self.upstream.name}/{self.target.route.model}"


class Routing:
    """Belongs to one configuration. Running requests keep theirs when it changes."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._find_cached = lru_cache(_CACHED_NAMES)(self._find)

    def candidates(self, model: str) -> tuple[Candidate, ...]:
        """All matches in route order; raises if there are none."""
        found = self._find_cached(model) if len(model) <= MAX_NAME else ()
        if not found:
            raise UpstreamError(self._unknown(model), 404, "model_not_found")
        return found

    def _unknown(self, model: str) -> str:
        names = list(dict.fromkeys(row.model for row in self.config.routes))
        listed = ", ".join(names[:_MAX_LISTED]) + (
            f" and {len(names) - _MAX_LISTED} more (GET /v1/models)" if names[_MAX_LISTED:] else ""
        )
        hint = 'a [[route]] with model = "*" matches every name'
        return f"no route matches model {model[:200]!r}. Available: {listed or 'none'}. In toolglot.toml, {hint}"

    def _find(self, model: str) -> tuple[Candidate, ...]:
        found: list[Candidate] = []
        for row in self.config.routes:
            matched = captures(row.model, model)
            if matched is None:
                continue
            upstream, name = self.config.upstreams[row.upstream], fill(row.target, matched)
            if "*" in row.target and (not name.strip() or not upstream.allows(name)):
                continue
            found.append(self.candidate(row, name))
        return tuple(found)

    def candidate(self, row: RouteRow, name: str) -> Candidate:
        upstream = self.config.upstreams[row.upstream]
        target = _target(upstream, row, name, self.config.server.schemas)
        return Candidate(upstream, target, row.weight, row.model, row.attempts)


def _target(upstream: Upstream, row: RouteRow, model: str, schemas: Schemas) -> Target:
    """Hosted APIs support native tools, so they need no tool-mode statistics."""
    server = "" if server_kind(upstream.row.name) == "hosted" else server_name(upstream.row)
    options = (row.ask, row.policy, row.calls, row.retries, server, row.weak_forms)
    lenient: UnsupportedSchemas = "lenient" if schemas == "lenient" else "reject"
    return Target(upstream.route(model), upstream.headers(), *options, schemas=lenient, loop_limit=row.loop_limit)
