"""A cache of tool results, by tool and arguments. A tool opts in with a lifetime (`cache_for`)."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from weakref import WeakValueDictionary

import msgspec

from toolglot.core.messages import ToolCall, ToolResult
from toolglot.pipeline.response.call_validator import call_key


class ResultCache:
    """Bounded, least recently used first out. Errors are never cached, so that a call can be retried."""

    def __init__(self, most: int = 1000, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._entries: OrderedDict[tuple[str, str], tuple[float, ToolResult]] = OrderedDict()
        self._locks: WeakValueDictionary[tuple[int, tuple[str, str]], asyncio.Lock] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self._entries)

    def lock_for(self, call: ToolCall) -> asyncio.Lock:
        """A lock for equal calls, also of several runs: the second call waits and finds the result of the first."""
        lock = asyncio.Lock()  # kept alive by its users
        return self._locks.setdefault((id(asyncio.get_running_loop()), call_key(call)), lock)

    def get(self, call: ToolCall) -> ToolResult | None:
        """The cached result of an equal call, with this call's id."""
        key = call_key(call)
        until, result = self._entries.get(key, (0.0, None))
        if result is None:
            return None
        if self._clock() >= until:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return msgspec.structs.replace(result, call_id=call.id)

    def put(self, call: ToolCall, result: ToolResult, lifetime: float) -> None:
        if result.is_error or lifetime <= 0:
            return
        key = call_key(call)
        self._entries[key] = (self._clock() + lifetime, result)
        self._entries.move_to_end(key)
        while len(self._entries) > self._most:
            self._entries.popitem(last=False)

    def clear(self) -> None:
        self._entries.clear()
