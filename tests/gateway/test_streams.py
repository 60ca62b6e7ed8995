"""Streams: pings, disconnects, clients that stop reading, and server shutdown."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import msgspec
import pytest

from tests.gateway.running import WIRES, config, read_back, request_of, run, serving
from tests.gateway.scripts import fixture, question, response_to, text
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, streamed, upstream_server
from tests.laws.conversations import stream as recorded
from toolglot.core.messages import Text
from toolglot.core.reply import Reply, Stop

SLOW = "word " * 12


async def _until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("client", WIRES)
def test_a_silent_stream_sends_pings(client: str) -> None:
    signs = {"anthropic": b"event: ping", "gemini": b"\n\n\n\n", "ollama": b'"content":""},"done":false}'}

    async def work() -> None:
        data = recorded("plain_text", "openai-chat")
        sign, pinged = signs.get(client, b": ping\n\n"), asyncio.Event()

        def play(request: UpstreamRequest) -> UpstreamResponse:
            middle = data.index(b"\n\n", len(data) // 2) + 2
            return UpstreamResponse(200, {"content-type": "text/event-stream"}, [data[:middle], data[middle:]], go_on=pinged)

        async with upstream_server(play) as up:
            path, sent = request_of(client, question(client, "openai-chat/m"), stream=True)
            async with serving(config(up, "openai-chat", server="ping = 0.05")) as gateway:
                body = b""
                async for piece in await gateway.send("POST", path, sent):
                    body += piece
                    if sign in body:
                        pinged.set()
            assert pinged.is_set()
            up.play = fixture("plain_text")
            async with serving(config(up, "openai-chat")) as gateway:
                _, quick, _ = await gateway.ask("POST", path, sent)
            assert sign not in quick
            assert read_back(client, body).text == read_back(client, quick).text != ""

    run(work())


def test_gemini_streams_an_array_without_sse() -> None:
    async def work() -> None:
        async with upstream_server(fixture("parallel_calls")) as up, serving(config(up)) as gateway:
            path, sent = request_of("gemini", question("gemini", "anthropic/m"), stream=True)
            status, body, headers = await gateway.ask("POST", path.removesuffix("?alt=sse"), sent)
            assert (status, headers["content-type"]) == (200, "application/json")
            assert isinstance(body, list)
            assert all("candidates" in chunk for chunk in body)

    run(work())


@pytest.mark.parametrize("stream", [False, True])
def test_a_disconnect_closes_the_upstream_connection(stream: bool) -> None:
    async def work() -> None:
        data = recorded("plain_text", "anthropic")

        def play(request: UpstreamRequest) -> UpstreamResponse:
            return UpstreamResponse(200, {"content-type": "text/event-stream"}, [data[:900], b" "], gap=20.0)

        async with upstream_server(play) as up, serving(config(up, "anthropic")) as gateway:
            path, sent = request_of("openai-chat", question("openai-chat", "anthropic/m"), stream=stream)
            asking = asyncio.ensure_future(gateway.send("POST", path, sent))
            await _until(lambda: up.requests)
            if stream:
                answer = await asking
                await answer.aclose()
            else:
                asking.cancel()
            await up.left.wait()
            await _until(gateway.gateway.records.recent)
            assert gateway.gateway.records.recent()[0].status == 499
            assert gateway.gateway.gate.running == 0

    run(work())


def test_a_client_that_stops_reading_is_disconnected() -> None:
    async def work() -> None:
        flood = Reply("r", "m", (Text("x" * 140_000),), Stop("stop"))
        async with upstream_server(lambda request: streamed(request.wire, said_bytes(request, flood), size=65536)) as up:
            configuration = config(up, "openai-chat", server="client_timeout = 0.4")
            async with serving(configuration) as gateway:
                path, sent = request_of("openai-chat", question("openai-chat", "openai-chat/m", ()), stream=True)
                data = msgspec.json.encode(sent)
                deaf = socket.socket()
                deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                deaf.connect(("127.0.0.1", gateway.port))
                _, writer = await asyncio.open_connection(sock=deaf, limit=1024)
                writer.write(
                    b"POST %b HTTP/1.1\r\nhost: localhost\r\ncontent-length: %d\r\n\r\n" % (path.encode(), len(data)) + data
                )
                await _until(gateway.gateway.records.recent)
                assert gateway.gateway.records.recent()[0].status == 499
                writer.transport.abort()

    run(work())


def said_bytes(request: UpstreamRequest, reply: Reply) -> bytes:
    return b"".join(response_to(request, reply).chunks)


def test_a_stopping_server_finishes_streams() -> None:
    async def work() -> None:
        async with upstream_server(lambda request: response_to(request, text(SLOW), 0.05)) as up:
            async with serving(config(up, "openai-chat")) as gateway:
                path, sent = request_of("anthropic", question("anthropic", "openai-chat/m", ()), stream=True)
                answer = await gateway.send("POST", path, sent)
                reading = asyncio.ensure_future(answer.read())
                await asyncio.sleep(0.1)
                stopping = asyncio.ensure_future(gateway.stop())
                data = await reading
                await stopping
            assert read_back("anthropic", data).text == SLOW

    run(work())


def test_parallel_requests_do_not_mix() -> None:
    async def work() -> None:
        def play(request: UpstreamRequest) -> UpstreamResponse:
            words = str(request.body)
            number = words[words.index("number ") :].split()[1].strip("'\"},]")
            return response_to(request, text(f"answer {number}. " * 5), 0.002)

        async with upstream_server(play) as up, serving(config(up)) as gateway:

            async def one(number: int) -> None:
                client, upstream = WIRES[number % 5], WIRES[number // 5 % 5]
                body = question(client, f"{upstream}/m", (), f"number {number} end")
                reply = await gateway.reply(client, body, stream=bool(number % 2))
                assert reply.text == f"answer {number}. " * 5

            await asyncio.gather(*map(one, range(50)))

    run(work())
