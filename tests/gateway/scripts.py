"""What the scripted upstream plays: a fixture's conversation, or a reply of the test's own, on the wire that is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from tests.gateway.upstream_server import Asked, Play, Said, streamed, whole
from tests.laws.conversations import body, stream
from toolglot.core.events import Delta, Event
from toolglot.core.fold import unfold
from toolglot.core.interfaces import Answering
from toolglot.core.messages import Message, Part, Text, ToolCall
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.core.request import Request
from toolglot.core.tools import Tool
from toolglot.pipeline.convert import write_request
from toolglot.pipeline.route import speech

WEATHER = Tool(
    "get_weather",
    "The weather of a city",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
        "required": ["city"],
    },
)


def fixture(case: str) -> Callable[[Asked], Said]:
    def play(asked: Asked) -> Said:
        wire = asked.wire
        return streamed(wire, stream(case, wire)) if asked.streams else whole(body(case, wire, "reply"))

    return play


def in_turn(*replies: Reply | Said) -> Play:
    """One after the other; the last one again and again."""
    left = list(replies)

    def play(asked: Asked) -> Said:
        held = left.pop(0) if len(left) > 1 else left[0]
        return held if isinstance(held, Said) else said(asked, held)

    return play


def said(asked: Asked, reply: Reply, gap: float = 0.0) -> Said:
    """A reply as the asked wire writes it; text in small pieces where it streams."""
    wire = speech(asked.wire).wire
    answering = Answering("up-1", "m", 1_700_000_000)
    if not asked.streams:
        return whole(wire.write_reply(reply, answering, []))
    writer = wire.writer(answering, [])
    data = b"".join([writer.feed(event) for event in _in_pieces(reply)]) + writer.close()
    return streamed(asked.wire, data, gap=gap)


def _in_pieces(reply: Reply) -> Iterator[Event]:
    for event in unfold(reply):
        if isinstance(event, Delta):
            yield from (Delta(event.index, event.text[at : at + 7]) for at in range(0, len(event.text), 7))
        else:
            yield event


def text(*said: str) -> Reply:
    return Reply("r", "m", tuple(map(Text, said)), Stop("stop"), Usage(10, 5))


def calls(*made: ToolCall, words: str = "") -> Reply:
    parts: tuple[Part, ...] = (Text(words), *made) if words else made
    return Reply("r", "m", parts, Stop("calls"), Usage(10, 5))


def weather(arguments: dict[str, Any] | str, name: str = "get_weather", id: str = "call_1") -> ToolCall:
    return ToolCall(id, name, arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode())


def question(wire: str, model: str, tools: tuple[Tool, ...] = (WEATHER,), words: str = "Weather in Paris?") -> dict[str, Any]:
    """A request's body on a wire."""
    request = Request(model, (Message("user", (Text(words),)),), tools, max_tokens=100)
    return write_request(request, speech(wire), [])
