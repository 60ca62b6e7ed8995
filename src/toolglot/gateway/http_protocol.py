"""HTTP/1.1 for uvicorn: parsing with httptools, limits on headers, and one request after another on a connection.

It replaces uvicorn's protocol class, which costs more time per request and limits neither heads nor trailers (decision 10).
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

from toolglot.gateway.http_exchange import TAKE_OVER

_TEXT = b"connection: close\r\ncontent-type: text/plain\r\ncontent-length: %d\r\n\r\n%b"
_LONG = b"The request headers are too large."
_INVALID = b"Invalid HTTP request received."
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\n" + _TEXT % (len(_LONG), _LONG)
_BAD = b"HTTP/1.1 400 Bad Request\r\n" + _TEXT % (len(_INVALID), _INVALID)
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_HIGH_WATER = 64 * 1024  # unread body bytes after which the connection is paused
_NO_BODY = frozenset({204, 304})
_VERSIONS = frozenset({"1.0", "1.1"})
_MAX_PIPELINED = 32  # requests that wait for the response of another one
_LINGER = 2.0  # seconds
_PROBES = (0.5, 2.0)  # seconds after a client closed its side
_MIN_PROGRESS = 16 * 1024  # bytes that a client must read within `head_seconds` of what waits for it

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
        "_waiter",
        "complete",
        "disconnected",
        "keep_alive",
        "scope",
        "started",
    )

    def __init__(self, connection: HttpProtocol, scope: dict[str, Any], keep_alive: bool, expects_continue: bool) -> None:
        self._connection = connection
        self.scope = scope
        self.keep_alive = keep_alive
        self.disconnected = False  # before the response was complete
        self.complete = False  # the response is sent
        self._expects_continue = expects_continue
        self._chunks: list[bytes] = []
        self._buffered = 0
        self._waiter: asyncio.Future[None] | None = None
        self.started = False
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

    def probe(self) -> None:
        """Shows whether a client that sends nothing more still reads: the second write to a closed socket fails."""
        if not self.started and self.scope["http_version"] != "1.0":
            self._connection.transport.write(_CONTINUE)

    def disconnect(self) -> None:
        if not self.complete:
            self.disconnected = True
        self.wake()

    def wake(self) -> None:
        waiter = self._waiter
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def take_over(self) -> TakenConnection:
        """Instead of a response. The connection closes when the application returns."""
        self.started = True
        return self._connection.take_over()

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
        if self.started:
            self._body(message.get("body", b""), message.get("more_body", False))
            if self.complete and connection.write_paused:  # a request counts as running until its client has read the response
                await connection.drained()
        else:
            self._start(message["status"], message["headers"])

    def _start(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        if self._expects_continue:  # whether the body follows is unknown now, so nothing after it can be parsed
            self.keep_alive = self._expects_continue = False
        self.started = True
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


class TakenConnection:
    """The bytes of a connection that the application continues in another protocol."""

    def __init__(self, connection: HttpProtocol, early: bytes) -> None:
        self._connection = connection
        self._chunks = [early] if early else []
        self._buffered = 0
        self._waiter: asyncio.Future[None] | None = None
        self._ended = connection.closing
        self.is_stopping = False

    def feed(self, data: bytes) -> None:
        self._chunks.append(data)
        self._buffered += len(data)
        if self._buffered > _HIGH_WATER:
            self._connection.pause_reading()
        self._wake()

    def end(self) -> None:
        self._ended = True
        self._wake()

    def stop(self) -> None:
        """The server shuts down: `receive` returns, so that the application can take leave."""
        self.is_stopping = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def receive(self) -> bytes:
        if not (self._chunks or self._ended or self.is_stopping):
            self._connection.resume_reading()
            self._waiter = self._connection.loop.create_future()
            await self._waiter
        data, self._chunks, self._buffered = b"".join(self._chunks), [], 0
        return data

    async def send(self, data: bytes) -> None:
        if self._connection.write_paused:
            await self._connection.drained()
        if not self._ended and data:
            self._connection.transport.write(data)

    def end_sending(self) -> None:
        transport = self._connection.transport
        if not self._ended and transport.can_write_eof():  # not with TLS
            transport.write_eof()


@lru_cache
def _status_line(status: int) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = ""
    return f"HTTP/1.1 {status} {phrase}\r\n".encode()


class HttpProtocol(asyncio.Protocol):
    """`max_head` and `head_seconds` are set on a subclass, because uvicorn creates the instances.

    `max_head` also limits trailers, chunk extensions and whatever else is not a body.
    """

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
        self._head = 0  # bytes of the URL and the headers, then of the trailers
        self._hosts = 0
        self._overhead = 0  # bytes received since the last useful ones
        self._in_head = True
        self._expects_continue = False
        self._rejection = b""  # sent after the responses that are still due
        self._current: RequestCycle | None = None
        self._read: RequestCycle | None = None  # the request that is being received
        self._next: deque[RequestCycle] = deque()  # pipelined requests
        self._timer: asyncio.TimerHandle | None = None
        self._deadline: float | None = None  # for the next bytes
        self._paused = False
        self.closing = False
        self._writing: asyncio.TimerHandle | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self.write_paused = False
        self._default_headers: tuple[Any, bytes] = (None, b"")
        self._early: list[bytes] | None = None  # bytes after the head of a WebSocket's request
        self._taken: TakenConnection | None = None

    # -- called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._state.connections.add(self)
        info = transport.get_extra_info
        scheme = "https" if info("sslcontext") else "http"
        self._scope.update(scheme=scheme, server=info("sockname"), client=info("peername"))
        self._expect(self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self.closing = True
        self._state.connections.discard(self)
        for timer in (self._timer, self._writing):
            if timer is not None:
                timer.cancel()
        for cycle in (self._current, self._read, *self._next):
            if cycle is not None:
                cycle.disconnect()
        self._next.clear()
        if self._taken is not None:
            self._taken.end()
        self.resume_writing()
        self._parser = None

    def data_received(self, data: bytes) -> None:
        if self._rejection or self.closing:
            return
        if self._taken is not None:
            self._taken.feed(data)
            return
        if self._early is not None:
            self._early.append(data)
            self.pause_reading()
            return
        if self._in_head and self._current is None and not self._overhead:
            self._expect(self.head_seconds)
        self._overhead += len(data)
        self._feed(data)
        if self._overhead > self.max_head and not self._rejection:
            self._reject(_TOO_LARGE)

    def _feed(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError:
            self._reject(_TOO_LARGE if self._head > self.max_head else _BAD)

    def _upgrade(self, rest: bytes) -> None:
        """The application may take over the connection of a WebSocket's request; all others get a response in HTTP.

        The parser takes the body of such a request for another protocol: it gets the head again. The connection closes after
        the response, because a client may go on in the other protocol.
        """
        method, version = self._parser.get_method(), self._parser.get_http_version().encode()
        self._parser = httptools.HttpRequestParser(self)
        if method == b"CONNECT":
            self._reject(_BAD)
            return
        if method == b"GET" and version == b"1.1" and (b"upgrade", b"websocket") in [(n, v.lower()) for n, v in self._headers]:
            self._early, rest = [rest], b""
        headers = [header for header in self._headers if header[0] != b"connection"]
        lines = b"".join([b"%b: %b\r\n" % header for header in (*headers, (b"connection", b"close"))])
        self._feed(b"%b %b HTTP/%b\r\n%b\r\n" % (method, self._url, version, lines))
        if rest and not self._rejection:
            self._feed(rest)

    def take_over(self) -> TakenConnection:
        self._taken = TakenConnection(self, b"".join(self._early or ()))
        self._early = None
        return self._taken

    def _reject(self, response: bytes) -> None:
        """After the responses that are due. A request with a broken body gets no other response."""
        self._rejection = response
        broken, self._read = self._read, None
        if broken is not None and broken in self._next:
            self._next.remove(broken)
        elif broken is not None:
            self.close(b"" if broken.started else response)
            return
        if self._current is None:
            self.close(response)
        else:
            self.pause_reading()

    def eof_received(self) -> bool:
        """A client may close its side after its request. One that left looks the same until something is written to it.

        In a running response it counts as left.
        """
        if self._taken is not None or self.closing or self._read is not None or self._current is None or self._current.started:
            return False
        (self._current, *self._next)[-1].keep_alive = False  # the others would close before its response
        self._probe()
        for delay in _PROBES:
            self.loop.call_later(delay, self._probe)
        return True

    def _probe(self) -> None:
        if self._current is not None and not self.closing:
            self._current.probe()

    def pause_writing(self) -> None:
        self.write_paused = True
        self._writable.clear()
        self._watch_writing()

    def resume_writing(self) -> None:
        self.write_paused = False
        self._writable.set()

    def _watch_writing(self) -> None:
        if self._writing is None:
            size = self.transport.get_write_buffer_size()
            self._writing = self.loop.call_later(self.head_seconds, self._check_writing, size)

    def _check_writing(self, before: int) -> None:
        """Aborts if the client does not read: `close` alone would wait for it forever."""
        self._writing = None
        size = self.transport.get_write_buffer_size()
        if size > before - _MIN_PROGRESS and size and (self.write_paused or self.closing):
            self.transport.abort()
        elif size:
            self._watch_writing()

    # -- called by the parser

    def on_message_begin(self) -> None:
        self._url, self._headers, self._head, self._hosts = b"", [], 0, 0
        self._expects_continue = False

    def on_url(self, url: bytes) -> None:
        self._url += url
        self._head += len(url)
        if self._head > self.max_head:
            raise ValueError("too long")  # the parser stops

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head += len(name) + len(value) + 4
        if self._head > self.max_head:
            raise ValueError("too long")
        if not self._in_head:  # a trailer: nobody needs it, and it must not pass for a header
            return
        name = name.lower()
        if name == b"host":
            self._hosts += 1
        elif name == b"expect":
            self._expects_continue = value.lower() == b"100-continue"
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._overhead = 0
        parser = self._parser
        if parser.should_upgrade():
            return
        self._in_head, self._deadline, self._head = False, None, 0
        url, version = httptools.parse_url(self._url), parser.get_http_version()
        if version not in _VERSIONS or self._hosts > 1 or (version == "1.1" and not self._hosts):
            raise ValueError("invalid head")
        path = (url.path or b"").decode("ascii")
        scope = {
            **self._scope,
            "http_version": version,
            "method": parser.get_method().decode("ascii"),
            "path": unquote(path) if "%" in path else path,
            "raw_path": url.path,
            "query_string": url.query or b"",
            "headers": self._headers,
        }
        is_new = version == "1.1"
        cycle = RequestCycle(self, scope, is_new and parser.should_keep_alive(), is_new and self._expects_continue)
        if self._early is not None:
            scope["extensions"] = {TAKE_OVER: cycle.take_over}
        if self._current is None:
            self._serve(cycle)
        elif len(self._next) < _MAX_PIPELINED:
            self._next.append(cycle)
            self.pause_reading()
        else:
            raise ValueError("too many requests at once")
        self._read = cycle

    def on_body(self, body: bytes) -> None:
        self._overhead = 0
        if self._read is not None:
            self._read.add_chunk(body)

    def on_message_complete(self) -> None:
        if self._in_head:  # of an upgrade: its head comes again
            return
        self._in_head, self._overhead = True, 0
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
        if self.closing:
            return
        next_cycle = self._next.popleft() if self._next else None
        if next_cycle is not None:
            self.resume_reading()
            self._serve(next_cycle)
        elif self._rejection:
            self._reject(self._rejection)
        else:
            self.resume_reading()
            self._expect(self._keep_alive_seconds if self._in_head and not self._overhead else self.head_seconds)

    def default_headers(self) -> bytes:
        """The headers of every response. uvicorn replaces its list each second because of the date."""
        headers, encoded = self._default_headers
        if headers is not self._state.default_headers:
            headers = self._state.default_headers
            encoded = b"".join([b"%b: %b\r\n" % header for header in headers])
            self._default_headers = headers, encoded
        return encoded

    def close(self, last: bytes = b"") -> None:
        """If the client is still sending, its bytes are dropped for a moment: else the reset would discard the response."""
        if self.closing:
            return
        self.closing = True
        if last:
            self.transport.write(last)
        if self._rejection or self._read is not None:
            self._paused = False
            self.transport.resume_reading()
            self.transport.write_eof()
            self._expect(_LINGER)
        else:
            self._close_now()

    def _close_now(self) -> None:
        self.transport.close()
        if self.transport.get_write_buffer_size():
            self._watch_writing()

    def pause_reading(self) -> None:
        if not self._paused:
            self._paused = True
            self.transport.pause_reading()

    def resume_reading(self) -> None:
        """Not while pipelined requests wait: their number stays limited."""
        if self._paused and not self._next and not self._rejection and not self.closing:
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
        if self._taken is not None:
            self._taken.stop()
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
        elif self.closing:
            self._close_now()
        else:
            self.close()
