"""The five chat endpoints, and how every endpoint reads a request body."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec

from toolglot.client.session import Session
from toolglot.client.worker import in_worker
from toolglot.core.fold import unfold
from toolglot.core.interfaces import ResponseContext, Writer
from toolglot.core.messages import Message
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.core.request import Request
from toolglot.core.result_matching import match_results
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway.auth import Caller
from toolglot.gateway.body_structure import check_structure
from toolglot.gateway.frontends import CHAT, GEMINI, OLLAMA, RESPONSES, Frontend, JsonArrayWriter
from toolglot.gateway.http_exchange import HttpExchange
from toolglot.gateway.internal_exchange import InternalExchange
from toolglot.gateway.recent_threads import RecentThreads
from toolglot.gateway.records import Record
from toolglot.gateway.response_writer import ClientStream, ResponseWriter, response_headers, start_stream
from toolglot.gateway.routing import MAX_NAME, Candidate
from toolglot.gateway.shared_store import SharedStore
from toolglot.gateway.state import Gateway, Live, log
from toolglot.gateway.store import StoreError
from toolglot.gateway.upstream_request import Client, Opened, RateLimitTransport, open_response
from toolglot.io.json_codec import JSON_ERRORS, encode, replace_surrogate_escapes
from toolglot.pipeline.request.declared_tools import with_declared_tools
from toolglot.pipeline.request.request_bytes import read_request_bytes
from toolglot.pipeline.response.call_validator import unsupported_schema
from toolglot.wires.openai_chat.legacy_functions import uses_legacy_functions

_MAX_FORWARDED_HEADER = 1000  # characters
_MANY_MESSAGES = 100
_LARGE_BODY = 128 * 1024  # bytes; smaller ones are parsed within milliseconds


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

    def may_see(self, record: Record) -> bool:
        """A record is visible with the key of its request, or an admin key."""
        return self.caller.is_admin or record.owner == self.owner


# -- reading the request


async def read_body(call: EndpointCall) -> bytes:
    server = call.live.config.server
    body = await call.exchange.body(server.max_body, server.client_timeout)
    check = partial(check_structure, body, server.max_depth)
    await in_worker(check) if len(body) > _LARGE_BODY else check()
    return body


async def raw_body(call: EndpointCall) -> bytes:
    server = call.live.config.server
    return await call.exchange.body(server.max_body, server.client_timeout)


async def read_request(call: EndpointCall, body: bytes, **overrides: Any) -> tuple[Request, bytes]:
    """The request and its body. Some clients split a surrogate pair, so lone surrogates are replaced where needed."""
    read = partial(_read_request, call, body, **overrides)
    return await in_worker(read) if len(body) > _LARGE_BODY else read()


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


# -- the chat endpoint


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
    thread = ResponsesThread(call, body) if call.frontend is RESPONSES else None
    if thread is not None and call.gateway.shared_store is not None:
        await thread.fetch_history(call.gateway.shared_store)
    if thread is not None and thread.is_warm_up:
        await _warm_up(call, request, thread)
        return
    upstream_request = await thread.with_history(request) if thread is not None else request
    if not upstream_request.messages and thread is None:  # a conversation of the Responses API may be the server's
        raise CallerError("is missing or empty", "contents" if call.frontend is GEMINI else "messages")
    balancer = call.gateway.balancer
    candidates = balancer.order(call.live.routing.candidates(request.model))
    call.exchange.watch_disconnect()
    _record_candidate(call.record, candidates[0])  # if all fail, the error is that of the first
    opened = await open_response(
        _session(call), _client(call), upstream_request, candidates, balancer=balancer, cooldown=server.cooldown
    )
    _record_candidate(call.record, opened.candidate)
    call.record.tool_mode, call.record.tried = opened.response.plan.tool_mode.name, opened.failed
    stored_thread = thread if thread is not None and thread.is_kept else None
    content, prices = server.record, call.live.config.prices
    keep_events = content or stored_thread is not None
    context = response_context(call, request)
    response = ResponseWriter(call.frontend, opened, call.record, keep_events=keep_events, content=content, prices=prices)
    try:
        await (_stream if request.stream else _whole)(call, context, opened, response, stored_thread)
    finally:
        await opened.response.aclose()  # also if the client disconnects before the first chunk is read
    if content:
        call.record.content = response.content(body)


async def _load_model(call: EndpointCall, request: Request) -> None:
    """Ollama's clients send a request without messages to load a model. Nothing is sent upstream."""
    call.live.routing.candidates(request.model)
    call.record.status = 200
    created = datetime.fromtimestamp(call.record.began, UTC).isoformat().replace("+00:00", "Z")
    message = {"role": "assistant", "content": ""}
    last = {"model": request.model, "created_at": created, "message": message, "done_reason": "load", "done": True}
    await call.exchange.json(last)


async def _warm_up(call: EndpointCall, request: Request, thread: ResponsesThread) -> None:
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
    session, prefix = call.live.session, call.frontend.rate_limit_prefix
    if prefix is None:
        return session
    return msgspec.structs.replace(session, transport=RateLimitTransport(session.transport, call.exchange, prefix))


def _client(call: EndpointCall) -> Client:
    """With the vendor's version and beta headers, because some request fields need them."""
    headers: dict[str, str] = {}
    for name in call.frontend.forwarded_headers:
        value = call.exchange.headers.get(name)
        if value:
            headers[name.decode()] = value[:_MAX_FORWARDED_HEADER].decode("latin-1")
    return Client(call.frontend.wire.name, headers)


def response_context(call: EndpointCall, request: Request) -> ResponseContext:
    response_id, created = call.frontend.id_prefix + call.exchange.id, int(call.record.began)
    return ResponseContext(response_id, request.model, created, request.stream_usage, request)


async def _whole(
    call: EndpointCall, context: ResponseContext, opened: Opened, response: ResponseWriter, thread: ResponsesThread | None
) -> None:
    body = await response.whole(context)
    if thread is not None:
        await thread.save(response, context)
    call.record.status = 200
    await call.exchange.respond(200, body, response_headers(opened, call.record))


async def _stream(
    call: EndpointCall, context: ResponseContext, opened: Opened, response: ResponseWriter, thread: ResponsesThread | None
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
    ping = frontend.ping(context.model or "")
    async with ClientStream(exchange, ping, server.ping, server.client_timeout) as stream:
        await response.stream(writer, notes, stream, save)
    await exchange.end()


def _record_candidate(record: Record, candidate: Candidate) -> None:
    route = candidate.target.route
    record.upstream, record.target, record.upstream_wire = candidate.upstream.name, route.model, route.wire.name


# -- stored conversations of the Responses API


class _ThreadFields(msgspec.Struct):
    instructions: Any = None
    previous_response_id: str | None = None
    store: bool | None = None
    generate: bool | None = None  # on a WebSocket


class ResponsesThread:
    """A conversation of the Responses API that the gateway stores: its history, and the new messages."""

    def __init__(self, call: EndpointCall, body: bytes) -> None:
        self._call, self._recent, self._size = call, call.recent, len(body)
        try:
            self._fields = msgspec.json.decode(body, type=_ThreadFields)
        except JSON_ERRORS as error:
            raise CallerError(str(error)) from None
        self._new_messages: tuple[Message, ...] = ()
        self._fetched: tuple[Message, ...] | None = None

    @property
    def stores(self) -> bool:
        return self._fields.store is not False

    @property
    def is_kept(self) -> bool:
        """Stored, or known on its WebSocket."""
        return self.stores or self._recent is not None

    @property
    def is_warm_up(self) -> bool:
        return self._fields.generate is False and self._recent is not None

    def _recent_turns(self) -> tuple[tuple[Message, ...], str | None]:
        """The earlier messages that this WebSocket knows, and the stored response before them."""
        previous = self._fields.previous_response_id or None
        if previous is None or self._recent is None:
            return (), previous
        return self._recent.history(previous)

    async def fetch_history(self, store: SharedStore) -> None:
        """Before `with_history`, where gateways share their conversations."""
        if previous := self._recent_turns()[1]:
            self._fetched = await store.history(previous, self._call.owner)

    async def with_history(self, request: Request) -> Request:
        """The request with all earlier messages. Instructions of earlier requests do not apply, as in OpenAI's API."""
        has_history = bool(self._fields.previous_response_id)
        return await in_worker(partial(self._with_history, request)) if has_history else self._with_history(request)

    def _with_history(self, request: Request) -> Request:
        request = _without_background(request)
        leading = 1 if self._fields.instructions else 0
        instructions, self._new_messages = request.messages[:leading], request.messages[leading:]
        previous = self._fields.previous_response_id
        if not previous:
            return request
        history = self._history()
        if history is None:
            message = f"previous_response_id: response {previous[:100]!r} not found"
            raise UpstreamError(message, 400, "previous_response_not_found")
        wire_extra = request.extra.get("openai-responses", {})
        wire_extra = {key: value for key, value in wire_extra.items() if key != "previous_response_id"}
        messages = match_results((*instructions, *history, *self._new_messages))
        request = msgspec.structs.replace(request, messages=messages, extra={**request.extra, "openai-responses": wire_extra})
        return with_declared_tools(request)

    def _history(self) -> tuple[Message, ...] | None:
        recent, previous = self._recent_turns()
        if previous is None:
            return recent
        is_shared = self._call.gateway.shared_store is not None
        stored = self._fetched if is_shared else self._call.gateway.store.history(previous, self._call.owner)
        return None if stored is None else (*stored, *recent)

    async def save(self, response: ResponseWriter, context: ResponseContext) -> None:
        """Runs before the end of the response is sent: the client may continue the conversation right after it."""
        await self.save_reply(response.reply(), context)

    async def save_reply(self, reply: Reply, context: ResponseContext) -> None:
        if reply.error is not None:
            return
        messages = (*self._new_messages, Message("assistant", reply.parts)) if reply.parts else self._new_messages
        if self._recent is not None:
            self._recent.add(context.id or "", self._fields.previous_response_id or None, messages, self._size)
        if self.stores:
            await self._store(self._fields.previous_response_id or None, messages, reply, context)

    async def save_compacted(self, summary: Message, reply: Reply, context: ResponseContext) -> None:
        """A conversation that continues from this response has the summary alone."""
        if self._recent is not None:
            self._recent.add(context.id or "", None, (summary,), self._size)
        if self.stores:
            await self._store(None, (summary,), reply, context)

    async def _store(self, previous: str | None, messages: tuple[Message, ...], reply: Reply, context: ResponseContext) -> None:
        body = encode(self._call.frontend.wire.write_reply(reply, context, []))
        row = (context.id or "", self._call.owner, previous, messages, body)
        store, shared_store = self._call.gateway.store, self._call.gateway.shared_store
        try:
            if shared_store is not None:
                await shared_store.add(*row)
            elif store.in_memory and len(body) < _LARGE_BODY and len(messages) < _MANY_MESSAGES:
                store.add(*row)
            else:
                await asyncio.to_thread(store.add, *row)
        except StoreError as error:  # a full disk: the client gets its response all the same
            log.error("%s: %s", self._call.exchange.request_id, error)
            self._call.record.notes.append(str(error))


def _without_background(request: Request) -> Request:
    """The gateway itself runs responses in the background."""
    fields = request.extra.get("openai-responses", {})
    if "background" not in fields:
        return request
    fields = {key: value for key, value in fields.items() if key != "background"}
    return msgspec.structs.replace(request, extra={**request.extra, "openai-responses": fields})
