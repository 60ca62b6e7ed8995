"""Who may come in: a key where keys are set; and where none are, only programs of this machine, no web page in its browser
but those that the configuration names.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from hmac import compare_digest
from urllib.parse import urlsplit

from toolglot.client.keys import Secret
from toolglot.errors import UpstreamError
from toolglot.gateway.config import is_loopback
from toolglot.gateway.exchange import Exchange

ANYONE = "anyone"
_SITES = (b"http", b"null")  # how the origin of a site's page begins; null: a frame that hides its site


def enter(exchange: Exchange, keys: tuple[Secret, ...], host: str) -> str:
    """Whom the request is counted for; an error where it may not come in."""
    if not keys:
        _must_be_local(exchange, host)
        return ANYONE
    shown = [each.encode("utf-8", "replace") for each in _shown(exchange)]
    found = ""
    for key in keys:  # all of them, always: how long it takes tells nothing
        for each in shown:
            if compare_digest(each, key.reveal().encode()):
                found = _owner(key)
    if not found:
        raise UpstreamError(
            "no key of this gateway was given: send one as Authorization: Bearer, x-api-key, x-goog-api-key or ?key=",
            401,
            "invalid_api_key",
        )
    return found


@lru_cache(1024)
def _owner(key: Secret) -> str:
    """By the key itself, not by its place among the others, which changes when one is added or taken away."""
    return "key " + sha256(key.reveal().encode()).hexdigest()[:16]


def _shown(exchange: Exchange) -> tuple[str, str, str, str]:
    """Some clients send two, of which one is for somebody else."""
    scheme, _, bearer = exchange.header(b"authorization").partition(" ")
    return (
        bearer.strip() if scheme.lower() == "bearer" else "",
        exchange.header(b"x-api-key"),
        exchange.header(b"x-goog-api-key"),
        exchange.asked("key"),
    )


def _must_be_local(exchange: Exchange, host: str) -> None:
    """A page of some site must not use the user's models: neither by its origin nor by a name that leads to loopback."""
    called = exchange.headers.get(b"host")
    if called is not None and not _own(f"//{called.decode('latin-1')}", host):
        raise UpstreamError("this gateway has no keys, and so answers only to this machine's own names", 403, "foreign_host")
    origin = b"" if exchange.welcome else exchange.headers.get(b"origin", b"")
    if origin.startswith(_SITES) and not _own(origin.decode("latin-1"), host):
        raise UpstreamError("this gateway has no keys, and so answers no page of another site", 403, "foreign_origin")


@lru_cache(256)  # clients call it by the same names again and again
def _own(url: str, host: str) -> bool:
    try:
        name = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return name == host or is_loopback(name)
