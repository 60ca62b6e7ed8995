"""Health, metrics and decisions, and stored responses."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from toolglot.client.worker import in_worker
from toolglot.core.interfaces import Quirks, ResponseContext
from toolglot.core.messages import Message
from toolglot.errors import UpstreamError
from toolglot.gateway import metrics
from toolglot.gateway.budgets import report_budget
from toolglot.gateway.endpoint_call import EndpointCall
from toolglot.gateway.overview import Deleted
from toolglot.gateway.retention import delete_shared
from toolglot.gateway.sharing import find_shared_record
from toolglot.gateway.usage import MAX_DAYS
from toolglot.io.json_codec import decode, encode

_STEM = 40  # characters of the response's id in those of its items
_MOST_ITEMS = 100


async def healthz(call: EndpointCall) -> None:
    await call.exchange.json({"status": "ok"})


async def readyz(call: EndpointCall) -> None:
    """Ready if there is at least one route. Without the shared state it still is, with local limits."""
    if not call.live.config.routes:
        await call.exchange.json({"status": "no routes"}, 503)
    elif problem := call.gateway.shared.problem:
        await call.exchange.json({"status": "degraded", "problem": problem})
    else:
        await call.exchange.json({"status": "ready"})


async def show_metrics(call: EndpointCall) -> None:
    await call.exchange.respond(200, await call.gateway.overview.metrics(), media_type=metrics.MEDIA_TYPE)


async def decisions(call: EndpointCall) -> None:
    record = await call.gateway.overview.find(call.path_params["id"])
    if record is None and not call.gateway.shared.is_local:
        record = await find_shared_record(call.gateway.shared, call.path_params["id"])
    if record is None or not call.may_see(record):
        raise UpstreamError(f"request {call.path_params['id'][:100]!r} is not in memory", 404, "not_found")
    await call.exchange.json(record.to_dict())


async def usage(call: EndpointCall) -> None:
    """Query: `days`, 1 unless given. An admin key sees the usage and the budgets of all keys."""
    days = call.exchange.query_value("days") or "1"
    if not days.isdecimal() or not 1 <= int(days[:4]) <= MAX_DAYS:
        raise UpstreamError(f"days must be 1 to {MAX_DAYS}", 400, "invalid_request_error")
    owner = None if call.caller.is_admin else call.owner
    overview, config, now = call.gateway.overview, call.live.config, call.record.began
    owners = [call.owner] if owner is not None or not config.keys else dict.fromkeys(key.owner for key in config.keys)
    budgets = []
    for each in owners if config.budgets else ():
        spent = await overview.spent(each)
        budgets += [report_budget(one, each, spent[one.period], now) for one in config.budgets if one.is_for(each)]
    await call.exchange.json({"usage": await overview.usage(int(days[:4]), owner), "budgets": budgets})


async def delete_records(call: EndpointCall) -> None:
    """Records and stored responses of the caller's key. An admin key deletes those of all, or with `?owner=` of one."""
    owner = (call.exchange.query_value("owner") or None) if call.caller.is_admin else call.owner
    deleted = await call.gateway.overview.delete(owner)
    if not call.gateway.shared.is_local:
        shared = await delete_shared(call.gateway.shared, owner)
        deleted = Deleted(max(deleted.records, shared.records), deleted.responses + shared.responses)
    await call.exchange.json({"deleted": msgspec.to_builtins(deleted)})


# -- stored responses


async def is_stored(call: EndpointCall) -> bool:
    where, shared = (call.path_params["id"], call.owner), call.gateway.shared_store
    body = await in_worker(partial(call.gateway.store.body, *where)) if shared is None else await shared.body(*where)
    return body is not None


async def stored_response(call: EndpointCall) -> None:
    """Query, where the API has it: `stream=true` sends it as a stream again, `include_input=true` adds its input."""
    body, wire = await _stored(call), call.frontend.wire
    key = wire.conversations.input if wire.conversations is not None else None
    if key is not None and call.exchange.query_value("stream") == "true":
        await _replay(call, body)
        return
    if key is not None and call.exchange.query_value("include_input") == "true":
        messages = await _new_messages(call, body)
        body = encode({**decode(body), key: wire.write_messages(messages, [], Quirks())})
    await call.exchange.respond(200, body)


async def _replay(call: EndpointCall, body: bytes) -> None:
    if call.exchange.query_value("last_event_id"):
        raise UpstreamError("a stream can't be resumed: it is sent again from its start", 400, "invalid_request_error")
    wire = call.frontend.wire
    writer = wire.writer(ResponseContext(), [])
    data = b"".join(writer.feed(event) for event in wire.read_events(decode(body), None)) + writer.close()
    await call.exchange.respond(200, data, media_type=wire.media_type.encode())


async def _new_messages(call: EndpointCall, body: bytes) -> tuple[Message, ...]:
    """The messages of the request, without those of the conversation before."""
    conversations = call.frontend.wire.conversations
    previous = decode(body).get(conversations.previous) if conversations is not None else None
    known = await _history(call, previous) if isinstance(previous, str) else ()
    return (await _history(call, call.path_params["id"]) or ())[len(known or ()) : -1]


async def _history(call: EndpointCall, response_id: str) -> tuple[Message, ...] | None:
    where, shared = (response_id, call.owner), call.gateway.shared_store
    return await in_worker(partial(call.gateway.store.history, *where)) if shared is None else await shared.history(*where)


async def delete_response(call: EndpointCall) -> None:
    where, shared = (call.path_params["id"], call.owner), call.gateway.shared_store
    await _stored(call)
    if not (await in_worker(partial(call.gateway.store.delete, *where)) if shared is None else await shared.delete(*where)):
        raise _not_found(call)
    conversations = call.frontend.wire.conversations
    await call.exchange.json(conversations.deleted(call.path_params["id"]) if conversations is not None else {})


async def cancel_response(call: EndpointCall) -> None:
    """A stored response is complete: only one that runs in the background could be cancelled."""
    await _stored(call)
    raise UpstreamError("Cannot cancel a completed response.", 400, "invalid_request_error")


async def input_items(call: EndpointCall) -> None:
    """What the response was an answer to. Query: `order` (desc unless given), `limit` (20 unless given), `after`."""
    history = await _history(call, call.path_params["id"])
    if history is None:
        raise _not_found(call)
    items = await in_worker(partial(_items, call, history[:-1]))
    if call.exchange.query_value("order") != "asc":
        items.reverse()
    if after := call.exchange.query_value("after"):
        at = next((at for at, item in enumerate(items) if item["id"] == after), len(items))
        items = items[at + 1 :]
    limit = call.exchange.query_value("limit") or "20"
    if not (limit.isascii() and limit.isdecimal()) or not 1 <= int(limit[:4]) <= _MOST_ITEMS:
        raise UpstreamError(f"limit must be 1 to {_MOST_ITEMS}", 400, "invalid_request_error")
    page = items[: int(limit[:4])]
    ends = (page[0]["id"], page[-1]["id"]) if page else (None, None)
    more = len(page) < len(items)
    await call.exchange.json({"object": "list", "data": page, "first_id": ends[0], "last_id": ends[1], "has_more": more})


def _items(call: EndpointCall, messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = call.frontend.wire.write_messages(messages, [], Quirks())
    stem = call.path_params["id"].removeprefix("resp_")[:_STEM]
    return [{"id": f"item_{stem}_{at}", "status": "completed", **item} for at, item in enumerate(items)]


async def _stored(call: EndpointCall) -> bytes:
    """The body of a response that was created on this wire with this key."""
    where, shared = (call.path_params["id"], call.owner), call.gateway.shared_store
    body = await in_worker(partial(call.gateway.store.body, *where)) if shared is None else await shared.body(*where)
    if body is None or not call.path_params["id"].startswith(call.frontend.server.id_prefix):
        raise _not_found(call)
    return body


def _not_found(call: EndpointCall) -> UpstreamError:
    return UpstreamError(f"response {call.path_params['id'][:100]!r} not found", 404, "not_found")
