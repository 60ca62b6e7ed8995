"""Gemini's requests, replies and streams, made and taken apart: what its tests share."""

from __future__ import annotations

import json
from typing import Any

from toolglot.core.events import Event
from toolglot.core.fold import unfold
from toolglot.core.interfaces import Quirks, ResponseContext
from toolglot.core.messages import Extra, Message, Part, Reasoning, Text, ToolCall
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.core.request import Request
from toolglot.core.tools import Tool
from toolglot.wires.gemini import WIRE

Body = dict[str, Any]

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool("get_weather", "The weather.", CITY)


def signed(signature: str) -> Extra:
    return {"gemini": {"thoughtSignature": signature}}


def read(contents: Any = None, **more: Any) -> Request:
    return WIRE.read_request({"model": "m", "contents": contents or [], **more})


def write(request: Request, quirks: Quirks | None = None) -> tuple[Body, list[str]]:
    notes: list[str] = []
    return WIRE.write_request(request, notes, quirks or Quirks()), notes


def with_messages(*messages: Message) -> Request:
    return Request("m", messages)


def user(*parts: Part) -> Message:
    return Message("user", parts)


def model(*parts: Part) -> Message:
    return Message("assistant", parts)


STREAM = (
    b'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Need two lookups.","thought":true}]},"index":0}],'
    b'"usageMetadata":{"promptTokenCount":9,"totalTokenCount":9},"modelVersion":"m","responseId":"r1"}\r\n\r\n'
    b'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Che\xc3\xa9king."}]},"index":0}],'
    b'"responseId":"r1"}\r\n\r\n'
    b'data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"fc1","name":"get_weather",'
    b'"args":{"city":"Paris"}},"thoughtSignature":"CiQB"}]},"index":0}],"responseId":"r1"}\r\n\r\n'
    b'data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"fc2","name":"get_time","args":{}}}]},'
    b'"index":0}],"responseId":"r1"}\r\n\r\n'
    b'data: {"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP","index":0}],'
    b'"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":15,"thoughtsTokenCount":5,"totalTokenCount":29},'
    b'"responseId":"r1"}\r\n\r\n'
)
REPLY = Reply(
    "r1",
    "m",
    (
        Reasoning("Need two lookups."),
        Text("Cheéking."),
        ToolCall("fc1", "get_weather", '{"city":"Paris"}', extra=signed("CiQB")),
        ToolCall("fc2", "get_time", "{}"),
    ),
    Stop("calls", "STOP"),
    Usage(9, 20, reasoning=5),
)


def events_of(data: bytes, size: int | None = None, channel: str | None = None) -> list[Event]:
    reader = WIRE.reader(channel)
    step = size or len(data) or 1
    events = [event for at in range(0, len(data), step) for event in reader.feed(data[at : at + step])]
    return events + reader.close()


def stream_of(*chunks: Any) -> list[Event]:
    return events_of(b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks))


def chunk(*parts: Any, **candidate: Any) -> Body:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "index": 0, **candidate}]}


def whole(*parts: Any, **candidate: Any) -> Reply:
    return WIRE.read_reply(chunk(*parts, **{"finishReason": "STOP", **candidate}), None)


def written(reply: Reply, notes: list[str] | None = None, context: ResponseContext | None = None) -> bytes:
    return write_events(unfold(reply), notes, context)


def write_events(events: Any, notes: list[str] | None = None, context: ResponseContext | None = None) -> bytes:
    writer = WIRE.writer(context or ResponseContext(), [] if notes is None else notes)
    return b"".join(writer.feed(event) for event in events) + writer.close()
