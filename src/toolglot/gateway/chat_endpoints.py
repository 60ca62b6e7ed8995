"""The chat endpoint of every API."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec

from toolglot.client.session import Response, Session
from toolglot.client.worker import in_worker
from toolglot.core.fold import unfold
from toolglot.core.interfaces import ResponseContext, Writer
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.core.request import Request
from toolglot.errors import CallerError
from toolglot.gateway.endpoint_call import LARGE_BODY, EndpointCall, read_request
from toolglot.gateway.frontends import CHAT, GEMINI, OLLAMA, JsonArrayWriter
from toolglot.gateway.records import Record
from toolglot.gateway.response_writer import ClientStream, ResponseWriter, response_headers, start_stream
from toolglot.gateway.routing import MAX_NAME, Candidate
from toolglot.gateway.stored_thread import StoredThread, stored_thread
from toolglot.gateway.upstream_request import Client, Opened, RateLimitTransport, open_response
from toolglot.wires.openai_chat.legacy_functions import uses_legacy_functions

_MAX_FORWARDED_HEADER = 1000  # characters


async def chat(call: EndpointCall, body: bytes | None = None) -> None:
    server = call.live.config.server
    if body is None:
        body = await call.exchange.body(server.max_body, server.client_timeout)
    overrides: dict[str, Any] = {}
    if "verb" in call.path_params:
        streams = call.path_params["verb"] == "streamGenerateContent"
        overrides = {"model": call.path_params["model"], "stream": streams}
    request, body = await read_request(call, body, **overrides)
    if call.frontend is CHAT and uses_legacy_functions(request):  # that response format has room for one call
        request = msgspec.structs.replace(request, parallel=False)
    call.record.model, call.record.stream = request.model[:MAX_NAME], request.stream
    if call.frontend is OLLAMA and not request.messages:
        await _load_model(call, request)
        return
    thread = await stored_thread(call, body)
    if thread is not None and thread.is_warm_up:
        await _warm_up(call, request, thread)
        return
    upstream_request = await thread.with_history(request) if thread is not None else request
    if not upstream_request.messages and thread is None:  # a stored conversation may be the upstream's
        raise CallerError("is missing or empty", call.frontend.server.messages_key)
    balancer = call.gateway.balancer
    candidates = balancer.order(call.live.routing.candidates(request.model))
    call.exchange.watch_disconnect()
    size, content, prices = len(body), server.record, call.live.config.prices
    body = body if content else b""  # a response may last for minutes
    _record_candidate(call.record, candidates[0])  # if all fail, the error is that of the first
    try:
        opened = await open_response(
            _session(call), _client(call), upstream_request, candidates, balancer=balancer, cooldown=server.cooldown
        )
    except asyncio.CancelledError:  # the client left; what it sent was read
        call.estimate_usage(candidates[0], size)
        raise
    _record_candidate(call.record, opened.candidate)
    call.record.tool_mode, call.record.tried = opened.response.plan.tool_mode.name, opened.failed
    kept_thread = thread if thread is not None and thread.is_kept else None
    if isinstance(opened.response, Response):
        opened.response.is_steered = call.exchange.is_steered
    keep_events = content or kept_thread is not None
    context = response_context(call, request)
    response = ResponseWriter(call.frontend, opened, call.record, keep_events=keep_events, content=content, prices=prices)
    try:
        await (_stream if request.stream else _whole)(call, context, opened, response, kept_thread)
    finally:
        await opened.response.aclose()  # also if the client disconnects before the first chunk is read
        call.estimate_usage(opened.candidate, size, response.characters)
    if content:
        collect = partial(response.content, body)
        is_large = size + response.characters > LARGE_BODY
        call.record.content = await in_worker(collect) if is_large else collect()


async def _load_model(call: EndpointCall, request: Request) -> None:
    """Ollama's clients send a request without messages to load a model. Nothing is sent upstream."""
    call.live.routing.candidates(request.model)
    call.record.status = 200
    created = datetime.fromtimestamp(call.record.began, UTC).isoformat().replace("+00:00", "Z")
    message = {"role": "assistant", "content": ""}
    last = {"model": request.model, "created_at": created, "message": message, "done_reason": "load", "done": True}
    await call.exchange.json(last)


async def _warm_up(call: EndpointCall, request: Request, thread: StoredThread) -> None:
    """`generate: false` on a WebSocket: the client wants to continue from this input. Nothing is sent upstream."""
    await thread.with_history(request)
    call.live.routing.candidates(request.model)
    context = response_context(call, request)
    reply = Reply(context.id, request.model, (), Stop("stop"), Usage(0, 0))
    await thread.save_reply(reply, context)
    call.record.status = 200
    writer = call.frontend.wire.writer(context, [])
    events = b"".join([writer.feed(event) for event in unfold(reply)]) + writer.close()
    await call.exchange.respond(200, events, media_type=call.frontend.wire.media_type.encode())


def _session(call: EndpointCall) -> Session:
    """A session that copies the upstream's rate-limit headers for clients of the same vendor."""
    session, prefix = call.live.session, call.frontend.server.rate_limit_prefix
    if prefix is None:
        return session
    return msgspec.structs.replace(session, transport=RateLimitTransport(session.transport, call.exchange, prefix))


def _client(call: EndpointCall) -> Client:
    """With the vendor's version and beta headers, because some request fields need them."""
    headers: dict[str, str] = {}
    for name in call.frontend.server.forwarded_headers:
        value = call.exchange.headers.get(name)
        if value:
            headers[name.decode()] = value[:_MAX_FORWARDED_HEADER].decode("latin-1")
    return Client(call.frontend.wire.name, headers)


def response_context(call: EndpointCall, request: Request) -> ResponseContext:
    response_id, created = call.frontend.server.id_prefix + call.exchange.id, int(call.record.began)
    return ResponseContext(response_id, request.model, created, request.stream_usage, request)


async def _whole(
    call: EndpointCall, context: ResponseContext, opened: Opened, response: ResponseWriter, thread: StoredThread | None
) -> None:
    body = await response.whole(context)
    if thread is not None:
        await thread.save(response, context)
    call.record.status = 200
    await call.exchange.respond(200, body, response_headers(opened, call.record))


async def _stream(
    call: EndpointCall, context: ResponseContext, opened: Opened, response: ResponseWriter, thread: StoredThread | None
) -> None:
    exchange, frontend, server = call.exchange, call.frontend, call.live.config.server
    save = None if thread is None else partial(thread.save, response, context)
    as_array = frontend is GEMINI and exchange.query_value("alt") != "sse"
    notes: list[str] = []
    writer: Writer = frontend.wire.writer(context, notes)
    if as_array:
        writer = JsonArrayWriter(writer)
    call.record.status = 200
    call.record.first = call.record.elapsed()
    await start_stream(exchange, frontend, opened, as_array)
    ping = frontend.server.ping(context.model or "")
    async with ClientStream(exchange, ping, server.ping, server.client_timeout) as stream:
        await response.stream(writer, notes, stream, save)
    await exchange.end()


def _record_candidate(record: Record, candidate: Candidate) -> None:
    route = candidate.target.route
    record.upstream, record.target, record.upstream_wire = candidate.upstream.name, route.model, route.wire.name
