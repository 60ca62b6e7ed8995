"""TLS with certificates of our own making, and a real proxy."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest
import trustme

from tests.client.fault_server import CHUNKED, fault_server
from tests.client.proxy_server import proxy_server
from tests.client.running import DIRECT, PATIENT, ask, fault_of, run
from tests.ports import reserved_port
from toolglot.client.http import HttpTransport, Proxies
from toolglot.client.http.proxy import parse_proxy
from toolglot.client.transport import Limits

AUTHORITY = trustme.CA()
PROXY_AUTH = "Basic dTpodXNo"  # u:hush


def server_side(*names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    AUTHORITY.issue_cert(*names).configure_cert(context)
    return context


def client_side() -> ssl.SSLContext:
    context = ssl.create_default_context()
    AUTHORITY.configure_trust(context)
    return context


def through(port: int, *, secure: bool = False, user: str = "") -> Proxies:
    proxy = parse_proxy(f"{'https' if secure else 'http'}://{user}127.0.0.1:{port}")
    return Proxies(proxy, proxy, loopback=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_trusted_server(host: str) -> None:
    async def work() -> None:
        async with (
            fault_server(server_side("127.0.0.1", "localhost")) as server,
            HttpTransport(tls=client_side(), proxies=DIRECT) as client,
        ):
            for _ in range(3):
                assert await ask(client, server.url("/", "https", host), b"x" * 300_000) == b"ok"
            assert server.connections == 1

    run(work())


def test_an_authority_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pem = tmp_path / "authority.pem"
    AUTHORITY.cert_pem.write_to_path(str(pem))
    monkeypatch.setenv("SSL_CERT_FILE", str(pem))

    async def work() -> None:
        async with fault_server(server_side("127.0.0.1")) as server, HttpTransport(proxies=DIRECT) as client:
            assert await ask(client, server.url("/", "https")) == b"ok"

    run(work())


@pytest.mark.parametrize(
    ("names", "trusted", "said"),
    [(("127.0.0.1",), False, "unable to get local issuer"), (("other.example",), True, "mismatch")],
)
def test_a_certificate_that_does_not_fit(names: tuple[str, ...], trusted: bool, said: str) -> None:
    async def work() -> None:
        tls = client_side() if trusted else None
        async with fault_server(server_side(*names)) as server, HttpTransport(tls=tls, proxies=DIRECT) as client:
            error = await fault_of(client, server.url("/", "https"))
            assert (error.code, error.retryable) == ("tls_failed", False)
            assert said in error.message
            assert server.requests == []
            await asyncio.sleep(0.02)

    run(work())


def test_a_server_that_speaks_no_tls() -> None:
    async def work() -> None:
        async with fault_server() as server, HttpTransport(proxies=DIRECT) as client:
            server.says("*", b"HTTP/1.1 400 no\r\n\r\n")

            async def answer_plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await reader.read(10)
                writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                await writer.drain()
                writer.close()

            plain = await asyncio.start_server(answer_plainly, "127.0.0.1", 0)
            error = await fault_of(client, f"https://127.0.0.1:{plain.sockets[0].getsockname()[1]}/")
            assert (error.code, error.retryable) == ("tls_failed", False)

            async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await reader.read(10)
                writer.transport.abort()

            rude = await asyncio.start_server(hang_up, "127.0.0.1", 0)
            error = await fault_of(client, f"https://127.0.0.1:{rude.sockets[0].getsockname()[1]}/")
            assert (error.code, error.retryable) == ("tls_failed", True)
            plain.close()
            rude.close()

    run(work())


def test_faults_and_cancellation_under_tls() -> None:
    async def work() -> None:
        async with (
            fault_server(server_side("127.0.0.1")) as server,
            HttpTransport(tls=client_side(), proxies=DIRECT) as client,
        ):
            server.says("/cut", CHUNKED + b"5\r\nhel")
            assert (await fault_of(client, server.url("/cut", "https"))).code == "cut_off"
            server.stalls("/stall", CHUNKED + b"5\r\nhello\r\n")
            error = await fault_of(client, server.url("/stall", "https"), limits=Limits(5.0, 5.0, 0.15))
            assert error.code == "timeout_idle"
            await server.left.wait()
            server.left.clear()
            server.came.clear()
            task = asyncio.ensure_future(ask(client, server.url("/stall", "https")))
            await server.came.wait()
            await asyncio.sleep(0.05)
            task.cancel()
            await server.left.wait()
            assert await ask(client, server.url("/", "https")) == b"ok"

    run(work())


def test_ipv6() -> None:
    async def work() -> None:
        try:
            async with fault_server(host="::1") as server, HttpTransport(proxies=DIRECT) as client:
                assert await ask(client, server.url("/", host="[::1]")) == b"ok"
                assert server.requests[0].headers["host"] == f"[::1]:{server.port}"
        except OSError:
            pytest.skip("no IPv6 here")

    run(work())


@pytest.mark.parametrize("outer", [False, True], ids=["http proxy", "https proxy"])
@pytest.mark.parametrize("inner", [False, True], ids=["http", "https"])
def test_through_a_proxy(outer: bool, inner: bool) -> None:
    async def work() -> None:
        async with (
            fault_server(server_side("127.0.0.1") if inner else None) as server,
            proxy_server(PROXY_AUTH, server_side("127.0.0.1") if outer else None) as proxy,
        ):
            proxies = through(proxy.port, secure=outer, user="u:hush@")
            async with HttpTransport(tls=client_side(), proxies=proxies) as client:
                url = server.url("/v1", "https" if inner else "http")
                assert await ask(client, url, b"body") == b"ok"
                assert await ask(client, url, b"body") == b"ok"
            wanted = f"CONNECT 127.0.0.1:{server.port} HTTP/1.1" if inner else f"POST {url} HTTP/1.1"
            assert proxy.lines == [wanted]  # the second request took the same way
            assert "proxy-authorization" not in server.requests[0].headers
            assert server.requests[0].body == b"body"

    run(work())


@pytest.mark.parametrize(
    ("answer", "again", "said"),
    [
        (b"HTTP/1.1 407 Who\r\n\r\n", False, "status 407"),
        (b"HTTP/1.1 502 Bad\r\n\r\n", True, "status 502"),
        (b"what?\r\n\r\n", True, "without a response"),
        (b"x" * 100_000, True, "without a response"),
    ],
)
def test_a_proxy_that_refuses(answer: bytes, again: bool, said: str) -> None:
    async def work() -> None:
        async with proxy_server() as proxy:
            proxy.answer = answer
            async with HttpTransport(proxies=through(proxy.port, user="u:hush@")) as client:
                error = await fault_of(client, "https://upstream.invalid/?key=hush")
                assert (error.code, error.status, error.retryable) == ("proxy_failed", None, again)
                assert said in error.message
                assert f"127.0.0.1:{proxy.port}" in error.message
                assert "hush" not in error.message

    run(work())


def test_a_proxy_that_lets_nobody_in_is_named_without_connect_too() -> None:
    async def work() -> None:
        async with proxy_server(PROXY_AUTH) as proxy, HttpTransport(proxies=through(proxy.port, user="u:wrong@")) as client:
            error = await fault_of(client, "http://upstream.invalid/")
            assert (error.code, error.retryable) == ("proxy_failed", False)
            assert error.message.startswith(f"proxy 127.0.0.1:{proxy.port}: the proxy rejected the request (status 407)")

    run(work())


def test_a_proxy_that_is_silent_or_not_there() -> None:
    async def work() -> None:
        async with proxy_server() as proxy:
            proxy.answer = b""
            async with HttpTransport(proxies=through(proxy.port)) as client:
                error = await fault_of(client, "https://upstream.invalid/", limits=Limits(connect=0.15))
                assert error.code == "timeout_connect"
                await proxy.left.wait()
                proxy.left.clear()
                proxy.came.clear()
                task = asyncio.ensure_future(ask(client, "https://upstream.invalid/", limits=PATIENT))
                await proxy.came.wait()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                await proxy.left.wait()
        with reserved_port() as port:
            async with HttpTransport(proxies=through(port)) as client:
                error = await fault_of(client, "https://upstream.invalid/")
                assert error.code == "connect_failed"
                assert f"proxy 127.0.0.1:{port}" in error.message

    run(work())
