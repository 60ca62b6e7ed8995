"""Which proxy a request goes through, by the environment's rules.

HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY; the lower-case name wins, as with curl and Python. An entry of NO_PROXY is `*`,
a name (which covers its subdomains, with or without a leading `.` or `*.`), an address, a network such as 10.0.0.0/8, each with
or without a port. Loopback is never sent to a proxy that the environment names, as in Go: local model servers would be lost.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from urllib.parse import unquote, urlsplit

import msgspec

from toolglot.client.http.url import Target
from toolglot.errors import CallerError

_PORTS = {"http": 80, "https": 443}


class Proxy(msgspec.Struct, frozen=True):
    secure: bool  # TLS to the proxy itself
    host: str
    port: int
    auth: str | None = None  # a Proxy-Authorization header: a secret
    problem: str | None = None  # why it can't be used: raised only for requests through it

    @property
    def shown(self) -> str:
        return f"proxy {self.host}:{self.port}"

    def __repr__(self) -> str:
        return f"Proxy({self.host!r}, {self.port})"


class Proxies(msgspec.Struct, frozen=True):
    """A proxy for each scheme, and the hosts without one."""

    http: Proxy | None = None
    https: Proxy | None = None
    exempt: tuple[str, ...] = ()
    loopback: bool = False  # send loopback through the proxy too

    def for_target(self, target: Target) -> Proxy | None:
        chosen = self.https if target.secure else self.http
        if chosen is None or (not self.loopback and is_loopback(target.host)):
            return None
        if any(_covers(entry, target.host, target.port) for entry in self.exempt):
            return None
        if chosen.problem is not None:
            raise CallerError(chosen.problem)
        return chosen


def from_environment(environ: Mapping[str, str] | None = None) -> Proxies:
    environ = os.environ if environ is None else environ

    def value(name: str) -> str:
        setting = environ.get(name.lower())
        if setting is None and not (name == "HTTP_PROXY" and "REQUEST_METHOD" in environ):  # in CGI a client's header sets it
            setting = environ.get(name)
        return (setting or "").strip()

    def proxy(*names: str) -> Proxy | None:
        name = next((name for name in names if value(name)), None)
        if name is None:
            return None
        try:
            return parse_proxy(value(name), name)
        except CallerError as error:
            return Proxy(False, "", 0, problem=f"{error}; name another, or the host in NO_PROXY")

    exempt = tuple(value("NO_PROXY").replace(",", " ").lower().split())
    return Proxies(proxy("HTTP_PROXY", "ALL_PROXY"), proxy("HTTPS_PROXY", "ALL_PROXY"), exempt)


def parse_proxy(url: str, where: str = "proxy") -> Proxy:
    """`http://user:password@host:port`; without a scheme it is http."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise CallerError("is not a valid proxy address", where) from None
    if parts.scheme not in _PORTS:
        raise CallerError("only http:// and https:// proxies are supported", where)
    if not host:
        raise CallerError("names no proxy host", where)
    auth = None
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        auth = "Basic " + b64encode(pair.encode()).decode()
    return Proxy(parts.scheme == "https", host, port or _PORTS[parts.scheme], auth)


def is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _covers(entry: str, host: str, port: int) -> bool:
    if entry == "*":
        return True
    entry, named = _split_port(entry)
    if named is not None and named != port:
        return False
    try:
        address = ip_address(host)
    except ValueError:
        name = entry.removeprefix("*").removeprefix(".").rstrip(".")
        bare = host.rstrip(".").lower()
        return bool(name) and (bare == name or bare.endswith("." + name))
    try:
        return address in ip_network(entry, strict=False)
    except ValueError:
        return False


def _split_port(entry: str) -> tuple[str, int | None]:
    """`[::1]:80`, `host:80`, and bare IPv6, where a colon does not start a port."""
    if entry.startswith("["):
        host, _, rest = entry[1:].partition("]")
        port = rest.removeprefix(":")
    elif entry.count(":") == 1:
        host, _, port = entry.partition(":")
    else:
        return entry, None
    return host, int(port) if port.isascii() and port.isdecimal() else None
