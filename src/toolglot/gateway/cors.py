"""Pages of other sites, where the configuration names them: what their browser asks before, and must find in an answer."""

from __future__ import annotations

from toolglot.gateway.exchange import Exchange

_METHODS = b"GET, POST, DELETE"
_EXPOSED = (
    b"x-request-id, request-id, x-toolglot-upstream, x-toolglot-decisions, x-toolglot-notes, x-toolglot-tokens, "
    b"retry-after, retry-after-ms, x-should-retry"
)
_SECONDS = b"600"  # that a browser need not ask again


def welcome(exchange: Exchange, origins: tuple[str, ...]) -> None:
    """Every answer to a page that is named says that the page may read it, errors too."""
    origin = exchange.header(b"origin")
    if origin and (origin in origins or "*" in origins):
        exchange.welcome = (
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"access-control-expose-headers", _EXPOSED),
            (b"vary", b"origin"),
        )


def asks_before(exchange: Exchange) -> bool:
    """What a browser sends ahead of a page's request, without its key."""
    return exchange.method == "OPTIONS" and bool(exchange.welcome) and b"access-control-request-method" in exchange.headers


async def answer_before(exchange: Exchange) -> None:
    headers = [(b"access-control-allow-methods", _METHODS), (b"access-control-max-age", _SECONDS)]
    asked = exchange.headers.get(b"access-control-request-headers")
    if asked:
        headers.append((b"access-control-allow-headers", asked))
    await exchange.start(204, b"text/plain", headers)
    await exchange.end()
