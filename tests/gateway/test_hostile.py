"""Hostile input on every endpoint of the real server: a status below 500, and no traceback in the response."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from tests.gateway.running import WIRES, config, request_of, run, serving
from tests.gateway.scripts import fixture
from tests.gateway.upstream_server import upstream_server
from tests.laws.conversations import CASES, body
from toolglot.gateway.endpoints import EXACT

STRANGE: list[Any] = [
    None,
    True,
    -1,
    1e308,
    2**70,
    "",
    "\u0000",
    "\ud800x".encode("utf-8", "replace").decode(),
    [],
    [[]],
    {},
    {"": {}},
    "x" * 3000,
]
PATHS = [path for _, path in EXACT] + [
    "/v1beta/models/m:generateContent",
    "/v1/models/%2e%2e%2f:streamGenerateContent",
    "/models/m:countTokens",
    "/v1/responses/%00",
    "/toolglot/decisions/%ff",
    "/v1/models/%F0%9F%92%A9",
    "//",
]


def damaged(value: Any, chance: random.Random) -> Any:
    """A copy with one value replaced."""
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
            places.append((value, key))
            walk(value[key])

    value = msgspec.json.decode(msgspec.json.encode(value))
    walk(value)
    holder, key = chance.choice(places)
    holder[key] = chance.choice(STRANGE)
    return value


@pytest.mark.parametrize("client", WIRES)
def test_damaged_requests(client: str) -> None:
    async def work() -> None:
        chance = random.Random(7)  # noqa: S311
        async with upstream_server(fixture("parallel_calls")) as up, serving(config(up)) as gateway:
            for number in range(250):
                case = chance.choice(CASES)
                sent = {**body(case, client, "request"), "model": f"{chance.choice(WIRES)}/m"}
                path, sent = request_of(client, sent, stream=bool(number % 2))
                data = damaged(sent, chance)
                status, response, _ = await gateway.ask("POST", path, data)
                assert status < 500, (data, response)

    run(work())


def test_strange_methods_paths_and_bodies() -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            for path in PATHS:
                for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"):
                    for data in (b"", b"\x00" * 9, b'{"model":' * 99, b"null", b'{"model": "\xff"}', b"[" * 99999):
                        status, response, _ = await gateway.ask(method, path, data)
                        assert status < 500, (method, path, data[:20], response)
                        assert b"File " not in (response if isinstance(response, bytes) else msgspec.json.encode(response))

    run(work())


RAW = [
    b"\x00\x01\x02\r\n\r\n",
    b"GET\r\n\r\n",
    b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: -5\r\n\r\n",
    b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
    b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\nhello",
    b"POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    b"GET /v1/models?key=%ff%zz&=&&a HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    b"GET /../../etc/passwd HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nhost: [::\r\nconnection: close\r\n\r\n",
    b"GET /v1/models HTTP/1.1\r\nhost: [::\r\nconnection: close\r\n\r\n",
    b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\norigin: http://[\r\nconnection: close\r\n\r\n",
]


def test_bytes_that_are_not_http() -> None:
    async def work() -> None:
        async with serving(config("http://127.0.0.1:9", server="client_timeout = 0.3")) as gateway:
            for raw in RAW:
                assert b" 500 " not in await gateway.raw(raw), raw
            assert (await gateway.ask("GET", "/healthz"))[0] == 200

    run(work())


@pytest.mark.parametrize("model", ["../../v1/files", "a/../b", "..", "./a", "models/../../x", "..%2f..", "..\\\\x"])
def test_a_model_name_never_leads_to_another_path(model: str) -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            for upstream in WIRES:
                sent = {"model": f"{upstream}/{model}", "messages": [{"role": "user", "content": "hi"}]}
                status, body, _ = await gateway.ask("POST", "/v1/chat/completions", sent)
                assert status in (200, 400, 404), body
            for request in up.requests:
                assert ".." not in request.path.split("/"), request.path
                assert "/./" not in request.path

    run(work())
