"""Ollama's own Python SDK as the judge: it parses what we write, and we read what it sends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import msgspec
import ollama
import pytest

from toolglot.core.fold import unfold
from toolglot.core.interfaces import Quirks, ResponseContext
from toolglot.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.core.request import Output, Request, Thinking
from toolglot.core.tools import Tool
from toolglot.errors import UpstreamError
from toolglot.wires.ollama import WIRE

ODD = "é\u2028\u2029\u0085\x0b\x1c 📁"
REPLY = Reply(
    model="m",
    parts=(Reasoning("Need it."), Text(ODD), ToolCall("a", "get_weather", '{"city":"Paris"}'), ToolCall("b", "get_time", "{}")),
    stop=Stop("calls"),
    usage=Usage(9, 20),
    created=1700000000,
)


def client(answer: Callable[[dict[str, Any]], httpx.Response]) -> ollama.Client:
    def handle(request: httpx.Request) -> httpx.Response:
        assert request.url.path == WIRE.path("m", True)
        return answer(msgspec.json.decode(request.content))

    return ollama.Client("http://test", transport=httpx.MockTransport(handle))


def whole(_: dict[str, Any]) -> httpx.Response:
    return httpx.Response(200, content=msgspec.json.encode(WIRE.write_reply(REPLY, ResponseContext(), [])))


def streamed(_: dict[str, Any]) -> httpx.Response:
    writer = WIRE.writer(ResponseContext(), [])
    pieces = [writer.feed(event) for event in unfold(REPLY)]
    return httpx.Response(200, content=iter([*pieces, writer.close()]), headers={"content-type": WIRE.media_type})


def seen(body_of: Callable[[ollama.Client], Any]) -> dict[str, Any]:
    """The body that the SDK sends."""
    bodies: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> httpx.Response:
        bodies.append(body)
        return streamed(body) if body["stream"] else whole(body)

    body_of(client(answer))
    return bodies[0]


def calls_of(message: ollama.Message) -> list[tuple[str, Any]]:
    return [(call.function.name, call.function.arguments) for call in message.tool_calls or ()]


CALLS = [("get_weather", {"city": "Paris"}), ("get_time", {})]


def test_the_sdk_parses_a_whole_reply() -> None:
    reply = client(whole).chat("m", [{"role": "user", "content": "hi"}])
    assert (reply.model, reply.created_at, reply.done, reply.done_reason) == ("m", "2023-11-14T22:13:20Z", True, "stop")
    assert (reply.prompt_eval_count, reply.eval_count, reply.total_duration) == (9, 20, 0)
    assert (reply.message.role, reply.message.content, reply.message.thinking) == ("assistant", ODD, "Need it.")
    assert calls_of(reply.message) == CALLS


def test_the_sdk_parses_a_stream() -> None:
    chunks = list(client(streamed).chat("m", [{"role": "user", "content": "hi"}], stream=True))
    assert "".join(chunk.message.content or "" for chunk in chunks) == ODD
    assert "".join(chunk.message.thinking or "" for chunk in chunks) == "Need it."
    assert [call for chunk in chunks for call in calls_of(chunk.message)] == CALLS
    assert all(chunk.model == "m" and chunk.message.role == "assistant" for chunk in chunks)
    assert [chunk.done for chunk in chunks] == [False, False, False, False, True]
    assert (chunks[-1].done_reason, chunks[-1].prompt_eval_count, chunks[-1].eval_count) == ("stop", 9, 20)


def test_the_sdk_validates_every_line_strictly() -> None:
    for line in streamed({}).read().splitlines():
        ollama.ChatResponse.model_validate(msgspec.json.decode(line), strict=True)
    ollama.ChatResponse.model_validate(WIRE.write_reply(REPLY, ResponseContext(), []), strict=True)


def test_the_sdk_raises_what_we_report() -> None:
    status, body = WIRE.write_error(UpstreamError("no such model", 404))
    failing = client(lambda _: httpx.Response(status, content=msgspec.json.encode(body)))
    with pytest.raises(ollama.ResponseError, match="no such model") as caught:
        failing.chat("m", [])
    assert caught.value.status_code == 404


def test_the_sdk_raises_what_breaks_a_stream() -> None:
    def broken(_: dict[str, Any]) -> httpx.Response:
        writer = WIRE.writer(ResponseContext(), [])
        events = unfold(Reply(model="m", parts=(Text("x"),), error=UpstreamError("the runner is gone", 500)))
        return httpx.Response(200, content=b"".join(writer.feed(event) for event in events))

    chunks = client(broken).chat("m", [], stream=True)
    assert next(chunks).message.content == "x"
    with pytest.raises(ollama.ResponseError, match="the runner is gone"):
        next(chunks)


def get_weather(city: str) -> str:
    """
    The weather now.

    Args:
      city: Where
    """
    return city


PICTURE = b"\x89PNG\r\n\x1a\n"
PROPERTIES = {"city": {"type": "string", "description": "Where"}}


def test_we_read_what_the_sdk_sends() -> None:
    function = {"name": "get_weather", "arguments": {"city": "Paris"}}
    messages: list[Any] = [
        ollama.Message(role="user", content="hi", images=[ollama.Image(value=PICTURE)]),
        {"role": "assistant", "thinking": "hm", "tool_calls": [{"id": "a", "function": function}]},
        {"role": "tool", "tool_name": "get_weather", "content": "18C"},
    ]
    body = seen(
        lambda sdk: sdk.chat(
            "m",
            messages,
            tools=[get_weather],
            think="high",
            format="json",
            options={"num_predict": 5, "num_ctx": 9},
            keep_alive="1m",
        )
    )
    request = WIRE.read_request(body)
    assert request.messages == (
        Message("user", (Text("hi"), Media("image", "image/png", "iVBORw0KGgo="))),
        Message("assistant", (Reasoning("hm"), ToolCall("get_weather_0", "get_weather", '{"city":"Paris"}'))),
        Message("tool", (ToolResult("get_weather_0", "get_weather", (Text("18C"),)),)),
    )
    schema = {"type": "object", "required": ["city"], "properties": PROPERTIES}
    assert request.tools == (Tool("get_weather", "The weather now.", schema),)
    assert (request.stream, request.max_tokens, request.thinking, request.output) == (False, 5, Thinking("high"), Output())
    assert request.extra == {"ollama": {"options": {"num_ctx": 9}, "keep_alive": "1m"}}


def test_a_stream_is_asked_for_by_the_sdk() -> None:
    body = seen(lambda sdk: list(sdk.chat("m", [{"role": "user", "content": "hi"}], stream=True, think=True)))
    request = WIRE.read_request(body)
    assert (request.stream, request.thinking) == (True, Thinking(budget=-1, show=True))


def test_what_we_send_fits_the_types_of_the_sdk() -> None:
    request = Request(
        "m",
        (
            Message("user", (Text("hi"), Media("image", "image/png", "iVBORw0KGgo="))),
            Message("assistant", (Reasoning("hm"), ToolCall("a", "f", '{"x":1}'))),
            Message("tool", (ToolResult("a", "f", (Text("done"),)),)),
        ),
        (Tool("f", "d", {"type": "object", "properties": {"x": {"type": "integer"}}}), Tool("g")),
        stream=True,
        temperature=0.5,
        thinking=Thinking("low"),
        output=Output({"type": "object"}),
    )
    body = WIRE.write_request(request, [], Quirks())
    sent = ollama._types.ChatRequest.model_validate(body)
    kept = sent.model_dump(exclude_none=True)
    assert kept["messages"][1]["tool_calls"][0]["function"] == {"index": 0, "name": "f", "arguments": {"x": 1}}
    assert [tool["function"]["name"] for tool in kept["tools"]] == ["f", "g"]
    assert (kept["stream"], kept["think"], kept["options"]) == (True, "low", {"temperature": 0.5})
