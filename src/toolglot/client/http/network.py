"""How a host is reached, where that is not as for all others: certificate authorities, our certificate, the proxy."""

from __future__ import annotations

import ssl
from collections.abc import Coroutine, Mapping
from typing import Any

import msgspec

from toolglot.client.http.opening import tls_context
from toolglot.client.http.proxy import Proxies, parse_proxy
from toolglot.client.http.sender import HttpTransport
from toolglot.client.http.url import parse_url
from toolglot.client.transport import Answer, Limits, Transport
from toolglot.client.user_dirs import at_home
from toolglot.errors import CallerError

NO_PROXY = "none"
_LIMITS = Limits()
_Place = tuple[bool, str, int]


class Network(msgspec.Struct, frozen=True):
    tls: ssl.SSLContext | None = None  # None: the system's authorities, and no certificate of ours
    tls_name: str | None = None  # the name in the server's certificate; None: its host
    proxies: Proxies | None = None  # None: as the environment says


def client_tls(ca_file: str, cert_file: str, key_file: str, password: str) -> ssl.SSLContext:
    """Raises a CallerError whose `where` is the argument that can't be used. Only the authorities of `ca_file` are trusted."""
    try:
        context = tls_context(str(at_home(ca_file)) if ca_file else None)
    except OSError as error:
        raise _unusable(error, "ca_file") from None
    if cert_file:
        try:  # without a password OpenSSL would ask for it on the terminal
            context.load_cert_chain(at_home(cert_file), at_home(key_file) if key_file else None, lambda: password)
        except OSError as error:
            raise _unusable(error, "cert_file") from None
    return context


def _unusable(error: OSError, where: str) -> CallerError:
    if isinstance(error, ssl.SSLError):
        problem = (
            "it has no PEM certificate" if where == "ca_file" else "certificate, key and password don't fit, or are not PEM"
        )
        return CallerError(f"can't be used: {problem}", where)
    return CallerError(f"can't be read: {error.strerror or error}", where)


def fixed_proxy(url: str) -> Proxies:
    """For all requests, also to this machine; `none`: for no request."""
    if url == NO_PROXY:
        return Proxies()
    proxy = parse_proxy(url)
    return Proxies(proxy, proxy, loopback=True)


def place(url: str) -> _Place:
    target = parse_url(url)
    return target.secure, target.host, target.port


class NetworkTransport:
    """A transport for these hosts, and another one for the rest, which it does not close."""

    def __init__(self, networks: Mapping[_Place, Network], rest: Transport) -> None:
        self._rest = rest
        self._transports = {
            where: HttpTransport(proxies=one.proxies, tls=one.tls, tls_name=one.tls_name) for where, one in networks.items()
        }

    def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, limits: Limits = _LIMITS
    ) -> Coroutine[Any, Any, Answer]:
        transport = self._transports.get(place(url), self._rest) if url.startswith("http") else self._rest
        return transport.send(method, url, headers, body, limits=limits)

    async def aclose(self) -> None:
        for transport in self._transports.values():
            await transport.aclose()
