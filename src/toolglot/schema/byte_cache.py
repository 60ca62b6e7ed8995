"""A cache that is bounded in bytes: the entries that were not used for the longest time leave first."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class ByteCache(Generic[Key, Value]):
    """Sizes are estimates of the caller. An entry that is larger than a quarter of the cache is not kept."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._entries: dict[Key, tuple[Value, int]] = {}  # in the order of their last use
        self._lock = threading.Lock()  # calls are validated in worker threads too
        self.size = 0

    def get(self, key: Key) -> Value | None:
        with self._lock:
            found = self._entries.pop(key, None)
            if found is None:
                return None
            self._entries[key] = found
            return found[0]

    def put(self, key: Key, value: Value, size: int) -> None:
        if size > self._limit // 4:
            return
        with self._lock:
            old = self._entries.pop(key, None)
            self.size += size - (old[1] if old else 0)
            self._entries[key] = (value, size)
            while self.size > self._limit:
                oldest = next(iter(self._entries))
                self.size -= self._entries.pop(oldest)[1]

    def __len__(self) -> int:
        return len(self._entries)
