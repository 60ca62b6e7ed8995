"""CORS: preflight requests and response headers for the origins that the configuration allows."""

from __future__ import annotations

from toolglot.gateway.http_exchange import HttpExchange

_METHODS = b"GET, POST, DELETE"
_EXPOSED = (
    b"x-request-id, request-id, x-toolglot-upstream, x-toolglot-decisions, x-toolglot-notes, x-toolglot-tokens, "
    b"retry-after, retry-after-ms, x-should-retry"
)
_MAX_AGE = b"600"  # seconds


def allow_origin(exchange: HttpExchange, origins: tuple[str, ...]) -> None:
    """Adds the CORS headers to every response for an allowed origin, errors included."""
    origin = exchange.header(b"origin")
    if origin and (origin in origins or "*" in origins):
        exchange.cors_headers = (
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"access-control-expose-headers", _EXPOSED),
            (b"vary", b"origin"),
        )


def is_preflight(exchange: HttpExchange) -> bool:
    """Whether a request from an allowed origin is a preflight, which has no API key."""
    return exchange.method == "OPTIONS" and b"access-control-request-method" in exchange.headers


async def respond_to_preflight(exchange: HttpExchange) -> None:
    headers = [(b"access-control-allow-methods", _METHODS), (b"access-control-max-age", _MAX_AGE)]
    requested = exchange.headers.get(b"access-control-request-headers")
    if requested:
        headers.append((b"access-control-allow-headers", requested))
    await exchange.start(204, b"text/plain", headers)
    await exchange.end()
