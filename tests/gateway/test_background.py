"""Responses in the background, with the OpenAI SDK: polled, streamed again, cancelled, and after a restart."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI, BadRequestError, NotFoundError

from tests.gateway.redis_server import needs_redis, redis_server
from tests.gateway.running import Running, config, run, serving
from tests.gateway.scripts import in_turn, never_ends, response_to, text
from tests.gateway.served_process import served
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server
from toolglot.gateway import background
from toolglot.gateway.background import MAX_RUNNING

_KEYS = 'keys = ["key-one-0123456789", "key-two-0123456789"]'


def _sdk(gateway: Running | str, key: str = "key-one-0123456789") -> AsyncOpenAI:
    url = gateway if isinstance(gateway, str) else gateway.url
    return AsyncOpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)


async def _slow(request: UpstreamRequest) -> UpstreamResponse:
    return response_to(request, text("word " * 40), gap=0.005)


async def _done(client: AsyncOpenAI, id: str) -> Any:
    while (response := await client.responses.retrieve(id)).status in ("queued", "in_progress"):
        await asyncio.sleep(0.02)
    return response


def test_a_response_is_polled_and_continued() -> None:
    async def work() -> None:
        async with upstream_server(_slow) as up, serving(config(up)) as gateway, _sdk(gateway) as client:
            first = await client.responses.create(model="anthropic/m", input="Go", background=True)
            assert (first.status, first.background, first.output) == ("queued", True, [])
            response = await _done(client, first.id)
            assert (response.id, response.status, response.background) == (first.id, "completed", True)
            assert response.output_text == "word " * 40
            assert "background" not in str(up.requests[0].body)
            items: list[Any] = [item async for item in client.responses.input_items.list(first.id)]
            assert [item.content[0].text for item in items] == ["Go"]
            later = await client.responses.create(model="anthropic/m", input="More", previous_response_id=first.id)
            assert later.status == "completed"
            assert "word word" in str(up.requests[-1].body)
            records = gateway.gateway.records.recent()
            assert [(one.status, one.output) for one in records] == [(200, 5), (200, 5)]
            with pytest.raises(BadRequestError, match="completed"):
                await client.responses.cancel(first.id)
            await client.responses.delete(first.id)
            with pytest.raises(NotFoundError):
                await client.responses.retrieve(first.id)

    run(work())


def test_a_stream_is_resumed_after_its_client_left() -> None:
    async def work() -> None:
        async with (
            upstream_server(_slow) as up,
            serving(config(up, server=f"{_KEYS}\nmax_concurrent = 1")) as gateway,
            _sdk(gateway) as client,
        ):
            seen: list[Any] = []
            async with await client.responses.create(model="gemini/m", input="Go", background=True, stream=True) as stream:
                async for event in stream:
                    seen.append(event)
                    if len(seen) == 6:
                        break  # the client leaves
            id, last = seen[0].response.id, seen[-1].sequence_number
            rest: list[Any] = [event async for event in await client.responses.retrieve(id, stream=True, starting_after=last)]
            numbers = [event.sequence_number for event in (*seen, *rest)]
            assert numbers == list(range(len(numbers)))
            assert rest[-1].type == "response.completed"
            assert rest[-1].response.output_text == "word " * 40
            again = [event async for event in await client.responses.retrieve(id, stream=True)]  # it is complete
            assert len(again) == len(numbers)
            async with _sdk(gateway, "key-two-0123456789") as stranger:
                with pytest.raises(NotFoundError):
                    await stranger.responses.retrieve(id)
                with pytest.raises(NotFoundError):
                    await stranger.responses.retrieve(id, stream=True)
                with pytest.raises(NotFoundError):
                    await stranger.responses.cancel(id)
            other = await client.responses.create(model="gemini/m", input="Go")
            with pytest.raises(BadRequestError, match="can't be streamed"):
                await client.responses.retrieve(other.id, stream=True)

    run(work())


def test_it_waits_for_a_free_slot() -> None:
    async def work() -> None:
        server = f"{_KEYS}\nmax_concurrent = 1"  # which the request that starts it still has
        async with upstream_server(_slow) as up, serving(config(up, server=server)) as gateway, _sdk(gateway) as client:
            first = await client.responses.create(model="gemini/m", input="Go", background=True)
            assert (await _done(client, first.id)).status == "completed"
            assert [one.status for one in gateway.gateway.records.recent()] == [200]

    run(work())


def test_it_is_cancelled() -> None:
    async def work() -> None:
        async with upstream_server(never_ends) as up, serving(config(up)) as gateway, _sdk(gateway) as client:
            first = await client.responses.create(model="gemini/m", input="Go", background=True)
            while not up.requests:
                await asyncio.sleep(0.01)
            with pytest.raises(BadRequestError, match="once it is complete"):
                await client.responses.input_items.list(first.id)
            cancelled = await client.responses.cancel(first.id)
            assert (cancelled.status, cancelled.id) == ("cancelled", first.id)
            assert (await client.responses.retrieve(first.id)).status == "cancelled"
            assert (await client.responses.cancel(first.id)).status == "cancelled"  # twice is once
            assert not gateway.gateway.gate.running
            events: list[Any] = [event async for event in await client.responses.retrieve(first.id, stream=True)]
            assert events[-1].response.status == "cancelled"
            await client.responses.delete(first.id)
            with pytest.raises(NotFoundError):
                await client.responses.retrieve(first.id)

    run(work())


def test_what_would_fail_fails_at_once_and_later_errors_are_in_the_response() -> None:
    async def work() -> None:
        broken = UpstreamResponse(400, {}, [b'{"error":{"message":"no such thing"}}'])
        async with upstream_server(in_turn(broken)) as up, serving(config(up)) as gateway, _sdk(gateway) as client:
            with pytest.raises(NotFoundError):
                await client.responses.create(model="nobody", input="Go", background=True)
            with pytest.raises(BadRequestError, match="store"):
                await client.responses.create(model="gemini/m", input="Go", background=True, store=False)
            with pytest.raises(BadRequestError, match="not found"):
                await client.responses.create(model="gemini/m", input="Go", background=True, previous_response_id="x")
            first = await client.responses.create(model="gemini/m", input="Go", background=True)
            response = await _done(client, first.id)
            assert response.status == "failed"
            assert "no such thing" in response.error.message

    run(work())


def test_their_number_is_limited() -> None:
    async def work() -> None:
        async with upstream_server(never_ends) as up, serving(config(up, server="max_concurrent = 200")) as gateway:
            sent = {"model": "gemini/m", "input": "Go", "background": True}
            answers = [await gateway.ask("POST", "/v1/responses", sent) for _ in range(MAX_RUNNING + 1)]
            assert [status for status, _, _ in answers] == [200] * MAX_RUNNING + [429]
            for _, body, _ in answers[:-1]:
                await gateway.ask("POST", f"/v1/responses/{body['id']}/cancel")

    run(work())


def test_the_largest_one_fails_if_all_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "_MAX_BYTES", 9000)

    async def work() -> None:
        def play(request: UpstreamRequest) -> UpstreamResponse:
            return response_to(request, text("word " * (400 if "long" in str(request.body) else 5)), gap=0.01)

        async with upstream_server(play) as up, serving(config(up)) as gateway, _sdk(gateway) as client:
            large = await client.responses.create(model="gemini/m", input="long", background=True)
            small = await client.responses.create(model="gemini/m", input="short", background=True)
            assert (await _done(client, small.id)).status == "completed"
            failed = await _done(client, large.id)
            assert (failed.status, failed.error.message) == ("failed", "the events of all background responses are too large")
            assert not gateway.gateway.gate.running

    run(work())


@pytest.mark.parametrize("ends", [signal.SIGTERM, signal.SIGKILL])
def test_after_a_restart_it_has_failed(tmp_path: Path, ends: signal.Signals) -> None:
    async def work() -> None:
        store = f'store = "{tmp_path}/kept/store.sqlite"'
        async with upstream_server(never_ends) as up:
            async with served(tmp_path, up.url, store, ends=ends) as url, _sdk(url) as client:
                first = await client.responses.create(model="m", input="Go", background=True)
                while not up.chats:
                    await asyncio.sleep(0.01)
            async with served(tmp_path, up.url, store) as url, _sdk(url) as client:
                response = await _done(client, first.id)  # of a killed one, the lease ends first
                assert (response.id, response.status) == (first.id, "failed")
                assert "stopped" in response.error.message
        assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o700
        assert {file.stat().st_mode & 0o777 for file in (tmp_path / "kept").iterdir()} == {0o600}

    run(work())


@needs_redis
def test_another_gateway_answers(tmp_path: Path) -> None:
    async def work() -> None:
        async with redis_server(tmp_path) as redis, upstream_server(_slow) as up:
            both = config(up, server=f'state = "{redis.url}"')
            async with serving(both) as one, serving(both) as other, _sdk(one) as here, _sdk(other) as there:
                first = await here.responses.create(model="gemini/m", input="Go", background=True)
                events: list[Any] = [event async for event in await there.responses.retrieve(first.id, stream=True)]
                assert [event.sequence_number for event in events] == list(range(len(events)))
                assert events[-1].type == "response.completed"
                assert (await _done(there, first.id)).output_text == "word " * 40
                up.play = never_ends
                second = await here.responses.create(model="gemini/m", input="Go", background=True)
                assert (await there.responses.cancel(second.id)).status == "cancelled"
                while one.gateway.gate.running:
                    await asyncio.sleep(0.05)
                assert (await here.responses.retrieve(second.id)).status == "cancelled"

    run(work())
