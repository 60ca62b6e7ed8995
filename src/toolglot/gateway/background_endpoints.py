"""Stored responses, and those that run in the background: the endpoints of every wire that has such."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from toolglot.core.events import Start
from toolglot.core.interfaces import BackgroundEvents, ResponseContext
from toolglot.core.request import Request
from toolglot.errors import UpstreamError
from toolglot.gateway import admin_endpoints
from toolglot.gateway.background import Body
from toolglot.gateway.chat_endpoints import chat
from toolglot.gateway.endpoint_call import EndpointCall, read_request
from toolglot.gateway.event_stream import EventSplitter
from toolglot.gateway.internal_exchange import InternalExchange, passed_on
from toolglot.gateway.response_writer import ClientStream
from toolglot.gateway.stored_thread import stored_thread
from toolglot.io.json_codec import JSON_ERRORS, encode


class _Flags(msgspec.Struct):
    background: bool | None = None
    store: bool | None = None


_FLAGS = msgspec.json.Decoder(_Flags)
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])


async def create(call: EndpointCall) -> None:
    server = call.live.config.server
    body = await call.exchange.body(server.max_body, server.client_timeout)
    if is_background(call, body):
        await start(call, body)
    else:
        await chat(call, body)


# -- in the background


def is_background(call: EndpointCall, body: bytes) -> bool:
    if b'"background"' not in body or isinstance(call.exchange, InternalExchange):
        return False
    try:
        return _FLAGS.decode(body).background is True
    except JSON_ERRORS:  # whoever reads the request says what is wrong
        return False


async def start(call: EndpointCall, body: bytes) -> None:
    request, body = await read_request(call, body)
    if _FLAGS.decode(body).store is False:
        raise UpstreamError("background needs store: true", 400, "invalid_request_error")
    await _check(call, request, body)
    background = call.gateway.background
    background.check_number(call.owner)
    sent = encode({**_FIELDS.decode(body), "stream": msgspec.Raw(b"true")})
    headers = passed_on(call.exchange.headers)
    exchange = InternalExchange(call.exchange.path, sent, call.caller, headers, rated=False, waits=True)
    first = _first_form(call, request, exchange)
    run = await background.start(exchange, first, call.gateway.handle, _events(call))
    call.exchange.unrecorded = True  # the response has its own record
    if request.stream:
        call.exchange.later = partial(_send_events, call, run.id, after=-1)
    else:
        await call.exchange.json(run.body)


async def _check(call: EndpointCall, request: Request, body: bytes) -> None:
    """What would fail at once fails now."""
    if (thread := await stored_thread(call, body)) is not None:
        await thread.with_history(request)
    call.live.routing.candidates(request.model)


def _first_form(call: EndpointCall, request: Request, exchange: InternalExchange) -> Body:
    id, created = call.frontend.server.id_prefix + exchange.id, int(call.record.began)
    writer = call.frontend.wire.writer(ResponseContext(id, request.model, created, request=request), [])
    event = EventSplitter().feed(writer.feed(Start(id, request.model, created)))[0]
    body: Body = msgspec.json.decode(event.data)[_events(call).body]
    return body


def _events(call: EndpointCall) -> BackgroundEvents:
    conversations = call.frontend.wire.conversations
    assert conversations is not None  # noqa: S101  (only such wires have these endpoints)
    return conversations.background


async def _send_events(call: EndpointCall, id: str, after: int) -> None:
    """The events with a greater number, now and until the end."""
    server = call.live.config.server
    call.exchange.watch_disconnect()
    await call.exchange.start(200, call.frontend.wire.media_type.encode(), [(b"cache-control", b"no-cache")])
    async with ClientStream(call.exchange, call.frontend.server.ping(""), server.ping, server.client_timeout) as stream:
        async for number, block in call.gateway.background.blocks(call.owner, id, _events(call)):
            if number > after:
                await stream.send(block)
    await call.exchange.end()


# -- stored responses, and those that are not complete yet


async def retrieve(call: EndpointCall) -> None:
    """Query: `stream`, and the number of the last event, read the events of one that runs or has run in the background."""
    body = await find(call)
    if call.exchange.query_value("stream") == "true":
        await _retrieve_events(call)
    elif body is not None:
        await call.exchange.json(body)
    else:
        await admin_endpoints.stored_response(call)


async def find(call: EndpointCall) -> Body | None:
    """One that is not complete. Like a stored one, it is found only under the API that created it."""
    id = _own_id(call)
    return None if id is None else await call.gateway.background.find(call.owner, id, _events(call))


def _own_id(call: EndpointCall) -> str | None:
    id = call.path_params["id"]
    return id if id.startswith(call.frontend.server.id_prefix) else None


async def _retrieve_events(call: EndpointCall) -> None:
    id, events = _own_id(call), _events(call)
    if id is None or not await call.gateway.background.has_events(call.owner, id, events):
        conversations = call.frontend.wire.conversations
        if conversations is None or conversations.input is None:
            raise await _not_streamable(call)
        await admin_endpoints.stored_response(call)
        return
    after = call.exchange.query_value(events.resume) or "-1"
    if not after.removeprefix("-").isdecimal():
        raise UpstreamError(f"{events.resume} must be a number", 400, "invalid_request_error")
    await _send_events(call, id, int(after[:20]))


async def _not_streamable(call: EndpointCall) -> UpstreamError:
    id = call.path_params["id"][:100]
    if not await admin_endpoints.is_stored(call):
        return UpstreamError(f"response {id!r} not found", 404, "not_found")
    message = f"response {id!r} can't be streamed: it did not run in the background, or that was too long ago"
    return UpstreamError(message, 400, "invalid_request_error")


async def cancel(call: EndpointCall) -> None:
    id = _own_id(call)
    body: Any = None if id is None else await call.gateway.background.cancel(call.owner, id, _events(call))
    if body is not None:
        await call.exchange.json(body)
    else:
        await admin_endpoints.cancel_response(call)


async def delete(call: EndpointCall) -> None:
    """Also ends a response that is running."""
    id, conversations = _own_id(call), call.frontend.wire.conversations
    was_kept = id is not None and await call.gateway.background.delete(call.owner, id)
    if id is not None and conversations is not None and was_kept and not await admin_endpoints.is_stored(call):
        await call.exchange.json(conversations.deleted(id))
    else:
        await admin_endpoints.delete_response(call)
