"""The real SDKs with an HTTP client of toolglot: a server that writes calls as text."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import anthropic
import httpx
import httpx2
import ollama
import openai
import pytest
from google import genai
from google.genai import types as google

import toolglot.integrations.anthropic
import toolglot.integrations.google_genai
import toolglot.integrations.ollama
import toolglot.integrations.openai
from toolglot import Decision
from toolglot.core.fold import unfold
from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import Text, ToolCall
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.wires import find_wire

CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TEXT = f"Let me look.\n{CALL}"
WIRES = ("openai-chat", "openai-responses", "anthropic", "gemini", "gemini-interactions")


class Pieces(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A response in small pieces that knows whether it was closed."""

    def __init__(self, data: bytes) -> None:
        self.pieces = [data[at : at + 7] for at in range(0, len(data), 7)]
        self.closed = False

    def __iter__(self) -> Iterator[bytes]:
        yield from self.pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece

    def close(self) -> None:
        self.closed = True

    async def aclose(self) -> None:
        self.closed = True


class Server:
    """Answers in the API of a wire, whole or streamed as it is asked."""

    def __init__(self, wire: str, *parts: Text | ToolCall, status: int = 200) -> None:
        found = find_wire(wire)
        assert found is not None
        self.wire, self.status = found, status
        reply = Reply(id="r1", model="m", created=1, parts=parts, stop=Stop("stop"), usage=Usage(3, 5))
        writer = found.writer(ResponseContext(), [])
        self.streamed = b"".join([*map(writer.feed, unfold(reply)), writer.close()])
        self.whole = json.dumps(found.write_reply(reply, ResponseContext(), [])).encode()
        self.requests: list[dict[str, Any]] = []
        self.sent: list[Pieces] = []
        self.transport = httpx2.MockTransport(self._answer)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        self.requests.append(body)
        streams = bool(body.get("stream")) or ":stream" in request.url.path
        headers = {"content-type": self.wire.media_type if streams else "application/json", "x-request-id": "abc"}
        stream = Pieces(self.streamed if streams else self.whole)
        self.sent.append(stream)
        return httpx2.Response(self.status, headers=headers, stream=stream)


def ask_chat(http: Any, *, stream: bool) -> tuple[str, list[tuple[str, Any]], str | None]:
    client = openai.OpenAI(api_key="test", base_url="http://test/v1", http_client=http)
    tools: Any = [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}]
    messages: Any = [{"role": "user", "content": "Weather in Paris?"}]
    if not stream:
        choice = client.chat.completions.create(model="m", messages=messages, tools=tools).choices[0]
        made: Any = choice.message.tool_calls or []
        return choice.message.content or "", [(one.function.name, one.function.arguments) for one in made], choice.finish_reason
    with client.chat.completions.stream(model="m", messages=messages, tools=tools) as events:
        final: Any = events.get_final_completion().choices[0]
    found = [(one.function.name, one.function.arguments) for one in final.message.tool_calls or []]
    return final.message.content or "", found, final.finish_reason


def ask_responses(http: Any, *, stream: bool) -> tuple[str, list[tuple[str, Any]], str | None]:
    client = openai.OpenAI(api_key="test", base_url="http://test/v1", http_client=http)
    tools: Any = [{"type": "function", "name": "get_weather", "parameters": SCHEMA, "strict": False}]
    if stream:
        with client.responses.stream(model="m", input="Weather in Paris?", tools=tools) as events:
            final: Any = events.get_final_response()
    else:
        final = client.responses.create(model="m", input="Weather in Paris?", tools=tools)
    calls = [(item.name, item.arguments) for item in final.output if item.type == "function_call"]
    return final.output_text, calls, "tool_calls" if calls else "stop"


def ask_anthropic(http: Any, *, stream: bool) -> tuple[str, list[tuple[str, Any]], str | None]:
    client = anthropic.Anthropic(api_key="test", base_url="http://test", http_client=http)
    options: Any = {
        "model": "m",
        "max_tokens": 50,
        "messages": [{"role": "user", "content": "Weather in Paris?"}],
        "tools": [{"name": "get_weather", "input_schema": SCHEMA}],
    }
    if stream:
        with client.messages.stream(**options) as events:
            final: Any = events.get_final_message()
    else:
        final = client.messages.create(**options)
    calls = [(block.name, json.dumps(block.input)) for block in final.content if block.type == "tool_use"]
    text = "".join(block.text for block in final.content if block.type == "text")
    return text, calls, "tool_calls" if final.stop_reason == "tool_use" else "stop"


def ask_gemini(http: Any, *, stream: bool) -> tuple[str, list[tuple[str, Any]], str | None]:
    client = genai.Client(api_key="test", http_options=google.HttpOptions(base_url="http://test", httpx_client=http))
    declared = google.FunctionDeclaration(name="get_weather", parameters_json_schema=SCHEMA)
    off = google.AutomaticFunctionCallingConfig(disable=True)
    options: Any = {
        "model": "m",
        "contents": "Weather in Paris?",
        "config": google.GenerateContentConfig(
            tools=[google.Tool(function_declarations=[declared])], automatic_function_calling=off
        ),
    }
    if stream:
        parts = [
            part
            for chunk in client.models.generate_content_stream(**options)
            for candidate in chunk.candidates or ()
            for part in (candidate.content.parts if candidate.content else None) or ()
        ]
    else:
        content: Any = client.models.generate_content(**options)
        parts = content.candidates[0].content.parts
    calls = [(part.function_call.name or "", json.dumps(part.function_call.args)) for part in parts if part.function_call]
    return "".join(part.text or "" for part in parts), calls, "tool_calls" if calls else "stop"


def ask_interactions(http: Any, *, stream: bool) -> tuple[str, list[tuple[str, Any]], str | None]:
    client = genai.Client(api_key="test", http_options=google.HttpOptions(base_url="http://test", httpx_client=http))
    tools: Any = [{"type": "function", "name": "get_weather", "parameters": SCHEMA}]
    reply: Any = client.interactions.create(model="m", input="Weather in Paris?", tools=tools, stream=stream)
    if not stream:
        calls = [(step.name, json.dumps(step.arguments)) for step in reply.steps if step.type == "function_call"]
        return reply.output_text or "", calls, "tool_calls" if reply.status == "requires_action" else "stop"
    events = list(reply)
    deltas = [(event.index, event.delta) for event in events if event.event_type == "step.delta"]
    named = [event for event in events if event.event_type == "step.start" and event.step.type == "function_call"]
    found = [(one.step.name, "".join(d.arguments for at, d in deltas if at == one.index)) for one in named]
    text = "".join(delta.text for _, delta in deltas if delta.type == "text")
    return text, found, "tool_calls" if events[-1].interaction.status == "requires_action" else "stop"


MAKE: dict[str, Callable[..., Any]] = {
    "openai-chat": toolglot.integrations.openai.client,
    "openai-responses": toolglot.integrations.openai.client,
    "anthropic": toolglot.integrations.anthropic.client,
    "gemini": toolglot.integrations.google_genai.client,
    "gemini-interactions": toolglot.integrations.google_genai.client,
}
ASK = {
    "openai-chat": ask_chat,
    "openai-responses": ask_responses,
    "anthropic": ask_anthropic,
    "gemini": ask_gemini,
    "gemini-interactions": ask_interactions,
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_a_call_in_text_comes_back_as_a_call(wire: str, stream: bool) -> None:
    server, decisions = Server(wire, Text(TEXT)), list[Decision]()
    with MAKE[wire](transport=server.transport, on_decision=decisions.append) as http:
        text, calls, stop = ASK[wire](http, stream=stream)
    assert text.strip() == "Let me look."
    assert [(name, json.loads(arguments)) for name, arguments in calls] == [("get_weather", {"city": "Paris"})]
    assert stop == "tool_calls"
    assert [one.code for one in decisions] == ["rescued_text"]
    assert server.sent[0].closed


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_a_native_call_and_plain_text_pass(wire: str, stream: bool) -> None:
    server = Server(wire, Text("Here."), ToolCall("call_1", "get_weather", '{"city": "Rome"}'))
    with MAKE[wire](transport=server.transport) as http:
        text, calls, _ = ASK[wire](http, stream=stream)
    assert text == "Here."
    assert [(name, json.loads(arguments)) for name, arguments in calls] == [("get_weather", {"city": "Rome"})]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_an_invalid_call_does_not_come_back(wire: str, stream: bool) -> None:
    server, decisions = Server(wire, ToolCall("call_1", "delete_all", "{}")), list[Decision]()
    with MAKE[wire](transport=server.transport, on_decision=decisions.append) as http:
        text, calls, stop = ASK[wire](http, stream=stream)
    assert calls == []
    assert "delete_all" in text
    assert stop == "stop"
    assert [one.code for one in decisions] == ["rejected_unknown_tool"]


def test_what_is_not_changed_is_the_same_response() -> None:
    server = Server("openai-chat", Text("Hello."))
    with toolglot.integrations.openai.client(transport=server.transport, headers={"x-own": "1"}) as http:
        body = {"model": "m", "messages": [], "tools": [{"type": "function", "function": {"name": "f"}}]}
        for url, sent in (("http://test/v1/chat/completions", body), ("http://test/v1/embeddings", body)):
            response = http.post(url, json=sent)
            assert response.content == server.whole
            assert response.headers["x-request-id"] == "abc"
        assert http.headers["x-own"] == "1"


def test_a_request_without_tools_and_an_error_pass() -> None:
    with toolglot.integrations.openai.client(transport=Server("openai-chat", Text(TEXT)).transport) as http:
        client = openai.OpenAI(api_key="test", base_url="http://test/v1", http_client=http)
        found = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
        assert found.choices[0].message.content == TEXT
    with toolglot.integrations.openai.client(transport=Server("openai-chat", status=503).transport) as http:
        client = openai.OpenAI(api_key="test", base_url="http://test/v1", http_client=http, max_retries=0)
        with pytest.raises(openai.InternalServerError):
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])


@pytest.mark.parametrize("stream", [False, True])
def test_asynchronously(stream: bool) -> None:
    async def work() -> None:
        server = Server("openai-chat", Text(TEXT))
        async with toolglot.integrations.openai.async_client(transport=server.transport) as http:
            client = openai.AsyncOpenAI(api_key="test", base_url="http://test/v1", http_client=http)
            tools: Any = [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}]
            messages: Any = [{"role": "user", "content": "Weather in Paris?"}]
            if stream:
                async with client.chat.completions.stream(model="m", messages=messages, tools=tools) as events:
                    final: Any = await events.get_final_completion()
            else:
                final = await client.chat.completions.create(model="m", messages=messages, tools=tools)
            [call] = final.choices[0].message.tool_calls
            assert json.loads(call.function.arguments) == {"city": "Paris"}
            assert server.sent[0].closed

    asyncio.run(work())


@pytest.mark.parametrize("stream", [False, True])
def test_anthropic_asynchronously(stream: bool) -> None:
    async def work() -> list[str]:
        async with toolglot.integrations.anthropic.async_client(transport=Server("anthropic", Text(TEXT)).transport) as http:
            client = anthropic.AsyncAnthropic(api_key="test", base_url="http://test", http_client=http)
            asked: Any = {"model": "m", "max_tokens": 50, "messages": [{"role": "user", "content": "Weather?"}]}
            asked["tools"] = [{"name": "get_weather", "input_schema": SCHEMA}]
            if not stream:
                return [block.type for block in (await client.messages.create(**asked)).content]
            async with client.messages.stream(**asked) as events:
                return [block.type for block in (await events.get_final_message()).content]

    assert asyncio.run(work())[-1] == "tool_use"


@pytest.mark.parametrize("stream", [False, True])
def test_google_genai_asynchronously(stream: bool) -> None:
    async def work() -> list[Any]:
        async with toolglot.integrations.google_genai.async_client(transport=Server("gemini", Text(TEXT)).transport) as http:
            options = google.HttpOptions(base_url="http://test", httpx_async_client=http)
            models = genai.Client(api_key="test", http_options=options).aio.models
            declared = google.FunctionDeclaration(name="get_weather", parameters_json_schema=SCHEMA)
            off = google.AutomaticFunctionCallingConfig(disable=True)
            tools: Any = [google.Tool(function_declarations=[declared])]
            asked: Any = {"model": "m", "contents": "Weather?"}
            asked["config"] = google.GenerateContentConfig(tools=tools, automatic_function_calling=off)
            if stream:
                chunks = [chunk async for chunk in await models.generate_content_stream(**asked)]
            else:
                chunks = [await models.generate_content(**asked)]
            return [call for chunk in chunks for call in chunk.function_calls or ()]

    assert [(call.name, call.args) for call in asyncio.run(work())] == [("get_weather", {"city": "Paris"})]


def test_google_genai_runs_the_function_that_was_called_in_text() -> None:
    """Its own loop: the call is made, and its result goes back."""
    ran: list[str] = []

    def get_weather(city: str) -> str:
        """The weather in a city."""
        ran.append(city)
        return "18 degrees"

    server, last = Server("gemini", Text(TEXT)), Server("gemini", Text("18 degrees."))

    def answer(request: httpx2.Request) -> httpx2.Response:
        return (last if ran else server)._answer(request)

    with toolglot.integrations.google_genai.client(transport=httpx2.MockTransport(answer)) as http:
        client = genai.Client(api_key="test", http_options=google.HttpOptions(base_url="http://test", httpx_client=http))
        config = google.GenerateContentConfig(tools=[get_weather])
        assert client.models.generate_content(model="m", contents="Weather?", config=config).text == "18 degrees."
    assert ran == ["Paris"]


def ollama_client(wired: Server, **options: Any) -> ollama.Client:
    """The package runs on httpx, as our server does on httpx2: the same interface."""

    def answer(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        wired.requests.append(body)
        data = wired.streamed if body.get("stream") else wired.whole
        kind = "application/x-ndjson" if body.get("stream") else "application/json"
        return httpx.Response(200, headers={"content-type": kind}, content=data)

    transport = toolglot.integrations.ollama.transport(inner=httpx.MockTransport(answer), **options)
    return ollama.Client("http://test", transport=transport)


@pytest.mark.parametrize("stream", [False, True])
def test_ollama_takes_a_transport(stream: bool) -> None:
    client = ollama_client(Server("ollama", Text(TEXT)))
    tools: Any = [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}]
    asked: Any = {"model": "m", "messages": [{"role": "user", "content": "Weather in Paris?"}], "tools": tools}
    replies: Any = client.chat(**asked, stream=True) if stream else [client.chat(**asked)]
    messages = [reply.message for reply in replies]
    assert "".join(message.content or "" for message in messages).strip() == "Let me look."
    [call] = [call.function for message in messages for call in message.tool_calls or ()]
    assert (call.name, call.arguments) == ("get_weather", {"city": "Paris"})


def test_ollama_asynchronously() -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=Server("ollama", Text(TEXT)).whole)

    async def work() -> Any:
        transport = toolglot.integrations.ollama.async_transport(inner=httpx.MockTransport(answer))
        client = ollama.AsyncClient("http://test", transport=transport)
        tools: Any = [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}]
        return await client.chat("m", [{"role": "user", "content": "Weather in Paris?"}], tools=tools)

    assert [call.function.name for call in asyncio.run(work()).message.tool_calls] == ["get_weather"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", [*WIRES])
def test_tools_go_into_the_prompt_of_a_model_without_native_tools(wire: str, stream: bool) -> None:
    server = Server(wire, Text(TEXT))
    with MAKE[wire](transport=server.transport, ask="dialect:hermes") as http:
        text, calls, _ = ASK[wire](http, stream=stream)
    assert (text.strip(), [name for name, _ in calls]) == ("Let me look.", ["get_weather"])
    [sent] = server.requests
    assert not sent.get("tools")
    assert "get_weather" in json.dumps(sent)
    assert bool(sent.get("stream")) == (stream and wire != "gemini"), "nothing else is changed"


def test_auto_puts_them_there_by_what_is_known_about_the_model() -> None:
    for model, prompted in (("gpt-4o", False), ("smollm2-135m", True)):
        server = Server("openai-chat", Text(TEXT))
        with toolglot.integrations.openai.client(transport=server.transport, ask="auto") as http:
            client = openai.OpenAI(api_key="test", base_url="http://test/v1", http_client=http)
            tools: Any = [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}]
            asked: Any = [{"role": "user", "content": "Weather in Paris?"}]
            found = client.chat.completions.create(model=model, messages=asked, tools=tools, temperature=0.5)
        assert found.choices[0].message.tool_calls
        assert ("tools" not in server.requests[0]) == prompted
        assert server.requests[0]["temperature"] == 0.5


def test_leaving_a_stream_closes_the_servers_response() -> None:
    server = Server("openai-chat", Text(TEXT * 50))
    with toolglot.integrations.openai.client(transport=server.transport) as http:
        client = openai.OpenAI(api_key="test", base_url="http://test/v1", http_client=http)
        tools: Any = [{"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}]
        for _ in (stream := client.chat.completions.create(model="m", messages=[], tools=tools, stream=True)):
            break
        stream.close()
        assert server.sent[0].closed


def test_a_wrong_option_is_an_error_at_once() -> None:
    with pytest.raises(toolglot.CallerError, match="policy"):
        toolglot.integrations.openai.client(policy="lax")  # type: ignore[arg-type]
    for ask in ("dialect:nope", "constrained", "prompted"):
        with pytest.raises(toolglot.CallerError):
            toolglot.integrations.openai.client(ask=ask)
