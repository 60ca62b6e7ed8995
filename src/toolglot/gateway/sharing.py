"""Sends what this gateway counts and records to the shared state, in the background."""

from __future__ import annotations

import asyncio
from collections import deque

from toolglot.client.mode_stats import ModeStats
from toolglot.gateway.budgets import Spending
from toolglot.gateway.records import Record, Records, decode_record
from toolglot.gateway.shared_state import MODE_STATS, RECORDS, Kind, SharedState
from toolglot.gateway.usage import Usage

_INTERVAL = 2.0  # seconds between two exchanges of counts
_MAX_WAITING = 1000  # records
_MAX_WAITING_BYTES = 16 * 1024 * 1024


class Sharing:
    """A background job of the gateway. Records that wait too long, or that are too large, are dropped."""

    def __init__(
        self,
        records: Records,
        mode_stats: ModeStats,
        usage: Usage,
        spending: Spending,
        state: SharedState,
        *,
        kind: Kind = RECORDS,
    ) -> None:
        self._mode_stats, self._usage, self._spending, self._state = mode_stats, usage, spending, state
        self._waiting: deque[tuple[str, bytes]] = deque()
        self._bytes = 0
        self._added = asyncio.Event()
        self._kind = kind
        records.share = self._share

    def _share(self, id: str, record: bytes) -> None:
        has_room = len(self._waiting) < _MAX_WAITING and self._bytes + len(record) <= _MAX_WAITING_BYTES
        if has_room and self._state.problem is None:
            self._waiting.append((id, record))
            self._bytes += len(record)
            self._added.set()

    async def __call__(self, gateway: object) -> None:
        jobs = [asyncio.ensure_future(job) for job in (self._state.run(), self._send_records(), self._exchange_counts())]
        try:
            await asyncio.gather(*jobs)
        finally:
            for job in jobs:
                job.cancel()
            await asyncio.gather(*jobs, return_exceptions=True)
            await self._exchange()

    async def _send_records(self) -> None:
        while True:
            await self._added.wait()
            self._added.clear()
            while self._waiting:
                id, record = self._waiting.popleft()
                self._bytes -= len(record)
                await self._state.put(self._kind, id, record)

    async def _exchange_counts(self) -> None:
        while True:
            await self._exchange()
            await asyncio.sleep(_INTERVAL)

    async def _exchange(self) -> None:
        await self._usage.flush(self._state)
        await self._spending.exchange(self._state)
        stats = self._mode_stats
        if not stats.on:
            return
        new = stats.take_new()
        merged = await self._state.update(MODE_STATS, "all", lambda shared: stats.merged(shared, new))
        if merged is None:
            stats.keep_local(new)
        else:
            stats.use_shared(merged)


async def find_shared_record(state: SharedState, id: str) -> Record | None:
    for name in (id, f"req_{id}"):
        found = await state.get(RECORDS, name)
        if found is not None:
            return decode_record(found)
    return None
