"""The chat endpoint of every API, and how every endpoint reads a request body."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any, Protocol, cast

import msgspec

from toolglot.catalog.prices import cost
from toolglot.client.session import Session
from toolglot.client.worker import in_worker
from toolglot.core.fold import unfold
from toolglot.core.interfaces import Conversations, ResponseContext, Writer
from toolglot.core.messages import Message
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.core.request import Request
from toolglot.core.result_matching import match_results
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway.auth import Caller
from toolglot.gateway.body_structure import check_structure
from toolglot.gateway.budgets import estimated_usage
from toolglot.gateway.frontends import CHAT, GEMINI, OLLAMA, Frontend, JsonArrayWriter
from toolglot.gateway.http_exchange import HttpExchange
from toolglot.gateway.internal_exchange import InternalExchange
from toolglot.gateway.recent_threads import RecentThreads
from toolglot.gateway.records import Record
from toolglot.gateway.response_writer import ClientStream, ResponseWriter, response_headers, start_stream
from toolglot.gateway.routing import MAX_NAME, Candidate
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
ESTIMATED = "the tokens are estimated: the upstream did not report them"
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
        record.notes = [*record.notes, ESTIMATED]

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
    _record_candidate(call.record, candidates[0])  # if all fail, the error is that of the first
    try:
        opened = await open_response(
            _session(call), _client(call), upstream_request, candidates, balancer=balancer, cooldown=server.cooldown
        )
    except asyncio.CancelledError:  # the client left; what it sent was read
        call.estimate_usage(candidates[0], len(body))
        raise
    _record_candidate(call.record, opened.candidate)
    call.record.tool_mode, call.record.tried = opened.response.plan.tool_mode.name, opened.failed
    kept_thread = thread if thread is not None and thread.is_kept else None
    content, prices = server.record, call.live.config.prices
    keep_events = content or kept_thread is not None
    context = response_context(call, request)
    response = ResponseWriter(call.frontend, opened, call.record, keep_events=keep_events, content=content, prices=prices)
    try:
        await (_stream if request.stream else _whole)(call, context, opened, response, kept_thread)
    finally:
        await opened.response.aclose()  # also if the client disconnects before the first chunk is read
        call.estimate_usage(opened.candidate, len(body), response.characters)
    if content:
        collect = partial(response.content, body)
        is_large = len(body) + response.characters > _LARGE_BODY
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


# -- stored conversations


class _ThreadFields(Protocol):
    instructions: Any
    previous: str | None
    store: bool | None
    generate: bool | None  # on a WebSocket


@cache
def _thread_fields(conversations: Conversations) -> type[_ThreadFields]:
    """The fields of a request, under the keys of its wire."""
    flags = [("store", bool | None, None), ("generate", bool | None, None)]
    fields = [("instructions", Any, None), ("previous", str | None, None), *flags]
    keys = {"instructions": conversations.instructions, "previous": conversations.previous}
    return cast(type[_ThreadFields], msgspec.defstruct("ThreadFields", fields, rename=keys))


async def stored_thread(call: EndpointCall, body: bytes) -> StoredThread | None:
    conversations = call.frontend.wire.conversations
    if conversations is None:
        return None
    read = partial(StoredThread, call, body, conversations)
    return await in_worker(read) if len(body) > _LARGE_BODY else read()


class StoredThread:
    """A conversation that the gateway stores, on a wire that has such: its history, and the new messages."""

    def __init__(self, call: EndpointCall, body: bytes, conversations: Conversations) -> None:
        self._call, self._recent, self._size = call, call.recent, len(body)
        self._conversations = conversations
        try:
            self._fields: _ThreadFields = msgspec.json.decode(body, type=_thread_fields(conversations))
        except JSON_ERRORS as error:
            raise CallerError(str(error)) from None
        self._new_messages: tuple[Message, ...] = ()

    @property
    def stores(self) -> bool:
        return self._fields.store is not False

    @property
    def is_kept(self) -> bool:
        """Stored, or known on its WebSocket."""
        return self._recent is not None or self.stores

    @property
    def is_warm_up(self) -> bool:
        return self._fields.generate is False and self._recent is not None

    async def with_history(self, request: Request) -> Request:
        """The request with all earlier messages. Instructions of earlier requests do not apply, as in the vendors' APIs."""
        request = self._without_background(request)
        leading = 1 if self._fields.instructions else 0
        self._new_messages = request.messages[leading:]
        previous = self._fields.previous
        if not previous:
            return request
        history = await self._history(previous)
        if history is None:
            status, code = self._conversations.not_found
            raise UpstreamError(f"{self._conversations.previous}: {previous[:100]!r} not found", status, code)
        return await in_worker(partial(self._joined, request, request.messages[:leading], history))

    def _without_background(self, request: Request) -> Request:
        """The gateway itself runs responses in the background."""
        wire = self._call.frontend.wire.name
        fields = request.extra.get(wire, {})
        if self._recent is None and "background" not in fields:
            return request
        fields = {key: value for key, value in fields.items() if key not in ("background", "generate")}
        return msgspec.structs.replace(request, extra={**request.extra, wire: fields})

    async def _history(self, previous: str) -> tuple[Message, ...] | None:
        """The messages that this WebSocket knows, after those of the stored response before them."""
        recent, stored_id = self._recent.history(previous) if self._recent is not None else ((), previous)
        if stored_id is None:
            return recent
        where, shared_store = (stored_id, self._call.owner), self._call.gateway.shared_store
        if shared_store is not None:
            stored = await shared_store.history(*where)
        else:
            stored = await in_worker(partial(self._call.gateway.store.history, *where))
        return None if stored is None else (*stored, *recent)

    def _joined(self, request: Request, instructions: tuple[Message, ...], history: tuple[Message, ...]) -> Request:
        wire = self._call.frontend.wire.name
        wire_extra = {key: value for key, value in request.extra.get(wire, {}).items() if key != self._conversations.previous}
        messages = match_results((*instructions, *history, *self._new_messages))
        request = msgspec.structs.replace(request, messages=messages, extra={**request.extra, wire: wire_extra})
        return with_declared_tools(request)

    async def save(self, response: ResponseWriter, context: ResponseContext) -> None:
        """Runs before the end of the response is sent: the client may continue the conversation right after it."""
        is_small = self._is_small(response.characters)
        reply = response.reply() if is_small else await in_worker(response.reply)
        await self.save_reply(reply, context, is_small=is_small)

    def _is_small(self, characters: int) -> bool:
        return self._size < _LARGE_BODY and characters < _LARGE_BODY and len(self._new_messages) < _MANY_MESSAGES

    async def save_reply(self, reply: Reply, context: ResponseContext, *, is_small: bool = True) -> None:
        """Nothing, if the response is not complete."""
        if reply.error is not None:
            return
        messages = (*self._new_messages, Message("assistant", reply.parts)) if reply.parts else self._new_messages
        await self._keep(self._fields.previous or None, messages, reply, context, is_small)

    async def save_compacted(self, summary: Message, reply: Reply, context: ResponseContext) -> None:
        """A conversation that continues from this response has the summary alone."""
        await self._keep(None, (summary,), reply, context, is_small=True)

    async def _keep(
        self, previous: str | None, messages: tuple[Message, ...], reply: Reply, context: ResponseContext, is_small: bool
    ) -> None:
        if self._recent is not None:
            self._recent.add(context.id or "", previous, messages, self._size)
        if not self.stores:
            return
        store, shared_store = self._call.gateway.store, self._call.gateway.shared_store
        write = partial(self._written, reply, context)
        body = write() if is_small else await in_worker(write)
        row = (context.id or "", self._call.owner, previous, messages, body)
        try:
            if shared_store is not None:
                await shared_store.add(*row)
            elif store.in_memory and is_small:
                store.add(*row)
            else:
                await in_worker(partial(store.add, *row))
        except StoreError as error:  # a full disk: the client gets its response all the same
            log.error("%s: %s", self._call.exchange.request_id, error)
            self._call.record.notes.append(str(error))

    def _written(self, reply: Reply, context: ResponseContext) -> bytes:
        return encode(self._call.frontend.wire.write_reply(reply, context, []))
