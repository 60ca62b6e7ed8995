"""Runs the rows of batches: a background job of the gateway.

Each row is a request like a client's, with the limits, budgets and records of its key. A batch is run by the gateway that has
its lease; if that gateway ends, another one, or its successor, goes on with the rows that have no result.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import msgspec

from toolglot.core.log import log as library_log
from toolglot.errors import UpstreamError
from toolglot.gateway.auth import Caller
from toolglot.gateway.batches.batch import Batch, Problem, Result, Row, decode_rows
from toolglot.gateway.batches.batch_store import BatchStore
from toolglot.gateway.batches.result_lines import result_line, without_result
from toolglot.gateway.internal_exchange import Handler, InternalExchange
from toolglot.gateway.kept_values import Leases
from toolglot.gateway.shared_state import BETWEEN
from toolglot.gateway.store import StoreError

_TICK = 1.0  # seconds between looks for batches, and between renewals of a lease
_MAX_BATCHES = 8  # at once
_ATTEMPTS = 4  # of a row whose upstream is busy or failing
_RETRIED = frozenset({408, 429, 500, 502, 503, 504, 529})
_DELAY, _MAX_DELAY = 1.0, 60.0  # seconds; doubled for each attempt
_MAX_RESULT = 8 * 1024 * 1024  # bytes
log = library_log.getChild("gateway")


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


class _Reply(msgspec.Struct):
    usage: _Usage | None = None


_REPLY = msgspec.json.Decoder(_Reply)


class BatchRunner:
    """`rows_at_once`: of one batch."""

    def __init__(self, store: BatchStore, leases: Leases, handler: Callable[[], Handler], rows_at_once: int) -> None:
        self._store, self._leases, self._handler, self._rows_at_once = store, leases, handler, rows_at_once
        self.jobs: dict[str, Job] = {}  # by the id of the batch
        self._running: dict[str, asyncio.Task[None]] = {}
        self._new = asyncio.Event()

    def look(self) -> None:
        """There is a new batch."""
        self._new.set()

    async def __call__(self, _: object) -> None:
        try:
            while True:
                with suppress(StoreError):
                    await self._start_all()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._new.wait(), _TICK)
                self._new.clear()
        finally:
            for task in self._running.values():
                task.cancel()
            await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _start_all(self) -> None:
        for owner, id in await self._store.unfinished():
            key = f"{owner}{BETWEEN}{id}"
            if len(self._running) < _MAX_BATCHES and key not in self._running and await self._leases.take(key):
                batch = await self._store.find(owner, id)
                if batch is None or batch.ended:
                    await self._store.forget_unfinished(owner, id)
                    continue
                task = self._running[key] = asyncio.get_running_loop().create_task(self._run(batch))
                task.add_done_callback(lambda _, key=key: self._running.pop(key, None))  # type: ignore[misc]

    async def _run(self, batch: Batch) -> None:
        job = self.jobs[batch.id] = Job(batch, self._store, self._leases, self._handler())
        try:
            await job.run(self._rows_at_once)
        except StoreError as error:  # its lease ends, and it starts again once the store works
            log.error("batch %s: %s", batch.id, error)
            await asyncio.sleep(self._leases.seconds)
        except Exception:
            log.exception("batch %s", batch.id)
            await asyncio.sleep(self._leases.seconds)
        finally:
            del self.jobs[batch.id]
            with suppress(StoreError):
                await self._leases.release(batch.key)


class Job:
    """One batch. `stops`: no more rows are started."""

    def __init__(self, batch: Batch, store: BatchStore, leases: Leases, handler: Handler) -> None:
        self._batch, self._store, self._leases, self._handler = batch, store, leases, handler
        self._without_result: dict[int, Row] = {}
        self._workers: list[asyncio.Task[None]] = []
        self.stops = False

    async def run(self, rows_at_once: int) -> None:
        batch = self._batch
        rows = await self._rows()
        if rows is None:
            batch.problems = (Problem("input_deleted", "the input was deleted: the store was full, or it was old"),)
            batch.ended, batch.ending = time.time(), "failed"
            await self._store.finish(batch)
            return
        batch.succeeded = batch.errored = batch.output_bytes = batch.error_bytes = batch.input_tokens = batch.output_tokens = 0
        for number, row in enumerate(rows):
            result = await self._store.result(batch, number)
            if result is None:
                self._without_result[number] = row
            else:
                batch.add(result)
        left = list(self._without_result.items())
        todo = iter(left)
        loop = asyncio.get_running_loop()
        self._workers = [loop.create_task(self._work(todo)) for _ in range(min(rows_at_once, len(left)))]
        ticker = loop.create_task(self._tick())
        try:
            done, _ = await asyncio.wait([*self._workers, ticker], return_when=asyncio.FIRST_EXCEPTION) if left else ((), ())
            for task in done:
                task.result()
        finally:
            ticker.cancel()
            for task in self._workers:
                task.cancel()
            await asyncio.gather(ticker, *self._workers, return_exceptions=True)
        await self._finish()

    async def _rows(self) -> list[Row] | None:
        data = await self._store.contents(self._batch.owner, self._batch.rows)
        try:
            rows = await asyncio.to_thread(decode_rows, data)
        except msgspec.DecodeError:
            return None
        return rows if len(rows) == self._batch.total else None

    async def _finish(self) -> None:
        batch = self._batch
        latest = await self._store.find(batch.owner, batch.id)
        if latest is None:  # deleted meanwhile
            await self._store.forget_unfinished(batch.owner, batch.id)
            return
        batch.cancelled, batch.ended = latest.cancelled, time.time()
        if not batch.left:
            batch.ending = "completed"
        else:
            batch.ending = "canceled" if batch.cancelled else "expired"
            for number, row in self._without_result.items():
                batch.error_bytes += len(result_line(batch, number, row.custom_id, without_result(batch)))
        await self._store.finish(batch)

    async def _tick(self) -> None:
        """Renews the lease, shows the progress, and looks whether to stop. Ends with the workers."""
        batch = self._batch
        while not all(task.done() for task in self._workers):
            await asyncio.wait(self._workers, timeout=_TICK)
            if not await self._leases.take(batch.key):
                raise StoreError(f"another gateway runs batch {batch.id}")
            latest = await self._store.find(batch.owner, batch.id)
            self.stops = latest is None or bool(latest.cancelled) or time.time() >= batch.expires
            if latest is not None:
                await self._store.save(batch)

    # -- rows

    async def _work(self, todo: Iterator[tuple[int, Row]]) -> None:
        for number, row in todo:
            if self.stops:
                return
            result = await self._result(row)
            result = msgspec.structs.replace(result, size=len(result_line(self._batch, number, row.custom_id, result)))
            await self._store.put_result(self._batch, number, result)
            self._batch.add(result)
            del self._without_result[number]

    async def _result(self, row: Row) -> Result:
        for attempt in range(_ATTEMPTS):
            exchange = await self._send(row)
            error = exchange.failure
            if error is None or exchange.status not in _RETRIED or error.should_retry is False:
                break
            if attempt < _ATTEMPTS - 1:
                await self._wait(min(_MAX_DELAY, error.retry_after or _DELAY * 2**attempt))
        return _read(exchange)

    async def _send(self, row: Row) -> InternalExchange:
        headers = {name.encode(): value.encode("latin-1", "replace") for name, value in self._batch.headers.items()}
        caller = Caller(self._batch.owner)
        exchange = InternalExchange(self._batch.path, bytes(row.body), caller, headers, waits=True)
        await exchange.run(self._handler)
        return exchange

    async def _wait(self, seconds: float) -> None:
        for _ in range(round(seconds / _TICK) or 1):
            if self.stops:
                return
            await asyncio.sleep(min(seconds, _TICK))


def _read(exchange: InternalExchange) -> Result:
    body, outcome = exchange.response_body, "succeeded" if exchange.status == 200 else "errored"
    if len(body) > _MAX_RESULT or not exchange.status:
        error = exchange.failure or UpstreamError("the response is missing or too large", 502)
        return Result(
            "errored", 502, exchange.request_id, msgspec.Raw(msgspec.json.encode({"error": {"message": error.message}}))
        )
    try:
        usage = _REPLY.decode(body).usage or _Usage()
    except msgspec.DecodeError:
        usage = _Usage()
    tokens = usage.prompt_tokens or usage.input_tokens or 0, usage.completion_tokens or usage.output_tokens or 0
    return Result(outcome, exchange.status, exchange.request_id, msgspec.Raw(body), *tokens)  # type: ignore[arg-type]
