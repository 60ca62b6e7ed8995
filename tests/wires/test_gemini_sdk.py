"""Gemini's wire against Google's own SDK: it reads what our server side writes, and we read what it sends."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from google.genai import Client, errors, types

from tests.wires.gemini_pieces import WEATHER, Body, signed, write_events, written
from toolglot.core.envelope import seal
from toolglot.core.events import Close, Delta, Fault, Open, Start
from toolglot.core.interfaces import Quirks, ResponseContext
from toolglot.core.messages import Extra, Media, Message, Reasoning, Text, ToolCall, ToolResult
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.core.request import Output, Request, Thinking
from toolglot.core.tools import Choice
from toolglot.errors import UpstreamError
from toolglot.wires.gemini import WIRE

FOREIGN: Extra = {"anthropic": {"signature": "ÿþ~~~???>>>ûï¾"}}
REPLY = Reply(
    "r1",
    "upstream",
    (
        Reasoning("Two lookups.", FOREIGN),
        Text("Looking", extra=signed("CgE=")),
        ToolCall("c1", "get_weather", '{"city":"Zürich"}', extra=signed("CiQB")),
        ToolCall("c2", "get_time", "{}"),
    ),
    Stop("calls", "tool_use"),
    Usage(10, 20, 4, reasoning=5),
)
CONTEXT = ResponseContext("resp-1", "asked-for", 1794736800)


class Server:
    """Answers with given bytes, and keeps what was asked."""

    def __init__(self, status: int, media_type: str, data: bytes) -> None:
        self._answer = (status, media_type, data)
        self.paths: list[str] = []
        self.bodies: list[Body] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.paths.append(f"{request.url.path}?{request.url.query.decode()}".rstrip("?"))
        self.bodies.append(json.loads(request.content))
        status, media_type, data = self._answer
        return httpx.Response(status, headers={"content-type": media_type}, content=data)


def client(server: Callable[[httpx.Request], httpx.Response]) -> Client:
    transport = httpx.Client(transport=httpx.MockTransport(server))
    options = types.HttpOptions(
        base_url="http://gemini.test",
        api_version="v1beta",
        httpx_client=transport,
        retry_options=types.HttpRetryOptions(attempts=1),
    )
    return Client(api_key="k", http_options=options)


def whole_server(reply: Reply, context: ResponseContext = CONTEXT) -> Server:
    return Server(200, "application/json", json.dumps(WIRE.write_reply(reply, context, [])).encode())


def stream_server(data: bytes) -> Server:
    return Server(200, WIRE.media_type, data)


def check_tail(response: types.GenerateContentResponse) -> None:
    assert response.response_id == "resp-1"
    assert response.model_version == "asked-for"
    assert response.candidates is not None
    assert response.candidates[0].finish_reason is types.FinishReason.STOP
    assert response.candidates[0].index == 0
    usage = response.usage_metadata
    assert usage is not None
    counts = (usage.prompt_token_count, usage.candidates_token_count, usage.thoughts_token_count)
    assert counts == (10, 15, 5)
    assert (usage.cached_content_token_count, usage.total_token_count) == (4, 30)


def parts_of(response: types.GenerateContentResponse) -> list[types.Part]:
    assert response.candidates is not None
    assert response.candidates[0].content is not None
    assert response.candidates[0].content.role == "model"
    return response.candidates[0].content.parts or []


def test_the_sdk_reads_a_whole_reply() -> None:
    response = client(whole_server(REPLY)).models.generate_content(model="m", contents="hi")
    check_tail(response)
    thought, text, weather, time = parts_of(response)
    assert (thought.text, thought.thought) == ("Two lookups.", True)
    assert thought.thought_signature
    assert thought.thought_signature.startswith(b"toolglot:")
    assert (text.text, text.thought, text.thought_signature) == ("Looking", None, b"\n\x01")
    assert weather.function_call == types.FunctionCall(id="c1", name="get_weather", args={"city": "Zürich"})
    assert weather.thought_signature == b"\n$\x01"
    assert time.function_call == types.FunctionCall(id="c2", name="get_time", args={})


def test_the_sdk_reads_a_stream() -> None:
    server = stream_server(written(REPLY, context=CONTEXT))
    chunks = list(client(server).models.generate_content_stream(model="m", contents="hi"))
    assert server.paths == ["/v1beta/models/m:streamGenerateContent?alt=sse"] == [WIRE.path("m", True)]
    check_tail(chunks[-1])
    assert {chunk.response_id for chunk in chunks} == {"resp-1"}
    parts = [part for chunk in chunks for part in parts_of(chunk)]
    assert "".join(part.text or "" for part in parts if part.thought) == "Two lookups."
    assert "".join(part.text or "" for part in parts if not part.thought) == "Looking"
    assert [part.function_call.args for part in parts if part.function_call] == [{"city": "Zürich"}, {}]
    assert [part.thought_signature for part in parts if part.thought_signature][1:] == [b"\n\x01", b"\n$\x01"]


@pytest.mark.parametrize(
    ("error", "kind"),
    [(UpstreamError("slow down", 429, None, 3), errors.ClientError), (UpstreamError("gone"), errors.ServerError)],
)
def test_the_sdk_reads_an_error(error: UpstreamError, kind: type[errors.APIError]) -> None:
    status, body = WIRE.write_error(error)
    server = Server(status, "application/json", json.dumps(body).encode())
    with pytest.raises(kind) as caught:
        client(server).models.generate_content(model="m", contents="hi")
    assert (caught.value.code, caught.value.message) == (status, error.message)
    assert caught.value.status == body["error"]["status"]


def test_the_sdk_reads_an_error_in_the_middle_of_a_stream() -> None:
    events = [Start(), Open(0, "text"), Delta(0, "Hi"), Close(0), Fault(UpstreamError("overloaded", 503, "UNAVAILABLE"))]
    stream = client(stream_server(write_events(events))).models.generate_content_stream(model="m", contents="hi")
    assert parts_of(next(stream))[0].text == "Hi"
    with pytest.raises(errors.ServerError, match="overloaded"):
        next(stream)


def get_weather(city: str, unit: str | None = None) -> str:
    """The weather."""
    return f"{city} {unit}"


def test_we_read_what_the_sdk_sends() -> None:
    server = whole_server(REPLY)
    schema = types.Schema(type=types.Type.OBJECT, properties={"zone": types.Schema(type=types.Type.STRING, nullable=True)})
    config = types.GenerateContentConfig(
        system_instruction="Be brief.",
        temperature=0.5,
        top_k=3,
        max_output_tokens=50,
        stop_sequences=["END"],
        tools=[
            get_weather,
            types.Tool(
                function_declarations=[types.FunctionDeclaration(name="get_time", description="The time.", parameters=schema)]
            ),
            types.Tool(google_search=types.GoogleSearch()),
        ],
        tool_config=types.ToolConfig(
            function_calling_config=types.FunctionCallingConfig(
                mode=types.FunctionCallingConfigMode.ANY, allowed_function_names=["get_time"]
            )
        ),
        thinking_config=types.ThinkingConfig(include_thoughts=True, thinking_level=types.ThinkingLevel.LOW),
        response_mime_type="application/json",
        response_json_schema={"type": "object"},
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    image = types.FunctionResponsePart.from_bytes(data=b"\xfb\xff\xbf", mime_type="image/png")
    contents: list[Any] = [
        types.UserContent(parts=[types.Part(text="hi"), types.Part.from_bytes(data=b"\xfb\xff\xbf", mime_type="image/png")]),
        types.ModelContent(
            parts=[
                types.Part(
                    function_call=types.FunctionCall(id="c1", name="get_weather", args={"city": "Paris"}),
                    thought_signature=b"\xfb\xff\xbf",
                ),
                types.Part.from_function_call(name="get_time", args={}),
            ]
        ),
        types.UserContent(
            parts=[
                types.Part.from_function_response(name="get_weather", response={"output": "18C"}, parts=[image]),
                types.Part.from_function_response(name="get_time", response={"error": "offline"}),
            ]
        ),
    ]
    client(server).models.generate_content(model="m", contents=contents, config=config)
    request = WIRE.read_request({"model": "m", **server.bodies[0]})
    assert request.messages == (
        Message("system", (Text("Be brief."),)),
        Message("user", (Text("hi"), Media("image", "image/png", "+/+/"))),
        Message(
            "assistant",
            (ToolCall("c1", "get_weather", '{"city":"Paris"}', extra=signed("-_-_")), ToolCall("get_time_1", "get_time")),
        ),
        Message(
            "tool",
            (
                ToolResult("c1", "get_weather", (Text("18C"), Media("image", "image/png", "+/+/"))),
                ToolResult("get_time_1", "get_time", (Text("offline"),), is_error=True),
            ),
        ),
    )
    tools = {tool.name: tool for tool in request.tools}
    assert tools["get_weather"].schema is not None
    assert tools["get_weather"].schema["required"] == ["city"]
    assert tools["get_time"].schema == {"type": "object", "properties": {"zone": {"type": ["string", "null"]}}}
    assert tools["googleSearch"].kind == "server"
    assert request.choice == Choice("required", ("get_time",))
    assert request.thinking == Thinking("low", show=True)
    assert request.output == Output({"type": "object"})
    assert (request.temperature, request.top_k, request.max_tokens, request.stop) == (0.5, 3, 50, ("END",))


def test_a_chat_gives_back_foreign_state_and_its_turn_is_one_message() -> None:
    """The SDK's own history: each chunk a content, signatures decoded and encoded again in the other alphabet."""
    server = stream_server(written(REPLY, context=CONTEXT))
    chat = client(server).chats.create(model="m")
    list(chat.send_message_stream("hi"))
    names = ("get_weather", "get_time")
    answers: list[Any] = [types.Part.from_function_response(name=name, response={"output": "x"}) for name in names]
    list(chat.send_message_stream(answers))
    _, turn, results = WIRE.read_request(server.bodies[1]).messages
    assert turn == Message("assistant", REPLY.parts)
    assert [(part.call_id, part.name) for part in results.parts if isinstance(part, ToolResult)] == [
        ("c1", "get_weather"),
        ("c2", "get_time"),
    ]
    sealed = seal(FOREIGN, but="gemini")
    assert sealed is not None
    assert sealed not in json.dumps(server.bodies[1])  # it did come back in the other alphabet


def test_what_we_send_is_a_request_in_the_sdks_own_types() -> None:
    request = Request(
        "m",
        (
            Message("system", (Text("S"),)),
            Message("user", (Text("x"),)),
            Message("assistant", (ToolCall("c", "get_weather", '{"city":"P"}'),)),
            Message("tool", (ToolResult("c", "get_weather", (Text("18"), Media("image", "image/png", "AA=="))),)),
        ),
        (WEATHER,),
        Choice("auto", ("get_weather",)),
        temperature=0.1,
        thinking=Thinking("high"),
        output=Output(WEATHER.schema),
    )
    body = WIRE.write_request(request, [], Quirks())
    call = types.Content.model_validate_json(json.dumps(body["contents"][1]))
    assert call.parts is not None
    assert call.parts[0].thought_signature  # the sentinel is base64 too
    for content in body["contents"]:
        types.Content.model_validate_json(json.dumps(content))
    types.Content.model_validate_json(json.dumps(body["systemInstruction"]))
    types.GenerationConfig.model_validate_json(json.dumps(body["generationConfig"]))
    types.ToolConfig.model_validate_json(json.dumps(body["toolConfig"]))
    for tool in body["tools"]:
        types.Tool.model_validate_json(json.dumps(tool))
