"""Authentication. With keys set, a request needs one of them.

Without keys, only programs on this machine and the web pages in `cors_origins` may use the gateway.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from hmac import compare_digest
from urllib.parse import urlsplit

import msgspec

from toolglot.errors import UpstreamError
from toolglot.gateway.config import ClientKey, Config, is_loopback
from toolglot.gateway.http_exchange import HttpExchange
from toolglot.gateway.records import ANYONE

_WEB_ORIGINS = (b"http", b"null")  # null: a sandboxed frame
_MAX_NAME = 300  # characters of a host or an origin, because results are cached
_HOW_TO_SEND = "send it as Authorization: Bearer, x-api-key, x-goog-api-key or ?key="


class Caller(msgspec.Struct, frozen=True):
    owner: str  # of requests, stored responses and limits
    is_admin: bool = False  # may see the requests of all owners


LOCAL = Caller(ANYONE, is_admin=True)


def authenticate(exchange: HttpExchange, config: Config) -> Caller:
    """Who sent the request; raises if it is not allowed."""
    if not config.keys:
        _check_local(exchange, config.server.host)
        return LOCAL
    received = [sha256(each.encode("utf-8", "replace")).digest() for each in _received_keys(exchange) if each]
    found: ClientKey | None = None
    for key in config.keys:  # always all of them: the time taken must not depend on the key
        for each in received:
            if compare_digest(each, key.digest):
                found = key
    if found is None:
        problem = "invalid API key" if received else "missing API key"
        raise UpstreamError(f"{problem}: {_HOW_TO_SEND}", 401, "invalid_api_key")
    return Caller(found.owner, found.is_admin)


def check_known(caller: Caller, config: Config) -> Caller:
    """Of an internal request: its key may have been removed since."""
    if config.keys and not any(key.owner == caller.owner for key in config.keys):
        raise UpstreamError("the API key of this request is not valid any more", 401, "invalid_api_key")
    return caller


def check_admin(caller: Caller) -> None:
    if not caller.is_admin:
        raise UpstreamError("this needs one of the admin_keys in [server]", 403, "admin_only")


def _received_keys(exchange: HttpExchange) -> tuple[str, str, str, str]:
    """Some clients send two keys, one of them for another service."""
    scheme, _, bearer = exchange.header(b"authorization").partition(" ")
    return (
        bearer.strip() if scheme.lower() == "bearer" else "",
        exchange.header(b"x-api-key"),
        exchange.header(b"x-goog-api-key"),
        exchange.query_value("key"),
    )


def _check_local(exchange: HttpExchange, host: str) -> None:
    """A web page must not use the user's models: neither cross-origin nor through a DNS name that resolves to loopback.

    `Host` and `Origin` are chosen by the client, so its address and ours count first.
    """
    if not is_loopback(host) or not is_loopback(exchange.client_host):
        raise UpstreamError("no API keys are configured, so only this machine may connect", 403, "foreign_client")
    host_header = exchange.headers.get(b"host")
    if host_header is not None and not _is_local(f"//{host_header.decode('latin-1')}", host):
        raise UpstreamError("no API keys are configured, so only local host names are accepted", 403, "foreign_host")
    origin = b"" if exchange.cors_headers else exchange.headers.get(b"origin", b"")
    if origin.startswith(_WEB_ORIGINS) and not _is_local(origin.decode("latin-1"), host):
        raise UpstreamError("no API keys are configured, so web pages need an entry in cors_origins", 403, "foreign_origin")


def _is_local(url: str, host: str) -> bool:
    return len(url) <= _MAX_NAME and _is_local_name(url, host)


@lru_cache(256)
def _is_local_name(url: str, host: str) -> bool:
    try:
        name = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return name == host or is_loopback(name)
