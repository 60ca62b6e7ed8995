"""Responses over a WebSocket: each `response.create` is a request of its own, and its events are messages.

Requests of one lane (`stream_id`) run one after another, lanes at the same time. `response.steer` queues input for a running
response: it ends before its next event, or by itself if it has a call, and a successor continues with that input.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from typing import Any

import msgspec
from websockets.frames import CloseCode

from toolglot.errors import UpstreamError
from toolglot.gateway.concurrency import too_many_at_once
from toolglot.gateway.endpoint_call import EndpointCall
from toolglot.gateway.event_stream import EventSplitter, SentEvent, is_terminal
from toolglot.gateway.http_exchange import ClientDisconnected, RejectedRequestError, retry_headers, wrong_method
from toolglot.gateway.internal_exchange import InternalExchange, passed_on
from toolglot.gateway.recent_threads import RecentThreads
from toolglot.gateway.response_steering import Steer, SteerError, input_items, read_steer, required_input
from toolglot.gateway.websocket import WebSocket
from toolglot.io.json_codec import JSON_ERRORS, encode

_MAX_LANES = 16
_MAX_QUEUED = 16  # requests of one lane
_MAX_STEERS = 16  # for one response
_MAX_TURNS = 64  # that may be steered, or are waiting for the results of steered ones
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_OWN_FIELDS = ("type", "stream_id", "stream", "background")


async def responses_websocket(call: EndpointCall) -> None:
    exchange, gateway, server = call.exchange, call.gateway, call.live.config.server
    if exchange.take_over is None:
        raise _not_a_websocket(call)
    if gateway.sockets[call.owner] >= server.max_concurrent:
        raise too_many_at_once(server.max_concurrent)
    exchange.started = True
    socket = WebSocket(exchange.take_over(), server.max_body, min(server.ping, server.websocket_idle))
    if not await socket.accept(exchange):
        return
    gateway.sockets[call.owner] += 1
    try:
        await _Connection(call, socket).run()
        await socket.finish()
    finally:
        gateway.sockets[call.owner] -= 1


def _not_a_websocket(call: EndpointCall) -> UpstreamError:
    if b"upgrade" not in call.exchange.headers:
        return wrong_method(call.exchange.path, ["POST"])
    headers = (b"upgrade", b"websocket"), (b"connection", b"upgrade"), (b"connection", b"close")
    return RejectedRequestError("only websocket over HTTP/1.1 is supported here", 426, "upgrade_required", *headers)


class _Turn:
    """One response: its request, and what is known of it so far."""

    def __init__(self, fields: dict[str, msgspec.Raw], lane: str | None, size: int) -> None:
        self.fields, self.lane, self.size = fields, lane, size
        self.id = ""
        self.end = ""  # the last event
        self.sequence = 0  # of the next event
        self.inserted = 0  # events that are not the response's own
        self.required: list[dict[str, Any]] = []
        self.steers: list[Steer] = []

    @property
    def previous(self) -> str:
        return str(_decoded(self.fields.get("previous_response_id")) or "")


class _Connection:
    def __init__(self, call: EndpointCall, socket: WebSocket) -> None:
        self._call, self._socket = call, socket
        self._server = call.live.config.server
        self._recent = RecentThreads(self._server.max_body, call.gateway.recent_room)
        self._headers = passed_on(call.exchange.headers)
        self._lanes: dict[str | None, deque[_Turn]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._exchanges: set[InternalExchange] = set()
        self._turns: OrderedDict[str, _Turn] = OrderedDict()
        self._steer_number = 0
        self._last_used = asyncio.get_running_loop().time()

    async def run(self) -> None:
        try:
            while (message := await self._socket.receive(self._is_idle)) is not None:
                await self._received(message.encode())
            if self._socket.is_stopping:
                await asyncio.gather(*self._tasks)  # the server waits for running responses
                await self._socket.close(CloseCode.GOING_AWAY, "the gateway stops")
        except ClientDisconnected:
            pass
        finally:
            await self._cancel()

    async def _cancel(self) -> None:
        for exchange in self._exchanges:
            exchange.disconnected = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._recent.clear()

    def _is_idle(self) -> bool:
        return not self._tasks and asyncio.get_running_loop().time() - self._last_used >= self._server.websocket_idle

    # -- what the client sends

    async def _received(self, message: bytes) -> None:
        lane: str | None = None
        try:
            fields = _FIELDS.decode(message)
            kind, lane = _decoded(fields.get("type")), _lane(fields)
            if kind == "response.create":
                self._create(fields, lane, len(message))
            elif kind == "response.steer":
                await self._steer(fields)
            else:
                raise _invalid(f"unknown event type {str(kind)[:100]!r}")
        except JSON_ERRORS as error:
            await self._send_error(
                UpstreamError(f"a message must be a JSON object: {error}", 400, "invalid_request_error"), lane
            )
        except UpstreamError as error:
            await self._send_error(error, lane)

    def _create(self, fields: dict[str, msgspec.Raw], lane: str | None, size: int) -> None:
        if _decoded(fields.get("background")):
            raise _invalid("background is not supported over a WebSocket")
        waiting = self._lanes.get(lane)
        total = size + sum(turn.size for queue in self._lanes.values() for turn in queue)
        is_full = len(self._lanes) >= _MAX_LANES if waiting is None else len(waiting) >= _MAX_QUEUED
        if is_full or total > self._server.max_body:
            raise UpstreamError("too many requests are waiting on this connection", 429, "too_many_requests", 1.0)
        turn = _Turn({name: value for name, value in fields.items() if name not in _OWN_FIELDS}, lane, size)
        if waiting is not None:
            waiting.append(turn)
            return
        self._lanes[lane] = deque([turn])
        task = asyncio.get_running_loop().create_task(self._run_lane(lane))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _steer(self, fields: dict[str, msgspec.Raw]) -> None:
        target: _Turn | None = None
        try:
            previous, items = read_steer(fields)
            target = self._turns.get(previous)
            if target is None:
                raise SteerError("response_not_found", "this connection has no such response")
            if target.end and not (target.required and target.end == "response.completed"):
                raise SteerError("response_already_completed", "the response is complete")
            if len(target.steers) >= _MAX_STEERS:
                raise SteerError("too_many_pending_steers", f"{_MAX_STEERS} steers are waiting already")
        except SteerError as error:
            await self._send_event("response.steer.failed", error.event(fields), target)
            return
        self._steer_number += 1
        steer = Steer(f"steer_{self._call.exchange.id}_{self._steer_number}", target.id, items, fields["input"])
        target.steers.append(steer)
        await self._send_event("response.steer.accepted", {"steer": steer.reference()}, target)
        if target.end:
            await self._send_pending(target, steer)

    async def _send_pending(self, turn: _Turn, steer: Steer) -> None:
        body = {"steer": steer.reference(), "reason": "waiting_for_required_input", "required_input": turn.required}
        await self._send_event("response.steer.pending", body, turn)

    # -- responses

    async def _run_lane(self, lane: str | None) -> None:
        queue = self._lanes[lane]
        try:
            while queue:
                turn: _Turn | None = queue[0]
                while turn is not None:
                    turn = await self._respond(turn)
                queue.popleft()
        except ClientDisconnected:
            pass
        finally:
            del self._lanes[lane]
            self._last_used = asyncio.get_running_loop().time()

    async def _respond(self, turn: _Turn) -> _Turn | None:
        """Runs one request. Returns its successor, if it was steered."""
        earlier = self._turns.get(turn.previous)
        waiting = list(earlier.steers) if earlier is not None else []
        fields = {**turn.fields, "stream": msgspec.Raw(b"true")}
        if waiting:
            items = [item for steer in waiting for item in steer.items]
            fields["input"] = msgspec.Raw(encode([*items, *input_items(turn.fields.get("input"))]))
        exchange = self._exchange(turn, encode(fields), earlier)
        self._exchanges.add(exchange)
        try:
            await exchange.run(self._call.gateway.handle)
        finally:
            self._exchanges.discard(exchange)
        if not turn.end:
            self._recent.forget(turn.previous)  # as in the API: the client sends everything again
            error = exchange.failure or UpstreamError("the response broke off", 500, "internal_error")
            await self._send_error(error, turn.lane, exchange.response_body)
            await self._fail_steers(earlier, waiting, "successor_creation_failed", error.message)
        return await self._after(turn)

    def _exchange(self, turn: _Turn, body: bytes, earlier: _Turn | None) -> InternalExchange:
        splitter = EventSplitter()

        async def on_chunk(data: bytes) -> None:
            for event in splitter.feed(data):
                await self._on_event(turn, event, earlier)

        path, caller = "/v1/responses", self._call.caller
        exchange = InternalExchange(path, body, caller, self._headers, on_chunk=on_chunk, recent=self._recent)
        exchange.is_steered = lambda: bool(turn.steers) and not turn.required
        return exchange

    async def _on_event(self, turn: _Turn, event: SentEvent, earlier: _Turn | None) -> None:
        if event.kind == "response.created":
            turn.id = event.response_id
            self._turns[turn.id] = turn
            if earlier is not None:
                earlier.steers = []  # committed
            while len(self._turns) > _MAX_TURNS:
                self._turns.popitem(last=False)
        elif event.kind == "response.output_item.done" and (stub := required_input(event.item)):
            turn.required.append(stub)
        elif is_terminal(event.kind):
            turn.end = event.kind
        turn.sequence = event.sequence + turn.inserted + 1
        await self._send(event.renumbered(turn.sequence - 1), turn.lane)

    async def _after(self, turn: _Turn) -> _Turn | None:
        if not turn.steers:
            return None
        if turn.end == "response.completed" and turn.required:
            for steer in turn.steers:
                await self._send_pending(turn, steer)
            return None
        if turn.end not in ("response.completed", "response.incomplete"):
            await self._fail_steers(turn, turn.steers, "response_not_active", "the response failed")
            return None
        later = {name: value for name, value in turn.fields.items() if name != "generate"}
        later |= {"input": msgspec.Raw(b"[]"), "previous_response_id": msgspec.Raw(encode(turn.id))}
        return _Turn(later, turn.lane, turn.size)

    async def _fail_steers(self, turn: _Turn | None, steers: list[Steer], code: str, message: str) -> None:
        for steer in steers:
            error = SteerError(code, message)
            await self._send_event("response.steer.failed", error.event({"input": steer.given}, steer), turn)
        if turn is not None and steers:
            turn.steers = []

    # -- what the client gets

    async def _send_event(self, kind: str, body: dict[str, Any], turn: _Turn | None) -> None:
        number = 0
        if turn is not None:
            number, turn.sequence, turn.inserted = turn.sequence, turn.sequence + 1, turn.inserted + 1
        await self._send(encode({"type": kind, "sequence_number": number, **body}), turn.lane if turn is not None else None)

    async def _send_error(self, error: UpstreamError, lane: str | None, body: bytes = b"") -> None:
        """As over HTTP: the status, the error object, and the headers that say whether to retry."""
        status, written = self._call.frontend.wire.write_error(error)
        detail = dict((msgspec.json.decode(body) if body else written)["error"])
        headers = {name.decode(): value.decode() for name, value in retry_headers(error)}
        if headers:
            detail["headers"] = headers
        event = {"type": "error", "status": status, "error": detail}
        await self._send(encode({**event, "headers": headers} if headers else event), lane)

    async def _send(self, event: bytes, lane: str | None) -> None:
        if lane is not None:
            event = b'%b,"stream_id":%b}' % (event[:-1], encode(lane))
        await self._socket.send(event)


def _decoded(value: msgspec.Raw | None) -> Any:
    return None if value is None else msgspec.json.decode(value)


def _invalid(problem: str) -> UpstreamError:
    return UpstreamError(problem, 400, "invalid_request_error")


def _lane(fields: dict[str, msgspec.Raw]) -> str | None:
    lane = _decoded(fields.get("stream_id"))
    if lane is not None and not (isinstance(lane, str) and 0 < len(lane) <= 256):
        raise _invalid("stream_id must be a string of 1 to 256 characters")
    return lane
