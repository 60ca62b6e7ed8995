"""The Responses API beyond a single reply: responses in the background."""

from __future__ import annotations

from functools import partial

import msgspec

from toolglot.core.events import Start
from toolglot.core.interfaces import ResponseContext
from toolglot.core.request import Request
from toolglot.errors import UpstreamError
from toolglot.gateway import admin_endpoints
from toolglot.gateway.background import Body
from toolglot.gateway.chat_endpoints import chat
from toolglot.gateway.compaction import HAS_TRIGGER, OUR_COMPACTION, is_triggered, open_compactions, respond_to_trigger
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
    if OUR_COMPACTION in body:
        body = await open_compactions(call, body)
    if b'"background"' in body and not isinstance(call.exchange, InternalExchange) and _is_background(body):
        await _start(call, body)
        return
    if HAS_TRIGGER in body:
        request, body = await read_request(call, body)
        if is_triggered(call, request, body):
            respond_to_trigger(call, request, body)
            return
    await chat(call, body)


# -- in the background


def _is_background(body: bytes) -> bool:
    try:
        return _FLAGS.decode(body).background is True
    except JSON_ERRORS:  # whoever reads the request says what is wrong
        return False


async def _start(call: EndpointCall, body: bytes) -> None:
    request, body = await read_request(call, body)
    if _FLAGS.decode(body).store is False:
        raise UpstreamError("background needs store: true", 400, "invalid_request_error")
    await _check(call, request, body)
    background = call.gateway.background
    background.check_number(call.owner)
    sent = encode({**_FIELDS.decode(body), "stream": msgspec.Raw(b"true")})
    exchange = InternalExchange("/v1/responses", sent, call.caller, passed_on(call.exchange.headers), rated=False, waits=True)
    run = await background.start(exchange, _first_form(call, request, exchange), call.gateway.handle)
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
    body: Body = msgspec.json.decode(event.response)
    return body


async def _send_events(call: EndpointCall, id: str, after: int) -> None:
    """The events with a greater number, now and until the end."""
    server = call.live.config.server
    call.exchange.watch_disconnect()
    await call.exchange.start(200, call.frontend.wire.media_type.encode(), [(b"cache-control", b"no-cache")])
    async with ClientStream(call.exchange, call.frontend.server.ping(""), server.ping, server.client_timeout) as stream:
        async for number, block in call.gateway.background.blocks(call.owner, id):
            if number > after:
                await stream.send(block)
    await call.exchange.end()


# -- stored responses, and those that are not complete yet


async def retrieve(call: EndpointCall) -> None:
    """Query: `stream` and `starting_after` read the events of one that runs or has run in the background."""
    id, background = call.path_params["id"], call.gateway.background
    if call.exchange.query_value("stream") == "true":
        after = call.exchange.query_value("starting_after") or "-1"
        if not after.removeprefix("-").isdecimal():
            raise UpstreamError("starting_after must be a number", 400, "invalid_request_error")
        if not await background.has_events(call.owner, id):
            raise await _not_streamable(call)
        await _send_events(call, id, int(after[:20]))
        return
    body = await background.find(call.owner, id)
    if body is not None:
        await call.exchange.json(body)
    else:
        await admin_endpoints.stored_response(call)


async def _not_streamable(call: EndpointCall) -> UpstreamError:
    id = call.path_params["id"][:100]
    if not await admin_endpoints.is_stored(call):
        return UpstreamError(f"response {id!r} not found", 404, "not_found")
    message = f"response {id!r} can't be streamed: it did not run in the background, or that was too long ago"
    return UpstreamError(message, 400, "invalid_request_error")


async def cancel(call: EndpointCall) -> None:
    body = await call.gateway.background.cancel(call.owner, call.path_params["id"])
    if body is not None:
        await call.exchange.json(body)
    else:
        await admin_endpoints.cancel_response(call)


async def delete(call: EndpointCall) -> None:
    """Also ends a response that is running."""
    id = call.path_params["id"]
    was_kept = await call.gateway.background.delete(call.owner, id)
    if was_kept and not await admin_endpoints.is_stored(call):
        await call.exchange.json({"id": id, "object": "response", "deleted": True})
    else:
        await admin_endpoints.delete_response(call)


async def input_items(call: EndpointCall) -> None:
    body = await call.gateway.background.find(call.owner, call.path_params["id"])
    if body is not None:
        problem = f"the input of a response is listed once it is complete; this one is {body['status']}"
        raise UpstreamError(problem, 400, "invalid_request_error")
    await admin_endpoints.input_items(call)
