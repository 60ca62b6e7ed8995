"""Reads a stream of named events that the gateway itself wrote, event by event. Its fields are those of the Responses API."""

from __future__ import annotations

import re
from typing import Any

import msgspec

_TERMINAL = frozenset({"response.completed", "response.failed", "response.incomplete"})
_NUMBER = re.compile(rb'"sequence_number":(\d+)')


class _ResponseId(msgspec.Struct):
    id: str


class _Created(msgspec.Struct):
    response: _ResponseId


class _Done(msgspec.Struct):
    item: dict[str, Any]


_CREATED, _DONE = msgspec.json.Decoder(_Created), msgspec.json.Decoder(_Done)


def is_terminal(kind: str) -> bool:
    return kind in _TERMINAL


class SentEvent(msgspec.Struct, frozen=True):
    kind: str
    data: bytes  # a JSON object: type and number come first

    @property
    def sequence(self) -> int:
        found = _NUMBER.search(self.data)
        return int(found[1]) if found is not None else 0

    def renumbered(self, number: int) -> bytes:
        return self.data if number == self.sequence else _NUMBER.sub(b'"sequence_number":%d' % number, self.data, count=1)

    @property
    def response_id(self) -> str:
        """Of `response.created`."""
        return _CREATED.decode(self.data).response.id

    @property
    def item(self) -> dict[str, Any]:
        """Of `response.output_item.done`."""
        return _DONE.decode(self.data).item


class EventSplitter:
    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[SentEvent]:
        """The events that are complete. Comments (pings) are left out."""
        *blocks, self._rest = (self._rest + data).split(b"\n\n")
        events = []
        for block in blocks:
            name, _, line = block.partition(b"\n")
            if name.startswith(b"event: ") and line.startswith(b"data: "):
                events.append(SentEvent(name[7:].decode(), line[6:]))
        return events
