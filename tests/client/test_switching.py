"""A model whose native calls fail, on a server that declares tools: the conversation is asked in another way at once."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tests.client.fault_server import FaultServer, fault_server
from tests.client.running import run
from tests.client.test_async_client import FAST, TOOL, chat
from toolglot import AsyncClient, Reply

CHAT = "/v1/chat/completions"
AS_TEXT = '```json\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n```'
ASKED: list[dict[str, Any]] = [{"role": "user", "content": "Weather in Rome?"}]


def client(server: FaultServer) -> AsyncClient:
    return AsyncClient("llamacpp/house", base_url=server.url(""), retries=FAST, detect=False, mode_stats=None)


def answers(server: FaultServer, *replies: bytes) -> None:
    """One after the other."""
    left = list(replies)

    async def send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: FaultServer) -> None:
        writer.write(left.pop(0))
        await writer.drain()
        writer.close()

    server.scripts[CHAT] = send


def sent(server: FaultServer, at: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(server.requests[at].body)
    return found


def with_result(reply: Reply) -> list[dict[str, Any]]:
    """The history as a client of OpenAI's chat API sends it back."""
    (call,) = reply.calls
    function = {"name": call.name, "arguments": call.arguments_json}
    made = {"role": "assistant", "content": None, "tool_calls": [{"id": call.id, "type": "function", "function": function}]}
    return [*ASKED, made, {"role": "tool", "tool_call_id": call.id, "content": "12 degrees"}]


def test_a_call_as_text_switches_the_conversation() -> None:
    async def work() -> None:
        async with fault_server() as server:
            asking = client(server)
            answers(server, chat(AS_TEXT), chat('[{"name": "no_tool"}]'), chat("It is 12 degrees."))
            first = await asking.complete(ASKED, tools=[TOOL])
            assert "tools" in sent(server, -1)
            assert any(note.startswith("tool mode: native: unknown model") for note in first.notes)
            second = await asking.complete(with_result(first), tools=[TOOL])
            body = sent(server, -2)
            assert "tools" not in body
            assert body["response_format"]["type"] == "json_schema"
            assert {message["role"] for message in body["messages"]} == {"system", "user", "assistant"}
            assert "tool_calls" not in json.dumps(body["messages"])
            assert second.text == "It is 12 degrees."
            assert second.notes[0].startswith("tool mode: constrained: a call came as text instead; ")
            await asking.aclose()

    run(work())


def test_a_model_that_repeats_an_answered_call_does_not_loop() -> None:
    """It fills `tool_calls` well, and makes the same call again."""
    function = {"name": "get_weather", "arguments": '{"city":"Rome"}'}
    again = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": f"n{at}", "type": "function", "function": function}]}
        for at in range(2)
    ]
    results = [{"role": "tool", "tool_call_id": f"n{at}", "content": "12 degrees"} for at in range(2)]

    async def work() -> None:
        async with fault_server() as server:
            asking = client(server)
            answers(server, chat("It is 12 degrees."), chat('[{"name": "no_tool"}]'), chat("It is 12 degrees."))
            await asking.complete([*ASKED, again[0], results[0]], tools=[TOOL])
            assert "tools" in sent(server, -1), "one call with its result shows nothing"
            found = await asking.complete([*ASKED, again[0], results[0], again[1], results[1]], tools=[TOOL])
            assert "tools" not in sent(server, -2)
            assert found.notes[0].startswith("tool mode: constrained: a call with a result was made again; ")
            await asking.aclose()

    run(work())
