"""Requests as real agents send them, to servers that refuse what real ones refuse."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from typing import Any

import anthropic
import ollama
import openai
import pytest
from google import genai
from google.genai import types

from tests.gateway.running import Running, config, run, serving
from tests.gateway.upstream_server import upstream_server
from tests.strict_upstream import FIELDS, StrictServer
from toolglot.gateway.config import read_config

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
READ = {
    "name": "Read",
    "description": "Read a file",
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}


def claude_code(model: str, *, image: bool = False, max_tokens: int = 1000, stream: bool = False) -> dict[str, Any]:
    """As Claude Code 2.1.208 and later: system messages inside `messages`, also right after results."""
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    return {
        "model": model,
        "max_tokens": max_tokens,
        "stream": stream,
        "system": [{"type": "text", "text": "You are an agent."}, {"type": "text", "text": "Be kind."}],
        "tools": [READ],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Read a.txt"}]},
            {"role": "system", "content": "Hook output."},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "toolu_01ABCDEFG", "name": "Read", "input": {"path": "a"}}],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_01ABCDEFG",
                        "content": [picture] if image else "hello",
                    },
                    {"type": "text", "text": "Go on."},
                ],
            },
            {"role": "system", "content": "A reminder."},
        ],
    }


def codex(model: str) -> dict[str, Any]:
    """As Codex: instructions, then a developer item."""
    return {
        "model": model,
        "instructions": "You are Codex.",
        "input": [
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "<permissions>"}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
        ],
        "tools": [{"type": "function", "name": "shell", "parameters": {"type": "object", "properties": {}}, "strict": False}],
        "store": False,
        "stream": False,
    }


async def send(gateway: Running, path: str, body: dict[str, Any], notes: list[str]) -> None:
    status, answer, headers = await gateway.ask("POST", path, body)
    assert status == 200, answer
    notes.append(headers.get("x-toolglot-notes", ""))


def served(server: StrictServer, *requests: tuple[str, dict[str, Any]]) -> list[str]:
    """The notes of each request."""
    notes: list[str] = []

    async def work() -> None:
        async with upstream_server(server.play) as upstream, serving(config(upstream, "openai-chat")) as gateway:
            for path, body in requests:
                await send(gateway, path, body, notes)

    run(work())
    return notes


def assert_order(text: str, *parts: str) -> None:
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("model", ["qwen3.6-27b", "mistral-small-3.1-24b", "my-model"])
def test_system_messages_that_are_not_first(model: str, *, stream: bool) -> None:
    """A model of the catalog at once, any other after one 400, which is remembered."""
    template = "mistral-small-3.1" if "mistral" in model else "qwen3.6"
    server = StrictServer.of(template)
    name = f"openai-chat/{model}"
    served(server, *[("/v1/messages", claude_code(name, stream=stream))] * 2, ("/v1/responses", codex(name)))
    assert len(server.refused) == (1 if model == "my-model" else 0)
    assert len(server.prompts) == 3
    assert "<system>\nHook output.\n</system>" in server.prompts[0]
    assert server.prompts[0] == server.prompts[1]
    assert_order(server.prompts[0], "Read a.txt", "Hook output.", "Go on.", "A reminder.")
    assert_order(server.prompts[2], "You are Codex.", "<permissions>", "Hello")


def test_an_unknown_model_of_a_template_that_wants_alternation() -> None:
    """Two lessons, one a request: first system messages, then turns that alternate."""
    server = StrictServer.of("mistral-small-3.1")
    served(server, *[("/v1/messages", claude_code("openai-chat/my-model"))] * 2)
    assert server.refused
    assert len(server.prompts) == 2


@pytest.mark.parametrize("model", ["phi-3-mini", "my-model"])
def test_images_to_a_model_that_sees_none(model: str) -> None:
    server = StrictServer.of("phi-3-mini", vision=False, lists=False)
    body = claude_code(f"openai-chat/{model}", image=True)
    notes = served(server, ("/v1/messages", body), ("/v1/messages", body))
    assert server.refused == ([] if model == "phi-3-mini" else ["/models/phi-3-mini is not a multimodal model"])
    assert all("images replaced by a text" in note for note in notes)


def test_more_tokens_than_the_window_has() -> None:
    """The window is not known before the first 400."""
    server = StrictServer.of("qwen3.6", window=8192)
    body = claude_code("openai-chat/my-model", max_tokens=64_000)
    served(server, ("/v1/messages", body), ("/v1/messages", body))
    assert len(server.prompts) == 2
    assert sum("too large" in message for message in server.refused) == 1


def test_fields_that_a_server_rejects() -> None:
    """They are learnt from the first errors, one at a time."""
    server = StrictServer.of("mistral-small-3.1", known=FIELDS)
    body = {**codex("openai-chat/my-model"), "store": True, "safety_identifier": "ada"}
    notes = served(server, ("/v1/responses", body), ("/v1/responses", body))
    assert [one for one in server.refused if one in body] == ["safety_identifier", "store"]
    assert all("the server rejects safety_identifier, store; left out" in note for note in notes)


# -- a conversation with each vendor's SDK: a system prompt, an image, a call, its result, and another system message

ARGUMENTS = {"city": "Paris"}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER: dict[str, Any] = {"name": "get_weather", "description": "The weather of a city", "parameters": SCHEMA}
SYSTEM, QUESTION, LATER, RESULT, ANSWER = "Be kind.", "What is the weather there?", "A hook ran.", "sunny", "Fine."
Talk = Callable[[str, str, bool], Awaitable[str]]


async def chat(url: str, model: str, stream: bool) -> str:
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
    user = {"role": "user", "content": [{"type": "text", "text": QUESTION}, picture]}
    messages: list[Any] = [{"role": "system", "content": SYSTEM}, user]
    tools: Any = [{"type": "function", "function": WEATHER}]
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0) as client:

        async def ask() -> Any:
            if not stream:
                reply = await client.chat.completions.create(model=model, messages=messages, tools=tools)
                return reply.choices[0].message
            async with client.chat.completions.stream(model=model, messages=messages, tools=tools) as events:
                return (await events.get_final_completion()).choices[0].message

        message = await ask()
        [call] = message.tool_calls
        messages += [message.model_dump(exclude_none=True), {"role": "tool", "tool_call_id": call.id, "content": RESULT}]
        messages.append({"role": "system", "content": LATER})
        return str((await ask()).content)


async def responses(url: str, model: str, stream: bool) -> str:
    picture = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"}
    items: list[Any] = [{"role": "user", "content": [{"type": "input_text", "text": QUESTION}, picture]}]
    arguments: Any = {"model": model, "instructions": SYSTEM, "tools": [{"type": "function", "strict": False, **WEATHER}]}
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0) as client:

        async def ask() -> Any:
            if not stream:
                return await client.responses.create(input=items, store=False, **arguments)
            async with client.responses.stream(input=items, store=False, **arguments) as events:
                return await events.get_final_response()

        reply = await ask()
        [call] = [item for item in reply.output if item.type == "function_call"]
        items += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in reply.output]
        items.append({"type": "function_call_output", "call_id": call.call_id, "output": RESULT})
        items.append({"role": "developer", "content": LATER})
        return str((await ask()).output_text)


async def messages(url: str, model: str, stream: bool) -> str:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    turns: list[Any] = [{"role": "user", "content": [{"type": "text", "text": QUESTION}, picture]}]
    tool = {"name": WEATHER["name"], "description": WEATHER["description"], "input_schema": SCHEMA}
    cached = {"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}
    arguments: Any = {"model": model, "max_tokens": 99, "system": [cached], "tools": [tool]}
    async with anthropic.AsyncAnthropic(base_url=url, api_key="x", max_retries=0) as client:

        async def ask() -> Any:
            if not stream:
                return await client.messages.create(messages=turns, **arguments)
            async with client.messages.stream(messages=turns, **arguments) as events:
                return await events.get_final_message()

        reply = await ask()
        [call] = [block for block in reply.content if block.type == "tool_use"]
        result = {"type": "tool_result", "tool_use_id": call.id, "content": RESULT}
        turns += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": [result]}]
        turns.append({"role": "system", "content": LATER})
        return "".join(block.text for block in (await ask()).content if block.type == "text")


async def gemini(url: str, model: str, stream: bool) -> str:
    client = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=url))
    declared = types.FunctionDeclaration(
        name=WEATHER["name"], description=WEATHER["description"], parameters_json_schema=SCHEMA
    )
    options = types.GenerateContentConfig(system_instruction=SYSTEM, tools=[types.Tool(function_declarations=[declared])])
    picture = types.Part(inline_data=types.Blob(mime_type="image/png", data=base64.b64decode(PNG)))
    contents: list[Any] = [types.Content(role="user", parts=[types.Part(text=QUESTION), picture])]

    async def ask() -> list[types.Part]:
        arguments: Any = {"model": model, "contents": contents, "config": options}
        if stream:
            chunks = [chunk async for chunk in await client.aio.models.generate_content_stream(**arguments)]
        else:
            chunks = [await client.aio.models.generate_content(**arguments)]
        return [part for chunk in chunks for part in chunk.parts or []]

    first = await ask()
    [call] = [part.function_call for part in first if part.function_call is not None]
    answer = types.FunctionResponse(id=call.id, name=call.name, response={"output": RESULT})
    contents += [types.Content(role="model", parts=first)]
    contents += [types.Content(role="user", parts=[types.Part(function_response=answer), types.Part(text=LATER)])]
    told = "".join(part.text or "" for part in await ask())
    await client.aio.aclose()
    return told


async def native_ollama(url: str, model: str, stream: bool) -> str:
    client = ollama.AsyncClient(url)
    turns: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION, "images": [PNG]}]
    tools: list[Any] = [{"type": "function", "function": WEATHER}]

    async def ask() -> list[ollama.Message]:
        if stream:
            return [chunk.message async for chunk in await client.chat(model, turns, tools=tools, stream=True)]
        return [(await client.chat(model, turns, tools=tools)).message]

    [call] = [call for message in await ask() for call in message.tool_calls or []]
    turns += [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "content": RESULT, "tool_name": "get_weather"}]
    turns.append({"role": "system", "content": LATER})
    answer = "".join(message.content or "" for message in await ask())
    await client._client.aclose()
    return answer


SERVERS: dict[str, Callable[[], StrictServer]] = {
    "qwen3.6-27b": lambda: StrictServer.of("qwen3.6"),
    "mistral-small-3.1-24b": lambda: StrictServer.of("mistral-small-3.1", known=FIELDS),
    "phi-3-mini": lambda: StrictServer.of("phi-3-mini", vision=False, lists=False),
}


@pytest.fixture
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.mark.usefixtures("_direct")
@pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession")  # google-genai's, where aiohttp is installed
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("model", "known"),
    [*((model, True) for model in SERVERS), ("qwen3.6-27b", False), ("mistral-small-3.1-24b", False)],
)
@pytest.mark.parametrize("talk", [chat, responses, messages, gemini, native_ollama], ids=lambda talk: talk.__name__)
def test_a_conversation_of_each_sdk_passes(talk: Talk, model: str, known: bool, stream: bool) -> None:
    """`known`: the catalog has the model; else the server's errors teach what it refuses."""
    server = SERVERS[model]()
    server.call = {"name": "get_weather", "arguments": ARGUMENTS}
    name = model if known else "my-model"
    provider = "mistral" if server.known else "vllm"

    async def work() -> None:
        async with upstream_server(server.play) as up:
            table = f'[server]\ndetect = false\n[[upstream]]\nname = "home"\nprovider = "{provider}"\nbase_url = "{up.url}"\n'
            rows = read_config(f'{table}api_key = "k"\n[[route]]\nmodel = "*"\nto = "home/*"\n')
            async with serving(rows) as gateway:
                assert await talk(gateway.url, name, stream) == ANSWER

    run(work())
    assert_order(server.prompts[-1], SYSTEM, QUESTION, RESULT, LATER)
    assert not known or not server.refused
