"""HTTP/1.1 over real sockets: what the test suites of uvicorn, h11 and httptools demand of a server, and smuggling.

Each case is sent at once and byte by byte. The client then closes its side: complete requests are answered all the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
import uvicorn

from tests.gateway.running import run
from toolglot.gateway.http_protocol import HttpProtocol
from toolglot.gateway.server import listen

_HEAD = re.compile(rb"HTTP/1\.1 (\d{3}) ")


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Responds with what was parsed. The path /unread leaves the body unread, /slow takes its time."""
    body, more = b"", scope["path"] != "/unread"
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body, more = body + message["body"], message["more_body"]
    if scope["path"] == "/slow":
        await asyncio.sleep(0.2)
    seen = {
        "method": scope["method"],
        "path": scope["path"],
        "query": scope["query_string"].decode(),
        "body": body.decode("latin-1"),
    }
    seen["headers"] = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in scope["headers"]]
    data = json.dumps(seen).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(data))]})
    await send({"type": "http.response.body", "body": data})


@contextlib.asynccontextmanager
async def http_server(app: Any = echo, **limits: float) -> AsyncIterator[int]:
    """The port of a server with the gateway's protocol."""
    protocol = type("Protocol", (HttpProtocol,), limits)
    server = uvicorn.Server(uvicorn.Config(app, http=protocol, ws="none", lifespan="off", log_level="critical"))
    listening = listen("127.0.0.1", 0)
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    await server.startup([listening])
    try:
        yield listening.getsockname()[1]
    finally:
        server.force_exit = True
        await server.shutdown([listening])


@dataclass
class Received:
    statuses: list[int]
    bodies: list[dict[str, Any]]
    raw: bytes


async def exchange(port: int, *pieces: bytes, half_close: bool = True, pause: float = 0.0) -> Received:
    """Everything that the server sends, until it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with contextlib.suppress(ConnectionError):
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)
        if half_close:
            writer.write_eof()
    raw = b""
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            raw += data
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()
    statuses = [int(status) for status in _HEAD.findall(raw)]
    bodies = [json.loads(match) for match in re.findall(rb'\r\n\r\n(\{"method".*?\]\})(?=HTTP|$)', raw, re.DOTALL)]
    return Received(statuses, bodies, raw)


def head(*lines: str, line: str = "POST /p HTTP/1.1", host: str = "Host: h") -> bytes:
    return "\r\n".join([line, *([host] if host else []), *lines, "", ""]).encode("latin-1")


def chunked(rest: bytes) -> bytes:
    return head("Transfer-Encoding: chunked") + rest


GET = head(line="GET /a%20b?x=1 HTTP/1.1")
CLOSE = head("Connection: close", line="GET /last HTTP/1.1")
UPGRADE = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA")
EXPECT = ("Expect: 100-continue", "Content-Length: 2")
SMUGGLED = head(line="GET /smuggled HTTP/1.1")

# name, bytes, statuses, path and body of each request that the application gets
CASES: list[tuple[str, bytes, list[int], list[tuple[str, str]]]] = [
    # uvicorn's
    ("get", GET, [200], [("/a b", "")]),
    ("head", head(line="HEAD / HTTP/1.1"), [200], []),
    ("post", head("Content-Length: 5") + b"hello", [200], [("/p", "hello")]),
    ("keep-alive, pipelined", GET + GET + CLOSE, [200] * 3, [("/a b", ""), ("/a b", ""), ("/last", "")]),
    ("a request after close", CLOSE + GET, [200], [("/last", "")]),
    ("close with a body", head("Content-Length: 2", "Connection: close") + b"{}", [200], [("/p", "{}")]),
    ("a large body", head("Content-Length: 100000") + b"x" * 100000, [200], [("/p", "x" * 100000)]),
    ("http 1.0", head(line="GET / HTTP/1.0"), [200], [("/", "")]),
    ("an escaped slash", head(line="GET /one%2Ftwo HTTP/1.1"), [200], [("/one/two", "")]),
    ("an invalid method", head(line="G?T / HTTP/1.1"), [400], []),
    ("an invalid path", head(line="GET /?x=y z HTTP/1.1"), [400], []),
    ("an invalid version", head(line="GET / HTTP1.1"), [400], []),
    ("a version of the future", head(line="GET / HTTP/3.7"), [400], []),
    ("expect", head("Expect: 100-Continue", "Content-Length: 2") + b"ok", [100, 200], [("/p", "ok")]),
    ("expect, unread", head(*EXPECT, line="POST /unread HTTP/1.1"), [200], [("/unread", "")]),
    ("expect in 1.0", head(*EXPECT, line="POST /p HTTP/1.0") + b"ok", [200], [("/p", "ok")]),
    ("websocket", head("Connection: upgrade", "Upgrade: websocket", line="GET / HTTP/1.1"), [200], [("/", "")]),
    ("allowed characters", head("X: \x21\x7e\x80\xff"), [200], [("/p", "")]),
    # h11's
    ("no header at all in 1.0", b"GET / HTTP/1.0\r\n\r\n", [200], [("/", "")]),
    ("no host in 1.1", head(host=""), [400], []),
    ("two hosts", head("Host: h"), [400], []),
    ("two hosts in 1.0", head("Host: g", line="GET / HTTP/1.0"), [400], []),
    ("an empty header", head("Foo:"), [200], [("/p", "")]),
    ("a header of blanks", head("Foo: \t \t "), [200], [("/p", "")]),
    ("a folded first line", head(" folded: line", host=""), [400], []),
    ("a blank before the colon", head("foo : x"), [400], []),
    ("a tab before the colon", head("foo\t: x"), [400], []),
    ("a header without a name", head(": x"), [400], []),
    ("NUL in a name", head("f\0o: x"), [400], []),
    ("8 bits in a name", head("f\xffo: x"), [400], []),
    ("NUL in a value", head("foo: a\0b"), [400], []),
    ("CR in a value", head("foo: a\rb"), [400], []),
    ("a blank in the target", head(line="GET /a b HTTP/1.1"), [400], []),
    ("NUL in the target", head(line="GET /\0 HTTP/1.1"), [400], []),
    ("8 bits in the target", head(line="GET /\xee HTTP/1.1"), [400], []),
    ("length in letters", head("Content-Length: asdf"), [400], []),
    ("length with a letter", head("Content-Length: 1x"), [400], []),
    ("negative length", head("Content-Length: -1"), [400], []),
    ("signed length", head("Content-Length: +5") + b"hello", [400], []),
    ("two lengths", head("Content-Length: 1", "Content-Length: 2") + b"ab", [400], []),
    ("a list of lengths", head("Content-Length: 1 , 1,2") + b"ab", [400], []),
    ("a length of 21 digits", head("Content-Length: " + "1" * 21), [400], []),
    ("an unknown coding", head("Transfer-Encoding: gzip"), [400], []),
    ("chunked, then gzip", head("Transfer-Encoding: chunked", "Transfer-Encoding: gzip") + b"0\r\n\r\n", [400], []),
    ("chunked in capitals", head("Transfer-Encoding: cHuNkEd") + b"0\r\n\r\n", [200], [("/p", "")]),
    ("chunks", chunked(b"5\r\n01234\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n"), [200], [("/p", "012340123456789abcdef")]),
    ("hexadecimal", chunked(b"aA\r\n" + b"x" * 0xAA + b"\r\n0\r\n\r\n"), [200], [("/p", "x" * 0xAA)]),
    ("a long chunk size", chunked(b"9" * 100 + b"\r\nxxx"), [400], []),
    ("NUL in a chunk size", chunked(b"10\0\r\nxxx"), [400], []),
    ("chunk extensions", chunked(b'5;hello=there\r\nxxxxx\r\n0;junk="more"\r\n\r\n'), [200], [("/p", "xxxxx")]),
    ("blanks before an extension", chunked(b"5; hello=there\r\nxxxxx\r\n0\r\n\r\n"), [400], []),  # h11 accepts them
    ("no CRLF at the end of a chunk", chunked(b"3\r\nxxx__1a\r\n"), [400], []),
    ("half a CRLF at the end of a chunk", chunked(b"3\r\nxxx\r_1a\r\n"), [400], []),
    ("another half", chunked(b"3\r\nxxx_\n1a\r\n"), [400], []),
    # httptools'
    ("trailers", chunked(b"5\r\nhello\r\n0\r\nVary: *\r\nUser-Agent: spam\r\n\r\n"), [200], [("/p", "hello")]),
    ("connect", head(line="CONNECT h:80 HTTP/1.1", host="Host: h:80"), [400], []),
    ("empty lines first", b"\r\n\r\n" + GET, [200], [("/a b", "")]),
    # smuggling
    ("length and chunked", head("Content-Length: 5", "Transfer-Encoding: chunked") + b"0\r\n\r\n" + SMUGGLED, [400], []),
    ("two codings", head("Transfer-Encoding: chunked, identity") + b"0\r\n\r\n" + SMUGGLED, [400], []),
    (
        "the body of an upgrade",
        head(*UPGRADE, f"Content-Length: {len(SMUGGLED)}") + SMUGGLED,
        [200],
        [("/p", SMUGGLED.decode())],
    ),
    (
        "the chunked body of an upgrade",
        head(*UPGRADE, "Transfer-Encoding: chunked") + b"%x\r\n%b\r\n0\r\n\r\n" % (len(SMUGGLED), SMUGGLED),
        [200],
        [("/p", SMUGGLED.decode())],
    ),
    ("bytes after an upgrade", head(*UPGRADE, line="GET / HTTP/1.1") + SMUGGLED, [200], [("/", "")]),
    ("an upgrade in a pipeline", GET + head(*UPGRADE, "Content-Length: 2") + b"ok", [200, 200], [("/a b", ""), ("/p", "ok")]),
    ("an invalid request after a slow one", head(line="GET /slow HTTP/1.1") + b"\0\r\n\r\n", [200, 400], [("/slow", "")]),
    ("a half request", head("Content-Length: 5") + b"he", [], []),
]  # fmt: skip


@pytest.mark.parametrize("bytewise", [False, True], ids=["whole", "bytewise"])
def test_cases(bytewise: bool) -> None:
    wrong = []

    async def work() -> None:
        async with http_server() as port:
            for name, data, statuses, requests in CASES:
                if bytewise and (len(data) > 5000 or " after " in name):  # the connection may be closed before the last byte
                    continue
                pieces = [data[at : at + 1] for at in range(len(data))] if bytewise else [data]
                got = await exchange(port, *pieces)
                seen = [(body["path"], body["body"]) for body in got.bodies]
                if (got.statuses, seen) != (statuses, requests):
                    wrong.append((name, got.statuses, seen))

    run(work())
    assert not wrong


def test_trailers_are_not_headers() -> None:
    async def work() -> None:
        async with http_server() as port:
            got = await exchange(port, chunked(b"2\r\nhi\r\n0\r\nAuthorization: Bearer stolen\r\nHost: x\r\n\r\n"))
            assert [name for name, _ in got.bodies[0]["headers"]] == ["host", "transfer-encoding"]

    run(work())


@pytest.mark.parametrize(
    "endless",
    [b"X: " + b"a" * 1000 + b"\r\n", b"X" * 1000, b"\r\n" * 500],
    ids=["headers", "one name", "empty lines"],
)
@pytest.mark.parametrize(
    "first", [b"GET / HTTP/1.1\r\n", chunked(b"2\r\nhi\r\n0\r\n"), chunked(b"2;")], ids=["head", "trailers", "extension"]
)
def test_what_is_not_a_body_is_limited(first: bytes, endless: bytes) -> None:
    async def work() -> None:
        async with http_server(max_head=8000) as port:
            got = await exchange(port, first, *[endless] * 5000)
            assert got.statuses in ([431], [400], [200], [200, 431])
            assert len(got.raw) < 5000

    run(work())


def test_empty_lines_do_not_end_a_running_stream() -> None:
    async def stream(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(8):
            await send({"type": "http.response.body", "body": b"data", "more_body": True})
            await asyncio.sleep(0.1)
        await send({"type": "http.response.body", "body": b"end"})

    async def work() -> None:
        async with http_server(stream, head_seconds=0.3) as port:
            for noise in (b"\r\n", b"\r\nGET / HT"):
                got = await exchange(port, GET, noise, half_close=False, pause=0.05)
                assert got.raw.count(b"data") == 8
                assert b"end" in got.raw

    run(work())


def test_a_client_that_closes_its_side_is_answered_and_one_that_left_is_noticed() -> None:
    async def work() -> None:
        left: list[str] = []

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await receive()
            if scope["path"] == "/left":
                left.append((await receive())["type"])
            else:
                await asyncio.sleep(0.2)
                await echo({**scope, "path": "/unread"}, receive, send)

        async with http_server(app) as port:
            got = await exchange(port, head(line="GET / HTTP/1.1"))
            assert got.statuses[-1] == 200
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(head(line="GET /left HTTP/1.1"))
            await writer.drain()
            await asyncio.sleep(0.1)
            writer.close()
            while not left:
                await asyncio.sleep(0.02)
            assert left == ["http.disconnect"]

    run(work())


def test_a_response_that_nobody_reads_is_aborted() -> None:
    sent: list[bool] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        size = 20_000_000
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % size)]})
        await send({"type": "http.response.body", "body": b"x" * size})
        sent.append(True)

    async def work() -> None:
        async with http_server(app, head_seconds=0.3) as port:
            for request in (GET, CLOSE):
                reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1000)
                writer.write(request)
                await writer.drain()
                await asyncio.sleep(0.1)
                assert not sent  # it counts as running until it is read or aborted
                while not sent:
                    await asyncio.sleep(0.02)
                sent.clear()
                with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                    await reader.readexactly(20_000_000)
                writer.close()

    run(work())


def test_the_number_of_pipelined_requests_is_limited() -> None:
    async def work() -> None:
        async with http_server() as port:
            got = await exchange(port, GET * 20)
            assert got.statuses == [200] * 20
            got = await exchange(port, head(line="GET /slow HTTP/1.1") + GET * 5000)
            assert len(got.statuses) < 100
            assert got.statuses[-1] == 400

    run(work())
