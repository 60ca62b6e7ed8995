"""One HTTP request and its answer, on bare ASGI. Nothing here knows what is said."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, MutableMapping
from os import urandom
from typing import Any
from urllib.parse import parse_qs

from toolglot.errors import UpstreamError
from toolglot.gateway.rounds import EVERY, Rounds
from toolglot.text.json_text import encode

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Coroutine[Any, Any, None]]
Headers = Iterable[tuple[bytes, bytes]]

JSON = b"application/json"
_LONGEST = 4000  # of a header of ours


class ClientLeft(Exception):  # noqa: N818
    """The client is gone: there is nobody to answer."""


class Exchange:
    __slots__ = (
        "_late",
        "_receive",
        "_rounds",
        "_send",
        "_since",
        "_slow",
        "_task",
        "_watcher",
        "_watches",
        "ended",
        "headers",
        "id",
        "left",
        "limits",
        "method",
        "path",
        "query",
        "request_header",
        "started",
        "welcome",
    )

    def __init__(self, scope: Scope, receive: Receive, send: Send, rounds: Rounds) -> None:
        self._receive, self._send, self._rounds = receive, send, rounds
        self._task: asyncio.Task[Any] | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._watches = False
        self._since = 0.0
        self._late: float | None = None  # when the body must have come
        self._slow = False  # it has not
        self.id = urandom(16).hex()
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers: Mapping[bytes, bytes] = dict(scope["headers"])  # names in lower case; the last of several wins
        self.query: bytes = scope["query_string"]
        self.left = False  # the client is gone
        self.started = False  # the answer's head has been sent
        self.ended = False
        self.limits: Headers = ()  # what the upstream says of its own
        self.request_header: bytes | None = None  # under which the client looks for the request's id
        self.welcome: tuple[tuple[bytes, bytes], ...] = ()  # headers for a page of another site that may read the answer

    @property
    def request_id(self) -> str:
        return f"req_{self.id}"

    def header(self, name: bytes) -> str:
        return self.headers.get(name, b"").decode("latin-1")

    def asked(self, name: str) -> str:
        """A value of the query; "" where there is none."""
        if not self.query:
            return ""
        try:
            found = parse_qs(self.query.decode("latin-1"), keep_blank_values=True, max_num_fields=64)
        except ValueError:
            return ""
        return found.get(name, [""])[-1]

    # -- in

    async def body(self, most: int, seconds: float) -> bytes:
        """The whole body, within a size and a time."""
        if self.headers.get(b"content-encoding", b"identity") != b"identity":
            raise UpstreamError("the body must not be compressed", 415, "unsupported_encoding")
        told = self.headers.get(b"content-length", b"")
        if told.isdigit() and int(told) > most:
            raise too_large(most)
        pieces: list[bytes] = []
        size, more = 0, True
        loop = asyncio.get_running_loop()
        self._since = loop.time()
        self._task, self._late = asyncio.current_task(loop), self._since + seconds
        self._rounds.add(self)
        try:
            while more and size <= most:
                message = await self._receive()
                if message["type"] == "http.disconnect":
                    raise ClientLeft
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
                more = message.get("more_body", False)
        except asyncio.CancelledError:
            if not self._slow or self._task is None:
                raise
            self._task.uncancel()
            raise UpstreamError("the request did not come in time", 408, "slow_client") from None
        self._late = None
        if size > most:
            raise too_large(most)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def watch(self) -> None:
        """From now on a client that leaves cancels the task that serves it. Call it once the body has been read."""
        self._watches = True

    def look(self, now: float) -> None:
        """Now and then: whether the body is late, and whether it is time to watch the client. Most requests need neither."""
        if self._late is not None:
            if now >= self._late and self._task is not None:
                self._slow = True
                self._task.cancel()
        elif self._watches and now >= self._since + EVERY:
            self._rounds.remove(self)
            self._watcher = asyncio.get_running_loop().create_task(self._until_gone())

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if not self.ended and self._task is not None:
            self.left = True
            self._task.cancel()

    def close(self) -> None:
        self._task = None  # it knows this exchange, and so does the watcher
        self._rounds.remove(self)
        if self._watcher is not None:
            self._watcher.cancel()
            self._watcher = None

    # -- out

    async def start(self, status: int, media: bytes, more: Headers = (), length: int | None = None) -> None:
        headers = [(b"content-type", media), (b"x-request-id", self.request_id.encode()), *more, *self.limits, *self.welcome]
        if self.request_header is not None:
            headers.append((self.request_header, self.request_id.encode()))
        if length is not None:
            headers.append((b"content-length", b"%d" % length))
        self.started = True
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    def piece(self, data: bytes) -> Coroutine[Any, Any, None]:
        return self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self, data: bytes = b"") -> None:
        self.ended = True
        await self._send({"type": "http.response.body", "body": data})

    async def answer(self, status: int, body: bytes, more: Headers = (), media: bytes = JSON) -> None:
        """The whole answer at once."""
        await self.start(status, media, more, len(body))
        await self.end(body)

    async def json(self, value: Any, status: int = 200, more: Headers = ()) -> None:
        await self.answer(status, encode(value), more)


def too_large(most: int) -> UpstreamError:
    return UpstreamError(f"the body is larger than {most} bytes", 413, "request_too_large")


def header_text(words: Iterable[str], between: str = "; ") -> bytes:
    """Text as a header takes it: one line, no letter that HTTP would refuse, and not too long."""
    text = between.join(words)
    if len(text) > _LONGEST:
        text = text[: _LONGEST - 3] + "..."
    if not text.isascii() or not text.isprintable():
        text = "".join(char if " " <= char <= "~" else " " if char.isspace() else "?" for char in text)
    return text.encode("ascii")


def retry_headers(error: UpstreamError) -> list[tuple[bytes, bytes]]:
    """Whether it is worth trying again, where the provider says so, and after which time; as SDKs read it."""
    headers: list[tuple[bytes, bytes]] = []
    if error.should_retry is not None:
        headers.append((b"x-should-retry", b"true" if error.should_retry else b"false"))
    if error.retry_after is not None:
        headers.append((b"retry-after", b"%d" % math.ceil(error.retry_after)))
        headers.append((b"retry-after-ms", b"%d" % math.ceil(error.retry_after * 1000)))
    return headers
