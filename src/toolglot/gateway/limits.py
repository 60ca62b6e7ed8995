"""How much each key may ask: so many requests at a time, so many a second (a token bucket)."""

from __future__ import annotations

import time
from collections.abc import Callable

from toolglot.errors import UpstreamError

_SOON = 1.0  # seconds after which a place may be free


class _Account:
    """Of one key. Entered, it is a place that a request has."""

    __slots__ = ("filled", "running", "tokens")

    def __init__(self, tokens: float, now: float) -> None:
        self.running = 0
        self.tokens = tokens
        self.filled = now

    def __enter__(self) -> None:
        self.running += 1

    def __exit__(self, *_: object) -> None:
        self.running -= 1


class Gate:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._accounts: dict[str, _Account] = {}

    @property
    def running(self) -> int:
        return sum(account.running for account in self._accounts.values())

    def place(self, owner: str, most: int, rate: float, burst: int) -> _Account:
        """One request's place, to be entered at once; an error with the time to wait where there is none."""
        full = float(burst or max(1.0, 2 * rate))
        account = self._accounts.get(owner)
        if account is None:
            account = self._accounts[owner] = _Account(full, self._clock())
        if account.running >= most:
            raise UpstreamError(f"{most} requests run already for this key", 429, "too_many_at_once", _SOON)
        if rate:
            self._take(account, rate, full)
        return account

    def _take(self, account: _Account, rate: float, full: float) -> None:
        now = self._clock()
        account.tokens = min(full, account.tokens + (now - account.filled) * rate)
        account.filled = now
        if account.tokens < 1:
            raise UpstreamError(
                f"more than {rate:g} requests a second for this key", 429, "rate_limit_exceeded", (1 - account.tokens) / rate
            )
        account.tokens -= 1
