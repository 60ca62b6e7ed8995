"""The official client against our server side, and our reading of what it sends. No network: a mock transport."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import openai
import pytest
from openai.types.chat import ChatCompletion
from pydantic import BaseModel

from toolglot.core.fold import unfold
from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import Extra, Message, Reasoning, Text, ToolCall, ToolResult
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.core.request import Request
from toolglot.errors import UpstreamError
from toolglot.wires.openai_chat import WIRE

CONTEXT = ResponseContext("chatcmpl-1", "m", 7)


class Weather(BaseModel):
    """The weather in a city."""

    city: str
    unit: str = "C"


class Server:
    """Answers every request with the same reply, whole or streamed as it was asked, and keeps the request it read."""

    def __init__(self, reply: Reply | UpstreamError) -> None:
        self.reply = reply
        self.asked = Request("")

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        self.asked = WIRE.read_request(json.loads(request.content))
        assert request.url.path.endswith(WIRE.path("m", False))
        notes: list[str] = []
        if isinstance(self.reply, UpstreamError):
            status, body = WIRE.write_error(self.reply)
            return httpx2.Response(status, json=body, headers={"x-should-retry": "false"})
        if not self.asked.stream:
            return httpx2.Response(200, json=WIRE.write_reply(self.reply, CONTEXT, notes))
        writer = WIRE.writer(CONTEXT, notes)
        data = b"".join(map(writer.feed, unfold(self.reply))) + writer.close()
        return httpx2.Response(200, content=data, headers={"content-type": WIRE.media_type})


@contextmanager
def client(server: Server) -> Iterator[openai.OpenAI]:
    with httpx2.Client(transport=httpx2.MockTransport(server.answer)) as http:
        yield openai.OpenAI(api_key="test", base_url="http://test/v1", http_client=http)


SIGNED: Extra = {"anthropic": {"signature": "s"}}
REPLY = Reply(
    parts=(
        Reasoning("Need two lookups.", SIGNED),
        Text("Checking."),
        ToolCall("call_a", "get_weather", '{"city":"Paris"}', extra={"openai-chat": {"extra_content": {"s": 1}}}),
        ToolCall("call_b", "get_time", "{}"),
    ),
    stop=Stop("calls"),
    usage=Usage(9, 20, 3, 1, 5),
    extra={"openai-chat": {"system_fingerprint": "fp", "choices": [{"logprobs": {"content": []}}]}},
)
ASK: Any = {"model": "m", "messages": [{"role": "user", "content": "Weather and time?"}]}


def seen(completion: ChatCompletion) -> None:
    """The SDK's object says what REPLY says."""
    choice = completion.choices[0]
    assert (completion.id, completion.model, completion.created) == ("chatcmpl-1", "m", 7)
    assert choice.finish_reason == "tool_calls"
    assert choice.message.role == "assistant"
    assert choice.message.content == "Checking."
    assert choice.message.refusal is None
    calls = choice.message.tool_calls or []
    assert [(call.id, call.type) for call in calls] == [("call_a", "function"), ("call_b", "function")]
    functions = [call.function for call in calls if call.type == "function"]
    assert [(function.name, json.loads(function.arguments)) for function in functions] == [
        ("get_weather", {"city": "Paris"}),
        ("get_time", {}),
    ]
    usage = completion.usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (9, 20, 29)
    assert usage.prompt_tokens_details is not None
    assert usage.prompt_tokens_details.cached_tokens == 3
    assert usage.completion_tokens_details is not None
    assert usage.completion_tokens_details.reasoning_tokens == 5


def test_a_whole_reply() -> None:
    with client(Server(REPLY)) as sdk:
        completion = sdk.chat.completions.create(**ASK)
    seen(completion)
    assert ChatCompletion.model_validate(completion.model_dump()) == completion
    assert completion.choices[0].message.model_extra is not None
    assert completion.choices[0].message.model_extra["reasoning_content"] == "Need two lookups."


def test_a_stream() -> None:
    with client(Server(REPLY)) as sdk:
        chunks = list(sdk.chat.completions.create(**ASK, stream=True, stream_options={"include_usage": True}))
    assert all(chunk.id == "chatcmpl-1" and chunk.object == "chat.completion.chunk" for chunk in chunks)
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert deltas[0].role == "assistant"
    assert "".join(delta.content or "" for delta in deltas) == "Checking."
    assert [call.index for delta in deltas for call in delta.tool_calls or ()] == [0, 0, 1, 1]
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "tool_calls"
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens == 29


def test_a_stream_put_together_by_the_sdk() -> None:
    with client(Server(REPLY)) as sdk, sdk.chat.completions.stream(**ASK, stream_options={"include_usage": True}) as stream:
        kinds = {event.type for event in stream}
        seen(stream.get_final_completion())
    assert {
        "content.delta",
        "content.done",
        "tool_calls.function.arguments.delta",
        "tool_calls.function.arguments.done",
    } <= kinds


def test_a_refusal() -> None:
    reply = Reply(parts=(Text("I can't.", "refusal"),), stop=Stop("filter"))
    with client(Server(reply)) as sdk:
        whole = sdk.chat.completions.create(**ASK).choices[0]
        with sdk.chat.completions.stream(**ASK) as stream:
            streamed = stream.get_final_completion().choices[0]
    for choice in (whole, streamed):
        assert (choice.message.refusal, choice.finish_reason) == ("I can't.", "stop")


def test_a_custom_call() -> None:
    reply = Reply(parts=(ToolCall("a", "sql", '{"input":"select 1"}', custom=True),), stop=Stop("calls"))
    with client(Server(reply)) as sdk:
        calls = sdk.chat.completions.create(**ASK).choices[0].message.tool_calls or []
        chunks = list(sdk.chat.completions.create(**ASK, stream=True))
    assert [call.custom.input for call in calls if call.type == "custom"] == ["select 1"]
    assert any(call.id == "a" for chunk in chunks for choice in chunk.choices for call in choice.delta.tool_calls or ())


def test_structured_output() -> None:
    server = Server(Reply(parts=(Text('{"city":"Paris","unit":"F"}', "json"),), stop=Stop("stop")))
    with client(server) as sdk:
        parsed = sdk.chat.completions.parse(**ASK, response_format=Weather).choices[0].message.parsed
        with sdk.chat.completions.stream(**ASK, response_format=Weather) as stream:
            streamed = stream.get_final_completion().choices[0].message.parsed
    assert parsed == streamed == Weather(city="Paris", unit="F")
    assert server.asked.output is not None
    assert (server.asked.output.name, server.asked.output.strict) == ("Weather", True)
    assert set((server.asked.output.schema or {})["properties"]) == {"city", "unit"}


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (404, openai.NotFoundError),
        (429, openai.RateLimitError),
        (503, openai.InternalServerError),
    ],
)
def test_errors(status: int, kind: type[openai.APIStatusError]) -> None:
    with client(Server(UpstreamError("no", status, "why"))) as sdk, pytest.raises(kind) as caught:
        sdk.chat.completions.create(**ASK)
    assert caught.value.code == "why"
    assert "no" in caught.value.message


def test_an_error_in_the_stream() -> None:
    broken = Reply(parts=(Text("half"),), error=UpstreamError("gone", 502, "why"))
    with client(Server(broken)) as sdk, pytest.raises(openai.APIError, match="gone"):
        list(sdk.chat.completions.create(**ASK, stream=True))


def test_what_the_sdk_sends() -> None:
    server = Server(REPLY)
    with client(server) as sdk:
        completion = sdk.chat.completions.create(**ASK)
        message = completion.choices[0].message
        results: list[Any] = [{"role": "tool", "tool_call_id": call.id, "content": "42"} for call in message.tool_calls or ()]
        sdk.chat.completions.create(
            model="m",
            messages=[*ASK["messages"], message, *results],
            tools=[openai.pydantic_function_tool(Weather)],
            tool_choice={"type": "function", "function": {"name": "Weather"}},
            parallel_tool_calls=True,
            max_completion_tokens=50,
            reasoning_effort="low",
            metadata={"a": "b"},
        )
    asked = server.asked
    assert asked.messages == (
        Message("user", (Text("Weather and time?"),)),
        Message("assistant", (Reasoning("Need two lookups.", SIGNED), *REPLY.parts[1:])),
        Message("tool", (ToolResult("call_a", "get_weather", (Text("42"),)), ToolResult("call_b", "get_time", (Text("42"),)))),
    )
    (tool,) = asked.tools
    assert (tool.name, tool.description, tool.strict) == ("Weather", "The weather in a city.", True)
    assert asked.choice is not None
    assert (asked.choice.mode, asked.choice.names) == ("required", ("Weather",))
    assert (asked.parallel, asked.max_tokens) == (True, 50)
    assert asked.thinking is not None
    assert asked.thinking.effort == "low"
    assert asked.extra == {"openai": {"metadata": {"a": "b"}}}
