"""OpenAI's own Python SDK as the judge: it parses what we write, strictly, and we read what it sends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import msgspec
import openai
import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from toolglot.core.fold import unfold
from toolglot.core.interfaces import Quirks, ResponseContext
from toolglot.core.messages import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult
from toolglot.core.reply import Decision, Reply, Stop, Usage
from toolglot.core.request import Output, Request, Thinking
from toolglot.core.tools import Choice, Tool
from toolglot.errors import UpstreamError
from toolglot.wires.openai_responses import WIRE

ODD = "é\u2028\u2029\u0085\x0b\x1c 📁"
SEARCH = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "q", "queries": ["q"]},
}
REPLY = Reply(
    id="resp_abc",
    model="m",
    parts=(
        Reasoning("Need it.", {"anthropic": {"signature": "s"}}),
        Opaque(WIRE.name, SEARCH),
        Text(ODD),
        Text("No.", "refusal"),
        ToolCall("a", "get_weather", '{"city":"Paris"}', extra={"gemini": {"thoughtSignature": "t"}}),
        ToolCall("b", "find", "{}", "crm"),
        ToolCall("c", "run_sql", '{"input":"select 1"}', custom=True),
        Media("image", "image/png", "AA=="),
    ),
    stop=Stop("calls"),
    usage=Usage(9, 20, 3, None, 5),
    created=1700000000,
)
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ASKED = Request(
    "m",
    (Message("system", (Text("Be brief."),)), Message("user", (Text("hi"),))),
    (
        Tool("get_weather", "Says it.", SCHEMA),
        Tool("find", schema=SCHEMA, namespace="crm"),
        Tool("run_sql", kind="custom", format={"type": "grammar", "syntax": "regex", "definition": ".+"}),
        Tool("web_search", kind="server", extra={WIRE.name: {"type": "web_search"}}),
    ),
    Choice("auto", ("get_weather",)),
    thinking=Thinking("low", show=True),
    output=Output(SCHEMA, "facts", strict=True),
    extra={"openai": {"store": False, "metadata": {"a": "b"}}},
)
CONTEXT = ResponseContext(model="shown", request=ASKED)


def client(answer: Callable[[dict[str, Any]], httpx2.Response]) -> openai.OpenAI:
    def handle(request: httpx2.Request) -> httpx2.Response:
        assert request.url.path == WIRE.path("m", True)
        return answer(msgspec.json.decode(request.content))

    http = httpx2.Client(transport=httpx2.MockTransport(handle))
    return openai.OpenAI(api_key="test", base_url="http://test/v1", http_client=http, max_retries=0)


def whole(reply: Reply) -> Callable[[dict[str, Any]], httpx2.Response]:
    return lambda _: httpx2.Response(200, json=WIRE.write_reply(reply, CONTEXT, []))


def written(reply: Reply) -> list[bytes]:
    writer = WIRE.writer(CONTEXT, [])
    return [writer.feed(event) for event in unfold(reply)] + [writer.close()]


def streamed(reply: Reply) -> Callable[[dict[str, Any]], httpx2.Response]:
    data = b"".join(written(reply))
    return lambda _: httpx2.Response(200, content=data, headers={"content-type": WIRE.media_type})


def judged(response: Response) -> None:
    """All that the reply says, where the SDK's users look for it."""
    assert response.output_text == ODD
    kinds = [item.type for item in response.output]
    assert kinds == [
        "reasoning", "web_search_call", "message", "message", "reasoning", "function_call", "function_call",
        "custom_tool_call", "image_generation_call",
    ]  # fmt: skip
    by_kind = {item.type: item for item in response.output}
    assert by_kind["custom_tool_call"].input == "select 1"  # type: ignore[union-attr]
    calls = [item for item in response.output if item.type == "function_call"]
    assert [(call.call_id, call.name, call.namespace, call.arguments) for call in calls] == [
        ("a", "get_weather", None, '{"city":"Paris"}'),
        ("b", "find", "crm", "{}"),
    ]
    assert response.usage is not None
    assert (response.usage.total_tokens, response.usage.output_tokens_details.reasoning_tokens) == (29, 5)
    assert response.output[0].summary[0].text == "Need it."  # type: ignore[union-attr]
    assert (response.status, response.model, response.error) == ("completed", "shown", None)


def test_a_whole_reply() -> None:
    judged(client(whole(REPLY)).responses.create(model="m", input="hi"))


def test_a_whole_reply_fits_the_types_strictly() -> None:
    body = msgspec.json.encode(WIRE.write_reply(REPLY, CONTEXT, []))
    judged(TypeAdapter(Response).validate_json(body, strict=True))


def test_the_accumulator() -> None:
    with client(streamed(REPLY)).responses.stream(model="m", input="hi") as stream:
        deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response()
    assert "".join(deltas) == ODD
    judged(final)


def test_every_event_fits_the_types_strictly() -> None:
    adapter: TypeAdapter[ResponseStreamEvent] = TypeAdapter(ResponseStreamEvent)
    frames = b"".join(written(REPLY)).split(b"\n\n")[:-1]
    events = [adapter.validate_json(frame.partition(b"\ndata: ")[2], strict=True) for frame in frames]
    assert [event.sequence_number for event in events] == list(range(len(events)))


def test_a_refusal_and_a_cut() -> None:
    cut = Reply("resp_1", "m", (Text("Once upon"), ToolCall("a", "f", '{"x":', sealed=False)), Stop("length"))
    response = client(whole(cut)).responses.create(model="m", input="hi")
    assert response.status == "incomplete"
    assert response.incomplete_details is not None
    assert response.incomplete_details.reason == "max_output_tokens"
    assert response.output[1].status == "incomplete"  # type: ignore[union-attr]
    events = list(client(streamed(cut)).responses.create(model="m", input="hi", stream=True))
    assert events[-1].type == "response.incomplete"


@pytest.mark.parametrize(
    ("reply", "statuses"),
    [
        (Reply("r", "m", (Text("Once"), Text("upon a")), Stop("length")), ["completed", "incomplete"]),
        (Reply("r", "m", (Text("It was a dark"),), Stop("filter")), ["incomplete"]),
        (Reply("r", "m", (Text("I can't", "refusal"),), Stop("filter")), ["completed"]),
        (Reply("r", "m", (Text("Let me"), ToolCall("a", "f", "{", sealed=False)), Stop("length")), ["completed", "incomplete"]),
        (Reply("r", "m", (Text("Let me"), ToolCall("a", "f", "{}")), Stop("length")), ["completed", "completed"]),
        (Reply("r", "m", (Text("All."),), Stop("stop")), ["completed"]),
        (Reply("r", "m", (Text("All"), Text("was w")), error=UpstreamError("gone")), ["completed", "incomplete"]),
        # the call that was cut did not leave: the text before it is whole
        (Reply("r", "m", (Text("Let me"),), Stop("length"), decisions=(Decision("rejected_truncated", "cut"),)), ["completed"]),
    ],
)
def test_only_the_item_that_was_cut_is_incomplete(reply: Reply, statuses: list[str]) -> None:
    response = client(whole(reply)).responses.create(model="m", input="hi")
    assert [item.status for item in response.output] == statuses  # type: ignore[union-attr]
    events = list(client(streamed(reply)).responses.create(model="m", input="hi", stream=True))
    done = [event.item for event in events if event.type == "response.output_item.done"]
    assert [item.status for item in done] == statuses  # type: ignore[union-attr]
    assert [item.status for item in events[-1].response.output] == statuses  # type: ignore[union-attr]


def test_structured_output_is_parsed() -> None:
    reply = Reply("resp_1", "m", (Text('{"city":"Oslo"}', "json"),), Stop("stop"))
    from pydantic import BaseModel

    class Place(BaseModel):
        city: str

    parsed = client(whole(reply)).responses.parse(model="m", input="hi", text_format=Place)
    assert parsed.output_parsed == Place(city="Oslo")


def test_errors_before_and_within_a_stream() -> None:
    status, body = WIRE.write_error(UpstreamError("slow down", 429, "rate_limit_exceeded"))
    with pytest.raises(openai.RateLimitError, match="slow down"):
        client(lambda _: httpx2.Response(status, json=body)).responses.create(model="m", input="hi")
    broken = Reply("resp_1", "m", (Text("a"),), error=UpstreamError("gone", 503))
    events = list(client(streamed(broken)).responses.create(model="m", input="hi", stream=True))
    last = events[-1]
    assert last.type == "response.failed"
    assert last.response.error is not None
    assert (last.response.error.code, last.response.error.message) == ("server_error", "gone")
    assert last.response.output_text == "a"


def test_what_the_sdk_sends_is_read() -> None:
    """A whole turn: the output of one response, given back as the input of the next."""
    bodies: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> httpx2.Response:
        bodies.append(body)
        return whole(REPLY)(body)

    asker = client(answer)
    first = asker.responses.create(model="m", input="hi")
    items: Any = [{"role": "user", "content": "hi"}, *first.output]
    for call_id, kind in (("a", "function_call_output"), ("b", "function_call_output"), ("c", "custom_tool_call_output")):
        items.append({"type": kind, "call_id": call_id, "output": f"result {call_id}"})
    asked: dict[str, Any] = {
        "instructions": "Be brief.",
        "tools": WIRE.write_tools(ASKED.tools, [], Quirks()),
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "get_weather"}]},
        "parallel_tool_calls": False,
        "max_output_tokens": 50,
        "reasoning": {"effort": "low", "summary": "auto"},
        "text": {"format": {"type": "json_schema", "name": "facts", "schema": SCHEMA, "strict": True}},
        "store": False,
        "metadata": {"a": "b"},
    }
    asker.responses.create(model="m", input=items, **asked)
    request = WIRE.read_request(bodies[1])
    assert [message.role for message in request.messages] == ["system", "user", "assistant", "tool"]
    turn = [part for part in request.messages[2].parts if not isinstance(part, Opaque)]
    assert turn == [part for part in REPLY.parts if not isinstance(part, Opaque | Media)]  # what it made is an item of its own
    assert request.messages[3].parts == tuple(
        ToolResult(id, name, (Text(f"result {id}"),))
        for id, name in (("a", "get_weather"), ("b", "crm__find"), ("c", "run_sql"))
    )
    assert [tool.full_name for tool in request.tools] == [tool.full_name for tool in ASKED.tools]
    assert (request.choice, request.thinking, request.output) == (ASKED.choice, ASKED.thinking, ASKED.output)
    assert (request.parallel, request.max_tokens, request.extra) == (False, 50, ASKED.extra)
