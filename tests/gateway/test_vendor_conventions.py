"""What the vendors' SDKs read besides the message: ids, error formats, pages, durations."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anthropic
import ollama
import openai
import pytest
from google import genai
from google.genai import errors, types

from tests.gateway.running import Running, config, request_of, run, serving
from tests.gateway.scripts import in_turn, question, text
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server, whole
from toolglot.gateway.config import Config, read_config

# google-genai's, where aiohttp is installed
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession")
KEYS = 'keys = ["key-one-0123456789"]'
MODEL = "openai-chat/m"
QUESTION: list[Any] = [{"role": "user", "content": "hi"}]
NAMES = ["a", "b", "c", "d", "e"]


def claude(gateway: Running, key: str = "key-one-0123456789") -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(base_url=gateway.url, api_key=key, max_retries=0)


def gpt(gateway: Running, key: str = "key-one-0123456789", retries: int = 0) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key=key, max_retries=retries)


@asynccontextmanager
async def gemini(gateway: Running, key: str = "key-one-0123456789") -> AsyncIterator[Any]:
    client = genai.Client(api_key=key, http_options=types.HttpOptions(base_url=gateway.url))
    try:
        async with client.aio as asking:
            yield asking
    finally:
        client.close()


def five_models() -> Config:
    routes = "".join(f'[[route]]\nmodel = "{name}"\nto = "up/m"\n' for name in NAMES)
    return read_config(f'[server]\nport = 0\n[[upstream]]\nname = "up"\nprovider = "vllm"\n{routes}')


# -- request ids


def test_anthropic_clients_get_the_request_id() -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text("fine"))) as up, serving(config(up)) as gateway, claude(gateway) as client:
            message = await client.messages.create(model=MODEL, max_tokens=9, messages=QUESTION)
            assert str(message._request_id).startswith("req_")
            async with client.messages.stream(model=MODEL, max_tokens=9, messages=QUESTION) as stream:
                assert str(stream.request_id).startswith("req_")
            with pytest.raises(anthropic.NotFoundError) as raised:
                await client.messages.create(model="nowhere", max_tokens=9, messages=QUESTION)
            assert str(raised.value.request_id).startswith("req_")
            assert raised.value.body["request_id"] == raised.value.request_id  # type: ignore[index]
            with pytest.raises(anthropic.NotFoundError) as raised:
                await client.get("/v1/skills", cast_to=object)
            assert str(raised.value.request_id).startswith("req_")

    run(work())


# -- errors on paths that vendors share


@pytest.mark.parametrize("key", ["key-one-0123456789", "wrong"])
def test_errors_on_shared_paths_use_the_clients_format(key: str) -> None:
    status, word = (404, "not_found_error") if key == "key-one-0123456789" else (401, "authentication_error")

    async def work() -> None:
        async with serving(config("http://127.0.0.1:9", server=KEYS)) as gateway:
            async with claude(gateway, key) as client:
                with pytest.raises(anthropic.APIStatusError) as anthropic_error:
                    await client.models.retrieve("nowhere")
                assert anthropic_error.value.status_code == status
                assert anthropic_error.value.body["type"] == "error"  # type: ignore[index]
                assert anthropic_error.value.body["error"]["type"] == word  # type: ignore[index]
            async with gemini(gateway, key) as asking:
                with pytest.raises(errors.ClientError) as gemini_error:
                    await asking.models.get(model="nowhere")
                assert (gemini_error.value.code, gemini_error.value.status) == (
                    status,
                    "NOT_FOUND" if status == 404 else "UNAUTHENTICATED",
                )
                with pytest.raises(errors.ClientError) as gemini_error:  # an unknown path
                    await asking.caches.list()
                assert (gemini_error.value.code, gemini_error.value.status) == (404, "NOT_FOUND")
            async with gpt(gateway, key) as other:
                with pytest.raises(openai.APIStatusError) as openai_error:
                    await other.models.retrieve("nowhere")
                # OpenAI uses invalid_request_error for both and distinguishes them by code
                code = "model_not_found" if status == 404 else "invalid_api_key"
                assert (openai_error.value.status_code, openai_error.value.type, openai_error.value.code) == (
                    status,
                    "invalid_request_error",
                    code,
                )
                with pytest.raises(openai.APIStatusError) as openai_error:
                    await other.models.delete("ft:nowhere")
                assert (openai_error.value.status_code, openai_error.value.code) == (405, "method_not_allowed")

    run(work())


def test_openai_clients_get_the_parameter_of_an_error() -> None:
    async def work() -> None:
        async with serving(config("http://127.0.0.1:9")) as gateway, gpt(gateway) as client:
            messages: Any = [{"role": "nobody", "content": "hi"}]
            with pytest.raises(openai.BadRequestError) as raised:
                await client.chat.completions.create(model=MODEL, messages=messages)
            error = raised.value
            assert (error.type, error.param, error.code) == ("invalid_request_error", "messages[0].role", None)

    run(work())


# -- retries


@pytest.mark.parametrize(
    ("body", "headers", "expected"),
    [
        ({"code": "insufficient_quota", "message": "no money"}, {}, 1),
        ({"message": "never"}, {"x_should_retry": "false"}, 1),
        ({"message": "soon"}, {"retry_after": "0"}, 3),
    ],
)
def test_a_client_retries_only_where_it_can_help(body: dict[str, str], headers: dict[str, str], expected: int) -> None:
    async def work() -> None:
        refused = whole({"error": body}, 429, **headers)
        async with (
            upstream_server(in_turn(refused)) as up,
            serving(config(up)) as gateway,
            gpt(gateway, retries=2) as client,
        ):
            with pytest.raises(openai.RateLimitError) as raised:
                await client.chat.completions.create(model=MODEL, messages=QUESTION)
            assert len(up.requests) == expected
            if "code" in body:
                assert raised.value.type == "insufficient_quota"

    run(work())


# -- rate limits


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("status", [200, 429])
def test_rate_limit_headers_go_to_clients_of_the_same_api(status: int, stream: bool) -> None:
    limits = {"x-ratelimit-remaining-requests": "7", "anthropic-ratelimit-tokens-remaining": "9"}

    def play(request: UpstreamRequest) -> UpstreamResponse:
        response = whole({"error": {"message": "slow"}}, status) if status == 429 else in_turn(text("fine"))(request)
        assert isinstance(response, UpstreamResponse)
        return replace(response, headers={**response.headers, **limits, "x-other": "1"})

    async def work() -> None:
        async with upstream_server(play) as up, serving(config(up)) as gateway:
            for client, seen in (
                ("openai-chat", {"x-ratelimit-remaining-requests": "7"}),
                ("openai-responses", {"x-ratelimit-remaining-requests": "7"}),
                ("anthropic", {"anthropic-ratelimit-tokens-remaining": "9"}),
                ("gemini", {}),
                ("ollama", {}),
            ):
                path, sent = request_of(client, question(client, MODEL, ()), stream=stream)
                got, _, headers = await gateway.ask("POST", path, sent)
                assert got == status
                assert {name: value for name, value in headers.items() if "ratelimit" in name or name == "x-other"} == seen

    run(work())


# -- responses


def test_empty_content_is_a_string() -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text())) as up, serving(config(up)) as gateway, gpt(gateway) as client:
            completion = await client.chat.completions.create(model=MODEL, messages=QUESTION)
            assert completion.choices[0].message.content == ""

    run(work())


def test_input_tokens_of_a_response_are_counted() -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text("fine"))) as up, serving(config(up)) as gateway, gpt(gateway) as client:
            alone = await client.responses.input_tokens.count(model=MODEL, input="hi")
            assert (alone.object, alone.input_tokens > 0) == ("response.input_tokens", True)
            first = await client.responses.create(model=MODEL, input="word " * 50)
            after = await client.responses.input_tokens.count(model=MODEL, input="hi", previous_response_id=first.id)
            assert after.input_tokens > alone.input_tokens + 40

    run(work())


# -- pages


def test_model_lists_are_paged() -> None:
    async def work() -> None:
        async with serving(five_models()) as gateway, claude(gateway) as client, gemini(gateway) as asking:
            first = await client.models.list(limit=2)
            assert ([model.id for model in first.data], first.has_more) == (["a", "b"], True)
            assert [model.id async for model in first] == NAMES
            last = await client.models.list(limit=2, after_id="d")
            assert ([model.id for model in last.data], last.has_more) == (["e"], False)
            back = await client.models.list(limit=2, before_id="d")
            assert ([model.id for model in back.data], back.has_more) == (["b", "c"], True)
            assert [model.id for model in (await client.models.list()).data] == NAMES
            with pytest.raises(anthropic.BadRequestError, match="after_id"):
                await client.models.list(after_id="nowhere")
            with pytest.raises(anthropic.BadRequestError, match="limit"):
                await client.models.list(limit=-1)
            pager = await asking.models.list(config={"page_size": 2})
            assert [model.name for model in pager.page] == ["models/a", "models/b"]
            assert [model.name async for model in pager] == [f"models/{name}" for name in NAMES]

    run(work())


# -- durations


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_ollama_clients_get_durations(stream: bool) -> None:
    async def last(gateway: Running, model: str) -> Any:
        async with ollama.AsyncClient(host=gateway.url) as client:
            if not stream:
                return await client.chat(model=model, messages=QUESTION)
            return [line async for line in await client.chat(model=model, messages=QUESTION, stream=True)][-1]

    async def work() -> None:
        async with upstream_server(in_turn(text("fine"))) as up, serving(config(up)) as gateway:
            chunk = await last(gateway, MODEL)
            assert chunk.done
            assert 0 < chunk.eval_duration <= chunk.total_duration < 30 * 10**9
            assert chunk.total_duration == chunk.prompt_eval_duration + chunk.eval_duration
            assert chunk.eval_count / chunk.eval_duration > 0

    run(work())
