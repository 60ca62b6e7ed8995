"""Health, metrics and decisions, and the stored responses of the Responses API."""

from __future__ import annotations

from toolglot.errors import UpstreamError
from toolglot.gateway import metrics
from toolglot.gateway.chat_endpoints import EndpointCall
from toolglot.gateway.http_exchange import websocket_not_supported, wrong_method


async def healthz(call: EndpointCall) -> None:
    await call.exchange.json({"status": "ok"})


async def readyz(call: EndpointCall) -> None:
    """Ready if there is at least one route."""
    ready = bool(call.live.config.routes)
    await call.exchange.json({"status": "ready" if ready else "no routes"}, 200 if ready else 503)


async def show_metrics(call: EndpointCall) -> None:
    await call.exchange.respond(200, await call.gateway.overview.metrics(), media_type=metrics.MEDIA_TYPE)


async def decisions(call: EndpointCall) -> None:
    record = await call.gateway.overview.find(call.path_params["id"])
    if record is None or not call.may_see(record):
        raise UpstreamError(f"request {call.path_params['id'][:100]!r} is not in memory", 404, "not_found")
    await call.exchange.json(record.to_dict())


# -- Responses


async def responses_websocket(call: EndpointCall) -> None:
    """Codex tries a WebSocket first. 426 makes it fall back to HTTP."""
    is_upgrade = b"upgrade" in call.exchange.headers
    raise websocket_not_supported() if is_upgrade else wrong_method(call.exchange.path, ["POST"])


async def stored_response(call: EndpointCall) -> None:
    body = call.gateway.store.body(call.path_params["id"], call.owner)
    if body is None:
        raise _not_found(call)
    await call.exchange.respond(200, body)


async def delete_response(call: EndpointCall) -> None:
    if not call.gateway.store.delete(call.path_params["id"], call.owner):
        raise _not_found(call)
    await call.exchange.json({"id": call.path_params["id"], "object": "response", "deleted": True})


def _not_found(call: EndpointCall) -> UpstreamError:
    return UpstreamError(f"response {call.path_params['id'][:100]!r} not found", 404, "not_found")
