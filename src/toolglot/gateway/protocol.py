"""uvicorn's HTTP protocol with two more limits: how long a request's head may be, and how long it may take to come."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n"
    b"content-type: text/plain\r\ncontent-length: 46\r\n\r\n"
    b"the head of the request is longer than allowed"
)


class GuardedProtocol(HttpToolsProtocol):
    """`max_head` and `head_seconds` are set on a subclass, for uvicorn makes the instances."""

    max_head = 64 * 1024
    head_seconds = 60.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head = 0  # bytes since the last request's end
        self._in_head = True
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._timer = self.loop.call_later(self.head_seconds, self._late)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            self._head += len(data)
            if self._head > self.max_head and self._refuse(data):
                return
            if self._timer is None:
                self._timer = self.loop.call_later(self.head_seconds, self._late)
        super().data_received(data)

    def _refuse(self, data: bytes) -> bool:
        """Whether the head alone is too long: a body may have come in the same piece."""
        end = data.find(b"\r\n\r\n")
        if end != -1 and self._head - len(data) + end <= self.max_head:
            return False
        self._stop()
        self.transport.write(_TOO_LARGE)
        self.transport.close()
        return True

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._stop()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head, self._head = True, 0
        super().on_message_complete()

    def _late(self) -> None:
        self._timer = None
        if not self.transport.is_closing():
            self.transport.close()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
