"""What an endpoint is given, and how it reads its body."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from toolglot.catalog.prices import cost
from toolglot.client.worker import in_worker
from toolglot.core.request import Request
from toolglot.errors import CallerError
from toolglot.gateway.auth import Caller
from toolglot.gateway.body_structure import check_structure
from toolglot.gateway.budgets import estimated_usage
from toolglot.gateway.frontends import Frontend
from toolglot.gateway.http_exchange import HttpExchange
from toolglot.gateway.internal_exchange import InternalExchange
from toolglot.gateway.recent_threads import RecentThreads
from toolglot.gateway.records import Record
from toolglot.gateway.routing import Candidate
from toolglot.gateway.state import Gateway, Live
from toolglot.io.json_codec import replace_surrogate_escapes
from toolglot.pipeline.request.request_bytes import read_request_bytes
from toolglot.pipeline.response.call_validator import unsupported_schema

_ESTIMATED = "the tokens are estimated: the upstream did not report them"
LARGE_BODY = 128 * 1024  # bytes; smaller ones are parsed within milliseconds


class EndpointCall(msgspec.Struct, frozen=True):
    """The arguments of an endpoint."""

    gateway: Gateway
    live: Live
    exchange: HttpExchange
    frontend: Frontend
    caller: Caller
    record: Record
    path_params: dict[str, str] = {}

    @property
    def owner(self) -> str:
        return self.caller.owner

    @property
    def recent(self) -> RecentThreads | None:
        """Of the WebSocket that the request came on."""
        return self.exchange.recent if isinstance(self.exchange, InternalExchange) else None

    def estimate_usage(self, candidate: Candidate, sent: int, received: int = 0) -> None:
        """Where the upstream did not report it, and a budget needs it: of a request of so many bytes and its response."""
        record, config = self.record, self.live.config
        if record.input is not None or not config.budgets:
            return
        if not any(budget.is_for(self.owner) for budget in config.budgets):
            return
        usage = estimated_usage(sent, received)
        record.input, record.output = usage.input, usage.output
        record.cost = cost(record.target, candidate.upstream.row.name, usage, config.prices)
        record.notes = [*record.notes, _ESTIMATED]

    def may_see(self, record: Record) -> bool:
        """A record is visible with the key of its request, or an admin key."""
        return self.caller.is_admin or record.owner == self.owner


# -- reading the request


async def read_body(call: EndpointCall) -> bytes:
    server = call.live.config.server
    body = await call.exchange.body(server.max_body, server.client_timeout)
    check = partial(check_structure, body, server.max_depth)
    await in_worker(check) if len(body) > LARGE_BODY else check()
    return body


async def read_request(call: EndpointCall, body: bytes, **overrides: Any) -> tuple[Request, bytes]:
    """The request and its body. Some clients split a surrogate pair, so lone surrogates are replaced where needed."""
    read = partial(_read_request, call, body, **overrides)
    return await in_worker(read) if len(body) > LARGE_BODY else read()


def _read_request(call: EndpointCall, body: bytes, **overrides: Any) -> tuple[Request, bytes]:
    try:
        return _request(call, body, **overrides), body
    except CallerError:
        valid = replace_surrogate_escapes(body)
        if valid == body:
            raise
    return _request(call, valid, **overrides), valid


def _request(call: EndpointCall, body: bytes, **overrides: Any) -> Request:
    server = call.live.config.server
    check = partial(check_structure, max_depth=server.max_depth)
    try:
        request = read_request_bytes(body, call.frontend.wire, check, call.caller.owner, **overrides)
    except RecursionError:
        raise CallerError("the body is nested too deeply") from None
    if len(request.tools) > server.max_tools:
        raise CallerError(f"{len(request.tools)} tools; the limit is {server.max_tools}", "tools")
    if not request.model:
        raise CallerError("is missing", "model")
    unsupported = unsupported_schema(request.tools) if server.schemas == "strict" else None
    if unsupported is not None:
        raise CallerError(f"the schema of {unsupported[0]} can't be compiled: {unsupported[1]}", "tools")
    return request
