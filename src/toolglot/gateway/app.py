"""The ASGI application: the door, the limits, the endpoint, and an end to every request, whatever happens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from contextlib import nullcontext
from typing import Any

from toolglot.errors import CallerError, ToolglotError, UpstreamError
from toolglot.gateway.converse import Call
from toolglot.gateway.cors import answer_before, asks_before, welcome
from toolglot.gateway.door import ANYONE, enter
from toolglot.gateway.exchange import ClientLeft, Exchange, Receive, Scope, Send, header_text, retry_headers
from toolglot.gateway.fronts import Front, told_by_headers
from toolglot.gateway.records import Record
from toolglot.gateway.rounds import Rounds
from toolglot.gateway.state import Gateway, log
from toolglot.gateway.table import Endpoint, find_endpoint, front_for
from toolglot.gateway.turned_away import TurnedAwayError

_LEFT = 499  # the client left: as nginx notes it
_SLOW = frozenset({"timeout_connect", "timeout_first_byte", "timeout_idle", "timeout_send", "timeout_pool"})
_UNLIMITED = nullcontext()
_CLOSES = frozenset({408, 413, 415})  # the rest of the body is not waited for


class App:
    def __init__(self, gateway: Gateway) -> None:
        self.gateway = gateway
        self._rounds = Rounds()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(Exchange(scope, receive, send, self._rounds))
        elif scope["type"] == "lifespan":
            await self._lifespan(receive, send)

    # -- one request

    async def _http(self, exchange: Exchange) -> None:
        gateway, live = self.gateway, self.gateway.live
        record = gateway.records.begin(exchange.request_id, "")
        front, endpoint = None, None
        clock = time.perf_counter()
        try:
            welcome(exchange, live.config.server.cors_origins)
            if asks_before(exchange):
                await answer_before(exchange)
                return
            endpoint, told = find_endpoint(exchange.method, exchange.path)
            front = told_by_headers(exchange, endpoint.front) if endpoint.shared else endpoint.front
            exchange.request_header = front.request_header
            record.wire = front.wire.name
            record.traceparent = exchange.header(b"traceparent")[:64]
            server = live.config.server
            owner = ANYONE if endpoint.open else enter(exchange, live.config.keys, server.host)
            record.owner = owner
            gate = (owner, server.max_concurrent, server.rate, server.burst)
            with gateway.gate.place(*gate) if endpoint.limited else _UNLIMITED:
                await endpoint.handler(Call(gateway, live, exchange, front, owner, record, told))
        except asyncio.CancelledError:
            if not exchange.left:
                raise
            record.status = _LEFT
        except ClientLeft:
            record.status = _LEFT
        except ToolglotError as error:
            await self._fail(exchange, front, record, as_fault(error), where=getattr(error, "where", ""))
        except Exception as error:  # noqa: BLE001  (the last guard: the client gets an answer, and the log the reason)
            log.exception("a fault of the gateway's own")
            await self._fail(exchange, front, record, UpstreamError("the gateway failed", 500, type(error).__name__))
        finally:
            exchange.close()
            self._over(endpoint, record, clock)

    async def _fail(
        self, exchange: Exchange, front: Front | None, record: Record, error: UpstreamError, where: str = ""
    ) -> None:
        """An error in the client's own shape. What has begun can only be broken off: that is seen as a fault too."""
        if front is None:
            front = front_for(exchange)
            exchange.request_header = front.request_header
        status, body = front.wire.write_fault(error)
        _fill_in(body, exchange.request_id, where)
        record.status, record.code = status, error.code or ""
        if exchange.started:
            log.warning("%s broke off: %s", exchange.request_id, error.code)
            return
        headers = retry_headers(error)
        if isinstance(error, TurnedAwayError):
            headers += error.headers
        if record.upstream:  # it got so far
            headers.append((b"x-toolglot-upstream", header_text([f"{record.upstream}/{record.target}"])))
        if status in _CLOSES:
            headers.append((b"connection", b"close"))
        await exchange.json(body, status, headers)

    def _over(self, endpoint: Endpoint | None, record: Record, clock: float) -> None:
        if endpoint is not None and endpoint.asks:
            record.seconds = time.perf_counter() - clock
            self.gateway.records.keep(record)

    # -- the server's life

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        tasks: list[asyncio.Task[None]] = []
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                tasks = [asyncio.create_task(_running(work(self.gateway))) for work in self.gateway.around]  # type: ignore[arg-type]
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                await self.gateway.aclose()
                await send({"type": "lifespan.shutdown.complete"})
                return


def _fill_in(body: dict[str, Any], request_id: str, where: str) -> None:
    """What a wire has a place for and only the server knows."""
    if "request_id" in body:
        body["request_id"] = request_id
    error = body["error"]
    if where and isinstance(error, dict) and "param" in error:
        error["param"] = where


async def _running(work: Coroutine[Any, Any, None]) -> None:
    await work


def as_fault(error: ToolglotError) -> UpstreamError:
    """Every error as one that a wire can write."""
    if isinstance(error, UpstreamError):
        if error.status is None and error.code in _SLOW:
            return UpstreamError(error.message, 504, error.code, error.retry_after, error.should_retry)
        if error.status is not None and error.status < 400:  # an answer that came under a success and is none
            return UpstreamError(error.message, 502, error.code, error.retry_after, error.should_retry)
        return error
    if isinstance(error, CallerError):
        return UpstreamError(str(error), error.status, "invalid_request_error")
    return UpstreamError(str(error), 502, "fault")
