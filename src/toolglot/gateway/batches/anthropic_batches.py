"""Anthropic's Message Batches API."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from functools import partial
from typing import Any

from toolglot.client.worker import in_worker
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway.batches.batch import SECONDS, Batch
from toolglot.gateway.batches.pages import page_after, page_before, read_limit
from toolglot.gateway.batches.result_lines import ANTHROPIC_PATH
from toolglot.gateway.batches.results import send_results
from toolglot.gateway.batches.row_reader import read_requests
from toolglot.gateway.endpoint_call import EndpointCall, read_body
from toolglot.gateway.internal_exchange import passed_on
from toolglot.io.json_codec import encode

_LIST = "message_batches"
_LIMIT, _MAX_LIMIT = 20, 1000


async def create(call: EndpointCall) -> None:
    body = await read_body(call)
    try:
        rows = await in_worker(partial(read_requests, body, call.live.config.server.max_batch_rows))
    except ValueError as error:
        raise CallerError(str(error)) from None
    now, id = time.time(), f"msgbatch_{call.exchange.id}"
    headers = {name.decode(): value.decode("latin-1") for name, value in passed_on(call.exchange.headers).items()}
    batch = Batch(
        id=id,
        owner=call.owner,
        path=ANTHROPIC_PATH,
        created=now,
        expires=now + SECONDS,
        rows=id,
        total=len(rows),
        headers=headers,
    )
    data = encode(rows)
    await call.gateway.batches.put_contents(call.owner, id, data)
    await call.gateway.batches.add(batch, _LIST, len(data))
    call.gateway.batch_runner.look()
    await call.exchange.json(_written(call, batch))


async def retrieve(call: EndpointCall) -> None:
    await call.exchange.json(_written(call, await _found(call)))


async def list_all(call: EndpointCall) -> None:
    """Query: `limit`, `after_id`, `before_id`."""
    exchange, store = call.exchange, call.gateway.batches
    limit, ids = read_limit(exchange, _LIMIT, _MAX_LIMIT), await store.listed(call.owner, _LIST)
    if before := exchange.query_value("before_id"):
        page, more = page_before(ids, before, limit)
    else:
        page, more = page_after(ids, exchange.query_value("after_id"), limit)
    batches = [batch for id in page if (batch := await store.find(call.owner, id)) is not None]
    ends = (batches[0].id, batches[-1].id) if batches else (None, None)
    data = [_written(call, batch) for batch in batches]
    await exchange.json({"data": data, "has_more": more, "first_id": ends[0], "last_id": ends[1]})


async def results(call: EndpointCall) -> None:
    batch = await _found(call)
    if not batch.ended:
        raise UpstreamError(f"batch {batch.id} is still in progress: it has no results yet", 400, "invalid_request_error")
    await send_results(call.exchange, call.gateway.batches, batch, b"application/x-jsonl", lambda _: True)


async def cancel(call: EndpointCall) -> None:
    batch = await _found(call)
    if not batch.ended and not batch.cancelled:
        batch.cancelled = time.time()
        await call.gateway.batches.cancel(batch, batch.cancelled)
    await call.exchange.json(_written(call, batch))


async def delete(call: EndpointCall) -> None:
    batch = await _found(call)
    if not batch.ended:
        raise UpstreamError(f"batch {batch.id} is in progress: cancel it first", 400, "invalid_request_error")
    await call.gateway.batches.delete(batch, _LIST)
    await call.exchange.json({"id": batch.id, "type": "message_batch_deleted"})


async def _found(call: EndpointCall) -> Batch:
    id = call.path_params["id"]
    batch = await call.gateway.batches.find(call.owner, id) if id.startswith("msgbatch_") else None
    if batch is None:
        raise UpstreamError(f"batch {id[:100]!r} not found", 404, "not_found_error")
    return batch


def _written(call: EndpointCall, batch: Batch) -> dict[str, Any]:
    status = "ended" if batch.ended else "canceling" if batch.cancelled else "in_progress"
    counts = {"processing": batch.total, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
    if batch.ended:
        without = "canceled" if batch.ending == "canceled" else "expired"
        done = {"succeeded": batch.succeeded, "errored": batch.errored, without: batch.left}
        counts = {**counts, "processing": 0, **done}
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": status,
        "request_counts": counts,
        "created_at": _iso(batch.created),
        "expires_at": _iso(batch.expires),
        "ended_at": _iso(batch.ended),
        "cancel_initiated_at": _iso(batch.cancelled),
        "archived_at": None,
        "results_url": f"{_base(call)}/v1/messages/batches/{batch.id}/results" if batch.ended else None,
    }


def _base(call: EndpointCall) -> str:
    """As the client knows this gateway; a proxy before it may add TLS."""
    scheme = "https" if call.exchange.header(b"x-forwarded-proto") == "https" else call.exchange.scheme
    return f"{scheme}://{call.exchange.header(b'host')[:300]}"


def _iso(at: float) -> str | None:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z") if at else None
