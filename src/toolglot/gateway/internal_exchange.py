"""A request that the gateway makes to itself: for a WebSocket, in the background, or for a row of a batch.

It takes the path of every other request, with its limits, budgets and record. Only its caller is already known.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from toolglot.errors import UpstreamError
from toolglot.gateway.auth import Caller
from toolglot.gateway.concurrency import LIMIT_CODES
from toolglot.gateway.http_exchange import HttpExchange, IdleTimer
from toolglot.gateway.recent_threads import RecentThreads

_PASSED_ON = (b"user-agent", b"traceparent", b"openai-beta", b"anthropic-beta", b"anthropic-version")
_WAIT = 1.0  # seconds


class _NoTimer(IdleTimer):
    """Nothing is slow here, and nobody disconnects."""

    def add(self, exchange: HttpExchange) -> None:
        pass


_no_timer = _NoTimer()
Chunk = Callable[[bytes], Awaitable[None]]
Handler = Callable[[HttpExchange], Awaitable[None]]


def passed_on(headers: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """The headers of a client's request that its internal requests have, too."""
    return {name: headers[name] for name in _PASSED_ON if name in headers}


class InternalExchange(HttpExchange):
    """`waits`: for a free slot, instead of failing with 429. `rated`: counts towards the rate of its key.

    `on_chunk` gets the body of a successful response; without it, and of an error, the body is kept.
    """

    __slots__ = (
        "_pending",
        "body_chunks",
        "caller",
        "failure",
        "on_chunk",
        "rated",
        "recent",
        "response_headers",
        "status",
        "waits",
    )

    def __init__(
        self,
        path: str,
        body: bytes,
        caller: Caller,
        headers: Mapping[bytes, bytes] | None = None,
        *,
        on_chunk: Chunk | None = None,
        recent: RecentThreads | None = None,
        rated: bool = True,
        waits: bool = False,
    ) -> None:
        scope = {
            "method": "POST",
            "path": path,
            "headers": list((headers or {}).items()),
            "query_string": b"",
            "client": None,
            "scheme": "http",
        }
        super().__init__(scope, self._give, self._take, _no_timer)
        self.caller, self.recent, self.rated, self.waits = caller, recent, rated, waits
        self.on_chunk = on_chunk
        self._pending: list[bytes] = [body]
        self.status = 0
        self.response_headers: dict[bytes, bytes] = {}
        self.body_chunks: list[bytes] = []
        self.failure: UpstreamError | None = None

    @property
    def response_body(self) -> bytes:
        return b"".join(self.body_chunks)

    async def run(self, handler: Handler) -> None:
        """Until the response is complete. Raises only if its task is cancelled."""
        body = self._pending[0]
        await handler(self)
        while self._is_limited and self.failure is not None:
            await asyncio.sleep(self.failure.retry_after or _WAIT)
            self._pending, self.failure, self.body_chunks = [body], None, []
            self.started = self.ended = self.unrecorded = False
            await handler(self)

    @property
    def _is_limited(self) -> bool:
        return self.waits and self.unrecorded

    def failed(self, error: UpstreamError, by_upstream: bool) -> None:
        """What the error body is made of. A request that waits for its slot is not recorded."""
        self.failure = error
        self.unrecorded = self.waits and not by_upstream and error.code in LIMIT_CODES

    async def _give(self) -> MutableMapping[str, Any]:
        if not self._pending:
            await asyncio.Event().wait()  # nobody disconnects: the task is cancelled instead
        return {"type": "http.request", "body": self._pending.pop(), "more_body": False}

    async def _take(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status, self.response_headers = message["status"], dict(message["headers"])
        elif self.on_chunk is None or self.status >= 400:
            self.body_chunks.append(message.get("body", b""))
        elif data := message.get("body", b""):
            await self.on_chunk(data)
