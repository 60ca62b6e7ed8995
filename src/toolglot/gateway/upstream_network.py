"""The network settings of an upstream: private certificate authorities, a client certificate, a proxy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from toolglot.client.http.network import Network, NetworkTransport, client_tls, fixed_proxy, place
from toolglot.client.transport import Transport
from toolglot.errors import CallerError
from toolglot.gateway.upstream import Upstream

NETWORK_KEYS = ("ca_file", "cert_file", "key_file", "key_password", "tls_name", "proxy")
_OF_TLS = ("ca_file", "cert_file", "tls_name")
_OF_CERTIFICATE = ("key_file", "key_password")
_FROM_ENVIRONMENT = "env:"


def read_network(settings: Mapping[str, str], base_url: str, environ: Mapping[str, str]) -> Network | None:
    """From the NETWORK_KEYS of an upstream, "" where one is not set; None if none is. Reads the files.

    Raises a CallerError whose `where` is the key that can't be used.
    """
    if not any(settings.values()):
        return None
    for key in _OF_TLS:
        if settings[key] and not base_url.startswith("https:"):
            raise CallerError("needs an address that begins with https://", key)
    for key in _OF_CERTIFICATE:
        if settings[key] and not settings["cert_file"]:
            raise CallerError("needs cert_file", key)
    tls = None
    if settings["ca_file"] or settings["cert_file"]:
        password = _revealed(settings["key_password"], "key_password", environ)
        tls = client_tls(settings["ca_file"], settings["cert_file"], settings["key_file"], password)
    proxy = _revealed(settings["proxy"], "proxy", environ)
    return Network(tls, settings["tls_name"] or None, fixed_proxy(proxy) if proxy else None)


def _revealed(given: str, key: str, environ: Mapping[str, str]) -> str:
    if not given.startswith(_FROM_ENVIRONMENT):
        return given
    name = given.removeprefix(_FROM_ENVIRONMENT)
    value = environ.get(name, "").strip()
    if not value:
        raise CallerError(f"the environment variable {name} is not set", key)
    return value


def upstream_transport(upstreams: Iterable[Upstream], rest: Transport) -> Transport:
    """For each upstream its own network, where it has one; else `rest`, which stays open."""
    networks = {place(one.row.base_url): one.network for one in upstreams if one.network is not None}
    return NetworkTransport(networks, rest) if networks else rest
