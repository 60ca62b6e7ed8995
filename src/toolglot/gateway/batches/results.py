"""Sends the results of a batch as JSONL, in the order of its rows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from toolglot.gateway.batches.batch import Batch, Outcome, decode_rows
from toolglot.gateway.batches.batch_store import BatchStore
from toolglot.gateway.batches.result_lines import result_line, without_result
from toolglot.gateway.http_exchange import HttpExchange

_CHUNK = 64 * 1024  # bytes


async def send_results(
    exchange: HttpExchange, store: BatchStore, batch: Batch, media_type: bytes, wants: Callable[[Outcome], bool]
) -> None:
    """Those with an outcome that is wanted."""
    exchange.watch_disconnect()
    await exchange.start(200, media_type)
    chunk: list[bytes] = []
    size = 0
    async for line in _lines(store, batch, wants):
        chunk.append(line)
        size += len(line)
        if size >= _CHUNK:
            await exchange.send_chunk(b"".join(chunk))
            chunk, size = [], 0
    await exchange.end(b"".join(chunk))


async def _lines(store: BatchStore, batch: Batch, wants: Callable[[Outcome], bool]) -> AsyncIterator[bytes]:
    data = await store.contents(batch.owner, batch.rows)
    for number, row in enumerate(decode_rows(data) if data else ()):
        result = await store.result(batch, number) or without_result(batch)
        if wants(result.outcome):
            yield result_line(batch, number, row.custom_id, result)
