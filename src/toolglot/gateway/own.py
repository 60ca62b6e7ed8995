"""The gateway's own endpoints, and those of Responses' stored conversations."""

from __future__ import annotations

from toolglot.errors import UpstreamError
from toolglot.gateway import metrics, turned_away
from toolglot.gateway.converse import Call
from toolglot.gateway.turned_away import wrong_method


async def healthz(call: Call) -> None:
    await call.exchange.json({"status": "ok"})


async def readyz(call: Call) -> None:
    """Ready where there is a route to lead requests on."""
    ready = bool(call.live.config.routes)
    await call.exchange.json({"status": "ready" if ready else "no routes"}, 200 if ready else 503)


async def show_metrics(call: Call) -> None:
    call.gateway.metrics.running = call.gateway.gate.running
    await call.exchange.answer(200, call.gateway.metrics.page(), media=metrics.MEDIA_TYPE)


async def decisions(call: Call) -> None:
    record = call.gateway.records.find(call.told["id"])
    if record is None or not record.seen_by(call.owner):
        raise UpstreamError(f"the request {call.told['id'][:100]!r} is not among the last ones", 404, "not_found")
    await call.exchange.json(record.told())


# -- Responses


async def no_websocket(call: Call) -> None:
    """Codex tries a WebSocket first: 426 makes it fall back at once."""
    raise turned_away.no_websocket() if b"upgrade" in call.exchange.headers else wrong_method(call.exchange.path, ["POST"])


async def stored_response(call: Call) -> None:
    body = call.gateway.store.body(call.told["id"], call.owner)
    if body is None:
        raise _unknown(call)
    await call.exchange.answer(200, body)


async def drop_response(call: Call) -> None:
    if not call.gateway.store.drop(call.told["id"], call.owner):
        raise _unknown(call)
    await call.exchange.json({"id": call.told["id"], "object": "response", "deleted": True})


def _unknown(call: Call) -> UpstreamError:
    return UpstreamError(f"there is no response {call.told['id'][:100]!r} here", 404, "not_found")
