"""Lists of batches and files, page by page."""

from __future__ import annotations

from toolglot.errors import UpstreamError
from toolglot.gateway.http_exchange import HttpExchange


def read_limit(exchange: HttpExchange, default: int, most: int) -> int:
    given = exchange.query_value("limit") or str(default)
    if not (given.isascii() and given.isdecimal()) or not 1 <= int(given[:6]) <= most:
        raise UpstreamError(f"limit must be 1 to {most}", 400, "invalid_request_error")
    return int(given[:6])


def page_after(ids: list[str], after: str, limit: int) -> tuple[list[str], bool]:
    """The ids after this one, and whether there are more."""
    start = ids.index(after) + 1 if after in ids else 0 if not after else len(ids)
    return ids[start : start + limit], start + limit < len(ids)


def page_before(ids: list[str], before: str, limit: int) -> tuple[list[str], bool]:
    end = ids.index(before) if before in ids else 0
    return ids[max(0, end - limit) : end], end > limit
