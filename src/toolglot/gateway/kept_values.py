"""Values that outlive their request: batches, files and responses that run in the background.

In the store of this gateway, or in the state that several gateways share. Every id begins with its owner and `BETWEEN`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

import msgspec

from toolglot.client.worker import in_worker
from toolglot.gateway.shared_state import Kind, SharedState
from toolglot.gateway.store import Store, StoreError

LEASES = Kind("leases", 3600, 20_000, 4 * 1024 * 1024)


class Values(Protocol):
    """Every method raises StoreError if the place can't be reached."""

    async def get(self, kind: Kind, id: str) -> bytes | None: ...
    async def put(self, kind: Kind, id: str, value: bytes) -> None: ...
    async def delete(self, kind: Kind, id: str) -> bool: ...

    async def update(self, kind: Kind, id: str, change: Callable[[bytes | None], bytes]) -> bytes:
        """Replaces one value by what `change` makes of it, without losing what another gateway writes. The new value."""


class StoreValues:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def get(self, kind: Kind, id: str) -> bytes | None:
        return await in_worker(lambda: self._store.get(kind, id))

    async def put(self, kind: Kind, id: str, value: bytes) -> None:
        await in_worker(lambda: self._store.put(kind, id, value))

    async def delete(self, kind: Kind, id: str) -> bool:
        return await in_worker(lambda: self._store.remove(kind, id))

    async def update(self, kind: Kind, id: str, change: Callable[[bytes | None], bytes]) -> bytes:
        return await in_worker(lambda: self._store.update(kind, id, change))


class SharedValues:
    def __init__(self, state: SharedState) -> None:
        self._state = state

    def _check(self, done: bool = True) -> None:
        if self._state.problem is not None or not done:
            raise StoreError(self._state.problem or "the value is too large, or others write it all the time")

    async def get(self, kind: Kind, id: str) -> bytes | None:
        value = await self._state.get(kind, id)
        self._check()
        return value

    async def put(self, kind: Kind, id: str, value: bytes) -> None:
        self._check(await self._state.put(kind, id, value))

    async def delete(self, kind: Kind, id: str) -> bool:
        found = await self._state.delete(kind, id)
        self._check()
        return found

    async def update(self, kind: Kind, id: str, change: Callable[[bytes | None], bytes]) -> bytes:
        value = await self._state.update(kind, id, change)
        self._check(value is not None)
        return value or b""


class _Lease(msgspec.Struct, frozen=True):
    by: str
    until: float


_LEASE = msgspec.json.Decoder(_Lease)


class Leases:
    """Which gateway works on what. A lease that its gateway does not renew in time is free."""

    def __init__(self, values: Values, gateway: str, seconds: float = 6.0) -> None:
        self._values, self._gateway, self.seconds = values, gateway, seconds

    async def take(self, id: str) -> bool:
        """Takes or renews it; False: another gateway has it."""

        def change(before: bytes | None) -> bytes:
            lease = None if before is None else _LEASE.decode(before)
            if before is not None and lease is not None and lease.by != self._gateway and lease.until > time.time():
                return before
            return msgspec.json.encode(_Lease(self._gateway, time.time() + self.seconds))

        return _LEASE.decode(await self._values.update(LEASES, id, change)).by == self._gateway

    async def release(self, id: str) -> None:
        """If it is ours."""

        def change(before: bytes | None) -> bytes:
            lease = _Lease("", 0.0) if before is None else _LEASE.decode(before)
            return msgspec.json.encode(_Lease("", 0.0) if lease.by == self._gateway else lease)

        await self._values.update(LEASES, id, change)

    async def is_taken(self, id: str) -> bool:
        found = await self._values.get(LEASES, id)
        return found is not None and _LEASE.decode(found).until > time.time()
