"""What the gateway shows about its requests: metrics, records, and the live list of the page.

In a single process it is about that process. With several, their master has it (`master.py`), and each worker asks there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import dropwhile, takewhile
from typing import Any, Protocol

import msgspec

from toolglot.gateway.budgets import Period, Spending, Spent
from toolglot.gateway.metrics import Metrics
from toolglot.gateway.page.history import SPANS, History
from toolglot.gateway.records import Record, RecordedCall, Records

NO_ROWS, NO_HISTORY = "*", "none"
_MAX_WRITTEN = 400  # characters of a call in the list; the whole is at /toolglot/decisions


class LiveQuery(msgspec.Struct, frozen=True):
    """What of the live list."""

    owner: str | None  # None: of all
    after: str = ""  # only requests that ended after this one; NO_ROWS: none
    before: str = ""  # only requests that ended before this one
    limit: int = 0  # at most so many, the newest; 0: all
    span: str = "hour"  # of the history, or NO_HISTORY


class Deleted(msgspec.Struct, frozen=True):
    records: int
    responses: int


class Server(Protocol):
    """The gateway, or the master of its workers. `owner` None: of all."""

    spending: Spending

    async def running(self, owner: str | None) -> int:
        """Requests in progress."""

    async def report_usage(self, days: int, owner: str | None) -> list[dict[str, Any]]: ...

    async def delete_responses(self, owner: str | None) -> int:
        """The number of stored responses that were deleted."""


class Overview:
    def __init__(self, records: Records, metrics: Metrics, history: History, server: Server) -> None:
        self._records, self._metrics, self._history, self._server = records, metrics, history, server

    async def metrics(self) -> bytes:
        self._metrics.running = await self._server.running(None)
        return self._metrics.exposition()

    async def find(self, id: str) -> Record | None:
        return self._records.find(id)

    async def live(self, query: LiveQuery) -> dict[str, Any]:
        """The rows are newest first."""
        running = await self._server.running(query.owner)
        found = self._wanted(query)
        rows = found[: query.limit or len(found)]
        live: dict[str, Any] = {"rows": list(map(_row, rows)), "more": len(rows) < len(found), "running": running}
        if query.span != NO_HISTORY:
            live["history"] = self._history.to_dict(query.span if query.span in SPANS else "hour", query.owner)
        return live

    def _wanted(self, query: LiveQuery) -> list[Record]:
        if query.after == NO_ROWS:
            return []
        records: Iterator[Record] = takewhile(lambda record: record.id != query.after, self._records.recent())
        if query.before:
            records = dropwhile(lambda record: record.id != query.before, records)
            next(records, None)
        return [record for record in records if query.owner in {None, record.owner}]

    async def failed(self) -> dict[str, dict[str, Any]]:
        """The last error of each upstream that had one."""
        return self._history.failed

    async def usage(self, days: int, owner: str | None) -> list[dict[str, Any]]:
        """Requests and tokens; `owner` None: of all."""
        return await self._server.report_usage(days, owner)

    async def delete(self, owner: str | None) -> Deleted:
        """Records and stored responses of an owner; None: of all."""
        responses = await self._server.delete_responses(owner)  # first: with it, the last records of the workers arrive
        return Deleted(self._records.delete(owner), responses)

    async def spent(self, owner: str) -> dict[Period, Spent]:
        return self._server.spending.spent(owner)


def _row(record: Record) -> dict[str, Any]:
    row = record.to_dict()
    row.pop("content", None)
    row.pop("traceparent", None)
    if "decisions" in row:  # their sentences are at /toolglot/decisions
        row["decisions"] = [{"code": one.code} for one in record.decisions]
    row["calls"] = [msgspec.to_builtins(_shortened(call)) for call in record.calls]
    return row


def _shortened(call: RecordedCall) -> RecordedCall:
    return msgspec.structs.replace(call, written=call.written and call.written[:_MAX_WRITTEN])
