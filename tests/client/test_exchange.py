"""Whole exchanges over loopback: bodies of every framing, pooling, limits."""

from __future__ import annotations

import asyncio
import gzip
import zlib

import pytest

from tests.client.fault_server import CHUNKED, OK, FaultServer, fault_server
from tests.client.running import DIRECT, PATIENT, ask, fault_of, run
from toolglot.client.http import HttpTransport, connection
from toolglot.client.transport import Answer, Limits, Transport
from toolglot.errors import UpstreamError


def head(*lines: str, status: str = "200 OK") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode()


BODIES = {
    "length": (head("Content-Length: 5") + b"hello", b"hello"),
    "chunked": (CHUNKED + b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", b"hello"),
    "extensions and trailers": (CHUNKED + b'5;a=b;c="d"\r\nhello\r\n0\r\nx-sum: 1\r\n\r\n', b"hello"),
    "until close": (head() + b"hello", b"hello"),
    "HTTP/1.0": (b"HTTP/1.0 200 OK\r\n\r\nhello", b"hello"),
    "empty": (head("Content-Length: 0"), b""),
    "no content": (head(status="204 No Content"), b""),
    "interim": (head(status="100 Continue") + head("Link: x", status="103 Early Hints") + OK, b"ok"),
    "gzip": (head("Content-Encoding: gzip") + gzip.compress(b"hello"), b"hello"),
    "gzip in two members": (head("Content-Encoding: x-gzip") + gzip.compress(b"hel") + gzip.compress(b"lo"), b"hello"),
    "deflate": (head("Content-Encoding: deflate") + zlib.compress(b"hello"), b"hello"),
    "raw deflate": (head("Content-Encoding: deflate") + zlib.compress(b"hello")[2:-4], b"hello"),
    "identity": (head("Content-Encoding: identity", "Content-Length: 5") + b"hello", b"hello"),
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("cut", [1, 7, 1000])
def test_a_body_comes_whole_however_it_is_framed_and_cut(name: str, cut: int) -> None:
    data, wanted = BODIES[name]

    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            server.says("/", *(data[at : at + cut] for at in range(0, len(data), cut)), gap=0.001 if cut < 10 else 0)
            assert await ask(client, server.url("/")) == wanted

    run(work())


def test_what_is_sent() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            await ask(client, server.url("/p%20q/ü?a=b&c"), b'{"x":1}')
            async with await client.send("GET", server.url("/"), {"X-Own": "caf\xe9", "Accept-Encoding": "gzip"}) as answer:
                await answer.read()
        first, second = server.requests
        assert first.line == "POST /p%20q/%C3%BC?a=b&c HTTP/1.1"
        assert first.body == b'{"x":1}'
        assert first.headers["host"] == f"127.0.0.1:{server.port}"
        assert first.headers["accept-encoding"] == "identity"
        assert first.headers["content-length"] == "7"
        assert "content-length" not in second.headers
        assert second.headers["x-own"] == "caf\xe9"
        assert second.headers["accept-encoding"] == "gzip"

    run(work())


def test_headers_are_lower_case_and_joined() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            server.says(
                "/", head("Vary: a", "VARY: b", "Retry-After: 1", "Retry-After: 2", "Content-Length: 0", status="429 Slow")
            )
            async with await client.send("GET", server.url("/"), {}) as answer:
                assert answer.status == 429
                assert answer.headers["vary"] == "a, b"
                assert answer.headers["retry-after"] == "2"
                assert "127.0.0.1" in repr(answer)

    run(work())


def test_a_redirect_is_an_answer() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            server.says("/", head("Location: /other", "Content-Length: 0", status="307 Elsewhere"))
            async with await client.send("POST", server.url("/"), {}, b"x") as answer:
                assert (answer.status, answer.headers["location"]) == (307, "/other")
        assert len(server.requests) == 1

    run(work())


def test_head_has_no_body_whatever_it_says() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            server.stalls("/", head("Content-Length: 5"))
            async with await client.send("HEAD", server.url("/"), {}) as answer:
                assert await answer.read() == b""

    run(work())


def test_connections_are_kept_and_used_again() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            for _ in range(5):
                assert await ask(client, server.url("/")) == b"ok"
            assert server.connections == 1
            server.says("/bye", head("Connection: close", "Content-Length: 2") + b"ok")
            await ask(client, server.url("/bye"))
            await ask(client, server.url("/"))
            assert server.connections == 2

    run(work())


def test_no_more_connections_than_allowed_and_everyone_gets_a_turn() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(per_host=3, proxies=DIRECT) as client:
            server.says("/slow", OK, gap=0.01, close=False)
            server.says("/close", head("Connection: close", "Content-Length: 2") + b"ok")
            paths = ["/slow", "/close"] * 10
            assert await asyncio.gather(*(ask(client, server.url(path)) for path in paths)) == [b"ok"] * 20
            assert server.connections <= 3 + 10

    run(work())


def test_a_turn_that_never_comes_is_a_fault() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(per_host=1, proxies=DIRECT) as client:
            server.stalls("/", head("Content-Length: 5"))
            async with await client.send("GET", server.url("/"), {}):
                error = await fault_of(client, server.url("/x"), limits=Limits(queue=0.1))
                assert error.code == "timeout_pool"
            assert await ask(client, server.url("/x")) == b"ok"

    run(work())


def test_unused_connections_expire() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(rest=0.05, proxies=DIRECT) as client:
            await ask(client, server.url("/"))
            while server.open:
                await asyncio.sleep(0.01)
            await ask(client, server.url("/"))
            assert server.connections == 2

    run(work())


def test_a_rested_connection_that_died_is_replaced_once() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            await ask(client, server.url("/"))
            dying = {"left": 1}

            async def die(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, held: FaultServer) -> None:
                dying["left"] -= 1
                if dying["left"] >= 0:
                    writer.transport.abort()
                else:
                    writer.write(OK)

            server.scripts["/die"] = die
            assert await ask(client, server.url("/die"), b"once") == b"ok"
            assert server.connections == 2
            dying["left"] = 9
            assert (await fault_of(client, server.url("/die"))).code == "cut_off"
            assert dying["left"] == 7  # once on the rested connection, once on a fresh one

    run(work())


def test_a_late_close_is_not_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_SOON", 0.0)  # whatever happens is late

    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            await ask(client, server.url("/"))
            server.says("/die")
            assert (await fault_of(client, server.url("/die"), b"once")).code == "cut_off"
            assert len(server.requests) == 2

    run(work())


def test_a_fresh_connection_that_dies_is_not_replaced() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            server.says("/")
            error = await fault_of(client, server.url("/"))
            assert error.code == "cut_off"
            assert error.retryable
            assert len(server.requests) == 1

    run(work())


def test_one_byte_of_an_answer_ends_the_right_to_send_again() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            await ask(client, server.url("/"))
            server.says("/one", b"H")
            assert (await fault_of(client, server.url("/one"))).code == "cut_off"
            assert len(server.requests) == 2

    run(work())


def test_noise_after_an_answer_costs_only_the_connection() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            for path, noise in {"/noise": b"noise", "/second": OK}.items():
                server.says(path, OK + noise, close=False)
                assert await ask(client, server.url(path)) == b"ok"
                assert await ask(client, server.url("/")) == b"ok"
            assert server.connections == 3  # that of the last good request is used for the next path

    run(work())


def test_an_early_response_to_a_large_body_is_read() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:

            async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await reader.readuntil(b"\r\n\r\n")
                writer.write(head("Content-Length: 0", status="413 Too Large"))
                await writer.drain()
                await asyncio.sleep(0.2)
                writer.transport.abort()

            hasty = await asyncio.start_server(refuse, "127.0.0.1", 0, limit=1024)
            port = hasty.sockets[0].getsockname()[1]
            async with await client.send("POST", f"http://127.0.0.1:{port}/", {}, bytes(30_000_000)) as answer:
                assert answer.status == 413
            hasty.close()
            await asyncio.sleep(0.3)
            assert server.connections == 0

    run(work())


def test_a_slow_reader_holds_the_server_back() -> None:
    async def work() -> None:
        sent = [0]
        size, count = 65536, 400

        async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, held: FaultServer) -> None:
            writer.write(head(f"Content-Length: {size * count}"))
            for _ in range(count):
                writer.write(bytes(size))
                await writer.drain()
                sent[0] += 1

        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            server.scripts["/"] = flood
            async with await client.send("GET", server.url("/"), {}, limits=Limits(idle=0.2)) as answer:
                await asyncio.sleep(0.5)  # longer than idle: it is we who are late, not the server
                assert sent[0] < count // 2
                assert answer.buffered < 2_000_000
                assert len(await answer.read()) == size * count
            assert await ask(client, server.url("/ok")) == b"ok"
            assert server.connections == 1

    run(work())


def test_a_transport_lives_on_in_a_later_loop() -> None:
    client = HttpTransport(proxies=DIRECT, rest=0.01)

    async def work() -> None:
        async with fault_server() as server:
            assert await ask(client, server.url("/")) == b"ok"
            while server.open:
                await asyncio.sleep(0.01)

    run(work())
    run(work())


def test_closing_the_transport_cancels_waiting_and_connecting_requests() -> None:
    async def work() -> None:
        async with fault_server() as server:
            client = HttpTransport(per_host=1, proxies=DIRECT)
            server.stalls("/", head("Content-Length: 5"))
            answer = await client.send("GET", server.url("/"), {}, limits=PATIENT)
            waiting = asyncio.ensure_future(fault_of(client, server.url("/x")))
            connecting = asyncio.ensure_future(fault_of(client, server.url("/y", host="localhost")))
            await asyncio.sleep(0)
            await client.aclose()
            assert [(await one).code for one in (waiting, connecting)] == ["closed", "closed"]
            await answer.aclose()
            assert len(server.requests) == 1

    run(work())


def test_it_is_a_transport() -> None:
    client: Transport = HttpTransport(proxies=DIRECT)

    async def work() -> None:
        async with fault_server() as server:
            answer: Answer = await client.send("GET", server.url("/"), {})
            assert [piece async for piece in answer] == [b"ok"]
            await answer.aclose()
        await client.aclose()

    run(work())


def test_closing_the_transport_ends_everything() -> None:
    async def work() -> None:
        async with fault_server() as server:
            client = HttpTransport(proxies=DIRECT)
            server.stalls("/", head("Content-Length: 5") + b"h")
            answer = await client.send("GET", server.url("/"), {}, limits=PATIENT)
            await client.aclose()
            await server.left.wait()
            assert await anext(answer) == b"h"
            with pytest.raises(UpstreamError) as caught:
                await anext(answer)
            assert caught.value.code == "closed"
            assert (await fault_of(client, server.url("/"))).code == "closed"

    run(work())
