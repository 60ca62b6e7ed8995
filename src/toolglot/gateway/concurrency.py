"""Limits for each key: concurrent requests, and requests per second (a token bucket)."""

from __future__ import annotations

import time
from collections.abc import Callable

from toolglot.errors import UpstreamError

_RETRY_AFTER = 1.0  # seconds
LIMIT_CODES = frozenset({"too_many_at_once", "rate_limit_exceeded"})


def too_many_at_once(max_concurrent: int) -> UpstreamError:
    message = f"limit of {max_concurrent} concurrent requests for this key reached"
    return UpstreamError(message, 429, "too_many_at_once", _RETRY_AFTER)


def rate_reached(rate: float, seconds: float) -> UpstreamError:
    """`seconds`: until the next request is allowed."""
    return UpstreamError(f"limit of {rate:g} requests per second for this key reached", 429, "rate_limit_exceeded", seconds)


class _Account:
    """The counters of one key. As a context manager, it is the slot of one request."""

    __slots__ = ("refilled", "running", "tokens")

    def __init__(self, tokens: float, now: float) -> None:
        self.running = 0
        self.tokens = tokens
        self.refilled = now

    def __enter__(self) -> None:
        self.running += 1

    def __exit__(self, *_: object) -> None:
        self.running -= 1


class ConcurrencyGate:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._accounts: dict[str, _Account] = {}

    @property
    def running(self) -> int:
        return sum(account.running for account in self._accounts.values())

    def running_for(self, owner: str) -> int:
        account = self._accounts.get(owner)
        return account.running if account is not None else 0

    def slot(self, owner: str, max_concurrent: int, rate: float, burst: int) -> _Account:
        """The slot of one request, to be entered at once; raises with a retry delay if a limit is reached."""
        capacity = float(burst or max(1.0, 2 * rate))
        account = self._accounts.get(owner)
        if account is None:
            account = self._accounts[owner] = _Account(capacity, self._clock())
        if account.running >= max_concurrent:
            raise too_many_at_once(max_concurrent)
        if rate:
            self._take_token(account, rate, capacity)
        return account

    def _take_token(self, account: _Account, rate: float, capacity: float) -> None:
        now = self._clock()
        account.tokens = min(capacity, account.tokens + (now - account.refilled) * rate)
        account.refilled = now
        if account.tokens < 1:
            raise rate_reached(rate, (1 - account.tokens) / rate)
        account.tokens -= 1
