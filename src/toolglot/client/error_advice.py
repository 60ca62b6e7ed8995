"""What to do about an error that a server answers, by its status. Below HTTP the message says it already (http/faults.py)."""

from __future__ import annotations

from toolglot.catalog.providers import Provider
from toolglot.client.keys import Secret
from toolglot.errors import UpstreamError

_BY_STATUS = {
    402: "the account has no credit: check its billing",
    403: "this API key may not use the model: check its rights",
    404: "check the model's name and base_url",
    408: "the server was too slow: try again",
    413: "the request is too large for this server",
    429: "the server limits requests: wait, or use another model or key",
    500: "the server failed: see its log",
    502: "the server behind it failed: see its log",
    503: "the server is busy or starting: try again",
    504: "the server was too slow: try again, or allow more time",
    529: "the vendor is overloaded: try again later",
}
_UNAUTHORIZED = 401


def advice(error: UpstreamError, row: Provider, key: Secret | None) -> str:
    if error.status == _UNAUTHORIZED:
        if key is None:
            return f"the API key is missing: set {row.key or 'api_key'}"
        return f"the API key from {key.source} is invalid"
    return _BY_STATUS.get(error.status or 0, "")


def explained(error: UpstreamError, row: Provider, model: str, key: Secret | None) -> UpstreamError:
    """The error with provider, model, status and advice after its own message."""
    parts = [f"{row.name} {model}", f"status {error.status}" if error.status is not None else "", advice(error, row, key)]
    message = f"{error.message} [{', '.join(part for part in parts if part)}]"
    return UpstreamError(message, error.status, error.code, error.retry_after, error.should_retry)
