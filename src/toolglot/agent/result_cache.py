"""Results that are given again: by tool and arguments, for as long as the tool allows. Tools opt in, with a lifetime."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from weakref import WeakValueDictionary

import msgspec

from toolglot.core.messages import ToolCall, ToolResult
from toolglot.pipeline.guard_calls import canonical


class ResultCache:
    """Bounded: what was not used for longest goes first. Errors are never kept, so that a call can be tried again."""

    def __init__(self, most: int = 1000, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._kept: OrderedDict[tuple[str, str], tuple[float, ToolResult]] = OrderedDict()
        self._turns: WeakValueDictionary[tuple[int, tuple[str, str]], asyncio.Lock] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self._kept)

    def turn(self, call: ToolCall) -> asyncio.Lock:
        """Equal calls, of several runs too, go one after the other: the second finds the first one's result. For each loop."""
        own = asyncio.Lock()  # held by who uses it
        return self._turns.setdefault((id(asyncio.get_running_loop()), canonical(call)), own)

    def get(self, call: ToolCall) -> ToolResult | None:
        """The result of an equal call, under this one's id."""
        key = canonical(call)
        until, result = self._kept.get(key, (0.0, None))
        if result is None:
            return None
        if self._clock() >= until:
            del self._kept[key]
            return None
        self._kept.move_to_end(key)
        return msgspec.structs.replace(result, call_id=call.id)

    def put(self, call: ToolCall, result: ToolResult, lifetime: float) -> None:
        if result.is_error or lifetime <= 0:
            return
        key = canonical(call)
        self._kept[key] = (self._clock() + lifetime, result)
        self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)

    def clear(self) -> None:
        self._kept.clear()
