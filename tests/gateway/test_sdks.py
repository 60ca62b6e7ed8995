"""The vendors' own SDKs against the gateway, with a model behind it that only writes text: each gets a real call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import anthropic
import ollama
import openai
import pytest
from google import genai
from google.genai import types

from tests.gateway.running import Running, config, run, serving
from tests.gateway.scripts import said, text
from tests.gateway.upstream_server import Asked, Said, upstream_server

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION: dict[str, Any] = {"name": "get_weather", "description": "The weather", "parameters": SCHEMA}
QUESTION = "Weather in Paris?"


def model_of_text(asked: Asked) -> Said:
    """It knows no tools but by prompt: writes a call, and when it sees the result, an answer."""
    if "18C" in str(asked.body):
        return said(asked, text("It is 18C in Paris."))
    return said(asked, text('I will look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'))


async def chat(gateway: Running, model: str, stream: bool) -> str:
    async with openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="x") as client:
        messages: list[Any] = [{"role": "user", "content": QUESTION}]
        tools: list[Any] = [{"type": "function", "function": FUNCTION}]
        if stream:
            async with client.chat.completions.stream(model=model, messages=messages, tools=tools) as events:
                async for _ in events:
                    pass
                message: Any = (await events.get_final_completion()).choices[0].message
        else:
            message = (await client.chat.completions.create(model=model, messages=messages, tools=tools)).choices[0].message
        assert message.tool_calls
        call = message.tool_calls[0]
        assert call.type == "function"
        assert call.function.name == "get_weather"
        messages += [
            message.model_dump(exclude_none=True),
            {"role": "tool", "tool_call_id": call.id, "content": "18C"},
        ]
        answer = await client.chat.completions.create(model=model, messages=messages, tools=tools)
        return answer.choices[0].message.content or ""


async def responses(gateway: Running, model: str, stream: bool) -> str:
    async with openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="x") as client:
        tools: list[Any] = [{"type": "function", **FUNCTION}]
        if stream:
            async with client.responses.stream(model=model, input=QUESTION, tools=tools) as events:
                async for _ in events:
                    pass
                first: Any = await events.get_final_response()
        else:
            first = await client.responses.create(model=model, input=QUESTION, tools=tools)
        call = next(item for item in first.output if item.type == "function_call")
        second = await client.responses.create(
            model=model,
            tools=tools,
            previous_response_id=first.id,
            input=[{"type": "function_call_output", "call_id": call.call_id, "output": "18C"}],
        )
        return str(second.output_text)


async def messages(gateway: Running, model: str, stream: bool) -> str:
    async with anthropic.AsyncAnthropic(base_url=gateway.url, api_key="x") as client:
        said: list[Any] = [{"role": "user", "content": QUESTION}]
        tools: list[Any] = [{"name": "get_weather", "description": "The weather", "input_schema": SCHEMA}]
        assert (await client.messages.count_tokens(model=model, messages=said, tools=tools)).input_tokens > 10
        if stream:
            async with client.messages.stream(model=model, messages=said, tools=tools, max_tokens=100) as events:
                first: Any = await events.get_final_message()
        else:
            first = await client.messages.create(model=model, messages=said, tools=tools, max_tokens=100)
        assert first.stop_reason == "tool_use"
        call = next(block for block in first.content if block.type == "tool_use")
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "18C"}
        said += [{"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
        second = await client.messages.create(model=model, messages=said, tools=tools, max_tokens=100)
        return "".join(block.text for block in second.content if block.type == "text")


async def gemini(gateway: Running, model: str, stream: bool) -> str:
    options = types.HttpOptions(base_url=gateway.url)
    client = genai.Client(api_key="x", http_options=options)
    wanted = types.GenerateContentConfig(
        tools=[
            types.Tool(
                function_declarations=[
                    types.FunctionDeclaration(**{**FUNCTION, "parameters": None}, parameters_json_schema=SCHEMA)
                ]
            )
        ],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    said: list[Any] = [types.Content(role="user", parts=[types.Part(text=QUESTION)])]
    made: list[Any] = []
    if stream:
        async for chunk in await client.aio.models.generate_content_stream(model=model, contents=said, config=wanted):
            made += chunk.function_calls or []
    else:
        made += (await client.aio.models.generate_content(model=model, contents=said, config=wanted)).function_calls or []
    result = types.Part(function_response=types.FunctionResponse(id=made[0].id, name=made[0].name, response={"output": "18C"}))
    said += [types.Content(role="model", parts=[types.Part(function_call=made[0])]), types.Content(role="user", parts=[result])]
    answer = await client.aio.models.generate_content(model=model, contents=said, config=wanted)
    await client.aio.aclose()
    return answer.text or ""


async def native_ollama(gateway: Running, model: str, stream: bool) -> str:
    client = ollama.AsyncClient(gateway.url)
    said: list[Any] = [{"role": "user", "content": QUESTION}]
    tools: list[Any] = [{"type": "function", "function": FUNCTION}]
    made: list[Any] = []
    if stream:
        async for chunk in await client.chat(model, said, tools=tools, stream=True):
            made += chunk.message.tool_calls or []
    else:
        made += (await client.chat(model, said, tools=tools)).message.tool_calls or []
    said += [{"role": "assistant", "tool_calls": made}, {"role": "tool", "content": "18C", "tool_name": "get_weather"}]
    assert "completion" in ((await client.show(model)).capabilities or [])
    answer = await client.chat(model, said, tools=tools)
    await client._client.aclose()
    return answer.message.content or ""


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession")  # google-genai's, where aiohttp is installed
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("talk", [chat, responses, messages, gemini, native_ollama], ids=lambda talk: talk.__name__)
def test_a_vendors_sdk_calls_a_tool(talk: Callable[[Running, str, bool], Awaitable[str]], stream: bool) -> None:
    async def work() -> None:
        async with upstream_server(model_of_text) as up, serving(config(up, "openai-chat")) as gateway:
            assert await talk(gateway, "openai-chat/m", stream) == "It is 18C in Paris."

    run(work())
