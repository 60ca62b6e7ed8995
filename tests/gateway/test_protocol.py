"""The HTTP/1.1 protocol on a fake transport."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from toolglot.gateway.http_protocol import HttpProtocol

GET = b"GET /a%20b?x=1 HTTP/1.1\r\nHost: h\r\n\r\n"
POST = b"POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = b"POST /p HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"

App = Callable[[Any, Any, Any], Awaitable[None]]


class FakeTransport(asyncio.Transport):
    """A transport connected to the protocol."""

    def __init__(self, app: App, **limits: float) -> None:
        super().__init__()
        self.written: list[bytes] = []
        self.closed = self._paused = False
        keep_alive = limits.pop("keep_alive", 60.0)
        config = SimpleNamespace(loaded_app=app, timeout_keep_alive=keep_alive)
        self.state = SimpleNamespace(connections=set(), tasks=set(), total_requests=0, default_headers=[(b"date", b"now")])
        self.protocol = type("Protocol", (HttpProtocol,), limits)(config, self.state, {}, asyncio.get_running_loop())
        self.protocol.connection_made(self)

    async def feed(self, *chunks: bytes) -> bytes:
        """Feeds bytes and returns all that is written so far."""
        for chunk in chunks:
            if not self.closed:
                self.protocol.data_received(chunk)
        await settled()
        return b"".join(self.written)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def write(self, data: Any) -> None:
        if not self.closed:
            self.written.append(bytes(data))

    def get_write_buffer_size(self) -> int:
        return 0

    def write_eof(self) -> None:
        self.closed = True

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        self._paused = True

    def resume_reading(self) -> None:
        self._paused = False

    def is_reading(self) -> bool:
        return not self._paused


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def read(receive: Any) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message["body"], message["more_body"]
    return body


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Responds with method, path, query and body."""
    if scope["method"] == "POST":  # slower than a pipelined GET
        await asyncio.sleep(0)
    body = b"%b %b %b %b" % (scope["method"].encode(), scope["path"].encode(), scope["query_string"], await read(receive))
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


async def stream(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"one", "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def test_a_whole_response_is_written_at_once() -> None:
    async def work() -> None:
        line = FakeTransport(echo)
        await line.feed(GET)
        assert line.written == [b"HTTP/1.1 200 OK\r\ndate: now\r\ncontent-length: 13\r\n\r\nGET /a b x=1 "]
        assert not line.closed
        assert not line.state.tasks
        assert line.state.total_requests == 1

    asyncio.run(work())


@pytest.mark.parametrize("request_", [POST, CHUNKED])
def test_a_request_in_any_chunks(request_: bytes) -> None:
    async def work() -> None:
        for at in range(len(request_)):
            line = FakeTransport(echo)
            assert (await line.feed(request_[:at], request_[at:])).endswith(b"\r\n\r\nPOST /p  hello")
            line = FakeTransport(echo)
            await line.feed(request_[:at])
            assert (await line.feed(request_[at:])).endswith(b"\r\n\r\nPOST /p  hello")

    asyncio.run(work())


def test_sequential_and_pipelined_requests() -> None:
    async def work() -> None:
        line = FakeTransport(echo)
        await line.feed(POST, GET)
        await line.feed(POST)
        whole = FakeTransport(echo)
        await whole.feed(POST + GET + POST)
        assert [piece.rpartition(b"\r\n\r\n")[2] for piece in line.written] == [
            b"POST /p  hello",
            b"GET /a b x=1 ",
            b"POST /p  hello",
        ]
        assert whole.written == line.written
        assert whole.is_reading()

    asyncio.run(work())


def test_pipelined_requests_before_a_half_close_are_all_answered() -> None:
    async def work() -> None:
        connection = FakeTransport(echo)
        connection.protocol.data_received(POST + GET + GET)
        assert connection.protocol.eof_received()
        written = await connection.feed()
        assert written.count(b"HTTP/1.1 200") == 3
        assert written.count(b"connection: close") == 1
        assert connection.closed

    asyncio.run(work())


def test_reading_pauses_while_pipelined_requests_wait() -> None:
    go = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read(receive)
        watching = asyncio.ensure_future(receive())
        await go.wait()
        await stream(scope, receive, send)
        await watching

    async def work() -> None:
        line = FakeTransport(app)
        await line.feed(POST + GET + GET)
        assert not line.is_reading()
        go.set()
        assert (await line.feed()).count(b"one") == 3
        assert line.is_reading()

    asyncio.run(work())


def test_a_stream_is_chunked_or_ends_with_the_connection() -> None:
    async def work() -> None:
        line = FakeTransport(stream)
        written = await line.feed(GET)
        assert written == b"HTTP/1.1 200 OK\r\ndate: now\r\ntransfer-encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\n"
        assert not line.closed
        old = FakeTransport(stream)
        written = await old.feed(GET.replace(b"1.1", b"1.0"))
        assert written == b"HTTP/1.1 200 OK\r\ndate: now\r\nconnection: close\r\n\r\none"
        assert old.closed

    asyncio.run(work())


def test_head_has_no_body() -> None:
    async def work() -> None:
        line = FakeTransport(echo)
        assert (await line.feed(GET.replace(b"GET", b"HEAD"))).endswith(b"content-length: 14\r\n\r\n")
        assert not line.closed

    asyncio.run(work())


def test_expect_100_continue() -> None:
    async def work() -> None:
        line = FakeTransport(echo)
        head, _, body = POST.replace(b"Host", b"Expect: 100-continue\r\nHost").partition(b"\r\n\r\n")
        assert await line.feed(head + b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert (await line.feed(body)).endswith(b"hello")

    asyncio.run(work())


@pytest.mark.parametrize(
    "noise", [b"\x16\x03\x01 hello\r\n\r\n", b"GET /\xff HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nno colon\r\n\r\n"]
)
def test_invalid_http_is_rejected(noise: bytes) -> None:
    async def work() -> None:
        line = FakeTransport(echo)
        assert (await line.feed(noise)).startswith(b"HTTP/1.1 400 ")
        assert line.closed

    asyncio.run(work())


def _context(*messages: dict[str, Any]) -> App:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        for message in messages:
            await send(message)

    return app


@pytest.mark.parametrize(
    "app",
    [
        _context(),
        _context({"type": "http.response.start", "status": 200, "headers": [(b"x", b"a\r\nset-cookie: b")]}),
        _context({"type": "http.response.start", "status": 200, "headers": [(b"x", b"a\0")]}),
        _context(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]},
            {"type": "http.response.body", "body": b"short"},
        ),
        _context(
            {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"1")]},
            {"type": "http.response.body", "body": b"long"},
        ),
    ],
)
def test_invalid_headers_and_lengths_of_the_application_are_rejected(app: App) -> None:
    async def work() -> None:
        line = FakeTransport(app)
        assert await line.feed(GET) == b""
        assert line.closed

    asyncio.run(work())


def test_a_disconnect_reaches_the_application() -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await read(receive)
        seen.append((await receive())["type"])
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def work() -> None:
        line = FakeTransport(app)
        await line.feed(POST)
        assert not seen
        line.protocol.connection_lost(None)
        await settled()
        assert seen == ["http.disconnect"]
        assert not line.written
        assert not line.state.connections

    asyncio.run(work())


def test_backpressure_in_both_directions() -> None:
    ready = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await ready.wait()
        await read(receive)
        await stream(scope, receive, send)

    async def work() -> None:
        line = FakeTransport(app)
        head = b"POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n"
        await line.feed(head + b"a" * 70_000)
        assert not line.is_reading()
        ready.set()
        await settled()
        assert line.is_reading()
        line.protocol.pause_writing()
        assert not await line.feed(b"a" * 30_000)
        line.protocol.resume_writing()
        assert (await line.feed()).endswith(b"0\r\n\r\n")

    asyncio.run(work())


@pytest.mark.parametrize(
    ("data", "limits"), [(b"", {"head_seconds": 0.01}), (GET[:9], {"head_seconds": 0.01}), (GET, {"keep_alive": 0.01})]
)
def test_idle_connections_are_closed(data: bytes, limits: dict[str, float]) -> None:
    async def work() -> None:
        line = FakeTransport(echo, **limits)
        if data:
            await line.feed(data)
        while not line.closed:
            await asyncio.sleep(0.01)

    asyncio.run(work())


def test_shutdown_finishes_running_requests() -> None:
    async def work() -> None:
        idle = FakeTransport(echo)
        idle.protocol.shutdown()
        assert idle.closed
        line = FakeTransport(echo)
        line.protocol.data_received(POST)
        line.protocol.shutdown()
        assert not line.closed
        assert b"connection: close\r\n" in await line.feed()
        assert line.closed

    asyncio.run(work())
