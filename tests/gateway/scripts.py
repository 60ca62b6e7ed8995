"""Scripts for the upstream server: a fixture's conversation, or a given reply, on the requested wire."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import msgspec

from tests.gateway.upstream_server import Play, UpstreamRequest, UpstreamResponse, streamed, whole
from tests.laws.conversations import body, stream
from toolglot.core.events import Delta, Event
from toolglot.core.fold import unfold
from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import Message, Part, Text, ToolCall
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.core.request import Request
from toolglot.core.tools import Tool
from toolglot.pipeline.convert import write_request
from toolglot.pipeline.request.route import wire_format

WEATHER = Tool(
    "get_weather",
    "The weather of a city",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
        "required": ["city"],
    },
)


def fixture(case: str) -> Callable[[UpstreamRequest], UpstreamResponse]:
    def play(request: UpstreamRequest) -> UpstreamResponse:
        wire = request.wire
        return streamed(wire, stream(case, wire)) if request.streams else whole(body(case, wire, "reply"))

    return play


def in_turn(*replies: Reply | UpstreamResponse) -> Play:
    """One reply after another; the last one repeats."""
    left = list(replies)

    def play(request: UpstreamRequest) -> UpstreamResponse:
        reply = left.pop(0) if len(left) > 1 else left[0]
        return reply if isinstance(reply, UpstreamResponse) else response_to(request, reply)

    return play


def response_to(request: UpstreamRequest, reply: Reply, gap: float = 0.0) -> UpstreamResponse:
    """A reply on the requested wire; text in small chunks if it streams."""
    wire = wire_format(request.wire).wire
    answering = ResponseContext("up-1", "m", 1_700_000_000)
    if not request.streams:
        return whole(wire.write_reply(reply, answering, []))
    writer = wire.writer(answering, [])
    data = b"".join([writer.feed(event) for event in _in_pieces(reply)]) + writer.close()
    return streamed(request.wire, data, gap=gap)


def held(response: UpstreamResponse, go_on: asyncio.Event, first: int = 20) -> UpstreamResponse:
    """Its first chunks, and the rest once `go_on` is set."""
    return replace(response, chunks=[b"".join(response.chunks[:first]), *response.chunks[first:]], go_on=go_on)


async def never_ends(request: UpstreamRequest) -> UpstreamResponse:
    return held(response_to(request, text("word " * 40)), asyncio.Event())


def _in_pieces(reply: Reply) -> Iterator[Event]:
    for event in unfold(reply):
        if isinstance(event, Delta):
            yield from (Delta(event.index, event.text[at : at + 7]) for at in range(0, len(event.text), 7))
        else:
            yield event


def text(*texts: str) -> Reply:
    return Reply("r", "m", tuple(map(Text, texts)), Stop("stop"), Usage(10, 5))


def calls(*tool_calls: ToolCall, words: str = "") -> Reply:
    parts: tuple[Part, ...] = (Text(words), *tool_calls) if words else tool_calls
    return Reply("r", "m", parts, Stop("calls"), Usage(10, 5))


def weather(arguments: dict[str, Any] | str, name: str = "get_weather", id: str = "call_1") -> ToolCall:
    return ToolCall(id, name, arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode())


def question(
    wire: str, model: str, tools: tuple[Tool, ...] = (WEATHER,), words: str = "Weather in Paris?", **options: Any
) -> dict[str, Any]:
    """A request's body on a wire."""
    request = Request(model, (Message("user", (Text(words),)),), tools, max_tokens=100, **options)
    return write_request(request, wire_format(wire), [])
