"""Sends a client's request to the first of its routes that responds."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from toolglot.client.error_advice import explained
from toolglot.client.retry import Policy
from toolglot.client.server_tools import ServedResponse
from toolglot.client.session import Response, Session, Target
from toolglot.client.transport import Answer, Limits, Transport
from toolglot.core.request import Request
from toolglot.errors import UpstreamError
from toolglot.gateway.balancing import Balancer
from toolglot.gateway.http_exchange import HttpExchange, header_text
from toolglot.gateway.routing import Candidate
from toolglot.pipeline.convert import with_defaults

RETRIES = Policy(attempts=2, first=0.25, most=0.25, longest=1.0, faults_only=True)  # clients retry longer themselves
_REQUEST_ERRORS = frozenset({400, 413, 415, 422})  # another route would give the same error
_LIMITS = Limits()
_MAX_RATE_LIMIT_HEADERS = 32


class Client(msgspec.Struct, frozen=True):
    """The client's wire, and its headers for upstreams of the same wire."""

    wire: str
    headers: dict[str, str] = {}


class Opened(msgspec.Struct, frozen=True):
    """A started response, its route, and the routes that failed before."""

    candidate: Candidate
    response: Response | ServedResponse
    failed: tuple[str, ...]


async def open_response(
    session: Session,
    client: Client,
    request: Request,
    candidates: tuple[Candidate, ...],
    *,
    balancer: Balancer | None = None,
    cooldown: float = 0.0,
) -> Opened:
    """The response of the first candidate that works. If all fail, raises the error of the first."""
    first: UpstreamError | None = None
    failed: list[str] = []
    for candidate in candidates:
        try:
            response = await _with_attempts(session, candidate).open(*for_target(client, request, candidate.target))
            if balancer is not None:
                balancer.worked(candidate.name)
            return Opened(candidate, response, tuple(failed))
        except UpstreamError as error:
            first = first or explained(error, candidate.upstream.row, candidate.target.route.model, candidate.upstream.key)
            failed.append(f"{candidate.name} failed before it answered: {error.code or error.status or 'fault'}")
            if error.status in _REQUEST_ERRORS:
                break
            if balancer is not None:
                balancer.failed(candidate.name, cooldown, error.retry_after)
    try:
        raise first or UpstreamError("no route matches", 404, "model_not_found")
    finally:
        first = None  # breaks the reference cycle between the error and this frame


def _with_attempts(session: Session, candidate: Candidate) -> Session:
    if candidate.attempts == session.retries.attempts:
        return session
    return msgspec.structs.replace(session, retries=msgspec.structs.replace(session.retries, attempts=candidate.attempts))


def for_target(client: Client, request: Request, target: Target) -> tuple[Request, Target]:
    """The request with the defaults of the target's wire, and the target with the client's headers."""
    request = with_defaults(request, client.wire, target.route.wire)
    if client.headers and target.route.wire.name == client.wire:
        target = msgspec.structs.replace(target, headers={**client.headers, **target.headers})
    return request, target


class RateLimitTransport:
    """A transport for one client request. It copies the rate-limit headers of the latest upstream response to the client."""

    def __init__(self, inner: Transport, exchange: HttpExchange, prefix: str) -> None:
        self._inner, self._exchange, self._prefix = inner, exchange, prefix

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, limits: Limits = _LIMITS
    ) -> Answer:
        response = await self._inner.send(method, url, headers, body, limits=limits)
        copied: list[tuple[bytes, bytes]] = []
        for name, value in response.headers.items():
            if name.startswith(self._prefix) and len(copied) < _MAX_RATE_LIMIT_HEADERS:
                copied.append((header_text([name]), header_text([value])))
        self._exchange.rate_limit_headers = copied
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()
