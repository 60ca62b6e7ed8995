"""A server behind the gateway: a provider of the catalog with the address, key and wire of the configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from toolglot.catalog.model_names import in_provider_form
from toolglot.catalog.profiles import profile
from toolglot.catalog.providers import Provider, unknown
from toolglot.client.address import with_address
from toolglot.client.embedded import SCHEME, embedded_names
from toolglot.client.http.network import Network
from toolglot.client.http.url import check_base
from toolglot.client.keys import Secret, auth_headers, find_key
from toolglot.core.interfaces import Wire
from toolglot.errors import CallerError
from toolglot.pipeline.request.route import Route
from toolglot.wires import NAMES, find_wire

_LAST_SEGMENT = re.compile(r"/(?:v\d+[a-z0-9]*|api)/*$")


class Upstream(msgspec.Struct, frozen=True):
    name: str
    row: Provider
    key: Secret | None = None
    network: Network | None = None  # None: as for all others

    @property
    def embedded(self) -> bool:
        return self.row.base_url.startswith(f"{SCHEME}:")

    @property
    def root(self) -> str:
        """The base URL without the API version."""
        return _LAST_SEGMENT.sub("", self.row.base_url)

    def headers(self) -> dict[str, str]:
        return auth_headers(self.row, self.key)

    def allows(self, model: str) -> bool:
        """Whether a client may use this name. Unknown embedded names are file paths on this machine."""
        return not self.embedded or model in embedded_names()

    @property
    def wire(self) -> Wire:
        wire = find_wire(self.row.wire)
        if wire is None:
            raise CallerError(unknown("wire", self.row.wire, list(NAMES)), "wire")
        return wire

    def route(self, model: str) -> Route:
        return Route(self.row, self.wire, in_provider_form(model, self.row.model_names), profile(model, self.row.name))


def as_upstream(
    name: str,
    row: Provider,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    wire: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Upstream:
    key = find_key(row, api_key, environ)
    row = with_address(row, base_url, environ)
    if not row.base_url.startswith(f"{SCHEME}:"):
        check_base(row.base_url)
    if wire is not None and wire != row.wire:
        if find_wire(wire) is None:
            raise CallerError(unknown("wire", wire, list(NAMES)), "wire")
        # the version at the end of the base URL belongs to the old wire
        row = msgspec.structs.replace(row, wire=wire, base_url=_LAST_SEGMENT.sub("", row.base_url))
    return Upstream(name, row, key)
