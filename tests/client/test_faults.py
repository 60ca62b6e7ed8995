"""Every way in which an exchange breaks has its name; nothing hangs, and no message holds a secret."""

from __future__ import annotations

import asyncio
import gzip
import socket

import pytest

from tests.client.fault_server import CHUNKED, OK, fault_server
from tests.client.running import DIRECT, PATIENT, ask, fault_of, run
from toolglot.client.http import HttpTransport
from toolglot.client.http.faults import CODES
from toolglot.client.transport import Limits
from toolglot.errors import CallerError, UpstreamError

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
SMALL = Limits(5.0, 5.0, 5.0, body=5000, head=2000)
FAULTS: dict[str, tuple[str, tuple[bytes, ...]]] = {
    "says nothing": ("cut_off", ()),
    "cut in the head": ("cut_off", (b"HTTP/1.1 200 OK\r\nConte",)),
    "cut in the body": ("cut_off", (HEAD, b"half")),
    "cut in a chunk": ("cut_off", (CHUNKED, b"5\r\nhe")),
    "cut between chunks": ("cut_off", (CHUNKED, b"5\r\nhello\r\n")),
    "cut before the last line": ("cut_off", (CHUNKED, b"5\r\nhello\r\n0\r\n")),
    "cut after an interim answer": ("cut_off", (b"HTTP/1.1 100 Continue\r\n\r\n",)),
    "cut in gzip": ("cut_off", (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(b"hello")[:-9],)),
    "garbage": ("bad_answer", (b"\x16\x03\x01\x02\x00\x01 no http",)),
    "another protocol": ("bad_answer", (b"SSH-2.0-OpenSSH_9.6\r\n",)),
    "a bad status": ("bad_answer", (b"HTTP/1.1 abc OK\r\n\r\n",)),
    "a bad header": ("bad_answer", (b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n",)),
    "a bad chunk size": ("bad_answer", (CHUNKED, b"zz\r\nhello\r\n")),
    "two lengths": ("bad_answer", (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",)),
    "length and chunks": ("bad_answer", (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nab",)),
    "a switch of protocols": ("bad_answer", (b"HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",)),
    "an unknown coding": ("bad_answer", (b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\nx",)),
    "broken gzip": ("bad_answer", (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",)),
    "a huge header": ("too_large", (b"HTTP/1.1 200 OK\r\nx: " + b"a" * 3000 + b"\r\nContent-Length: 0\r\n\r\n",)),
    "a huge header and a body": ("too_large", (b"HTTP/1.1 200 OK\r\nx: " + b"a" * 3000 + b"\r\nContent-Length: 2\r\n\r\nok",)),
    "a header without end": ("too_large", (b"HTTP/1.1 200 OK\r\nx: ", *[b"a" * 500] * 8)),
    "many headers": ("too_large", (b"HTTP/1.1 200 OK\r\n", b"x: y\r\n" * 900, b"\r\n")),
    "interim answers without end": ("too_large", (b"HTTP/1.1 102 Wait\r\n\r\n" * 200,)),
    "a chunk extension without end": ("too_large", (CHUNKED, b"5;", *[b"a" * 500] * 8)),
    "trailers without end": ("too_large", (CHUNKED, b"0\r\n", *[b"a: b\r\n" * 100] * 8)),
    "a large body": ("too_large", (b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n", bytes(9000))),
    "a large chunked body": ("too_large", (CHUNKED, *[b"400\r\n" + bytes(1024) + b"\r\n"] * 8)),
    "a body without end": ("too_large", (b"HTTP/1.1 200 OK\r\n\r\n", *[bytes(1024)] * 8)),
    "a bomb": ("too_large", (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzip.compress(bytes(3_000_000)),)),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_broken_answer_is_named(name: str) -> None:
    code, pieces = FAULTS[name]

    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            server.says("/v1/x", *pieces, gap=0.005 if "without end" in name else 0)
            error = await fault_of(client, server.url("/v1/x?key=hush"), limits=SMALL)
            assert (error.code, error.status) == (code, None)
            assert f"127.0.0.1:{server.port}" in error.message
            assert CODES[code].advice in error.message
            assert "hush" not in repr(error)
            assert len(server.requests) == 1
            assert await ask(client, server.url("/")) == b"ok"

    run(work())


def test_pieces_that_came_before_the_fault_are_given_first() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            server.says("/", HEAD + b"half")
            async with await client.send("GET", server.url("/"), {}, limits=PATIENT) as answer:
                assert await anext(answer) == b"half"
                for _ in range(2):
                    with pytest.raises(UpstreamError, match="in the middle"):
                        await anext(answer)

    run(work())


@pytest.mark.parametrize(
    ("code", "pieces"),
    [
        ("timeout_first_byte", ()),
        ("timeout_idle", (b"HTTP/1.1 200",)),
        ("timeout_idle", (HEAD + b"half",)),
        ("timeout_idle", (CHUNKED + b"5\r\nhello\r\n",)),
        ("timeout_first_byte", (b"HTTP/1.1 100 Continue\r\n\r\n",)),
        ("timeout_idle", (b"HTTP/1.1 100 Continue\r\n\r\n", CHUNKED + b"5\r\nhello\r\n")),
    ],
)
@pytest.mark.parametrize("rested", [False, True])
def test_silence_is_named_and_the_connection_closed(code: str, pieces: tuple[bytes, ...], rested: bool) -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            if rested:
                await ask(client, server.url("/"))
            server.stalls("/stall", *pieces)
            limits = Limits(5.0, 0.15, 5.0) if code == "timeout_first_byte" else Limits(5.0, 5.0, 0.15)
            error = await fault_of(client, server.url("/stall"), limits=limits)
            assert error.code == code
            assert error.retryable
            await server.left.wait()
            assert len(server.requests) == 1 + rested  # a timeout is no stale connection: not sent again

    run(work())


def test_a_trickle_is_slow_but_whole() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            data = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nslow"
            server.says("/", *(data[at : at + 4] for at in range(0, len(data), 4)), gap=0.05)
            assert await ask(client, server.url("/"), limits=Limits(5.0, 0.3, 0.3)) == b"slow"

    run(work())


def test_a_request_that_is_never_read() -> None:
    async def work() -> None:
        with socket.create_server(("127.0.0.1", 0)) as deaf:
            async with HttpTransport(proxies=DIRECT) as client:
                url = f"http://127.0.0.1:{deaf.getsockname()[1]}/"
                error = await fault_of(client, url, bytes(30_000_000), Limits(5.0, 5.0, 0.15))
                assert error.code == "timeout_send"

    run(work())


def test_a_large_body_that_is_read_slowly_does_not_time_out() -> None:
    async def work() -> None:
        async def sip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            seen = 0
            while seen < size:
                seen += len(await reader.read(1 << 20))
                await asyncio.sleep(0.03)
            writer.write(OK)
            await reader.read()
            writer.close()
            done.set()

        size = 16_000_000
        done = asyncio.Event()
        slow = await asyncio.start_server(sip, "127.0.0.1", 0, limit=1 << 20)
        async with HttpTransport(proxies=DIRECT) as client:
            url = f"http://127.0.0.1:{slow.sockets[0].getsockname()[1]}/"
            assert await ask(client, url, bytes(size), Limits(5.0, 5.0, 0.2)) == b"ok"
        await done.wait()
        slow.close()

    run(work())


def test_no_server_and_no_name() -> None:
    async def work() -> None:
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))  # bound but not listening: refused
            async with HttpTransport(per_host=1, proxies=DIRECT) as client:
                for _ in range(3):  # a failure gives its place back
                    error = await fault_of(client, f"http://127.0.0.1:{held.getsockname()[1]}/")
                    assert (error.code, error.retryable) == ("connect_failed", True)
                    assert "refused" in error.message
                error = await fault_of(client, "http://no-such-host.invalid/")
                assert error.code == "dns_failed"
                assert "no-such-host.invalid" in error.message
                error = await fault_of(client, f"http://{'a' * 70}.invalid/")
                assert error.code == "dns_failed"

    run(work())


def test_a_connect_that_never_ends() -> None:
    async def work() -> None:
        with socket.socket() as full:
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            with socket.socket() as first, socket.socket() as second:  # they fill the queue: a third is left waiting
                for filler in (first, second):
                    filler.setblocking(False)
                    filler.connect_ex(full.getsockname())
                await asyncio.sleep(0.05)
                async with HttpTransport(proxies=DIRECT) as client:
                    url = f"http://127.0.0.1:{full.getsockname()[1]}/"
                    error = await fault_of(client, url, limits=Limits(connect=0.15))
                    assert error.code == "timeout_connect"

    run(work())


@pytest.mark.parametrize(
    ("url", "headers", "where"),
    [
        ("http://h/\r\nX: y", {}, "url"),
        ("http://h/a b", {}, "url"),
        ("ftp://h/", {}, "url"),
        ("http:///x", {}, "url"),
        ("http://h:0/", {}, "url"),
        ("http://h:99999/", {}, "url"),
        ("http://[::1/", {}, "url"),
        ("http://user:hush@h/", {}, "url"),
        ("http://h/", {"X": "hush\r\nY: z"}, "headers"),
        ("http://h/", {"X": "hush\nY"}, "headers"),
        ("http://h/", {"X": "hush\0"}, "headers"),
        ("http://h/", {"X": "hush\u2028"}, "headers"),
        ("http://h/", {"X\r\nhush": "z"}, "headers"),
        ("http://h/", {"X: hush": "z"}, "headers"),
        ("http://h/", {"": "hush"}, "headers"),
        ("http://h/", {"Transfer-Encoding": "hush"}, "headers"),
        ("http://h/", {"content-length": "1"}, "headers"),
    ],
)
def test_what_can_not_be_sent_is_the_callers_error(url: str, headers: dict[str, str], where: str) -> None:
    async def work() -> None:
        async with HttpTransport(proxies=DIRECT) as client:
            with pytest.raises(CallerError) as caught:
                await client.send("POST", url, headers)
            assert caught.value.where == where
            assert "hush" not in str(caught.value)
            with pytest.raises(CallerError):
                await client.send("GET /x HTTP/1.1\r\n", "http://h/", {})

    run(work())
