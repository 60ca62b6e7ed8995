"""HTTP/1.1 on a connection: a parser of httptools, limits on heads, and one request served after the other.

It is what uvicorn's server asks of a protocol, and no more: that server's own one costs about as much as all else here.
Time is kept by a single timer that is not moved when bytes come: it fires, looks what is due, and sleeps on.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any
from urllib.parse import unquote

import httptools

from toolglot.gateway.cycle import Cycle

_TEXT = b"connection: close\r\ncontent-type: text/plain\r\ncontent-length: %d\r\n\r\n%b"
_LONG = b"the head of the request is longer than allowed"
_WRONG = b"Invalid HTTP request received."
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\n" + _TEXT % (len(_LONG), _LONG)
_BAD = b"HTTP/1.1 400 Bad Request\r\n" + _TEXT % (len(_WRONG), _WRONG)


class HttpProtocol(asyncio.Protocol):
    """`max_head` and `head_seconds` are set on a subclass, for uvicorn makes the instances."""

    max_head = 64 * 1024
    head_seconds = 60.0

    def __init__(self, config: Any, server_state: Any, app_state: Any, _loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.loop = _loop or asyncio.get_event_loop()
        self._app = config.loaded_app
        self._state = server_state
        self._rest: float = config.timeout_keep_alive
        self._parser: Any = httptools.HttpRequestParser(self)
        self.transport: Any = None
        self._scope: dict[str, Any] = {"type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "root_path": ""}
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._head = 0  # bytes since the last request's end
        self._in_head = True
        self._served: Cycle | None = None
        self._read: Cycle | None = None  # whose body comes
        self._next: deque[Cycle] = deque()  # requests that came before the one before was answered
        self._timer: asyncio.TimerHandle | None = None
        self._due: float | None = None  # when something must have come
        self._paused = False
        self._room = asyncio.Event()  # the socket takes more
        self._room.set()
        self.choked = False
        self._standing: tuple[Any, bytes] = (None, b"")

    # -- what the event loop calls

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
        for cycle in (self._served, self._read, *self._next):
            if cycle is not None:
                cycle.leave()
        self._next.clear()
        self.resume_writing()
        self._parser = None

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            if not self._head:
                self._expect(self.head_seconds)
            self._head += len(data)
            if self._head > self.max_head and self._too_long(data):
                self._refuse(_TOO_LARGE)
                return
        elif self._due is not None:  # answered before all of it has come
            self._expect(self.head_seconds)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # answered as any other request
        except httptools.HttpParserError:
            self._refuse(_BAD)

    def _too_long(self, data: bytes) -> bool:
        """Whether the head alone is: a body may have come in the same piece."""
        end = data.find(b"\r\n\r\n")
        return end == -1 or self._head - len(data) + end > self.max_head

    def _refuse(self, answer: bytes) -> None:
        self.transport.write(answer)
        self.close()

    def eof_received(self) -> None:
        """Who says no more is gone: the connection is closed."""

    def pause_writing(self) -> None:
        self.choked = True
        self._room.clear()

    def resume_writing(self) -> None:
        self.choked = False
        self._room.set()

    # -- what the parser calls

    def on_message_begin(self) -> None:
        self._url, self._headers = b"", []

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self._in_head, self._due = False, None
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
        self._read = cycle = Cycle(self, scope, version != "1.0" and parser.should_keep_alive())
        if self._served is None:
            self._serve(cycle)
        else:
            self._next.append(cycle)
            self.pause_reading()

    def on_body(self, body: bytes) -> None:
        if self._read is not None:
            self._read.piece(body)

    def on_message_complete(self) -> None:
        self._in_head, self._head = True, 0
        if self._read is not None:
            self._read.ended()
            self._read = None

    # -- what a cycle needs

    def _serve(self, cycle: Cycle) -> None:
        self._served = cycle
        task = self.loop.create_task(cycle.run(self._app))
        self._state.tasks.add(task)
        task.add_done_callback(self._state.tasks.discard)

    def over(self, cycle: Cycle) -> None:
        """It is answered, and what served it has ended."""
        if self._served is not cycle:
            return
        self._served = None
        self._state.total_requests += 1
        if self.transport.is_closing():
            return
        following = self._next.popleft() if self._next else None
        self.resume_reading()
        if following is not None:
            self._serve(following)
        elif self._in_head and not self._head:
            self._expect(self._rest)
        else:
            self._expect(self.head_seconds)

    def standing_headers(self) -> bytes:
        """Those of every answer; uvicorn makes them anew each second, for the date."""
        held, written = self._standing
        if held is not self._state.default_headers:
            held = self._state.default_headers
            written = b"".join([b"%b: %b\r\n" % header for header in held])
            self._standing = held, written
        return written

    def close(self) -> None:
        self.transport.close()

    def pause_reading(self) -> None:
        if not self._paused:
            self._paused = True
            self.transport.pause_reading()

    def resume_reading(self) -> None:
        """Not while requests wait for their turn: they are not piled up."""
        if self._paused and not self._next and not self.transport.is_closing():
            self._paused = False
            self.transport.resume_reading()

    async def drained(self) -> None:
        """Until the socket takes more, or is closed."""
        await self._room.wait()

    # -- what uvicorn's server calls

    def shutdown(self) -> None:
        """What runs is finished, and nothing follows it."""
        if self._served is None:
            self.close()
            return
        for cycle in (self._served, *self._next):
            cycle.keep = False

    # -- time

    def _expect(self, seconds: float) -> None:
        """Something must come within so many seconds; the timer is moved only if it would ring too late."""
        self._due = due = self.loop.time() + seconds
        if self._timer is None:
            self._timer = self.loop.call_at(due, self._look)
        elif self._timer.when() > due:
            self._timer.cancel()
            self._timer = self.loop.call_at(due, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._due is None:
            return
        if self.loop.time() < self._due:
            self._timer = self.loop.call_at(self._due, self._look)
        else:
            self.close()
