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

from toolglot.core.interfaces import BackgroundEvents
from toolglot.errors import UpstreamError
from toolglot.gateway.event_stream import EventSplitter, SentEvent
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
_ENDED_EARLY = frozenset({"failed", "cancelled"})  # all others are stored like every response

Body = dict[str, Any]
log = logging.getLogger("toolglot.gateway")


class Run:
    """A response that this gateway runs. `blocks`: its events as they are sent; an event's number is its place."""

    def __init__(self, owner: str, exchange: InternalExchange, body: Body, events: BackgroundEvents) -> None:
        self.owner, self.exchange, self.body, self.events = owner, exchange, body, events
        self.id: str = body["id"]
        self.blocks: list[bytes] = []
        self.size = 0
        self.kept = 0  # blocks
        self.chunks = 0
        self.has_last = False
        self.ended = False
        self.changed = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    def add(self, kind: str, data: bytes) -> None:
        if self.events.event_id and data.endswith(b"}"):
            data = b'%b,"%b":"%d"}' % (data[:-1], self.events.event_id.encode(), len(self.blocks))
        block = _block(kind, data)
        self.blocks.append(block)
        self.size += len(block)
        self.has_last = self.has_last or kind in self.events.last
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

    async def start(self, exchange: InternalExchange, body: Body, handler: Handler, events: BackgroundEvents) -> Run:
        """`body`: the response as its first event will show it."""
        run = Run(exchange.caller.owner, exchange, {**body, "status": events.first_status}, events)
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
        if run.body["status"] in _ENDED_EARLY:
            await self._keep(run)
        else:
            await self._values.delete(self._snapshots, _key(run))
        await self._leases.release(_key(run))

    async def _on_event(self, run: Run, event: SentEvent) -> None:
        has_body = event.kind in run.events.with_body
        if has_body:
            run.body = msgspec.json.decode(event.data)[run.events.body]
        run.add(event.kind, event.data)
        if has_body and run.body["status"] in _RUNNING:
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
        run.body = run.events.ended(run.body, status, error)
        for kind, data in () if run.has_last else run.events.end(run.body, error, len(run.blocks)):
            run.add(kind, data.encode() if isinstance(data, str) else encode(data))

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
            for block in run.blocks[run.kept :]:
                data.append(block)
                size += len(block)
                if size >= _CHUNK:
                    break
            await self._values.put(self._events, f"{_key(run)} {run.chunks}", b"".join(data))
            run.kept += len(data)
            run.chunks += 1

    async def find(self, owner: str, id: str, events: BackgroundEvents) -> Body | None:
        """The response, unless it is complete and stored. One whose gateway has ended is failed from now on."""
        run = self._runs.get((owner, id))
        if run is not None:
            return run.body if run.body["status"] in _RUNNING | _ENDED_EARLY else None
        found = await self._values.get(self._snapshots, f"{owner}{BETWEEN}{id}")
        if found is None:
            return None
        body: Body = msgspec.json.decode(found)
        if body["status"] in _RUNNING and not await self._leases.is_taken(f"{owner}{BETWEEN}{id}"):
            body = events.ended(body, "failed", _stopped(500))
            await self._values.put(self._snapshots, f"{owner}{BETWEEN}{id}", encode(body))
        return body

    async def cancel(self, owner: str, id: str, events: BackgroundEvents) -> Body | None:
        """The response as it is then; None if it is unknown here, or complete."""
        run = self._runs.get((owner, id))
        if run is not None and run.task is not None:
            self.stop(run, "cancelled", None)
            await asyncio.wait([run.task])
            return run.body if run.body["status"] in _ENDED_EARLY else None
        body = await self.find(owner, id, events)
        if body is not None and body["status"] in _RUNNING:
            await self._values.put(_CANCELS, f"{owner}{BETWEEN}{id}", b"1")
            body = events.ended(body, "cancelled", None)
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

    async def has_events(self, owner: str, id: str, events: BackgroundEvents) -> bool:
        """Whether it runs, or has run in the last hour."""
        if (owner, id) in self._runs or await self._values.get(self._events, f"{owner}{BETWEEN}{id} 0") is not None:
            return True
        body = await self.find(owner, id, events)
        return body is not None and body["status"] in _RUNNING

    async def blocks(self, owner: str, id: str, events: BackgroundEvents) -> AsyncIterator[tuple[int, bytes]]:
        """All events with their numbers, now and until the end."""
        run = self._runs.get((owner, id))
        if run is None:
            async for each in self._kept_blocks(owner, id, events):
                yield each
            return
        at = 0
        while True:
            changed = run.changed
            while at < len(run.blocks):
                yield at, run.blocks[at]
                at += 1
            if run.ended:
                return
            if changed is run.changed:
                await changed.wait()

    async def _kept_blocks(self, owner: str, id: str, events: BackgroundEvents) -> AsyncIterator[tuple[int, bytes]]:
        splitter, number, at, is_over = EventSplitter(), 0, 0, False
        while True:
            data = await self._values.get(self._events, f"{owner}{BETWEEN}{id} {number}")
            if data is not None:
                number += 1
                for event in splitter.feed(data):
                    yield at, _block(event.kind, event.data)
                    at += 1
                    if event.kind in events.last:
                        return
            elif is_over:
                return
            else:
                body = await self.find(owner, id, events)
                is_over = body is None or body["status"] not in _RUNNING
                await asyncio.sleep(0 if is_over else _POLL)

    async def aclose(self) -> None:
        runs = list(self._runs.values())
        for run in runs:
            self.stop(run, "failed", _stopped(503))
        await asyncio.gather(*(run.task for run in runs if run.task is not None), return_exceptions=True)


def _block(kind: str, data: bytes) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), data)


def _stopped(status: int) -> UpstreamError:
    return UpstreamError("the gateway was stopped while it ran this response", status, "server_error")


def _key(run: Run) -> str:
    return f"{run.owner}{BETWEEN}{run.id}"
