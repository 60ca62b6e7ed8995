"""The ASGI application: authenticates a request, applies limits, runs its endpoint, and always sends a response."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from toolglot.client.transport import request_owner, request_sent
from toolglot.errors import CallerError, ToolglotError, UpstreamError
from toolglot.gateway.auth import LOCAL, Caller, authenticate, check_admin, check_known
from toolglot.gateway.budgets import check_budgets
from toolglot.gateway.config import Config
from toolglot.gateway.cors import allow_origin, is_preflight, respond_to_preflight
from toolglot.gateway.endpoint_call import EndpointCall
from toolglot.gateway.endpoints import Endpoint, find_endpoint, frontend_for
from toolglot.gateway.frontends import Frontend, frontend_from_headers
from toolglot.gateway.http_exchange import (
    ClientDisconnected,
    HttpExchange,
    IdleTimer,
    Receive,
    RejectedRequestError,
    Scope,
    Send,
    header_text,
    retry_headers,
)
from toolglot.gateway.internal_exchange import InternalExchange
from toolglot.gateway.records import CLIENT_CLOSED, Record
from toolglot.gateway.state import Gateway, log

_TIMEOUTS = frozenset({"timeout_connect", "timeout_first_byte", "timeout_idle", "timeout_send"})
_ALL_BUSY = "timeout_pool"
_RETRY_AFTER = 1.0  # seconds
_MAX_CLIENT = 60  # characters
_UNLIMITED: AbstractContextManager[None] = nullcontext()
_CLOSE_CONNECTION = frozenset({408, 413, 415})  # the rest of the body is not read


class App:
    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self._idle_timer = IdleTimer()
        gateway.handle = self._http

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Coroutine[Any, Any, None]:
        """Returns the coroutine instead of being one: that would be resumed for each chunk, too."""
        if scope["type"] == "http":
            return self._http(HttpExchange(scope, receive, send, self._idle_timer))
        return self._lifespan(scope, receive, send)

    # -- one request

    async def _http(self, exchange: HttpExchange) -> None:
        gateway, live = self.gateway, self.gateway.live
        record = gateway.records.begin(exchange.request_id, "")
        frontend, endpoint = None, None
        try:
            if live.config.server.cors_origins:
                allow_origin(exchange, live.config.server.cors_origins)
            if exchange.cors_headers and is_preflight(exchange):
                await respond_to_preflight(exchange)
                return
            endpoint, path_params = find_endpoint(exchange.method, exchange.path)
            frontend = frontend_from_headers(exchange, endpoint.frontend) if endpoint.shared else endpoint.frontend
            exchange.request_id_header = frontend.server.request_id_header
            record.wire = frontend.wire.name
            record.traceparent = exchange.header(b"traceparent")[:64]
            record.client = _client_name(exchange)
            caller = _caller(exchange, endpoint, live.config)
            record.owner = caller.owner
            request_owner.set(caller.owner)
            call = EndpointCall(gateway, live, exchange, frontend, caller, record, path_params)
            request_sent.set(record)
            if endpoint.recorded and live.config.budgets:
                await self._check_budgets(call)
            server = live.config.server
            limits = (caller.owner, server.max_concurrent, server.rate if exchange.rated else 0.0, server.burst)
            shared = _UNLIMITED
            if endpoint.limited and not gateway.shared.is_local:
                shared = await gateway.shared.take_slot(*limits)
            with shared, gateway.gate.slot(*limits) if endpoint.limited else _UNLIMITED:
                await endpoint.handler(call)
            if exchange.later is not None:
                await exchange.later()
        except asyncio.CancelledError:
            if not exchange.disconnected:
                raise
            record.status = CLIENT_CLOSED
        except ClientDisconnected:
            record.status = CLIENT_CLOSED
        except ToolglotError as error:
            await self._fail(exchange, frontend, record, as_upstream_error(error), param=getattr(error, "where", ""))
        except Exception as error:  # noqa: BLE001  (the client always gets a response; the log has the traceback)
            log.exception("internal error")
            fault = UpstreamError("internal error in the gateway", 500, type(error).__name__)
            await self._fail(exchange, frontend, record, fault)
        finally:
            exchange.close()
            if endpoint is not None and endpoint.recorded and not exchange.unrecorded:
                record.seconds = record.elapsed()
                gateway.records.add(record)

    async def _check_budgets(self, call: EndpointCall) -> None:
        budgets = [budget for budget in call.live.config.budgets if budget.is_for(call.owner)]
        if budgets:
            check_budgets(budgets, await self.gateway.overview.spent(call.owner), call.record.began)

    async def _fail(
        self, exchange: HttpExchange, frontend: Frontend | None, record: Record, error: UpstreamError, param: str = ""
    ) -> None:
        """Sends the error in the client's API. A started response can only be aborted: the client sees it as incomplete."""
        if frontend is None:
            frontend = frontend_for(exchange)
            exchange.request_id_header = frontend.server.request_id_header
        status, body = frontend.wire.write_error(error)
        _add_request_details(body, exchange.request_id, param)
        record.status, record.code, record.error = status, error.code or "", error.message
        if isinstance(exchange, InternalExchange):
            exchange.failed(error, by_upstream=bool(record.upstream))
        if exchange.started:
            return
        headers = retry_headers(error)
        if isinstance(error, RejectedRequestError):
            headers += error.headers
        if record.upstream:
            headers.append((b"x-toolglot-upstream", header_text([f"{record.upstream}/{record.target}"])))
        if status in _CLOSE_CONNECTION:
            headers.append((b"connection", b"close"))
        await exchange.json(body, status, headers)

    # -- startup and shutdown

    async def _lifespan(self, scope: Scope, receive: Receive, send: Send) -> None:
        tasks: list[asyncio.Task[None]] = []
        if scope["type"] != "lifespan":
            return
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                jobs = self.gateway.background_jobs
                tasks = [asyncio.create_task(_run(job(self.gateway))) for job in jobs]  # type: ignore[arg-type]
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                await self.gateway.aclose()
                await send({"type": "lifespan.shutdown.complete"})
                return


def _caller(exchange: HttpExchange, endpoint: Endpoint, config: Config) -> Caller:
    if isinstance(exchange, InternalExchange):
        return check_known(exchange.caller, config)
    caller = LOCAL if endpoint.open else authenticate(exchange, config)
    if endpoint.admin:
        check_admin(caller)
    return caller


def _client_name(exchange: HttpExchange) -> str:
    """The first word of its User-Agent, such as `claude-cli/2.1.197`."""
    name = exchange.header(b"user-agent")[:_MAX_CLIENT].partition(" ")[0]
    return name if name.isascii() and name.isprintable() else ""


def _add_request_details(body: dict[str, Any], request_id: str, param: str) -> None:
    """Fills in the fields of an error body that only the server knows."""
    if "request_id" in body:
        body["request_id"] = request_id
    error = body["error"]
    if param and isinstance(error, dict) and "param" in error:
        error["param"] = param


async def _run(job: Coroutine[Any, Any, None]) -> None:
    await job


def as_upstream_error(error: ToolglotError) -> UpstreamError:
    """Every error as one that a wire can write."""
    if isinstance(error, UpstreamError):
        if error.code == _ALL_BUSY:
            return UpstreamError(error.message, 503, error.code, error.retry_after or _RETRY_AFTER, error.should_retry)
        if error.status is None and error.code in _TIMEOUTS:
            return UpstreamError(error.message, 504, error.code, error.retry_after, error.should_retry)
        if error.status is not None and not 400 <= error.status < 600:  # of a success, or of no known kind
            return UpstreamError(error.message, 502, error.code, error.retry_after, error.should_retry)
        return error
    if isinstance(error, CallerError):
        return UpstreamError(str(error), error.status, "invalid_request_error")
    return UpstreamError(str(error), 502, "fault")
