"""The vendors' Python SDKs against the gateway, with a model that only writes text: each creates real files."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import ollama
import openai
import pytest
from google import genai
from google.genai import types
from google.genai._interactions import NotFoundError

from tests.gateway.running import Running, config, run, serving
from tests.gateway.text_model import ANSWER, ASK, CONTENT, FORMS, MODEL, RESULT, writes_files
from tests.gateway.upstream_server import upstream_server

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
    "required": ["path", "content"],
}
FUNCTION: dict[str, Any] = {"name": "write_file", "description": "Write a text file", "parameters": SCHEMA}
MODEL_NAME = f"openai-chat/{MODEL}"

RunTool = Callable[[str, Any], str]
Talk = Callable[[Running, str, bool, RunTool], Awaitable[str]]


async def chat(gateway: Running, question: str, stream: bool, run_tool: RunTool) -> str:
    messages: list[Any] = [{"role": "user", "content": question}]
    arguments: Any = {"model": MODEL_NAME, "messages": messages, "tools": [{"type": "function", "function": FUNCTION}]}

    async def ask() -> Any:
        if not stream:
            return (await client.chat.completions.create(**arguments)).choices[0]
        async with client.chat.completions.stream(**arguments) as events:
            async for _ in events:
                pass
            return (await events.get_final_completion()).choices[0]

    async with openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="x", max_retries=0) as client:
        first = await ask()
        assert first.finish_reason == "tool_calls"
        [call] = first.message.tool_calls
        result = run_tool(call.function.name, json.loads(call.function.arguments))
        messages += [first.message.model_dump(exclude_none=True), {"role": "tool", "tool_call_id": call.id, "content": result}]
        return str((await ask()).message.content)


async def responses(gateway: Running, question: str, stream: bool, run_tool: RunTool) -> str:
    tools: list[Any] = [{"type": "function", **FUNCTION}]

    async def ask(**arguments: Any) -> Any:
        if not stream:
            return await client.responses.create(model=MODEL_NAME, tools=tools, **arguments)
        async with client.responses.stream(model=MODEL_NAME, tools=tools, **arguments) as events:
            async for _ in events:
                pass
            return await events.get_final_response()

    async with openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="x", max_retries=0) as client:
        first = await ask(input=question)
        [call] = [item for item in first.output if item.type == "function_call"]
        output = run_tool(call.name, json.loads(call.arguments))
        result = {"type": "function_call_output", "call_id": call.call_id, "output": output}
        return str((await ask(previous_response_id=first.id, input=[result])).output_text)


async def messages(gateway: Running, question: str, stream: bool, run_tool: RunTool) -> str:
    messages: list[Any] = [{"role": "user", "content": question}]
    tools: list[Any] = [{"name": FUNCTION["name"], "description": FUNCTION["description"], "input_schema": SCHEMA}]
    arguments: Any = {"model": MODEL_NAME, "messages": messages, "tools": tools}

    async def ask() -> Any:
        if not stream:
            return await client.messages.create(max_tokens=1000, **arguments)
        async with client.messages.stream(max_tokens=1000, **arguments) as events:
            return await events.get_final_message()

    async with anthropic.AsyncAnthropic(base_url=gateway.url, api_key="x", max_retries=0) as client:
        assert (await client.messages.count_tokens(**arguments)).input_tokens > 10
        first = await ask()
        assert first.stop_reason == "tool_use"
        [call] = [block for block in first.content if block.type == "tool_use"]
        result = {"type": "tool_result", "tool_use_id": call.id, "content": run_tool(call.name, call.input)}
        messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
        return "".join(block.text for block in (await ask()).content if block.type == "text")


async def gemini(gateway: Running, question: str, stream: bool, run_tool: RunTool) -> str:
    client = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=gateway.url))
    declared = types.FunctionDeclaration(**{**FUNCTION, "parameters": None}, parameters_json_schema=SCHEMA)
    wanted = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[declared])],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    messages: list[Any] = [types.Content(role="user", parts=[types.Part(text=question)])]

    async def ask() -> list[types.Part]:
        arguments: Any = {"model": MODEL_NAME, "contents": messages, "config": wanted}
        if stream:
            replies = [chunk async for chunk in await client.aio.models.generate_content_stream(**arguments)]
        else:
            replies = [await client.aio.models.generate_content(**arguments)]
        return [part for reply in replies for part in reply.parts or []]

    first = await ask()
    [call] = [part.function_call for part in first if part.function_call is not None]
    response = {"output": run_tool(str(call.name), call.args)}
    result = types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response=response))
    messages += [types.Content(role="model", parts=first), types.Content(role="user", parts=[result])]
    answer = "".join(part.text or "" for part in await ask())
    await client.aio.aclose()
    return answer


async def _interact(client: genai.Client, stream: bool, **arguments: Any) -> tuple[str, list[dict[str, Any]], str]:
    """The id, the steps and the status of an interaction; of a stream, put together from its events."""
    tools: list[Any] = [{"type": "function", **FUNCTION}]
    reply: Any = await client.aio.interactions.create(model=MODEL_NAME, tools=tools, stream=stream, **arguments)
    if not stream:
        return str(reply.id), [step.model_dump(exclude_none=True) for step in reply.steps], str(reply.status)
    steps: list[dict[str, Any]] = []
    last: Any = None
    written = ""
    async for event in reply:
        if event.event_type == "step.start":
            steps.append(event.step.model_dump(exclude_none=True))
            written = ""
        elif event.event_type == "step.delta" and event.delta.type == "text":
            steps[event.index].setdefault("content", []).append(event.delta.model_dump())
        elif event.event_type == "step.delta" and event.delta.type == "arguments_delta":
            written += event.delta.arguments
        elif event.event_type == "step.stop" and written:
            steps[event.index]["arguments"] = json.loads(written)
        elif event.event_type == "interaction.completed":
            last = event.interaction
    return str(last.id), steps, str(last.status)


def _output_text(steps: list[dict[str, Any]]) -> str:
    return "".join(part["text"] for step in steps if step["type"] == "model_output" for part in step["content"])


@asynccontextmanager
async def _google(gateway: Running) -> AsyncIterator[genai.Client]:
    async with httpx2.AsyncClient(trust_env=False) as http:
        yield genai.Client(api_key="x", http_options=types.HttpOptions(base_url=gateway.url, httpx_async_client=http))


async def interactions(gateway: Running, question: str, stream: bool, run_tool: RunTool) -> str:
    """The conversation is stored at the server."""
    async with _google(gateway) as client:
        first, steps, status = await _interact(client, stream, input=question)
        assert status == "requires_action"
        [call] = [step for step in steps if step["type"] == "function_call"]
        output = run_tool(call["name"], call["arguments"])
        result: Any = {"type": "function_result", "call_id": call["id"], "name": call["name"], "result": output}
        second, steps, status = await _interact(client, stream, input=[result], previous_interaction_id=first)
        assert status == "completed"
        stored: Any = await client.aio.interactions.get(id=second)
        assert stored.output_text == _output_text(steps)
        replayed: Any = await client.aio.interactions.get(id=second, stream=True)
        assert [event.event_type async for event in replayed][-1] == "interaction.completed"
        await client.aio.interactions.delete(id=second)
        with pytest.raises(NotFoundError, match="not found"):
            await client.aio.interactions.get(id=second)
        return str(stored.output_text)


async def interactions_unstored(gateway: Running, question: str, stream: bool, run_tool: RunTool) -> str:
    """The client sends all earlier steps."""
    async with _google(gateway) as client:
        sent: list[Any] = [{"type": "user_input", "content": [{"type": "text", "text": question}]}]
        first, steps, _ = await _interact(client, stream, input=sent, store=False)
        [call] = [step for step in steps if step["type"] == "function_call"]
        output = run_tool(call["name"], call["arguments"])
        result = {"type": "function_result", "call_id": call["id"], "result": [{"type": "text", "text": output}]}
        _, steps, _ = await _interact(client, stream, input=[*sent, *steps, result], store=False)
        with pytest.raises(NotFoundError, match="not found"):
            await client.aio.interactions.get(id=first)
        return _output_text(steps)


async def native_ollama(gateway: Running, question: str, stream: bool, run_tool: RunTool) -> str:
    client = ollama.AsyncClient(gateway.url)
    messages: list[Any] = [{"role": "user", "content": question}]
    tools: list[Any] = [{"type": "function", "function": FUNCTION}]

    async def ask() -> list[ollama.Message]:
        if stream:
            return [chunk.message async for chunk in await client.chat(MODEL_NAME, messages, tools=tools, stream=True)]
        return [(await client.chat(MODEL_NAME, messages, tools=tools)).message]

    assert "completion" in ((await client.show(MODEL_NAME)).capabilities or [])
    [call] = [call for message in await ask() for call in message.tool_calls or []]
    result = run_tool(call.function.name, call.function.arguments)
    messages += [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "content": result, "tool_name": call.function.name},
    ]
    answer = "".join(message.content or "" for message in await ask())
    await client._client.aclose()
    return answer


TALKS = [chat, responses, messages, gemini, interactions, interactions_unstored, native_ollama]


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession")  # google-genai's, where aiohttp is installed
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: talk.__name__)
def test_a_vendors_sdk_calls_a_tool(talk: Talk, stream: bool, tmp_path: Path) -> None:
    def run_tool(name: str, arguments: Any) -> str:
        assert name == "write_file"
        (tmp_path / arguments["path"]).write_text(arguments["content"], encoding="utf-8")
        return RESULT.format(count=len(arguments["content"]), path=arguments["path"])

    async def work() -> None:
        async with upstream_server(writes_files) as up, serving(config(up, "openai-chat")) as gateway:
            for form in FORMS:
                path = f"{talk.__name__}-{'streamed' if stream else 'whole'}-{form}.txt"
                answer = await talk(gateway, ASK.format(path=path), stream, run_tool)
                assert answer == ANSWER.format(path=path)
                assert (tmp_path / path).read_text(encoding="utf-8") == CONTENT

    run(work())
