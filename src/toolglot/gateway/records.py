"""One record per request. The latest stay in memory, without message contents unless `record = true`.

Observers (metrics, the page, traces) get each record when its request ends.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Literal

import msgspec

Outcome = Literal["passed", "fixed", "refused"]
_MAX_RECORDS = 200
CLIENT_CLOSED = 499  # the status of a request whose client disconnected, as in nginx


class RecordedCall(msgspec.Struct, frozen=True, omit_defaults=True):
    dialect: str  # "native" for a structured call
    outcome: Outcome
    code: str = ""  # of the first repair, or of the rejection
    tool: str | None = None  # tool and written: only with `record = true`
    written: str | None = None


class RecordedDecision(msgspec.Struct, frozen=True, omit_defaults=True):
    code: str
    message: str | None = None  # only with `record = true`: it may quote the model


class Record(msgspec.Struct, omit_defaults=True):
    """Filled in while its request runs."""

    id: str
    wire: str  # of the client
    began: float  # Unix time
    model: str = ""  # as the client named it
    upstream: str = ""
    target: str = ""  # the model that answered
    upstream_wire: str = ""
    tool_mode: str = ""  # native, prompted or constrained
    stream: bool = False
    status: int = 0
    code: str = ""  # error code
    seconds: float = 0.0
    first: float | None = None  # seconds to the first chunk of the response
    input: int | None = None  # tokens
    output: int | None = None
    retried: int = 0  # requests to the model to repair a rejected call
    tried: tuple[str, ...] = ()  # targets that failed before this one
    calls: list[RecordedCall] = []
    decisions: list[RecordedDecision] = []
    notes: list[str] = []
    traceparent: str = ""  # of the client's trace
    content: dict[str, Any] | None = None  # request and reply, with `record = true`
    owner: str = ""  # of the key; "": not authenticated

    def to_dict(self) -> dict[str, Any]:
        fields: dict[str, Any] = msgspec.to_builtins(self)
        fields.pop("owner", None)
        return fields


Observer = Callable[[Record], None]


class Records:
    def __init__(self, max_records: int = _MAX_RECORDS) -> None:
        self._max_records = max_records
        self._records: OrderedDict[str, Record] = OrderedDict()
        self.observers: list[Observer] = []

    def begin(self, id: str, wire: str) -> Record:
        """A record that is visible once it is added."""
        return Record(id, wire, time.time())

    def add(self, record: Record) -> None:
        self._records[record.id] = record
        while len(self._records) > self._max_records:
            self._records.popitem(last=False)
        for observer in self.observers:
            observer(record)

    def find(self, id: str) -> Record | None:
        return self._records.get(id) or self._records.get(f"req_{id}")

    def recent(self) -> list[Record]:
        """Newest first."""
        return list(reversed(self._records.values()))
