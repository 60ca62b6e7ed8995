"""Cancelled in any state: the server sees the end at once, and neither a socket nor a task stays."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.client.fault_server import CHUNKED, FaultServer, fault_server
from tests.client.running import DIRECT, ask, run
from toolglot.client.http import HttpTransport, connection
from toolglot.client.transport import Limits

FOREVER = Limits(None, None, None)


def sockets() -> int:
    """The open sockets of this process, where the system tells."""
    listed = Path("/proc/self/fd")
    if not listed.exists():
        return 0
    found = 0
    for entry in os.listdir(listed):
        with contextlib.suppress(OSError):
            found += os.readlink(listed / entry).startswith("socket:")
    return found


async def cancelled(work: Awaitable[object], when: Callable[[], Awaitable[object]]) -> None:
    task = asyncio.ensure_future(work)
    await when()
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("rested", [False, True])
@pytest.mark.parametrize(
    "pieces", [(), (b"HTTP/1.1 200",), (CHUNKED,), (CHUNKED + b"5\r\nhello\r\n",)], ids=["waiting", "head", "body", "stream"]
)
def test_waiting_and_reading(pieces: tuple[bytes, ...], rested: bool) -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            if rested:
                await ask(client, server.url("/"))
            server.stalls("/stall", *pieces)

            async def begun() -> None:
                while len(server.requests) < 1 + rested:
                    await asyncio.sleep(0.01)
                await asyncio.sleep(0.05)

            await cancelled(ask(client, server.url("/stall"), limits=FOREVER), begun)
            await server.left.wait()
            assert await ask(client, server.url("/")) == b"ok"
        assert len(server.requests) == 2 + rested  # a cancelled request is not sent again

    before = sockets()
    run(work())
    assert sockets() == before


def test_closing_an_answer_early() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            server.stalls("/", CHUNKED + b"5\r\nhello\r\n")
            answer = await client.send("GET", server.url("/"), {}, limits=FOREVER)
            assert await anext(answer) == b"hello"
            await answer.aclose()
            await answer.aclose()
            await server.left.wait()

    run(work())


def test_a_released_response_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_DRAIN", 0.05)

    async def work() -> None:
        async with fault_server() as server, HttpTransport(per_host=1, proxies=DIRECT) as client:
            server.stalls("/", CHUNKED + b"5\r\nhello\r\n")
            answer = await client.send("GET", server.url("/"), {}, limits=FOREVER)
            assert await anext(answer) == b"hello"
            answer.release()
            await answer.aclose()  # already released
            await server.left.wait()
            assert await ask(client, server.url("/next")) == b"ok"

    run(work())


def test_a_released_response_that_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_DRAIN", 0.05)

    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            server.says("/", CHUNKED, *[b"1\r\n:\r\n"] * 2000, gap=0.01)  # each byte in time
            answer = await client.send("GET", server.url("/"), {}, limits=FOREVER)
            assert await anext(answer) == b":"
            answer.release()
            while server.open:
                await asyncio.sleep(0.01)

    run(work())


def test_a_reader_that_lags() -> None:
    async def work() -> None:
        async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, held: FaultServer) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                writer.write(bytes(65536))
                await writer.drain()

        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            server.scripts["/"] = flood
            answer = await client.send("GET", server.url("/"), {}, limits=FOREVER)
            await asyncio.sleep(0.1)
            await answer.aclose()
            await server.left.wait()

    run(work())


def test_sending() -> None:
    async def work() -> None:
        gone = asyncio.Event()

        async def sip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1000)
            seen.set()
            await asyncio.sleep(0.1)
            with contextlib.suppress(ConnectionError):
                while piece := await reader.read(1 << 20):
                    taken[0] += len(piece)
            gone.set()
            writer.transport.abort()

        taken = [0]
        seen = asyncio.Event()
        server = await asyncio.start_server(sip, "127.0.0.1", 0, limit=1024)
        async with HttpTransport(proxies=DIRECT) as client:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
            await cancelled(ask(client, url, bytes(50_000_000), FOREVER), seen.wait)
            await gone.wait()
        assert taken[0] < 40_000_000  # what was still to be sent is not sent
        server.close()
        await asyncio.sleep(0.01)

    before = sockets()
    run(work())
    assert sockets() == before


def test_connecting() -> None:
    async def work() -> None:
        with socket.socket() as full:
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            with socket.socket() as first, socket.socket() as second:
                for filler in (first, second):
                    filler.setblocking(False)
                    filler.connect_ex(full.getsockname())
                await asyncio.sleep(0.05)
                async with HttpTransport(proxies=DIRECT) as client:
                    url = f"http://127.0.0.1:{full.getsockname()[1]}/"
                    held = sockets()
                    await cancelled(ask(client, url, limits=FOREVER), lambda: asyncio.sleep(0.05))
                    await asyncio.sleep(0.01)
                    assert sockets() == held

    run(work())


def test_shaking_hands() -> None:
    """A server that takes the connection and never answers the greeting."""

    async def work() -> None:
        gone = asyncio.Event()
        greeted = asyncio.Event()

        async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(10)
            greeted.set()
            with contextlib.suppress(ConnectionError):
                await reader.read()
            gone.set()
            writer.transport.abort()

        server = await asyncio.start_server(mute, "127.0.0.1", 0)
        async with HttpTransport(proxies=DIRECT) as client:
            url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
            await cancelled(ask(client, url, limits=FOREVER), greeted.wait)
            await gone.wait()
        server.close()
        await asyncio.sleep(0.01)

    before = sockets()
    run(work())
    assert sockets() == before


def test_waiting_for_a_turn() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(per_host=1, proxies=DIRECT) as client:
            server.stalls("/stall", CHUNKED)
            answer = await client.send("GET", server.url("/stall"), {}, limits=FOREVER)
            await cancelled(ask(client, server.url("/"), limits=FOREVER), lambda: asyncio.sleep(0.05))
            task = asyncio.ensure_future(ask(client, server.url("/"), limits=FOREVER))
            await asyncio.sleep(0.01)
            await answer.aclose()
            assert await task == b"ok"

    run(work())


def test_a_turn_that_comes_with_the_cancellation_is_passed_on() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(per_host=1, proxies=DIRECT) as client:
            server.stalls("/stall", CHUNKED)
            answer = await client.send("GET", server.url("/stall"), {}, limits=FOREVER)
            first = asyncio.ensure_future(ask(client, server.url("/"), limits=FOREVER))
            second = asyncio.ensure_future(ask(client, server.url("/"), limits=FOREVER))
            await asyncio.sleep(0.01)
            await answer.aclose()  # gives the turn to the first ...
            first.cancel()  # ... which does not live to take it
            assert await second == b"ok"
            assert first.cancelled()

    run(work())
