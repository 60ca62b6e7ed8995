"""What only the Responses API has around a single reply: compaction in a request, and the input of a stored response."""

from __future__ import annotations

from toolglot.errors import UpstreamError
from toolglot.gateway import admin_endpoints, background_endpoints
from toolglot.gateway.chat_endpoints import chat
from toolglot.gateway.compaction import HAS_TRIGGER, OUR_COMPACTION, is_triggered, open_compactions, respond_to_trigger
from toolglot.gateway.endpoint_call import EndpointCall, read_request


async def create(call: EndpointCall) -> None:
    server = call.live.config.server
    body = await call.exchange.body(server.max_body, server.client_timeout)
    if OUR_COMPACTION in body:
        body = await open_compactions(call, body)
    if background_endpoints.is_background(call, body):
        await background_endpoints.start(call, body)
        return
    if HAS_TRIGGER in body:
        request, body = await read_request(call, body)
        if is_triggered(call, request, body):
            respond_to_trigger(call, request, body)
            return
    await chat(call, body)


async def input_items(call: EndpointCall) -> None:
    body = await background_endpoints.find(call)
    if body is not None:
        problem = f"the input of a response is listed once it is complete; this one is {body['status']}"
        raise UpstreamError(problem, 400, "invalid_request_error")
    await admin_endpoints.input_items(call)
