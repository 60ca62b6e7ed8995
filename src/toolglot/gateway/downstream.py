"""A stream to the client: pieces as they come, a sign of life when none does, and an end to clients that take nothing."""

from __future__ import annotations

import asyncio

from toolglot.gateway.exchange import Exchange


class Downstream:
    """One timer looks after both silences. It is not moved by each piece: it fires, looks, and sleeps on."""

    def __init__(self, exchange: Exchange, ping: bytes, silence: float, patience: float) -> None:
        self._exchange = exchange
        self._ping, self._silence, self._patience = ping, silence, patience
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._last = self._loop.time()
        self._since: float | None = None  # a piece waits for the client to take it
        self._timer: asyncio.TimerHandle | None = None
        self._pinging: asyncio.Task[None] | None = None
        self._tick = min(silence, patience) / 2
        self.slow = False

    async def __aenter__(self) -> Downstream:
        self._timer = self._loop.call_later(self._tick, self._look)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._pinging is not None:
            self._pinging.cancel()

    async def send(self, data: bytes) -> None:
        """Each piece is whole events, so that a ping may stand between any two."""
        self._last = self._since = self._loop.time()
        await self._exchange.piece(data)
        self._since = None

    def _look(self) -> None:
        now = self._loop.time()
        if self._since is not None and now - self._since > self._patience and self._task is not None:
            self.slow = self._exchange.left = True
            self._task.cancel()
            return
        if self._since is None and now - self._last >= self._silence and (self._pinging is None or self._pinging.done()):
            self._last = now
            self._pinging = self._loop.create_task(self._exchange.piece(self._ping))
        self._timer = self._loop.call_later(self._tick, self._look)
