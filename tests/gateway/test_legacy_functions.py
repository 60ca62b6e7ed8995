"""Legacy clients: they send `functions` and read `function_call`, whole and streamed."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest

from tests.gateway.running import WIRES, Running, config, run, serving
from tests.gateway.scripts import WEATHER, calls, in_turn, text, weather
from tests.gateway.upstream_server import upstream_server
from toolglot.core.interfaces import ResponseContext
from toolglot.core.reply import Reply
from toolglot.wires.openai_chat import WIRE

FUNCTIONS: Any = [{"name": WEATHER.name, "description": WEATHER.description, "parameters": WEATHER.schema}]
QUESTION: Any = {"role": "user", "content": "Weather in Paris?"}
PARIS, OSLO = weather({"city": "Paris"}), weather({"city": "Oslo"}, id="call_2")


async def chat(gateway: Running, wire: str, messages: list[Any], *, stream: bool) -> tuple[Any, str]:
    """The message as the SDK returns it, and the finish reason."""
    sent: Any = {"model": f"{wire}/m", "messages": messages, "functions": FUNCTIONS}
    async with openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="x", max_retries=0) as client:
        if not stream:
            choice = (await client.chat.completions.create(**sent)).choices[0]
            return choice.message.model_dump(exclude_none=True), choice.finish_reason
        message: dict[str, Any] = {"role": "assistant"}
        async for chunk in await client.chat.completions.create(stream=True, **sent):
            [choice] = chunk.choices
            assert choice.delta.tool_calls is None
            if choice.delta.content:
                message["content"] = message.get("content", "") + choice.delta.content
            if choice.delta.function_call is not None:
                call = message.setdefault("function_call", {"name": "", "arguments": ""})
                call["name"] += choice.delta.function_call.name or ""
                call["arguments"] += choice.delta.function_call.arguments or ""
        return message, choice.finish_reason


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("wire", WIRES)
def test_a_conversation(wire: str, stream: bool) -> None:
    async def test() -> None:
        async with (
            upstream_server(in_turn(calls(PARIS, OSLO, words="Let me look."), text("18C"))) as upstream,
            serving(config(upstream, wire)) as gateway,
        ):
            first, reason = await chat(gateway, wire, [QUESTION], stream=stream)
            assert reason == "function_call"
            assert "tool_calls" not in first
            assert first["content"] == "Let me look."
            assert first["function_call"]["name"] == "get_weather"
            assert json.loads(first["function_call"]["arguments"]) == {"city": "Paris"}
            [record] = gateway.gateway.records.recent()
            assert [one.code for one in record.decisions] == ["rejected_choice"]  # of the second call

            result = {"role": "function", "name": "get_weather", "content": "18C"}
            last, reason = await chat(gateway, wire, [QUESTION, first, result], stream=stream)
            assert (last["content"], reason) == ("18C", "stop")
            if wire == "openai-chat":
                _, call_message, result_message = upstream.requests[-1].body["messages"]
                assert result_message == {"role": "tool", "tool_call_id": call_message["tool_calls"][0]["id"], "content": "18C"}
                assert upstream.requests[-1].body["parallel_tool_calls"] is False

    run(test())


def test_tools_win_over_functions() -> None:
    async def test() -> None:
        async with (
            upstream_server(in_turn(calls(PARIS, OSLO))) as upstream,
            serving(config(upstream, "openai-chat")) as gateway,
        ):
            tools = [{"type": "function", "function": {"name": "other"}}]
            sent = {"model": "openai-chat/m", "messages": [QUESTION], "functions": FUNCTIONS, "tools": tools}
            _, body, _ = await gateway.ask("POST", "/v1/chat/completions", sent)
            assert len(body["choices"][0]["message"]["tool_calls"]) == 2

    run(test())


def test_only_one_call_fits_the_legacy_format() -> None:
    """If nothing else limits the calls."""
    request = WIRE.read_request({"model": "m", "messages": [QUESTION], "functions": FUNCTIONS})
    reply: Reply = calls(PARIS, OSLO)
    notes: list[str] = []
    [choice] = WIRE.write_reply(reply, ResponseContext(request=request), notes)["choices"]
    assert json.loads(choice["message"]["function_call"]["arguments"]) == {"city": "Paris"}
    assert notes == ["call of get_weather: a request with functions allows one call; left out"]
