"""What could hold the event loop for long: large bodies, histories, texts and replies, one at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from target import CHAT, ONE, Gateway, chat, chunk, send, start_stream

RIGHT = "right"
_TOOL = {
    "type": "function",
    "function": {"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}},
}
_CALL = '<tool_call>{"name": "f", "arguments": {"a": "b"}}</tool_call>'
_NEAR_CALLS = (
    '<tool_call>{"name": "f", ',
    "```json\n{",
    "f(a=",
    '{"name": "f", "arguments": {',
    "<invoke name=",
    "[f(",
    "```\n",
)


def _texts(gateway: Gateway, content: str, **more: Any) -> None:
    """The upstream answers with this text, or with a message."""
    message = {"role": "assistant", "content": content, **more}
    body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()

    async def reply(_: str, request: bytes, writer: asyncio.StreamWriter) -> None:
        if b'"stream":true' not in request.replace(b" ", b""):
            send(writer, 200, body)
            return
        start_stream(writer)
        for at in range(0, len(content), 1_000_000):
            writer.write(chunk(content[at : at + 1_000_000]))
            await writer.drain()
        writer.write(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
        await writer.drain()
        writer.close()

    gateway.upstream.reply = reply


async def _both(gateway: Gateway, body: dict[str, Any], path: str = CHAT) -> str:
    for stream in (False, True):
        answer = await gateway.ask("POST", path, {**body, "stream": stream})
        if answer.status != 200:
            return f"stream={stream}: {answer.status} {answer.body[:200]!r}"
    return RIGHT


async def many_messages(gateway: Gateway) -> str:
    """3 MB in messages of a few words."""
    return await _both(gateway, {"model": "m", "messages": [{"role": "user", "content": "hello there"}] * 60_000})


async def long_text(gateway: Gateway) -> str:
    """24 MB in one message."""
    return await _both(gateway, chat('a "word" \\ ' * 2_000_000))


async def many_results(gateway: Gateway) -> str:
    """An agent's history: 5,000 calls and their results."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for at in range(5_000):
        call = {"id": f"c{at}", "type": "function", "function": {"name": "f", "arguments": '{"a": "b"}'}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{at}", "content": f"result {at} " * 10},
        ]
    _texts(gateway, f"Now {_CALL}")
    return await _both(gateway, {"model": "m", "messages": messages, "tools": [_TOOL]})


def near_calls(text: str) -> Callable[[Gateway], Any]:
    async def attack(gateway: Gateway) -> str:
        """Text that nearly is a call, in a tool result; the model writes a call as text, so it is compared with that."""
        _texts(gateway, f"Now {_CALL}")
        messages = [
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c", **_TOOL, "function": {"name": "f", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "c", "content": text * (600_000 // len(text)) + _CALL},
        ]
        return await _both(gateway, {"model": "m", "messages": messages, "tools": [_TOOL]})

    return attack


def near_calls_of_the_user(text: str) -> Callable[[Gateway], Any]:
    async def attack(gateway: Gateway) -> str:
        """The same in the user's message; the model writes a call without a marker, so it is compared with that, too."""
        _texts(gateway, '{"name": "f", "arguments": {"a": "b"}}')
        return await _both(gateway, chat(text * (300_000 // len(text)), tools=[_TOOL]))

    return attack


def long_reply(text: str) -> Callable[[Gateway], Any]:
    async def attack(gateway: Gateway) -> str:
        _texts(gateway, text * (1_000_000 // len(text)))
        return await _both(gateway, chat(tools=[_TOOL]))

    return attack


async def many_calls(gateway: Gateway) -> str:
    """A reply with 5,000 calls."""
    calls = [
        {"id": f"c{at}", "type": "function", "function": {"name": "f", "arguments": f'{{"a": "{at}"}}'}} for at in range(5_000)
    ]
    _texts(gateway, "", tool_calls=calls)
    answer = await gateway.ask("POST", CHAT, chat(tools=[_TOOL]))
    return RIGHT if answer.status == 200 else f"{answer.status} {answer.body[:200]!r}"


async def many_written_calls(gateway: Gateway) -> str:
    """A reply with 2,000 calls in its text."""
    _texts(gateway, "\n".join(_CALL.replace('"b"', f'"{at}"') for at in range(2_000)))
    return await _both(gateway, chat(tools=[_TOOL]))


async def counted_tokens(gateway: Gateway) -> str:
    body = {"model": "m", "messages": [{"role": "user", "content": "hello there"}] * 100_000}
    status = (await gateway.ask("POST", "/v1/messages/count_tokens", body)).status
    return RIGHT if status == 200 else f"status {status}"


async def stored_history(gateway: Gateway) -> str:
    """A stored response with 5 MB of input, continued."""
    sent = {"model": "m", "input": [{"role": "user", "content": "hello there"}] * 80_000}
    first = await gateway.ask("POST", "/v1/responses", sent)
    if first.status != 200:
        return f"{first.status} {first.body[:200]!r}"
    more = {"model": "m", "input": "more", "previous_response_id": first.json["id"]}
    status = (await gateway.ask("POST", "/v1/responses", more)).status
    return RIGHT if status == 200 else f"continued: {status}"


async def items_of_a_stored_history(gateway: Gateway) -> str:
    sent = {"model": "m", "input": [{"role": "user", "content": "hello there"}] * 80_000}
    first = await gateway.ask("POST", "/v1/responses", sent)
    if first.status != 200:
        return f"{first.status} {first.body[:200]!r}"
    answer = await gateway.ask("GET", f"/v1/responses/{first.json['id']}/input_items")
    return RIGHT if answer.status == 200 and len(answer.json["data"]) == 20 else f"{answer.status}"


async def counted_by_the_upstream(gateway: Gateway) -> str:
    async def reply(_: str, __: bytes, writer: asyncio.StreamWriter) -> None:
        send(writer, 200, b'{"totalTokens": 7}')

    gateway.upstream.reply = reply
    contents = [{"role": "user", "parts": [{"text": "hello there"}]}] * 60_000
    answer = await gateway.ask("POST", "/v1beta/models/gemini/m:countTokens", {"contents": contents})
    return RIGHT if answer.status == 200 and answer.json["totalTokens"] == 7 else f"{answer.status} {answer.body[:200]!r}"


async def retried_with_a_history(gateway: Gateway) -> str:
    """The call is rejected, so the whole conversation is planned and written once more."""
    _texts(gateway, "", tool_calls=[{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 7}'}}])
    tool = {"type": "function", "function": {"name": "f", "parameters": {**_TOOL["function"]["parameters"], "required": ["b"]}}}
    messages = [{"role": "user", "content": "hello there"}, {"role": "assistant", "content": "hello"}] * 20_000
    body = {"model": "m", "messages": [*messages, {"role": "user", "content": "go"}], "tools": [tool]}
    answer = await gateway.ask("POST", CHAT, body)
    return RIGHT if answer.status == 200 and b"rejected" in answer.body else f"{answer.status} {answer.body[:200]!r}"


async def long_descriptions(gateway: Gateway) -> str:
    """1,000 tools with 20 KB of words each, for a search and for a server that gets them all."""
    words = " ".join(f"word{at}" for at in range(2_500))
    tools = [
        {"type": "function", "function": {**_TOOL["function"], "name": f"f{at}", "description": words}} for at in range(1_000)
    ]
    for more in ({}, {"defer_loading": True}):
        last = {"type": "tool_search"} if more else tools[0]
        sent = {
            "model": "m",
            "input": "hi",
            "tools": [*({**one["function"], "type": "function", **more} for one in tools), last],
        }
        answer = await gateway.ask("POST", "/v1/responses", sent)
        if answer.status not in (200, 400):
            return f"{answer.status} {answer.body[:200]!r}"
    return RIGHT


async def stored_text(gateway: Gateway) -> str:
    """A stored response with 20 MB of input in one message."""
    answer = await gateway.ask("POST", "/v1/responses", {"model": "m", "input": 'a "word" \\ ' * 1_700_000})
    return RIGHT if answer.status == 200 else f"{answer.status} {answer.body[:200]!r}"


async def playground(gateway: Gateway) -> str:
    body = {"text": _NEAR_CALLS[0] * 20_000, "tools": [_TOOL]}
    status = (await gateway.ask("POST", "/toolglot/parse", body, key=ONE)).status
    return RIGHT if status in (200, 400, 413) else f"status {status}"


ATTACKS = [
    ("60,000 messages", many_messages),
    ("24 MB in one message", long_text),
    ("5,000 tool results", many_results),
    *((f"a result of 600 KB: {text!r}", near_calls(text)) for text in (*_NEAR_CALLS, "word ")),
    *((f"a message of 300 KB: {text!r}", near_calls_of_the_user(text)) for text in (*_NEAR_CALLS, "word ")),
    *((f"a reply of 1 MB: {text!r}", long_reply(text)) for text in (*_NEAR_CALLS, "word ")),
    ("5,000 calls", many_calls),
    ("2,000 calls in the text", many_written_calls),
    ("tokens of 100,000 messages", counted_tokens),
    ("a stored history of 80,000 messages", stored_history),
    ("the items of 80,000 stored messages", items_of_a_stored_history),
    ("tokens of 60,000 messages, counted by the upstream", counted_by_the_upstream),
    ("a call retried with a history of 40,000 messages", retried_with_a_history),
    ("1,000 tools with long descriptions", long_descriptions),
    ("a stored text of 20 MB", stored_text),
    ("a long text in the playground", playground),
]
