"""HTTP/1.1 for uvicorn: parsing with httptools, limits on headers, and one request after another on a connection.

It replaces uvicorn's protocol class, which costs about as much time per request as the rest of the gateway.
One timer per connection is never moved when bytes arrive: it fires, compares the deadline, and sleeps again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import MutableMapping
from functools import lru_cache
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

import httptools

_TEXT = b"connection: close\r\ncontent-type: text/plain\r\ncontent-length: %d\r\n\r\n%b"
_LONG = b"The request headers are too large."
_INVALID = b"Invalid HTTP request received."
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\n" + _TEXT % (len(_LONG), _LONG)
_BAD = b"HTTP/1.1 400 Bad Request\r\n" + _TEXT % (len(_INVALID), _INVALID)
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_HIGH_WATER = 64 * 1024  # unread body bytes after which the connection is paused
_NO_BODY = frozenset({204, 304})

log = logging.getLogger("toolglot.gateway")


class RequestCycle:
    """One request and its response, as ASGI events. What the application writes in one call leaves in one packet.

    `keep_alive`: another request may follow on the connection.
    """

    __slots__ = (
        "_buffered",
        "_chunked",
        "_chunks",
        "_connection",
        "_expects_continue",
        "_head",
        "_remaining",
        "_started",
        "_waiter",
        "complete",
        "disconnected",
        "keep_alive",
        "scope",
    )

    def __init__(self, connection: HttpProtocol, scope: dict[str, Any], keep_alive: bool) -> None:
        self._connection = connection
        self.scope = scope
        self.keep_alive = keep_alive
        self.disconnected = False  # before the response was complete
        self.complete = False  # the response is sent
        self._expects_continue = (b"expect", b"100-continue") in scope["headers"]
        self._chunks: list[bytes] = []
        self._buffered = 0
        self._waiter: asyncio.Future[None] | None = None
        self._started = False
        self._head = b""  # of a response with a known length: it is sent together with the body
        self._chunked = False
        self._remaining = -1  # bytes of the response body; -1: unknown

    async def run(self, app: Any) -> None:
        try:
            await app(self.scope, self.receive, self.send)
        except Exception:
            log.exception("the application failed")
        finally:
            if not self.complete:  # a started response can only be aborted
                self._connection.close()
            self._connection.finished(self)

    # -- the request body

    def add_chunk(self, data: bytes) -> None:
        if self.complete:  # the response does not need the body
            return
        self._chunks.append(data)
        self._buffered += len(data)
        if self._buffered > _HIGH_WATER:
            self._connection.pause_reading()
        self.wake()

    def end_body(self) -> None:
        self._chunks.append(b"")
        self.wake()

    def disconnect(self) -> None:
        if not self.complete:
            self.disconnected = True
        self.wake()

    def wake(self) -> None:
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    async def receive(self) -> MutableMapping[str, Any]:
        if self._expects_continue and not self.disconnected:
            self._expects_continue = False
            self._connection.transport.write(_CONTINUE)
        while not (self._chunks or self.disconnected or self.complete):
            self._connection.resume_reading()
            self._waiter = self._connection.loop.create_future()
            await self._waiter
        if self.disconnected or self.complete:
            return {"type": "http.disconnect"}
        chunks = self._chunks
        more = bool(chunks[-1])
        body = chunks[0] if len(chunks) <= 2 - more else b"".join(chunks)
        self._chunks, self._buffered = [], 0
        return {"type": "http.request", "body": body, "more_body": more}

    # -- the response

    async def send(self, message: MutableMapping[str, Any]) -> None:
        connection = self._connection
        if connection.write_paused and not self.disconnected:
            await connection.drained()
        if self.disconnected:
            return
        if self._started:
            self._body(message.get("body", b""), message.get("more_body", False))
        else:
            self._start(message["status"], message["headers"])

    def _start(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self._started, self._expects_continue = True, False
        lines = [b"%b: %b\r\n" % header for header in headers]
        for name, value in headers:
            if name == b"content-length":
                self._remaining = int(value)
            elif name == b"connection" and value == b"close":
                self.keep_alive = False
        if not self.keep_alive and (b"connection", b"close") not in headers:
            lines.append(b"connection: close\r\n")
        if self.scope["method"] == "HEAD" or status in _NO_BODY:
            self._remaining = 0
        elif self._remaining < 0 and self.scope["http_version"] != "1.0":  # HTTP/1.0 ends a body by closing the connection
            self._chunked = True
            lines.append(b"transfer-encoding: chunked\r\n")
        header_lines = b"".join(lines)
        if not len(lines) == header_lines.count(b"\n") == header_lines.count(b"\r") or b"\0" in header_lines:
            raise ValueError("a header contains a line break or NUL")
        head = b"%b%b%b\r\n" % (_status_line(status), self._connection.default_headers(), header_lines)
        if self._remaining < 0:
            self._connection.transport.write(head)
        else:
            self._head = head

    def _body(self, data: bytes, more: bool) -> None:
        if self._chunked:
            written = b"%x\r\n%b\r\n" % (len(data), data) if data else b""
            if not more:
                written += b"0\r\n\r\n"
        elif self.scope["method"] == "HEAD":
            written = b""
        else:
            written = data
            if self._remaining >= 0:
                self._remaining -= len(data)
                if self._remaining < 0 or (self._remaining and not more):
                    raise ValueError("the body does not match content-length")
        if self._head:
            written = self._head + written
            self._head = b""
        if written:
            self._connection.transport.write(written)
        if not more:
            self.complete = True
            self.wake()
            if not self.keep_alive:
                self._connection.close()


@lru_cache
def _status_line(status: int) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = ""
    return f"HTTP/1.1 {status} {phrase}\r\n".encode()


class HttpProtocol(asyncio.Protocol):
    """`max_head` and `head_seconds` are set on a subclass, because uvicorn creates the instances."""

    max_head = 64 * 1024
    head_seconds = 60.0

    def __init__(self, config: Any, server_state: Any, app_state: Any, _loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.loop = _loop or asyncio.get_event_loop()
        self._app = config.loaded_app
        self._state = server_state
        self._keep_alive_seconds: float = config.timeout_keep_alive
        self._parser: Any = httptools.HttpRequestParser(self)
        self.transport: Any = None
        self._scope: dict[str, Any] = {"type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "root_path": ""}
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._head = 0  # bytes since the end of the last request
        self._in_head = True
        self._current: RequestCycle | None = None
        self._read: RequestCycle | None = None  # the request that is being received
        self._next: deque[RequestCycle] = deque()  # pipelined requests
        self._timer: asyncio.TimerHandle | None = None
        self._deadline: float | None = None  # for the next bytes
        self._paused = False
        self._writable = asyncio.Event()
        self._writable.set()
        self.write_paused = False
        self._default_headers: tuple[Any, bytes] = (None, b"")

    # -- called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._state.connections.add(self)
        info = transport.get_extra_info
        scheme = "https" if info("sslcontext") else "http"
        self._scope.update(scheme=scheme, server=info("sockname"), client=info("peername"))
        self._expect(self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._state.connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for cycle in (self._current, self._read, *self._next):
            if cycle is not None:
                cycle.disconnect()
        self._next.clear()
        self.resume_writing()
        self._parser = None

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            if not self._head:
                self._expect(self.head_seconds)
            self._head += len(data)
            if self._head > self.max_head and self._too_long(data):
                self._reject(_TOO_LARGE)
                return
        elif self._deadline is not None:  # the response was complete before the body was
            self._expect(self.head_seconds)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # handled like any other request
        except httptools.HttpParserError:
            self._reject(_BAD)

    def _too_long(self, data: bytes) -> bool:
        """Whether the head alone is too long: `data` may contain part of the body too."""
        end = data.find(b"\r\n\r\n")
        return end == -1 or self._head - len(data) + end > self.max_head

    def _reject(self, response: bytes) -> None:
        self.transport.write(response)
        self.close()

    def eof_received(self) -> None:
        """A half-closed connection counts as closed."""

    def pause_writing(self) -> None:
        self.write_paused = True
        self._writable.clear()

    def resume_writing(self) -> None:
        self.write_paused = False
        self._writable.set()

    # -- called by the parser

    def on_message_begin(self) -> None:
        self._url, self._headers = b"", []

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self._in_head, self._deadline = False, None
        parser, url = self._parser, httptools.parse_url(self._url)
        path, version = (url.path or b"").decode("ascii"), parser.get_http_version()
        scope = {
            **self._scope,
            "http_version": version,
            "method": parser.get_method().decode("ascii"),
            "path": unquote(path) if "%" in path else path,
            "raw_path": url.path,
            "query_string": url.query or b"",
            "headers": self._headers,
        }
        self._read = cycle = RequestCycle(self, scope, version != "1.0" and parser.should_keep_alive())
        if self._current is None:
            self._serve(cycle)
        else:
            self._next.append(cycle)
            self.pause_reading()

    def on_body(self, body: bytes) -> None:
        if self._read is not None:
            self._read.add_chunk(body)

    def on_message_complete(self) -> None:
        self._in_head, self._head = True, 0
        if self._read is not None:
            self._read.end_body()
            self._read = None

    # -- used by RequestCycle

    def _serve(self, cycle: RequestCycle) -> None:
        self._current = cycle
        task = self.loop.create_task(cycle.run(self._app))
        self._state.tasks.add(task)
        task.add_done_callback(self._state.tasks.discard)

    def finished(self, cycle: RequestCycle) -> None:
        """The response is sent and the task has ended."""
        if self._current is not cycle:
            return
        self._current = None
        self._state.total_requests += 1
        if self.transport.is_closing():
            return
        next_cycle = self._next.popleft() if self._next else None
        self.resume_reading()
        if next_cycle is not None:
            self._serve(next_cycle)
        elif self._in_head and not self._head:
            self._expect(self._keep_alive_seconds)
        else:
            self._expect(self.head_seconds)

    def default_headers(self) -> bytes:
        """The headers of every response. uvicorn replaces its list each second because of the date."""
        headers, encoded = self._default_headers
        if headers is not self._state.default_headers:
            headers = self._state.default_headers
            encoded = b"".join([b"%b: %b\r\n" % header for header in headers])
            self._default_headers = headers, encoded
        return encoded

    def close(self) -> None:
        self.transport.close()

    def pause_reading(self) -> None:
        if not self._paused:
            self._paused = True
            self.transport.pause_reading()

    def resume_reading(self) -> None:
        """Not while pipelined requests wait: their number stays limited."""
        if self._paused and not self._next and not self.transport.is_closing():
            self._paused = False
            self.transport.resume_reading()

    async def drained(self) -> None:
        """Waits until the socket is writable or closed."""
        await self._writable.wait()

    # -- called by uvicorn's server

    def shutdown(self) -> None:
        """Running requests finish; no new ones are accepted."""
        if self._current is None:
            self.close()
            return
        for cycle in (self._current, *self._next):
            cycle.keep_alive = False

    # -- timeouts

    def _expect(self, seconds: float) -> None:
        """Bytes must arrive within so many seconds. The timer is moved only if it would fire too late."""
        self._deadline = deadline = self.loop.time() + seconds
        if self._timer is None:
            self._timer = self.loop.call_at(deadline, self._check_deadline)
        elif self._timer.when() > deadline:
            self._timer.cancel()
            self._timer = self.loop.call_at(deadline, self._check_deadline)

    def _check_deadline(self) -> None:
        self._timer = None
        if self._deadline is None:
            return
        if self.loop.time() < self._deadline:
            self._timer = self.loop.call_at(self._deadline, self._check_deadline)
        else:
            self.close()
