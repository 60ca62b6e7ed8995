"""Anthropic's own Python SDK as the judge: it parses what we write, and we read what it sends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anthropic
import httpx2
import msgspec
import pytest
from anthropic.types import Message as SdkMessage
from anthropic.types import RawMessageStreamEvent
from pydantic import TypeAdapter

from toolglot.core.fold import unfold
from toolglot.core.interfaces import Quirks, ResponseContext
from toolglot.core.messages import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.core.request import Output, Request, Thinking
from toolglot.core.tools import Choice, Tool
from toolglot.errors import UpstreamError
from toolglot.wires.anthropic import WIRE

ODD = "é\u2028\u2029\u0085\x0b\x1c 📁"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
STATE = {"openai-responses": {"id": "rs_1", "encrypted_content": "e"}}
REPLY = Reply(
    "up_1",
    "upstream",
    (
        Reasoning("Need it.", STATE),
        Reasoning("", {"anthropic": {"redacted_thinking": "d"}}),
        Reasoning("unsigned"),
        Text(ODD),
        ToolCall("a", "get_weather", '{"city":"Paris"}', extra={"gemini": {"thoughtSignature": "c2ln"}}),
        ToolCall("b", "get_time"),
        Opaque("anthropic", {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}),
    ),
    Stop("calls"),
    Usage(30, 20, 10, None, 5),
)
CONTEXT = ResponseContext("msg_1", "asked-for")
Handler = Callable[[dict[str, Any]], httpx2.Response]


@contextmanager
def client(answer: Handler) -> Iterator[anthropic.Anthropic]:
    def handle(request: httpx2.Request) -> httpx2.Response:
        assert request.url.path == WIRE.path("m", True)
        return answer(msgspec.json.decode(request.content))

    with anthropic.Anthropic(
        api_key="test",
        base_url="http://test",
        max_retries=0,
        http_client=httpx2.Client(transport=httpx2.MockTransport(handle)),
        _strict_response_validation=True,
    ) as sdk:
        yield sdk


def whole(_: dict[str, Any]) -> httpx2.Response:
    return httpx2.Response(200, json=WIRE.write_reply(REPLY, CONTEXT, []))


def streamed(_: dict[str, Any]) -> httpx2.Response:
    return httpx2.Response(200, content=stream_bytes(), headers={"content-type": "text/event-stream"})


def stream_bytes() -> bytes:
    writer = WIRE.writer(CONTEXT, [])
    return b"".join(writer.feed(event) for event in unfold(REPLY)) + writer.close()


def check(message: SdkMessage) -> None:
    assert (message.id, message.model, message.stop_reason) == ("msg_1", "asked-for", "tool_use")
    kinds = [block.type for block in message.content]
    thoughts = ["thinking", "redacted_thinking", "thinking"]
    assert kinds == [*thoughts, "text", "redacted_thinking", "tool_use", "tool_use", "server_tool_use"]
    assert message.content[3].text == ODD  # type: ignore[union-attr]
    inputs = [block.input for block in message.content if block.type in ("tool_use", "server_tool_use")]
    assert inputs == [{"city": "Paris"}, {}, {"query": "x"}]
    usage = message.usage
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens) == (20, 10, 20)
    assert usage.output_tokens_details is not None
    assert usage.output_tokens_details.thinking_tokens == 5


def ask(sdk: anthropic.Anthropic, **more: Any) -> Any:
    return sdk.messages.create(model="m", max_tokens=10, messages=[{"role": "user", "content": "hi"}], **more)


# -- it reads what we write


def test_it_reads_a_whole_reply() -> None:
    with client(whole) as sdk:
        check(ask(sdk))


def test_its_accumulator_reads_a_stream() -> None:
    with (
        client(streamed) as sdk,
        sdk.messages.stream(model="m", max_tokens=10, messages=[{"role": "user", "content": "hi"}]) as stream,
    ):
        kinds = [event.type for event in stream]
        check(stream.get_final_message())
    assert "signature" in kinds
    assert kinds[-1] == "message_stop"


def test_whole_and_streamed_are_one_to_it() -> None:
    with client(streamed) as sdk:
        stream = sdk.messages.stream(model="m", max_tokens=10, messages=[{"role": "user", "content": "hi"}])
        with stream as running:
            final = running.get_final_message()
    with client(whole) as sdk:
        assert final.model_dump(exclude={"parsed_output"}) == ask(sdk).model_dump()


def test_every_event_fits_its_strict_types() -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
    frames = [frame for frame in stream_bytes().split(b"\n\n") if frame]
    for frame in frames:
        adapter.validate_json(frame.partition(b"data: ")[2], strict=True)
    assert len(frames) > 20


def test_what_it_gives_back_is_what_was_said() -> None:
    """The reply as the SDK echoes it: every state, our own and others', is where it was."""
    with client(whole) as sdk:
        said = ask(sdk).content
    seen: list[dict[str, Any]] = []
    with client(lambda body: seen.append(body) or whole(body)) as sdk:  # type: ignore[func-returns-value]
        sdk.messages.create(model="m", max_tokens=10, messages=[{"role": "assistant", "content": said}])
    assert WIRE.read_request(seen[0]).messages[0].parts == REPLY.parts


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, anthropic.BadRequestError),
        (401, anthropic.AuthenticationError),
        (404, anthropic.NotFoundError),
        (429, anthropic.RateLimitError),
        (529, anthropic.InternalServerError),
    ],
)
def test_it_understands_our_errors(status: int, error: type[anthropic.APIStatusError]) -> None:
    told, body = WIRE.write_error(UpstreamError("because", status))
    with client(lambda _: httpx2.Response(told, json=body)) as sdk, pytest.raises(error, match="because") as caught:
        ask(sdk)
    assert caught.value.status_code == status
    assert caught.value.body == body


def test_it_raises_where_a_stream_breaks_off() -> None:
    writer = WIRE.writer(CONTEXT, [])
    broken = Reply("a", "m", (Text("half"),), error=UpstreamError("gone", 529))
    data = b"".join(writer.feed(event) for event in unfold(broken))
    answer = httpx2.Response(200, content=data, headers={"content-type": "text/event-stream"})
    with client(lambda _: answer) as sdk, pytest.raises(anthropic.APIStatusError, match="gone"):
        list(ask(sdk, stream=True))


# -- we read what it sends


def test_we_read_what_it_sends() -> None:
    seen: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> httpx2.Response:
        seen.append(body)
        return whole(body)

    with client(answer) as sdk:
        create: Any = sdk.messages.create
        create(
            model="m",
            max_tokens=4000,
            system=[{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}],
            messages=[
                {"role": "user", "content": "Weather?"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                        {"type": "tool_use", "id": "a", "name": "get_weather", "input": {"city": "Paris"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "a", "content": "18C", "is_error": True},
                        {"type": "text", "text": "Be brief."},
                    ],
                },
            ],
            tools=[{"name": "get_weather", "description": "Weather now", "input_schema": SCHEMA, "strict": True}],
            tool_choice={"type": "auto", "disable_parallel_tool_use": True},
            thinking={"type": "adaptive", "display": "summarized"},
            output_config={"effort": "high", "format": {"type": "json_schema", "schema": SCHEMA}},
            metadata={"user_id": "u"},
            stop_sequences=["END"],
        )
    cached = {"anthropic": {"cache_control": {"type": "ephemeral"}}}
    expected = Request(
        "m",
        (
            Message("system", (Text("Be kind.", extra=cached),)),
            Message("user", (Text("Weather?"),)),
            Message(
                "assistant",
                (
                    Reasoning("Hm.", {"anthropic": {"signature": "s"}}),
                    ToolCall("a", "get_weather", '{"city":"Paris"}'),
                ),
            ),
            Message("tool", (ToolResult("a", "get_weather", (Text("18C"),), is_error=True),)),
            Message("user", (Text("Be brief."),)),
        ),
        (Tool("get_weather", "Weather now", SCHEMA, True),),
        Choice("auto"),
        parallel=False,
        max_tokens=4000,
        stop=("END",),
        user="u",
        thinking=Thinking("high", -1, show=True),
        output=Output(SCHEMA),
    )
    assert WIRE.read_request(seen[0]) == expected
    notes: list[str] = []
    assert WIRE.write_request(expected, notes, Quirks()) == seen[0]
    assert notes == []


def test_its_beta_requests_and_pictures() -> None:
    seen: list[dict[str, Any]] = []
    with client(lambda body: seen.append(body) or whole(body)) as sdk:  # type: ignore[func-returns-value]
        sdk.beta.messages.create(
            model="m",
            max_tokens=1,
            betas=["context-management-2025-06-27"],
            context_management={"edits": []},
            mcp_servers=[{"type": "url", "url": "https://example.com/mcp", "name": "x"}],
            tools=[{"type": "web_search_20250305", "name": "web_search"}],
            messages=[
                {
                    "role": "user",
                    "content": [{"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}],
                }
            ],
        )
    request = WIRE.read_request(seen[0])
    assert request.messages[0].parts == (Media("image", url="https://example.com/a.png"),)
    assert request.tools[0].kind == "server"
    assert request.extra["anthropic"].keys() == {"context_management", "mcp_servers"}
    assert WIRE.write_request(request, [], Quirks()) == seen[0]
