"""Connections to an upstream: enough for all requests that the limits allow, and shared fairly by the keys."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import pytest

from tests.gateway.running import Running, config, request_of, run, serving
from tests.gateway.scripts import question, response_to, text
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server
from toolglot.client.http import HttpTransport
from toolglot.gateway.config import read_config

ONE, TWO = "key-one-0123456789", "key-two-0123456789"
KEYS = f'keys = ["{ONE}", "{TWO}"]'


def ask(gateway: Running, name: str, key: str = ONE) -> asyncio.Task[Any]:
    sent = {**question("openai-chat", "openai-chat/m", ()), "user": name, "stream": True}
    return asyncio.ensure_future(gateway.ask("POST", "/v1/chat/completions", sent, authorization=f"Bearer {key}"))


def queued(gateway: Running) -> int:
    """Requests that wait for a connection."""
    transport = gateway.gateway.transport
    assert isinstance(transport, HttpTransport)
    return sum(len(waiting) for pool in transport._pools.values() for waiting in pool._waiting.values())


def test_as_many_streams_as_the_limits_allow() -> None:
    async def work() -> None:
        go = asyncio.Event()

        async def play(request: UpstreamRequest) -> UpstreamResponse:
            await go.wait()
            return response_to(request, text("done"))

        async with upstream_server(play) as up, serving(config(up, server="max_concurrent = 220")) as gateway:
            gateway.client._per_host = 1000
            running = [ask(gateway, str(number)) for number in range(220)]
            while len(up.requests) < 220:
                await asyncio.sleep(0.01)
            go.set()
            assert [(await one)[0] for one in running] == [200] * 220

    run(work())


def test_keys_get_connections_in_turn() -> None:
    async def work() -> None:
        slots = asyncio.Queue[None]()

        async def play(request: UpstreamRequest) -> UpstreamResponse:
            await slots.get()
            return response_to(request, text("done"))

        server = f"{KEYS}\nmax_connections = 2\nqueue_timeout = 300"
        async with upstream_server(play) as up, serving(config(up, server=server)) as gateway:
            first = [ask(gateway, f"one {number}") for number in range(8)]
            while len(up.requests) < 2 or queued(gateway) < 6:
                await asyncio.sleep(0.01)
            second = [ask(gateway, f"two {number}", TWO) for number in range(2)]
            while queued(gateway) < 8:
                await asyncio.sleep(0.01)
            for _ in range(10):
                slots.put_nowait(None)
            assert [(await one)[0] for one in (*first, *second)] == [200] * 10
            order = [request.body["user"][:3] for request in up.requests]
            assert order[:6].count("two") == 2, order

    run(work())


def test_a_request_that_gets_no_connection_is_told_when_to_retry() -> None:
    async def work() -> None:
        go = asyncio.Event()

        async def play(request: UpstreamRequest) -> UpstreamResponse:
            await go.wait()
            return response_to(request, text("done"))

        server = f"{KEYS}\nmax_connections = 1\nqueue_timeout = 0.2"
        async with upstream_server(play) as up, serving(config(up, server=server)) as gateway:
            running = ask(gateway, "a")
            while not up.requests:
                await asyncio.sleep(0.01)
            status, body, headers = await ask(gateway, "b", TWO)
            assert (status, headers["retry-after"]) == (503, "1"), body
            go.set()
            assert (await running)[0] == 200
            assert (await ask(gateway, "c"))[0] == 200

    run(work())


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic", "ollama"])
def test_a_stream_keeps_its_connection_if_the_end_of_its_body_comes_later(wire: str) -> None:
    async def work() -> None:
        ends: list[asyncio.Event] = []

        def play(request: UpstreamRequest) -> UpstreamResponse:
            ends.append(asyncio.Event())
            return dataclasses.replace(response_to(request, text("done")), end=ends[-1])

        async with upstream_server(play) as up, serving(config(up, server="max_connections = 1")) as gateway:
            for number in range(3):
                path, sent = request_of(wire, question(wire, f"{wire}/m", ()), stream=True)
                assert (await gateway.ask("POST", path, sent))[0] == 200
                ends[number].set()  # the next request waits for this connection
            assert (len(up.requests), up.connections) == (3, 1)

    run(work())


def test_the_default_is_the_sum_of_the_limits() -> None:
    assert read_config(f"[server]\n{KEYS}\nmax_concurrent = 300\n").connections >= 600
    assert read_config("[server]\nmax_concurrent = 300\n").connections >= 300
    assert read_config("[server]\nmax_connections = 7\n").connections == 7
