"""One record per request. The latest stay in memory, without message contents unless `record = true`.

Observers (metrics, the page, traces) get each record when its request ends.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from toolglot.core.reason_codes import SENTENCES
from toolglot.schema.fixes import sentence

Outcome = Literal["passed", "fixed", "refused"]
_MAX_BYTES = 64 * 1024 * 1024  # of all records
_MAX_CONTENT = 8 * 1024 * 1024  # of one record; a larger content is left out
_MAX_TEXT = 2000  # characters of a name or a message
_MAX_WRITTEN = 20_000  # characters of a call, as the model wrote it
_MAX_ITEMS = 100  # calls, decisions or notes
ANYONE = "anyone"  # the owner where no keys are set
CLIENT_CLOSED = 499  # the status of a request whose client disconnected, as in nginx


class RecordedCall(msgspec.Struct, frozen=True, omit_defaults=True):
    dialect: str  # "native" for a structured call
    outcome: Outcome
    code: str = ""  # of the first repair, or of the rejection
    tool: str | None = None  # a tool of the request; with `record = true` also a name that the model made up
    written: str | None = None  # only with `record = true`


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
    error: str = ""  # its message, often the upstream's
    client: str = ""  # its program and version, as it calls itself
    seconds: float = 0.0
    first: float | None = None  # seconds to the first chunk of the response
    input: int | None = None  # tokens
    output: int | None = None
    cost: float | None = None  # US dollars; None: the price is not known
    retried: int = 0  # requests to the model to repair a rejected call
    sent: int = 0  # HTTP requests to upstreams, with all attempts and retries
    resent: int = 0  # of these: sent again, because the upstream had closed a kept connection
    tried: tuple[str, ...] = ()  # targets that failed before this one
    calls: list[RecordedCall] = []
    decisions: list[RecordedDecision] = []
    notes: list[str] = []
    traceparent: str = ""  # of the client's trace
    content: msgspec.Raw | None = None  # request and reply as JSON, with `record = true`
    owner: str = ""  # of the key; "": not authenticated
    started: float = 0.0  # of a clock that never jumps

    def elapsed(self) -> float:
        return time.perf_counter() - self.started

    def to_dict(self) -> dict[str, Any]:
        fields: dict[str, Any] = msgspec.to_builtins(replace(self, content=None))
        if self.content is not None:
            fields["content"] = self.content
        fields.pop("started", None)
        if self.owner == ANYONE:
            del fields["owner"]
        for one in fields.get("decisions", ()):
            one.setdefault("message", SENTENCES.get(one["code"]) or sentence(one["code"]))
        return fields


def _cut(text: str | None, limit: int = _MAX_TEXT) -> str | None:
    return text if text is None or len(text) <= limit else text[: limit - 3] + "..."


def _bound(record: Record) -> bytes:
    """Cuts off what is too long, for the texts come from clients and models. Returns it as JSON."""
    most = max(map(len, (record.notes, record.tried, record.calls, record.decisions)))
    if record.content is None and most <= _MAX_ITEMS:
        encoded = msgspec.json.encode(record)
        if len(encoded) <= _MAX_TEXT:  # all of it, so each text
            return encoded
    for name in ("model", "target", "upstream", "code", "error", "client"):
        setattr(record, name, _cut(getattr(record, name)))
    record.notes = [_cut(note) or "" for note in record.notes[:_MAX_ITEMS]]
    record.tried = tuple(_cut(name) or "" for name in record.tried[:_MAX_ITEMS])
    record.calls = [
        replace(call, tool=_cut(call.tool), written=_cut(call.written, _MAX_WRITTEN)) for call in record.calls[:_MAX_ITEMS]
    ]
    record.decisions = [replace(one, message=_cut(one.message)) for one in record.decisions[:_MAX_ITEMS]]
    if record.content is not None and len(record.content) > _MAX_CONTENT:
        record.notes.append(f"the content is not kept: {len(record.content)} bytes, the limit is {_MAX_CONTENT}")
        record.content = None
    return msgspec.json.encode(record)


def _is_meant(record: Record, owner: str | None, before: float | None) -> bool:
    return (owner is None or record.owner == owner) and (before is None or record.began < before)


decode_record = msgspec.json.Decoder(Record).decode
Observer = Callable[[Record], None]


class Records:
    def __init__(self, max_records: int = 200, max_bytes: int = _MAX_BYTES) -> None:
        self._max_records, self._max_bytes = max_records, max_bytes
        self._records: OrderedDict[str, tuple[Record, int]] = OrderedDict()
        self._bytes = 0
        self.observers: list[Observer] = []
        self.share: Callable[[str, bytes], None] | None = None  # gets each id and its record, as JSON

    def begin(self, id: str, wire: str) -> Record:
        """A record that is visible once it is added."""
        return Record(id, wire, time.time(), started=time.perf_counter())

    def add(self, record: Record) -> None:
        for observer in self.observers:
            observer(record)
        encoded = _bound(record)
        size = len(encoded)
        if self.share is not None:
            self.share(record.id, encoded)
        self._records[record.id] = record, size
        self._bytes += size
        while len(self._records) > self._max_records or self._bytes > self._max_bytes:
            self._bytes -= self._records.popitem(last=False)[1][1]

    def delete(self, owner: str | None = None, before: float | None = None) -> int:
        """Those of an owner, or of requests that began before this time; without both, all. Returns their number."""
        found = [id for id, (record, _) in self._records.items() if _is_meant(record, owner, before)]
        for id in found:
            self._bytes -= self._records.pop(id)[1]
        return len(found)

    def find(self, id: str) -> Record | None:
        found = self._records.get(id) or self._records.get(f"req_{id}")
        return found[0] if found is not None else None

    def recent(self) -> list[Record]:
        """Newest first."""
        return [record for record, _ in reversed(self._records.values())]
