"""OpenAI's Batch API, and its Files API as far as batches need it."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import msgspec

from toolglot.client.worker import in_worker
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway.batches.batch import SECONDS, Batch
from toolglot.gateway.batches.batch_store import StoredFile
from toolglot.gateway.batches.multipart import read_form
from toolglot.gateway.batches.pages import page_after, read_limit
from toolglot.gateway.batches.results import send_results
from toolglot.gateway.batches.row_reader import read_lines
from toolglot.gateway.endpoint_call import EndpointCall, read_body
from toolglot.gateway.frontends import CHAT
from toolglot.gateway.http_exchange import header_text
from toolglot.io.json_codec import JSON_ERRORS, encode

_LIST = "batches"
_ENDPOINTS = ("/v1/chat/completions", "/v1/responses", "/v1/embeddings", "/v1/completions")
_WINDOW = "24h"
_LIMIT, _MAX_LIMIT = 20, 100
_MAX_FILES = 10_000
_MAX_NAME = 200  # characters
_MAX_METADATA = 16 * (64 + 512 + 8)
_DAYS_30 = 30 * 86_400
_STATUS = {"completed": "completed", "failed": "failed", "canceled": "cancelled", "expired": "expired"}


# -- files


async def upload(call: EndpointCall) -> None:
    _check_client(call)
    server = call.live.config.server
    body = await call.exchange.body(server.max_body, server.client_timeout)
    form = await in_worker(partial(read_form, call.exchange.header(b"content-type"), body))
    if "file" not in form:
        raise CallerError("is missing", "file")
    if form.get("purpose") is None or form["purpose"].text != "batch":
        raise CallerError('must be "batch": this gateway keeps files for batches only', "purpose")
    name, data = form["file"].filename[:_MAX_NAME], form["file"].value
    file = StoredFile(
        id=f"file-{call.exchange.id}", owner=call.owner, size=len(data), created=time.time(), name=name, purpose="batch"
    )
    await call.gateway.batches.add_file(file, data)
    await call.exchange.json(_file(file))


async def list_files(call: EndpointCall) -> None:
    """Query: `purpose`, `limit`, `after`, `order`."""
    _check_client(call)
    exchange, store = call.exchange, call.gateway.batches
    limit, ids = read_limit(exchange, _MAX_FILES, _MAX_FILES), await store.listed(call.owner, "files")
    if exchange.query_value("order") == "asc":
        ids.reverse()
    purpose = exchange.query_value("purpose")
    files = [file for id in ids if (file := await store.file(call.owner, id)) and purpose in ("", file.purpose)]
    kept = {file.id: file for file in files}
    page, more = page_after(list(kept), exchange.query_value("after"), limit)
    await exchange.json(_list([_file(kept[id]) for id in page], more))


async def show_file(call: EndpointCall) -> None:
    await call.exchange.json(_file(await _found_file(call)))


async def delete_file(call: EndpointCall) -> None:
    file = await _found_file(call)
    await call.gateway.batches.delete_file(file)
    await call.exchange.json({"id": file.id, "object": "file", "deleted": True})


async def file_content(call: EndpointCall) -> None:
    file, store, exchange = await _found_file(call), call.gateway.batches, call.exchange
    media_type = b"application/octet-stream"
    if file.batch:
        batch = await store.find(call.owner, file.batch)
        if batch is None:
            raise _not_found("the batch of file", file.id)
        await send_results(exchange, store, batch, media_type, lambda outcome: (outcome != "succeeded") is file.errors)
        return
    parts = store.parts(call.owner, file.id, file.size)
    first = await anext(parts)
    exchange.watch_disconnect()
    await exchange.start(200, media_type, [(b"content-disposition", _disposition(file))], file.size)
    await exchange.send_chunk(first)
    async for part in parts:
        await exchange.send_chunk(part)
    await exchange.end()


def _disposition(file: StoredFile) -> bytes:
    name = file.name.replace('"', "_").replace("\\", "_")
    return b'attachment; filename="%b"' % header_text([name])


def _check_client(call: EndpointCall) -> None:
    if call.frontend is not CHAT:
        raise UpstreamError("this gateway has only OpenAI's files, for batches", 404, "not_found")


async def _found_file(call: EndpointCall) -> StoredFile:
    _check_client(call)
    file = await call.gateway.batches.file(call.owner, call.path_params["id"])
    if file is None:
        raise _not_found("file", call.path_params["id"])
    return file


def _file(file: StoredFile) -> dict[str, Any]:
    return {
        "id": file.id,
        "object": "file",
        "bytes": file.size,
        "created_at": int(file.created),
        "expires_at": int(file.created) + _DAYS_30,
        "filename": file.name,
        "purpose": file.purpose,
        "status": "processed",
    }


# -- batches


class _Create(msgspec.Struct):
    input_file_id: str
    endpoint: str
    completion_window: str = _WINDOW
    metadata: dict[str, str] | None = None


_CREATE = msgspec.json.Decoder(_Create)


async def create(call: EndpointCall) -> None:
    given = _read(await read_body(call))
    store, now, id = call.gateway.batches, time.time(), f"batch_{call.exchange.id}"
    file = await store.file(call.owner, given.input_file_id)
    if file is None or file.batch:
        raise CallerError(f"there is no uploaded file {given.input_file_id[:100]!r}", "input_file_id")
    data = await store.contents(call.owner, file.id)
    rows, problems = await in_worker(partial(read_lines, data, given.endpoint, call.live.config.server.max_batch_rows))
    batch = Batch(
        id=id,
        owner=call.owner,
        path=given.endpoint,
        created=now,
        expires=now + SECONDS,
        rows=id,
        total=len(rows),
        metadata={"input_file_id": file.id, "metadata": given.metadata},
    )
    if problems:
        batch.total, batch.problems, batch.ended, batch.ending = 0, tuple(problems), now, "failed"
        await store.add(batch, _LIST)
    else:
        encoded = encode(rows)
        await store.put_contents(call.owner, id, encoded)
        await store.add(batch, _LIST, len(encoded))
        call.gateway.batch_runner.look()
    await call.exchange.json(await _written(call, batch))


def _read(body: bytes) -> _Create:
    try:
        given = _CREATE.decode(body)
    except JSON_ERRORS as error:
        raise CallerError(f"the body is not usable: {error}") from None
    if given.endpoint not in _ENDPOINTS:
        raise CallerError(f"must be one of {', '.join(_ENDPOINTS)}", "endpoint")
    if given.completion_window != _WINDOW:
        raise CallerError(f'must be "{_WINDOW}"', "completion_window")
    if len(encode(given.metadata)) > _MAX_METADATA:
        raise CallerError("is too large", "metadata")
    return given


async def retrieve(call: EndpointCall) -> None:
    await call.exchange.json(await _written(call, await _found(call)))


async def list_all(call: EndpointCall) -> None:
    """Query: `limit`, `after`."""
    exchange, store = call.exchange, call.gateway.batches
    ids = await store.listed(call.owner, _LIST)
    page, more = page_after(ids, exchange.query_value("after"), read_limit(exchange, _LIMIT, _MAX_LIMIT))
    found = [await _written(call, batch) for id in page if (batch := await store.find(call.owner, id)) is not None]
    await exchange.json(_list(found, more))


async def cancel(call: EndpointCall) -> None:
    batch = await _found(call)
    if batch.ended and batch.ending != "canceled":
        raise UpstreamError(f"batch {batch.id} is {_STATUS[batch.ending]}: it can't be cancelled", 409, "invalid_request_error")
    if not batch.cancelled:
        batch.cancelled = time.time()
        await call.gateway.batches.cancel(batch, batch.cancelled)
    await call.exchange.json(await _written(call, batch))


async def _found(call: EndpointCall) -> Batch:
    id = call.path_params["id"]
    batch = await call.gateway.batches.find(call.owner, id) if id.startswith("batch_") else None
    if batch is None:
        raise _not_found("batch", id)
    return batch


async def _written(call: EndpointCall, batch: Batch) -> dict[str, Any]:
    status = _STATUS[batch.ending] if batch.ending else "cancelling" if batch.cancelled else "in_progress"
    times = {f"{name}_at": None for name in ("cancelled", "cancelling", "completed", "expired", "failed", "finalizing")}
    written: dict[str, Any] = {
        "id": batch.id,
        "object": "batch",
        "endpoint": batch.path,
        "input_file_id": batch.metadata["input_file_id"],
        "completion_window": _WINDOW,
        "status": status,
        "created_at": int(batch.created),
        "in_progress_at": None if batch.ending == "failed" else int(batch.created),
        "expires_at": int(batch.expires),
        **times,
        "cancelling_at": int(batch.cancelled) or None,
        "errors": None,
        "output_file_id": None,
        "error_file_id": None,
        "request_counts": {"total": batch.total, "completed": batch.succeeded, "failed": batch.errored},
        "metadata": batch.metadata["metadata"],
        "usage": _usage(batch),
    }
    if batch.ended:
        written[f"{status}_at"] = written["finalizing_at"] = int(batch.ended)
        if batch.ending != "failed":
            written["output_file_id"] = await _result_file(call, batch, errors=False) if batch.succeeded else None
            written["error_file_id"] = await _result_file(call, batch, errors=True) if batch.total > batch.succeeded else None
    if batch.problems:
        data = [{"code": one.code, "line": one.line, "message": one.message, "param": one.param} for one in batch.problems]
        written["errors"] = {"object": "list", "data": data}
    return written


async def _result_file(call: EndpointCall, batch: Batch, *, errors: bool) -> str:
    """Its contents are the results of the batch: nothing is copied."""
    kind = "error" if errors else "output"
    id, store = f"file-{batch.id.removeprefix('batch_')}-{kind}", call.gateway.batches
    if await store.file(call.owner, id) is None:
        file = StoredFile(
            id=id,
            owner=call.owner,
            size=batch.error_bytes if errors else batch.output_bytes,
            created=batch.ended,
            name=f"{batch.id}_{kind}.jsonl",
            purpose="batch_output",
            batch=batch.id,
            errors=errors,
        )
        await store.add_file(file)
    return id


def _usage(batch: Batch) -> dict[str, Any]:
    return {
        "input_tokens": batch.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": batch.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": batch.input_tokens + batch.output_tokens,
    }


def _list(data: list[dict[str, Any]], more: bool) -> dict[str, Any]:
    ends = (data[0]["id"], data[-1]["id"]) if data else (None, None)
    return {"object": "list", "data": data, "first_id": ends[0], "last_id": ends[1], "has_more": more}


def _not_found(what: str, id: str) -> UpstreamError:
    return UpstreamError(f"{what} {id[:100]!r} not found", 404, "not_found")
