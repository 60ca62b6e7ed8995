"""One HTTP request and its response, on bare ASGI, and the errors that need response headers. Knows nothing of chat APIs."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, MutableMapping
from os import urandom
from typing import Any, Protocol
from urllib.parse import parse_qs

from toolglot.errors import UpstreamError
from toolglot.io.json_codec import encode

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Coroutine[Any, Any, None]]
Headers = Iterable[tuple[bytes, bytes]]

JSON = b"application/json"
TAKE_OVER = "toolglot.take_over"  # ASGI extension: the connection of a request that asks for another protocol
_MAX_HEADER_TEXT = 4000  # characters in a header that toolglot writes
_CHECK_INTERVAL = 0.05  # seconds


class Duplex(Protocol):
    """A connection in another protocol than HTTP."""

    async def receive(self) -> bytes:
        """The next bytes; b"" once the client or the server ends."""

    async def send(self, data: bytes) -> None:
        """Waits while the client does not read."""

    def end_sending(self) -> None:
        """Nothing more follows."""

    @property
    def is_stopping(self) -> bool:
        """The server shuts down."""


class ClientDisconnected(Exception):  # noqa: N818
    """The client closed the connection."""


class IdleTimer:
    """One timer for all open exchanges instead of one per request: most requests end before it fires. Idle without requests."""

    def __init__(self) -> None:
        self._exchanges: set[HttpExchange] = set()
        self._timer: asyncio.TimerHandle | None = None

    def add(self, exchange: HttpExchange) -> None:
        self._exchanges.add(exchange)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_CHECK_INTERVAL, self._check_all)

    def remove(self, exchange: HttpExchange) -> None:
        self._exchanges.discard(exchange)

    def _check_all(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        now = loop.time()
        for exchange in tuple(self._exchanges):
            exchange.check(now)
        if self._exchanges:
            self._timer = loop.call_later(_CHECK_INTERVAL, self._check_all)


class HttpExchange:
    rated = True  # counts towards the rate of its key

    __slots__ = (
        "_body_deadline",
        "_body_timed_out",
        "_idle_timer",
        "_receive",
        "_send",
        "_since",
        "_task",
        "_watcher",
        "_watches_disconnect",
        "client_host",
        "cors_headers",
        "disconnected",
        "ended",
        "headers",
        "id",
        "is_steered",
        "later",
        "method",
        "path",
        "query",
        "rate_limit_headers",
        "request_id",
        "request_id_header",
        "scheme",
        "started",
        "take_over",
        "unrecorded",
    )

    def __init__(self, scope: Scope, receive: Receive, send: Send, idle_timer: IdleTimer) -> None:
        self._receive, self._send, self._idle_timer = receive, send, idle_timer
        self._task: asyncio.Task[Any] | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._watches_disconnect = False
        self._since = 0.0
        self._body_deadline: float | None = None
        self._body_timed_out = False
        self.id = urandom(16).hex()
        self.request_id = f"req_{self.id}"
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers: Mapping[bytes, bytes] = dict(scope["headers"])  # names in lower case; the last duplicate wins
        self.query: bytes = scope["query_string"]
        self.client_host: str = (scope["client"] or ("",))[0]
        self.scheme: str = scope.get("scheme", "http")
        self.take_over: Callable[[], Duplex] | None = scope.get("extensions", {}).get(TAKE_OVER)
        self.later: Callable[[], Awaitable[None]] | None = None  # what needs no slot among the requests of its key
        self.is_steered: Callable[[], bool] | None = None  # whether new input waits for the end of the response
        self.unrecorded = False  # another request has the record
        self.disconnected = False
        self.started = False  # the response headers are sent
        self.ended = False
        self.rate_limit_headers: Headers = ()  # of the upstream
        self.request_id_header: bytes | None = None  # a second header that carries the request id
        self.cors_headers: tuple[tuple[bytes, bytes], ...] = ()  # set if the origin is allowed

    def header(self, name: bytes) -> str:
        return self.headers.get(name, b"").decode("latin-1")

    def query_value(self, name: str) -> str:
        """A value of the query string; "" if it is missing."""
        if not self.query:
            return ""
        try:
            values = parse_qs(self.query.decode("latin-1"), keep_blank_values=True, max_num_fields=64)
        except ValueError:
            return ""
        return values.get(name, [""])[-1]

    # -- the request

    async def body(self, max_size: int, timeout: float) -> bytes:
        """The whole body, limited in size and time."""
        if self.headers.get(b"content-encoding", b"identity") != b"identity":
            raise UpstreamError("the body must not be compressed", 415, "unsupported_encoding")
        length = self.headers.get(b"content-length", b"")
        if length.isdigit() and int(length) > max_size:
            raise too_large(max_size)
        chunks: list[bytes] = []
        size, more = 0, True
        loop = asyncio.get_running_loop()
        self._since = loop.time()
        self._task, self._body_deadline = asyncio.current_task(loop), self._since + timeout
        self._idle_timer.add(self)
        try:
            while more and size <= max_size:
                message = await self._receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnected
                chunks.append(message.get("body", b""))
                size += len(chunks[-1])
                more = message.get("more_body", False)
        except asyncio.CancelledError:
            if not self._body_timed_out or self._task is None:
                raise
            self._task.uncancel()
            raise UpstreamError("timed out while reading the request body", 408, "slow_client") from None
        self._body_deadline = None
        if size > max_size:
            raise too_large(max_size)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    def watch_disconnect(self) -> None:
        """From now on a disconnect cancels the task of this request. Call it after the body is read."""
        self._watches_disconnect = True

    def check(self, now: float) -> None:
        """Called by the idle timer: enforces the body timeout and starts to watch for a disconnect."""
        if self._body_deadline is not None:
            if now >= self._body_deadline and self._task is not None:
                self._body_timed_out = True
                self._task.cancel()
        elif self._watches_disconnect and now >= self._since + _CHECK_INTERVAL:
            self._idle_timer.remove(self)
            self._watcher = asyncio.get_running_loop().create_task(self._cancel_on_disconnect())

    async def _cancel_on_disconnect(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if not self.ended and self._task is not None:
            self.disconnected = True
            self._task.cancel()

    def close(self) -> None:
        self._task = None  # breaks the reference cycle between task and exchange
        self._idle_timer.remove(self)
        if self._watcher is not None:
            self._watcher.cancel()
            self._watcher = None

    # -- the response

    async def start(self, status: int, media_type: bytes, more: Headers = (), length: int | None = None) -> None:
        request_id = self.request_id.encode()
        headers = [(b"content-type", media_type), (b"x-request-id", request_id), *more]
        headers += (*self.rate_limit_headers, *self.cors_headers)
        if self.request_id_header is not None:
            headers.append((self.request_id_header, request_id))
        if length is not None:
            headers.append((b"content-length", b"%d" % length))
        self.started = True
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    def send_chunk(self, data: bytes) -> Coroutine[Any, Any, None]:
        return self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def end(self, data: bytes = b"") -> None:
        self.ended = True
        await self._send({"type": "http.response.body", "body": data})

    async def respond(self, status: int, body: bytes, more: Headers = (), media_type: bytes = JSON) -> None:
        """The whole response at once."""
        await self.start(status, media_type, more, len(body))
        await self.end(body)

    async def json(self, value: Any, status: int = 200, more: Headers = ()) -> None:
        await self.respond(status, encode(value), more)


# -- header values


def header_text(words: Iterable[str], separator: str = "; ") -> bytes:
    """Text as a header value: one line, printable ASCII, limited in length."""
    text = separator.join(words)
    if len(text) > _MAX_HEADER_TEXT:
        text = text[: _MAX_HEADER_TEXT - 3] + "..."
    if not text.isascii() or not text.isprintable():
        text = "".join(char if " " <= char <= "~" else " " if char.isspace() else "?" for char in text)
    return text.encode("ascii")


def retry_headers(error: UpstreamError) -> list[tuple[bytes, bytes]]:
    """Whether and when to retry, in the headers that SDKs read."""
    headers: list[tuple[bytes, bytes]] = []
    if error.should_retry is not None:
        headers.append((b"x-should-retry", b"true" if error.should_retry else b"false"))
    if error.retry_after is not None:
        headers.append((b"retry-after", b"%d" % math.ceil(error.retry_after)))
        headers.append((b"retry-after-ms", b"%d" % math.ceil(error.retry_after * 1000)))
    return headers


# -- errors


class RejectedRequestError(UpstreamError):
    """An error with response headers that HTTP requires, such as `allow`."""

    def __init__(self, message: str, status: int, code: str, *headers: tuple[bytes, bytes]) -> None:
        super().__init__(message, status, code)
        self.headers = headers


def too_large(max_size: int) -> UpstreamError:
    return UpstreamError(f"the body is larger than {max_size} bytes", 413, "request_too_large")


def wrong_method(path: str, methods: Collection[str]) -> RejectedRequestError:
    """HEAD is allowed wherever GET is."""
    allowed = ", ".join(sorted({*methods} | ({"HEAD"} if "GET" in methods else set())))
    return RejectedRequestError(
        f"{path[:200]} supports only {allowed}", 405, "method_not_allowed", (b"allow", allowed.encode())
    )
