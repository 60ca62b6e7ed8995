"""Authentication, and the limits of requests and keys."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import msgspec
import pytest

from tests.gateway.running import WIRES, config, request_of, run, serving
from tests.gateway.scripts import fixture, question, response_to, text
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server
from toolglot.errors import CallerError, UpstreamError
from toolglot.gateway import body_structure
from toolglot.gateway.app import App
from toolglot.gateway.body_structure import MAX_VALUES, check_structure
from toolglot.gateway.concurrency import ConcurrencyGate
from toolglot.gateway.state import Gateway

KEYS = 'keys = ["key-one-0123456789", "key-two-0123456789"]'


@pytest.mark.parametrize("client", WIRES)
def test_a_key_is_accepted_from_every_client(client: str) -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up, server=KEYS)) as gateway:
            path, sent = request_of(client, question(client, "gemini/m", ()), stream=False)

            async def status(query: str = "", **headers: str) -> int:
                return (await gateway.ask("POST", path + query, sent, **headers))[0]

            assert await status() == 401
            assert await status(authorization="Bearer key-three-0123456789") == 401
            assert await status(authorization="Bearer ") == 401
            assert await status("?key=key-two") == 401
            assert await status(x_api_key="key-one-0123456789\u00e9") == 401
            assert up.requests == []
            assert await status(authorization="Bearer key-one-0123456789") == 200
            assert await status(authorization="bearer key-two-0123456789") == 200
            assert await status(x_api_key="key-two-0123456789") == 200
            assert await status(x_goog_api_key="key-two-0123456789") == 200
            assert await status("?key=key-two-0123456789") == 200
            assert await status(authorization="Bearer another's", x_api_key="key-one-0123456789") == 200
            assert await status(authorization="Bearer ", x_goog_api_key="key-one-0123456789") == 200

    run(work())


def test_missing_and_invalid_keys_have_different_messages() -> None:
    async def work() -> None:
        async with serving(config("http://127.0.0.1:9", server=KEYS)) as gateway:
            for headers, message in (({}, "missing API key"), ({"x_api_key": "key-three-0123456789"}, "invalid API key")):
                status, body, _ = await gateway.ask("GET", "/v1/models", **headers)
                assert (status, body["error"]["code"]) == (401, "invalid_api_key")
                assert body["error"]["message"].startswith(f"{message}: send it as Authorization: Bearer")

    run(work())


def test_only_health_endpoints_and_the_files_of_the_page_need_no_key() -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up, server=KEYS)) as gateway:
            assert (await gateway.ask("GET", "/healthz"))[0] == 200
            assert (await gateway.ask("GET", "/readyz"))[0] == 200
            assert (await gateway.ask("GET", "/"))[0] == 200
            for path in (
                "/toolglot/live",
                "/v1/models",
                "/metrics",
                "/toolglot/decisions/x",
                "/api/tags",
                "/api/version",
                "/v1/responses",
            ):
                assert (await gateway.ask("GET", path))[0] == 401, path

    run(work())


def test_without_keys_foreign_origins_and_hosts_are_rejected() -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            for headers, status in (
                ({"origin": "https://evil.example"}, 403),
                ({"origin": "http://127.0.0.1.evil.example"}, 403),
                ({"origin": "null"}, 403),
                ({"host": "evil.example"}, 403),
                ({"host": "evil.example:8484"}, 403),
                ({"origin": "http://localhost:3000"}, 200),
                ({"origin": "vscode-webview://x"}, 200),
                ({"host": "localhost:8484"}, 200),
                ({"host": "[::1]:8484"}, 200),
            ):
                assert (await gateway.ask("GET", "/v1/models", **headers))[0] == status, headers

    run(work())


@pytest.mark.parametrize(
    ("client", "host", "status"),
    [("127.0.0.1", "127.0.0.1", 200), ("::1", "::1", 200), ("192.0.2.7", "127.0.0.1", 403), ("127.0.0.1", "10.1.2.3", 403)],
)
def test_without_keys_the_addresses_count_not_the_host_header(client: str, host: str, status: int) -> None:
    async def work() -> None:
        configuration = config("http://127.0.0.1:9")
        server = msgspec.structs.replace(configuration.server, host=host)
        gateway = Gateway(msgspec.structs.replace(configuration, server=server))
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        headers = [(b"host", b"127.0.0.1")]
        scope = {"type": "http", "method": "GET", "path": "/api/version", "query_string": b"", "headers": headers}
        await App(gateway)({**scope, "client": (client, 1)}, send, send)  # type: ignore[arg-type]
        assert sent[0]["status"] == status
        await gateway.aclose()

    run(work())


def test_large_and_deep_bodies_and_too_many_tools_are_rejected() -> None:
    async def work() -> None:
        server = "max_body = 4000\nmax_tools = 2\nmax_depth = 20"
        async with upstream_server(fixture("plain_text")) as up, serving(config(up, server=server)) as gateway:
            path, sent = request_of("anthropic", question("anthropic", "gemini/m"), stream=False)
            assert (await gateway.ask("POST", path, sent))[0] == 200
            assert (await gateway.ask("POST", path, {**sent, "x": "y" * 4000}))[0] == 413
            status, body, _ = await gateway.ask("POST", path, {**sent, "tools": sent["tools"] * 3})
            assert (status, body["type"]) == (400, "error")
            deep: Any = 1
            for _ in range(30):
                deep = [deep]
            assert (await gateway.ask("POST", path, {**sent, "metadata": deep}))[0] == 400
            assert (await gateway.ask("POST", path, sent, content_encoding="gzip"))[0] == 415

    run(work())


def test_a_chunked_body_is_limited_too() -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up, server="max_body = 1000")) as gateway:
            chunk = b"200\r\n" + b"x" * 512 + b"\r\n"
            head = b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n"
            assert b" 413 " in await gateway.raw(head + chunk * 3)

    run(work())


def test_long_headers_and_slow_clients_are_rejected() -> None:
    async def work() -> None:
        server = "max_header = 2000\nclient_timeout = 0.6"
        async with upstream_server(fixture("plain_text")) as up, serving(config(up, server=server)) as gateway:
            long = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-long: " + b"x" * 3000
            assert b" 431 " in await gateway.raw(long)
            assert b" 431 " in await gateway.raw(long + b"\r\n\r\n")
            assert await gateway.raw(b"GET /healthz HTTP/1.1\r\nhost: loc") == b""
            body = b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{"
            assert b" 408 " in await gateway.raw(body)
            fine = (
                b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 5000\r\n\r\n"
                + b" " * 5000
            )
            assert b" 400 " in await gateway.raw(fine)  # max_header does not limit the body

    run(work())


def test_concurrency_limit_per_key() -> None:
    async def work() -> None:
        go = asyncio.Event()

        async def play(request: UpstreamRequest) -> UpstreamResponse:
            await go.wait()
            return response_to(request, text("done"))

        server = f"{KEYS}\nmax_concurrent = 2"
        async with upstream_server(play) as up, serving(config(up, server=server)) as gateway:
            path, sent = request_of("openai-chat", question("openai-chat", "gemini/m", ()), stream=False)

            def ask(key: str) -> asyncio.Task[Any]:
                return asyncio.ensure_future(gateway.ask("POST", path, sent, authorization=f"Bearer {key}"))

            running = [ask("key-one-0123456789"), ask("key-one-0123456789")]
            while len(up.requests) < 2:
                await asyncio.sleep(0.01)
            status, _, headers = await ask("key-one-0123456789")
            assert (status, headers["retry-after"]) == (429, "1")
            other = ask("key-two-0123456789")
            go.set()
            assert [(await one)[0] for one in (*running, other)] == [200] * 3
            assert (await ask("key-one-0123456789"))[0] == 200

    run(work())


def test_token_bucket_per_key() -> None:
    now = 100.0
    gate = ConcurrencyGate(lambda: now)

    def allowed(owner: str = "a") -> float | None:
        try:
            with gate.slot(owner, 9, 2.0, 3):
                return None
        except UpstreamError as error:
            return error.retry_after if error.status == 429 else None

    assert [allowed() for _ in range(4)] == [None, None, None, 0.5]
    assert allowed("b") is None
    now += 0.5
    assert [allowed(), allowed()] == [None, 0.5]
    now += 60
    assert [allowed() for _ in range(4)] == [None, None, None, 0.5]
    assert gate.running == 0


def test_rate_limit_over_http() -> None:
    async def work() -> None:
        async with (
            upstream_server(fixture("plain_text")) as up,
            serving(config(up, server="rate = 0.001\nburst = 1")) as gateway,
        ):
            path, sent = request_of("ollama", question("ollama", "gemini/m", ()), stream=False)
            assert (await gateway.ask("POST", path, sent))[0] == 200
            status, _, headers = await gateway.ask("POST", path, sent)
            assert status == 429
            assert 600 <= int(headers["retry-after"]) <= 1000
            sent = question("anthropic", "gemini/m", ())
            assert (await gateway.ask("POST", "/v1/messages/count_tokens", sent))[0] == 429
            assert (await gateway.ask("GET", "/healthz"))[0] == 200

    run(work())


@pytest.mark.parametrize(
    ("data", "deep"),
    [
        (b"[" * 21 + b"]" * 21, True),
        (b"[" * 20 + b"]" * 20, False),
        (b"[[[[[[[[[[[[[[[[[[[[[", True),
        (b'{"a":"' + b"[" * 100 + b'"}', False),
        (b'{"a":"\\"' + b"{" * 100 + b'"}', False),
        (b"[" + b"[],{}," * 100 + b"1]", False),
        (b'{"a":' * 30 + b"1" + b"}" * 30, True),
        (b"[" * 15 + b'"]]]]]"' + b"]" * 15, False),
        (b'["]",' * 30 + b"1" + b"]" * 30, True),
        (b'["\\"]",' * 30 + b"1" + b"]" * 30, True),
        (b'["\\\\",' * 30 + b"1" + b"]" * 30, True),
        (b'[{"a":' * 11 + b"1" + b"}]" * 11, True),
        (b'[{"a":' * 10 + b"1" + b"}]" * 10, False),
        (b'{"a":"\\' + b'"[' * 100, True),
        (b"]" * 50 + b"[" * 19 + b"]" * 19, False),
    ],
)
def test_nesting_depth(data: bytes, deep: bool) -> None:
    if deep:
        with pytest.raises(CallerError, match="deeper than 20"):
            check_structure(data, 20)
    else:
        check_structure(data, 20)


@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_slices_of_a_body_change_nothing(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(size)  # noqa: S311
    for _ in range(2000):
        data = b"".join(chance.choices([b"[", b"]", b"{", b"}", b",", b'"', b"\\", b'\\"', b'"a"', b"[[", b"]]"], k=25))
        most = _depth(data)
        if most is None:
            continue
        monkeypatch.setattr(body_structure, "_SLICE", size)
        check_structure(data, most)
        if most:
            with pytest.raises(CallerError):
                check_structure(data, most - 1)


def _depth(data: bytes) -> int | None:
    """Character by character. None: it has a backslash outside of strings, so it is not JSON."""
    depth = most = 0
    in_string = escaped = False
    for char in data.decode():
        if escaped:
            escaped = False
        elif char == "\\":
            if not in_string:
                return None
            escaped = True
        elif char == '"':
            in_string = not in_string
        elif not in_string:
            depth += (char in "[{") - (char in "]}")
            most = max(most, depth)
    return most


def test_the_number_of_values_is_limited() -> None:
    for data in (
        b"[" + b"1," * MAX_VALUES + b"1]",
        b"[" + b"[]," * MAX_VALUES + b"1]",
        b"[" + b'"a",' * 2 * MAX_VALUES + b"1]",
    ):
        with pytest.raises(CallerError, match="values"):
            check_structure(data, 20)
    check_structure(b'{"text": "' + b"a, [b], " * MAX_VALUES + b'"}', 20)


@pytest.mark.parametrize("unit", [b'\\"[', b'\\"', b'"', b'"[', b"\\", b'"\\', b"[", b"[{", b"]", b'["]",', b'{"a":['])
def test_hostile_bodies_do_not_stop_the_gateway(unit: bytes) -> None:
    """30,000 of the first took a minute, because each quote was searched for its end."""

    async def work() -> None:
        async with serving(config("http://127.0.0.1:9")) as gateway:
            for start in (b'{"a":"', b'{"a":', b""):
                status, body, _ = await gateway.ask("POST", "/v1/chat/completions", start + unit * 30_000)
                assert status == 400, body

    run(work())


@pytest.mark.parametrize("client", WIRES)
@pytest.mark.parametrize("value", [b'"\xff\xfe"', b"1e999", b"-1e999", b"9" * 5000, b'"\\ud800"'])
def test_invalid_text_and_numbers_in_tools_are_errors_of_the_client(client: str, value: bytes) -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            path, sent = request_of(client, question(client, "gemini/m"), stream=False)
            data = msgspec.json.encode(sent)
            for old in (b'"string"', b'"city"'):
                assert old in data
                status, body, _ = await gateway.ask(
                    "POST", path, data.replace(old, value if old == b'"string"' else b'"c":%b,"city"' % value, 1)
                )
                assert status in (200, 400), body

    run(work())
