"""Stored conversations that all gateways see. What can't be shared is in the store of this gateway."""

from __future__ import annotations

from functools import partial

import msgspec

from toolglot.client.worker import in_worker
from toolglot.core.messages import Message
from toolglot.gateway.shared_state import BETWEEN, RESPONSES, Kind, SharedState
from toolglot.gateway.store import MAX_TURNS, Row, Store, decode_messages, encode_messages

_DECODER = msgspec.msgpack.Decoder(Row)
_ENCODER = msgspec.msgpack.Encoder()


def _id(id: str, owner: str) -> str:
    return f"{owner}{BETWEEN}{id}"


class SharedStore:
    def __init__(self, state: SharedState, store: Store, kind: Kind = RESPONSES) -> None:
        self._state, self._store, self._kind = state, store, kind

    async def add(self, id: str, owner: str, previous: str | None, messages: tuple[Message, ...], body: bytes) -> None:
        value = await in_worker(lambda: _ENCODER.encode(Row(previous, encode_messages(messages), body)))
        if not await self._state.put(self._kind, _id(id, owner), value):
            await in_worker(partial(self._store.add, id, owner, previous, messages, body))

    async def history(self, id: str, owner: str) -> tuple[Message, ...] | None:
        """All messages up to and including this response; None if it is unknown or belongs to another owner."""
        turns: list[tuple[Message, ...]] = []
        next_id: str | None = id
        while next_id is not None and len(turns) < MAX_TURNS:
            row = await self._row(next_id, owner)
            if row is None:
                return None
            next_id = row.previous
            turns.append(await in_worker(partial(decode_messages, row.messages)))
        return tuple(message for turn in reversed(turns) for message in turn)

    async def body(self, id: str, owner: str) -> bytes | None:
        row = await self._row(id, owner)
        return None if row is None else row.body

    async def delete(self, id: str, owner: str) -> bool:
        shared = await self._state.delete(self._kind, _id(id, owner))
        return await in_worker(partial(self._store.delete, id, owner)) or shared

    async def _row(self, id: str, owner: str) -> Row | None:
        value = await self._state.get(self._kind, _id(id, owner))
        if value is None:
            return await in_worker(partial(self._store.row, id, owner))
        return _DECODER.decode(value)
