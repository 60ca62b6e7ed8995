"""What became of each request: the last ones stay in memory, with codes only unless content is asked for.

Whoever wants to know (metrics, a page, traces) is an observer: it is handed each record when its request is over.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Literal

import msgspec

Outcome = Literal["passed", "fixed", "refused"]
KEPT = 200


class CallSeen(msgspec.Struct, frozen=True, omit_defaults=True):
    dialect: str  # native, or how it was written
    outcome: Outcome
    code: str = ""  # of the first fix, or of the refusal
    tool: str | None = None  # these two only where content is recorded
    written: str | None = None


class DecisionSeen(msgspec.Struct, frozen=True, omit_defaults=True):
    code: str
    message: str | None = None  # only where content is recorded: it may quote the model


class Record(msgspec.Struct, omit_defaults=True):
    """Grows while its request runs."""

    id: str
    wire: str  # the client's
    began: float  # seconds since 1970
    model: str = ""  # as the client called it
    upstream: str = ""
    target: str = ""  # the model that answered
    upstream_wire: str = ""
    way: str = ""  # how it was asked for calls
    stream: bool = False
    status: int = 0  # 499: the client left
    code: str = ""  # of the error
    seconds: float = 0.0
    first: float | None = None  # seconds to the first piece of the answer
    input: int | None = None  # tokens
    output: int | None = None
    mended: int = 0  # times that the model was asked again
    tried: tuple[str, ...] = ()  # the targets that failed before
    calls: list[CallSeen] = []
    decisions: list[DecisionSeen] = []
    notes: list[str] = []
    traceparent: str = ""  # of the trace that the client is in
    content: dict[str, Any] | None = None  # request and reply, where asked for
    owner: str = ""  # whose key it came with; "": it was turned away at the door

    def seen_by(self, owner: str) -> bool:
        """What came with one key is not for another."""
        return self.owner in ("", owner)

    def told(self) -> dict[str, Any]:
        held: dict[str, Any] = msgspec.to_builtins(self)
        held.pop("owner", None)
        return held


Observer = Callable[[Record], None]


class Records:
    def __init__(self, most: int = KEPT) -> None:
        self._most = most
        self._held: OrderedDict[str, Record] = OrderedDict()
        self.observers: list[Observer] = []

    def begin(self, id: str, wire: str) -> Record:
        """A record that is seen once it is kept."""
        return Record(id, wire, time.time())

    def keep(self, record: Record) -> None:
        self._held[record.id] = record
        while len(self._held) > self._most:
            self._held.popitem(last=False)
        for observer in self.observers:
            observer(record)

    def find(self, id: str) -> Record | None:
        return self._held.get(id) or self._held.get(f"req_{id}")

    def recent(self) -> list[Record]:
        """The newest first."""
        return list(reversed(self._held.values()))
