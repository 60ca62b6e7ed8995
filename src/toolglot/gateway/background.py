"""Responses that run in the background: they outlive the request that started them, and their events can be read again.

A snapshot and the events are kept as values, so that another gateway or a later one can answer for them. A response whose
gateway ended is reported as failed. A complete response is a stored one like all others.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from toolglot.errors import UpstreamError
from toolglot.gateway.event_stream import EventSplitter, SentEvent, is_terminal
from toolglot.gateway.internal_exchange import Handler, InternalExchange
from toolglot.gateway.kept_values import Leases, Values
from toolglot.gateway.shared_state import BETWEEN, Kind, kept_for
from toolglot.gateway.store import StoreError
from toolglot.io.json_codec import encode

_DAY = 86_400
SNAPSHOTS = Kind("background", 30 * _DAY, 10_000, 128 * 1024 * 1024)
EVENTS = Kind("background_events", 3600, 50_000, 128 * 1024 * 1024)
_CANCELS = Kind("background_cancels", 3600, 10_000, 1024 * 1024)

MAX_RUNNING = 64  # of one key
_MAX_BYTES = 128 * 1024 * 1024  # of the events of all running ones
_MAX_SECONDS = 3600.0  # of one
_TICK = 1.0  # seconds
_CHUNK = 64 * 1024  # bytes of events that are kept together
_POLL = 0.25  # seconds, where another gateway runs the response
_RUNNING = frozenset({"queued", "in_progress"})

Body = dict[str, Any]
log = logging.getLogger("toolglot.gateway")


class Run:
    """A response that this gateway runs. `blocks`: its events as they are sent."""

    def __init__(self, owner: str, exchange: InternalExchange, body: Body) -> None:
        self.owner, self.exchange, self.body = owner, exchange, body
        self.id: str = body["id"]
        self.blocks: list[tuple[int, bytes]] = []
        self.size = 0
        self.kept = 0  # blocks
        self.chunks = 0
        self.ended = False
        self.changed = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    def add(self, kind: str, data: bytes, number: int) -> None:
        block = b"event: %b\ndata: %b\n\n" % (kind.encode(), data)
        self.blocks.append((number, block))
        self.size += len(block)
        self._wake()

    def end(self) -> None:
        self.ended = True
        self._wake()

    def _wake(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


class Background:
    """`seconds`: to keep what it keeps; 0: as long as its kind."""

    def __init__(self, values: Values, leases: Leases, seconds: float = 0.0) -> None:
        self._values, self._leases = values, leases
        self._snapshots, self._events = kept_for(SNAPSHOTS, seconds), kept_for(EVENTS, seconds)
        self._runs: dict[tuple[str, str], Run] = {}

    # -- running

    def check_number(self, owner: str) -> None:
        if sum(run.owner == owner for run in self._runs.values()) >= MAX_RUNNING:
            message = f"{MAX_RUNNING} responses of this key run in the background already"
            raise UpstreamError(message, 429, "too_many_at_once", 5.0)

    async def start(self, exchange: InternalExchange, body: Body, handler: Handler) -> Run:
        """`body`: the response as its first event will show it."""
        run = Run(exchange.caller.owner, exchange, {**body, "status": "queued"})
        splitter = EventSplitter()

        async def on_chunk(data: bytes) -> None:
            for event in splitter.feed(data):
                await self._on_event(run, event)

        exchange.on_chunk = on_chunk
        await self._leases.take(_key(run))
        await self._keep(run)
        self._runs[run.owner, run.id] = run
        run.task = asyncio.get_running_loop().create_task(self._run(run, handler))
        return run

    async def _run(self, run: Run, handler: Handler) -> None:
        ticker = asyncio.get_running_loop().create_task(self._tick(run))
        try:
            await run.exchange.run(handler)
            if run.body["status"] in _RUNNING:
                error = run.exchange.failure or UpstreamError("the response broke off", 500, "server_error")
                self._fail(run, "failed", error)
        except asyncio.CancelledError:
            if run.body["status"] in _RUNNING:
                self._fail(run, "cancelled", None)
        finally:
            ticker.cancel()
            try:
                await self._finish(run)
            except StoreError as error:
                log.error("%s: %s", run.id, error)
            run.end()
            del self._runs[run.owner, run.id]

    async def _finish(self, run: Run) -> None:
        await self._flush(run)
        if run.body["status"] in ("completed", "incomplete"):
            await self._values.delete(self._snapshots, _key(run))  # it is stored like every response
        else:
            await self._keep(run)
        await self._leases.release(_key(run))

    async def _on_event(self, run: Run, event: SentEvent) -> None:
        if event.kind == "response.created" or is_terminal(event.kind):
            run.body = msgspec.json.decode(event.response)
        run.add(event.kind, event.data, event.sequence)
        if event.kind == "response.created":
            await self._keep(run)
        if sum(each.size for each in self._runs.values()) > _MAX_BYTES:
            largest = max(self._runs.values(), key=lambda each: each.size)
            error = UpstreamError("the events of all background responses are too large", 503, "server_error")
            self.stop(largest, "failed", error)

    def stop(self, run: Run, status: str, error: UpstreamError | None) -> None:
        if run.body["status"] not in _RUNNING:
            return
        self._fail(run, status, error)
        run.exchange.disconnected = True
        if run.task is not None:
            run.task.cancel()

    def _fail(self, run: Run, status: str, error: UpstreamError | None) -> None:
        detail = None if error is None else {"code": error.code or "server_error", "message": error.message}
        run.body = {**run.body, "status": status, "error": detail}
        number = run.blocks[-1][0] + 1 if run.blocks else 0
        run.add("response.failed", encode({"type": "response.failed", "sequence_number": number, "response": run.body}), number)

    async def _tick(self, run: Run) -> None:
        """Renews the lease, keeps new events, and looks whether another gateway was asked to cancel."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while True:
            await asyncio.sleep(_TICK)
            try:
                await self._leases.take(_key(run))
                await self._flush(run)
                if await self._values.get(_CANCELS, _key(run)) is not None:
                    self.stop(run, "cancelled", None)
            except StoreError as error:
                log.error("%s: %s", run.id, error)
            if loop.time() - began > _MAX_SECONDS:
                self.stop(run, "failed", UpstreamError(f"not complete after {_MAX_SECONDS:g} seconds", 504, "timeout"))

    # -- what is kept

    async def _keep(self, run: Run) -> None:
        await self._values.put(self._snapshots, _key(run), encode(run.body))

    async def _flush(self, run: Run) -> None:
        while run.kept < len(run.blocks):
            size, data = 0, []
            for _, block in run.blocks[run.kept :]:
                data.append(block)
                size += len(block)
                if size >= _CHUNK:
                    break
            await self._values.put(self._events, f"{_key(run)} {run.chunks}", b"".join(data))
            run.kept += len(data)
            run.chunks += 1

    async def find(self, owner: str, id: str) -> Body | None:
        """The response, unless it is complete and stored. One whose gateway has ended is failed from now on."""
        run = self._runs.get((owner, id))
        if run is not None:
            return run.body
        found = await self._values.get(self._snapshots, f"{owner}{BETWEEN}{id}")
        if found is None:
            return None
        body: Body = msgspec.json.decode(found)
        if body["status"] in _RUNNING and not await self._leases.is_taken(f"{owner}{BETWEEN}{id}"):
            message = "the gateway was stopped while it ran this response"
            body = {**body, "status": "failed", "error": {"code": "server_error", "message": message}}
            await self._values.put(self._snapshots, f"{owner}{BETWEEN}{id}", encode(body))
        return body

    async def cancel(self, owner: str, id: str) -> Body | None:
        """The response as it is then; None if it is unknown here."""
        run = self._runs.get((owner, id))
        if run is not None and run.task is not None:
            self.stop(run, "cancelled", None)
            await asyncio.wait([run.task])
            return run.body
        body = await self.find(owner, id)
        if body is not None and body["status"] in _RUNNING:
            await self._values.put(_CANCELS, f"{owner}{BETWEEN}{id}", b"1")
            body = {**body, "status": "cancelled"}
            await self._values.put(self._snapshots, f"{owner}{BETWEEN}{id}", encode(body))
        return body

    async def delete(self, owner: str, id: str) -> bool:
        run = self._runs.get((owner, id))
        if run is not None and run.task is not None:
            self.stop(run, "cancelled", None)
            await asyncio.wait([run.task])
        number = 0
        while await self._values.delete(self._events, f"{owner}{BETWEEN}{id} {number}"):
            number += 1
        return await self._values.delete(self._snapshots, f"{owner}{BETWEEN}{id}")

    # -- reading the events

    async def has_events(self, owner: str, id: str) -> bool:
        """Whether it runs, or has run in the last hour."""
        if (owner, id) in self._runs or await self._values.get(self._events, f"{owner}{BETWEEN}{id} 0") is not None:
            return True
        body = await self.find(owner, id)
        return body is not None and body["status"] in _RUNNING

    async def blocks(self, owner: str, id: str) -> AsyncIterator[tuple[int, bytes]]:
        """All events with their numbers, now and until the end."""
        run = self._runs.get((owner, id))
        if run is None:
            async for each in self._kept_blocks(owner, id):
                yield each
            return
        at = 0
        while True:
            changed = run.changed
            while at < len(run.blocks):
                yield run.blocks[at]
                at += 1
            if run.ended:
                return
            if changed is run.changed:
                await changed.wait()

    async def _kept_blocks(self, owner: str, id: str) -> AsyncIterator[tuple[int, bytes]]:
        splitter, number, is_over = EventSplitter(), 0, False
        while True:
            data = await self._values.get(self._events, f"{owner}{BETWEEN}{id} {number}")
            if data is not None:
                number += 1
                for event in splitter.feed(data):
                    yield event.sequence, b"event: %b\ndata: %b\n\n" % (event.kind.encode(), event.data)
                    if is_terminal(event.kind):
                        return
            elif is_over:
                return
            else:
                body = await self.find(owner, id)
                is_over = body is None or body["status"] not in _RUNNING
                await asyncio.sleep(0 if is_over else _POLL)

    async def aclose(self) -> None:
        runs = list(self._runs.values())
        for run in runs:
            self.stop(run, "failed", UpstreamError("the gateway was stopped while it ran this response", 503, "server_error"))
        await asyncio.gather(*(run.task for run in runs if run.task is not None), return_exceptions=True)


def _key(run: Run) -> str:
    return f"{run.owner}{BETWEEN}{run.id}"
