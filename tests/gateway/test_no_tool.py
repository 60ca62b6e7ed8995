"""Constrained mode through the gateway: after `no_tool` a text answer is requested; usage is the sum of both."""

from __future__ import annotations

import pytest

from tests.gateway.running import config, run, serving
from tests.gateway.scripts import in_turn, question, text
from tests.gateway.upstream_server import upstream_server

NO_TOOL = text('[{"name": "no_tool"}]')
CALL = text('[{"name": "get_weather", "arguments": {"city": "Paris"}}]')


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("upstream", ["openai-chat", "openai-responses"])
def test_no_tool_is_followed_by_a_text_answer(stream: bool, upstream: str) -> None:
    async def work() -> None:
        async with (
            upstream_server(in_turn(NO_TOOL)) as up,
            serving(config(up, "openai-chat", "openai-responses", route='ask = "constrained"')) as gateway,
        ):
            up.play = in_turn(NO_TOOL, text("Hello ", "there."))
            reply = await gateway.reply("anthropic", question("anthropic", f"{upstream}/m"), stream=stream)
            assert (reply.text, reply.calls, reply.stop and reply.stop.reason) == ("Hello there.", [], "stop")
            assert reply.usage is not None
            assert (reply.usage.input, reply.usage.output) == (20, 10)
            first, second = up.requests
            assert "no_tool" in str(first.body)
            assert "no_tool" not in str(second.body)
            assert second.streams is stream

    run(work())


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_needs_no_second_request(stream: bool) -> None:
    async def work() -> None:
        async with (
            upstream_server(in_turn(CALL)) as up,
            serving(config(up, "openai-chat", "openai-responses", route='ask = "constrained"')) as gateway,
        ):
            reply = await gateway.reply("openai-chat", question("openai-chat", "openai-chat/m"), stream=stream)
            assert [call.arguments for call in reply.calls] == [{"city": "Paris"}]
            assert len(up.requests) == 1

    run(work())
