"""Authentication. With keys set, a request needs one of them.

Without keys, only programs on this machine and the web pages in `cors_origins` may use the gateway.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from hmac import compare_digest
from urllib.parse import urlsplit

from toolglot.client.keys import Secret
from toolglot.errors import UpstreamError
from toolglot.gateway.config import is_loopback
from toolglot.gateway.http_exchange import HttpExchange

ANYONE = "anyone"
_WEB_ORIGINS = (b"http", b"null")  # null: a sandboxed frame
_HOW_TO_SEND = "send it as Authorization: Bearer, x-api-key, x-goog-api-key or ?key="


def authenticate(exchange: HttpExchange, keys: tuple[Secret, ...], host: str) -> str:
    """The owner that the request counts for; raises if it is not allowed."""
    if not keys:
        _check_local(exchange, host)
        return ANYONE
    received = [each.encode("utf-8", "replace") for each in _received_keys(exchange) if each]
    owner = ""
    for key in keys:  # always all of them: the time taken must not depend on the key
        for each in received:
            if compare_digest(each, key.reveal().encode()):
                owner = _owner(key)
    if not owner:
        problem = "invalid API key" if received else "missing API key"
        raise UpstreamError(f"{problem}: {_HOW_TO_SEND}", 401, "invalid_api_key")
    return owner


@lru_cache(1024)
def _owner(key: Secret) -> str:
    """From the key itself, not from its position, which changes when keys are added or removed."""
    return "key " + sha256(key.reveal().encode()).hexdigest()[:16]


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
    """A web page must not use the user's models: neither cross-origin nor through a DNS name that resolves to loopback."""
    host_header = exchange.headers.get(b"host")
    if host_header is not None and not _is_local(f"//{host_header.decode('latin-1')}", host):
        raise UpstreamError("no API keys are configured, so only local host names are accepted", 403, "foreign_host")
    origin = b"" if exchange.cors_headers else exchange.headers.get(b"origin", b"")
    if origin.startswith(_WEB_ORIGINS) and not _is_local(origin.decode("latin-1"), host):
        raise UpstreamError("no API keys are configured, so web pages need an entry in cors_origins", 403, "foreign_origin")


@lru_cache(256)
def _is_local(url: str, host: str) -> bool:
    try:
        name = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return name == host or is_loopback(name)
