"""Interactions in the background, with Google's SDK: polled, streamed again, cancelled, and failed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from google import genai
from google.genai import types
from google.genai._interactions import BadRequestError, NotFoundError

from tests.gateway.redis_server import needs_redis, redis_server
from tests.gateway.running import Running, config, run, serving
from tests.gateway.scripts import calls, in_turn, never_ends, response_to, text, weather
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server

PATH = "/v1beta/interactions"
WORDS = "word " * 40
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession")  # where aiohttp is installed


@asynccontextmanager
async def _sdk(gateway: Running) -> AsyncIterator[Any]:
    async with httpx2.AsyncClient(trust_env=False) as http:
        options = types.HttpOptions(base_url=gateway.url, httpx_async_client=http)
        yield genai.Client(api_key="x", http_options=options).aio.interactions


async def _slow(request: UpstreamRequest) -> UpstreamResponse:
    return response_to(request, text(WORDS), gap=0.005)


async def _done(client: Any, id: str) -> Any:
    while (interaction := await client.get(id=id)).status == "in_progress":
        await asyncio.sleep(0.02)
    return interaction


def _text(events: list[Any]) -> str:
    deltas = [event.delta for event in events if event.event_type == "step.delta"]
    return "".join(delta.text for delta in deltas if delta.type == "text")


@pytest.mark.parametrize("upstream", ["anthropic", "gemini-interactions"])
def test_an_interaction_is_polled_and_continued(upstream: str) -> None:
    async def work() -> None:
        async with upstream_server(_slow) as up, serving(config(up)) as gateway, _sdk(gateway) as client:
            model = f"{upstream}/m"
            first = await client.create(model=model, input="Go", background=True)
            assert first.status == "in_progress"
            done = await _done(client, first.id)
            assert (done.id, done.status, done.output_text) == (first.id, "completed", WORDS)
            assert "background" not in up.requests[0].body
            later = await client.create(model=model, input="More", previous_interaction_id=first.id)
            assert later.status == "completed"
            assert "word word" in str(up.requests[-1].body)
            with pytest.raises(BadRequestError, match="completed"):
                await client.cancel(id=first.id)
            await client.delete(id=first.id)
            with pytest.raises(NotFoundError):
                await client.get(id=first.id)

    run(work())


def test_a_call_is_answered_after_the_background() -> None:
    async def work() -> None:
        replies = in_turn(calls(weather({"city": "Paris"})), text("Warm."))
        async with upstream_server(replies) as up, serving(config(up)) as gateway, _sdk(gateway) as client:
            schema = {"type": "object", "properties": {"city": {"type": "string"}}}
            tools = [{"type": "function", "name": "get_weather", "parameters": schema}]
            first = await client.create(model="ollama/m", input="Weather?", tools=tools, background=True)
            waiting = await _done(client, first.id)
            [call] = [step for step in waiting.steps if step.type == "function_call"]
            assert (waiting.status, call.arguments) == ("requires_action", {"city": "Paris"})
            result = {"type": "function_result", "call_id": call.id, "result": "18"}
            second = {"model": "ollama/m", "tools": tools, "background": True, "previous_interaction_id": first.id}
            last = await _done(client, (await client.create(input=[result], **second)).id)
            assert (last.status, last.output_text) == ("completed", "Warm.")

    run(work())


def test_a_stream_is_resumed_after_its_client_left() -> None:
    async def work() -> None:
        async with upstream_server(_slow) as up, serving(config(up)) as gateway, _sdk(gateway) as client:
            seen: list[Any] = []
            stream = await client.create(model="gemini/m", input="Go", background=True, stream=True)
            async for event in stream:
                seen.append(event)
                if len(seen) == 8:
                    break  # the client leaves
            id, last = seen[0].interaction.id, seen[-1].event_id
            rest: list[Any] = [event async for event in await client.get(id=id, stream=True, last_event_id=last)]
            assert [event.event_id for event in (*seen, *rest)] == [str(number) for number in range(len(seen) + len(rest))]
            assert _text([*seen, *rest]) == WORDS
            assert (rest[-1].event_type, rest[-1].interaction.status) == ("interaction.completed", "completed")
            again = [event async for event in await client.get(id=id, stream=True)]  # it is complete
            assert len(again) == len(seen) + len(rest)
            other = await client.create(model="gemini/m", input="Go")
            with pytest.raises(BadRequestError, match="can't be resumed"):
                await client.get(id=other.id, stream=True, last_event_id="3")
            with pytest.raises(BadRequestError, match="last_event_id must be a number"):
                await client.get(id=id, stream=True, last_event_id="x")

    run(work())


def test_it_is_cancelled() -> None:
    async def work() -> None:
        async with upstream_server(never_ends) as up, serving(config(up)) as gateway, _sdk(gateway) as client:
            first = await client.create(model="gemini/m", input="Go", background=True)
            while not up.requests:
                await asyncio.sleep(0.01)
            assert (await gateway.ask("GET", f"/v1/responses/{first.id}"))[0] == 404, "another API's"
            assert (await client.cancel(id=first.id)).status == "cancelled"
            assert (await client.get(id=first.id)).status == "cancelled"
            assert not gateway.gateway.gate.running
            events: list[Any] = [event async for event in await client.get(id=first.id, stream=True)]
            assert (events[-1].event_type, events[-1].status) == ("interaction.status_update", "cancelled")
            await client.delete(id=first.id)
            with pytest.raises(NotFoundError):
                await client.get(id=first.id)

    run(work())


@pytest.mark.parametrize("broken", [UpstreamResponse(400, {}, [b'{"error":{"message":"no such thing"}}']), None])
def test_what_would_fail_fails_at_once_and_later_errors_are_in_the_interaction(broken: UpstreamResponse | None) -> None:
    async def work() -> None:
        def cut_off(request: UpstreamRequest) -> UpstreamResponse:
            whole = response_to(request, text(WORDS))
            return UpstreamResponse(whole.status, whole.headers, list(whole.chunks)[:3])

        async with (
            upstream_server(in_turn(broken) if broken else cut_off) as up,
            serving(config(up)) as gateway,
            _sdk(gateway) as client,
        ):
            with pytest.raises(NotFoundError):
                await client.create(model="nobody", input="Go", background=True)
            with pytest.raises(BadRequestError, match="store"):
                await client.create(model="gemini/m", input="Go", background=True, store=False)
            first = await client.create(model="gemini/m", input="Go", background=True)
            failed = await _done(client, first.id)
            assert failed.status == "failed"
            assert failed.errors[0].message
            assert broken is None or "no such thing" in failed.errors[0].message
            events: list[Any] = [event async for event in await client.get(id=first.id, stream=True)]
            assert [event.event_type for event in events].count("error") == 1

    run(work())


@needs_redis
def test_another_gateway_answers(tmp_path: Path) -> None:
    async def work() -> None:
        async with redis_server(tmp_path) as redis, upstream_server(_slow) as up:
            both = config(up, server=f'state = "{redis.url}"')
            async with serving(both) as one, serving(both) as other, _sdk(one) as here, _sdk(other) as there:
                first = await here.create(model="gemini/m", input="Go", background=True)
                events: list[Any] = [event async for event in await there.get(id=first.id, stream=True)]
                assert _text(events) == WORDS
                assert (await _done(there, first.id)).output_text == WORDS
                up.play = never_ends
                second = await here.create(model="gemini/m", input="Go", background=True)
                assert (await there.cancel(id=second.id)).status == "cancelled"
                while one.gateway.gate.running:
                    await asyncio.sleep(0.05)
                assert (await here.get(id=second.id)).status == "cancelled"

    run(work())
