"""What several gateways share: the interface, and its implementation for a single gateway, in memory.

Everything that is kept has a time to live and a bound on its number and size.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

import msgspec

_DAY = 86_400
BETWEEN = "\t"  # an owner and what follows; no owner contains it


class Kind(msgspec.Struct, frozen=True):
    """One kind of values. The oldest are deleted first."""

    name: str
    seconds: int  # to live
    max_items: int
    max_bytes: int  # of all values of this kind


def kept_for(kind: Kind, seconds: float) -> Kind:
    """With this retention time, if there is one; a Redis deletes by itself."""
    return msgspec.structs.replace(kind, seconds=max(1, round(min(kind.seconds, seconds)))) if seconds else kind


RESPONSES = Kind("responses", 30 * _DAY, 20_000, 256 * 1024 * 1024)  # as long as OpenAI keeps them
RECORDS = Kind("records", _DAY, 5_000, 64 * 1024 * 1024)
MODE_STATS = Kind("mode_stats", 90 * _DAY, 1, 4 * 1024 * 1024)
SPENT = Kind("spent", 35 * _DAY, 10_000, 4 * 1024 * 1024)  # max_items: counts of one period
USAGE = Kind("usage", 35 * _DAY, 10_000, 4 * 1024 * 1024)  # max_items: counts of one day

RELOAD = b"reload"  # the message that makes the other gateways read their configuration file again


class SharedState(Protocol):
    """No method raises or waits long if the state can't be reached: values are then missing, and limits are local."""

    is_local: bool  # nothing is shared: requests need not ask
    on_message: Callable[[bytes], None] | None  # called with what another gateway published

    @property
    def problem(self) -> str | None:
        """Why nothing is shared at the moment."""

    async def take_slot(self, owner: str, max_concurrent: int, rate: float, burst: int) -> AbstractContextManager[None]:
        """The slot of one request among all gateways; raises with a retry delay if a limit of the key is reached."""

    async def get(self, kind: Kind, id: str) -> bytes | None: ...

    async def put(self, kind: Kind, id: str, value: bytes) -> bool:
        """Whether it is kept."""

    async def delete(self, kind: Kind, id: str) -> bool: ...

    async def names(self, kind: Kind) -> list[str]:
        """The ids of all values of this kind."""

    async def update(self, kind: Kind, id: str, change: Callable[[bytes | None], bytes]) -> bytes | None:
        """Replaces one value by what `change` makes of it, without losing what another gateway writes. The new value."""

    async def add_counts(self, kind: Kind, id: str, counts: Mapping[str, int]) -> bool: ...

    async def counts(self, kind: Kind, id: str) -> dict[str, int]: ...

    async def publish(self, message: bytes) -> None: ...

    def run(self) -> Awaitable[None]:
        """Runs as long as the gateway."""

    async def aclose(self) -> None: ...


class LocalState:
    """For a single gateway. Its limits are those of the gateway itself."""

    is_local = True
    problem: str | None = None

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.on_message: Callable[[bytes], None] | None = None
        self._clock = clock
        self._values: dict[str, OrderedDict[str, tuple[float, bytes]]] = {}  # kind -> id -> expiry, value; oldest first
        self._counts: dict[str, OrderedDict[str, tuple[float, dict[str, int]]]] = {}

    async def take_slot(self, owner: str, max_concurrent: int, rate: float, burst: int) -> AbstractContextManager[None]:
        return nullcontext()

    async def get(self, kind: Kind, id: str) -> bytes | None:
        values = self._values.get(kind.name) or OrderedDict()
        expiry, value = values.get(id, (0.0, b""))
        return value if expiry > self._clock() else None

    async def put(self, kind: Kind, id: str, value: bytes) -> bool:
        if len(value) > kind.max_bytes:
            return False
        values, now = self._values.setdefault(kind.name, OrderedDict()), self._clock()
        values.pop(id, None)
        values[id] = now + kind.seconds, value
        total = sum(len(one) for _, one in values.values())
        while len(values) > kind.max_items or total > kind.max_bytes or next(iter(values.values()))[0] <= now:
            total -= len(values.popitem(last=False)[1][1])
        return True

    async def delete(self, kind: Kind, id: str) -> bool:
        found = await self.get(kind, id) is not None
        self._values.get(kind.name, OrderedDict()).pop(id, None)
        return found

    async def names(self, kind: Kind) -> list[str]:
        return list(self._values.get(kind.name, ()))

    async def update(self, kind: Kind, id: str, change: Callable[[bytes | None], bytes]) -> bytes | None:
        value = change(await self.get(kind, id))
        return value if await self.put(kind, id, value) else None

    async def add_counts(self, kind: Kind, id: str, counts: Mapping[str, int]) -> bool:
        kept, now = self._counts.setdefault(kind.name, OrderedDict()), self._clock()
        _, current = kept.pop(id, (0.0, {}))
        kept[id] = now + kind.seconds, current
        for name, number in counts.items():
            if name in current or len(current) < kind.max_items:
                current[name] = current.get(name, 0) + number
        while next(iter(kept.values()))[0] <= now:
            kept.popitem(last=False)
        return True

    async def counts(self, kind: Kind, id: str) -> dict[str, int]:
        kept = self._counts.get(kind.name) or OrderedDict()
        expiry, counts = kept.get(id, (0.0, {}))
        return dict(counts) if expiry > self._clock() else {}

    async def publish(self, message: bytes) -> None:
        """There is no other gateway."""

    async def run(self) -> None:
        """Nothing to renew."""

    async def aclose(self) -> None:
        """Nothing to close."""
