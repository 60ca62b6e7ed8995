"""From the name that a client asks for to the models that may answer, in the order in which they are asked."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache

import msgspec

from toolglot.catalog.profiles import server_kind
from toolglot.client.remembered import server_name
from toolglot.errors import UpstreamError
from toolglot.gateway.config import Config, RouteRow
from toolglot.gateway.upstream import Upstream
from toolglot.pipeline.route import Route

_KEPT = 512  # names looked up
_LONGEST = 256  # a name that is longer is none: names are kept


class Target(msgspec.Struct, frozen=True):
    """One model behind one upstream, and how it is asked."""

    upstream: Upstream
    row: RouteRow
    route: Route
    headers: dict[str, str]
    server: str = ""  # as what has worked with it is remembered; of a vendor's own API nothing need be: it takes tools

    @property
    def name(self) -> str:
        return f"{self.upstream.name}/{self.route.model}"


class Routing:
    """Of one configuration: a new one is made when that changes, and requests that run keep theirs."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._found = lru_cache(_KEPT)(self._find)

    def targets(self, model: str) -> tuple[Target, ...]:
        """All that match, the first first; an error where there is none."""
        found = self._found(model) if len(model) <= _LONGEST else ()
        if not found:
            raise UpstreamError(
                f"no route leads to the model {model[:200]!r}; GET /v1/models lists those there are", 404, "model_not_found"
            )
        return found

    def _find(self, model: str) -> tuple[Target, ...]:
        targets: list[Target] = []
        for row in self.config.routes:
            if not fnmatchcase(model, row.model):
                continue
            upstream = self.config.upstreams[row.upstream]
            name = row.target
            if name is None:
                name = model.removeprefix(f"{upstream.name}/") if row.model.startswith(f"{upstream.name}/") else model
                if not name.strip() or not upstream.takes(name):
                    continue
            targets.append(Target(upstream, row, upstream.route(name), upstream.headers(), _remembered_as(upstream)))
        return tuple(targets)


def _remembered_as(upstream: Upstream) -> str:
    return "" if server_kind(upstream.row.name) == "hosted" else server_name(upstream.row)
