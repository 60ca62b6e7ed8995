"""Route options that decide how much of a reply is searched for calls."""

from __future__ import annotations

import pytest

from tests.gateway.running import config, request_of, run, serving
from tests.gateway.scripts import calls, in_turn, question, text, weather
from tests.gateway.upstream_server import upstream_server

MARKED = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
WEAK = '```json\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n```'


@pytest.mark.parametrize(
    ("route", "model", "weak", "marked"),
    [
        ("", "m", True, True),  # an unknown model may write anything
        ("", "gpt-5", False, True),  # it is only served with native calls
        ("weak_forms = true", "gpt-5", True, True),
        ("weak_forms = false", "m", False, True),
        ('calls = "off"', "m", False, False),
    ],
)
def test_which_forms_are_read(route: str, model: str, weak: bool, marked: bool) -> None:
    async def work() -> None:
        for written, expected in ((WEAK, weak), (MARKED, marked)):
            async with upstream_server(in_turn(text(written))) as up, serving(config(up, route=route)) as gateway:
                reply = await gateway.reply("openai-chat", question("openai-chat", f"openai-chat/{model}"), stream=False)
                assert bool(reply.calls) is expected
                assert expected or reply.text == written

    run(work())


@pytest.mark.parametrize("stream", [False, True])
def test_off_passes_native_calls_unchanged(stream: bool) -> None:
    async def work() -> None:
        wrong = calls(weather({"town": "Paris"}, id="call_1"))
        async with upstream_server(in_turn(wrong)) as up, serving(config(up, route='calls = "off"')) as gateway:
            reply = await gateway.reply("openai-chat", question("openai-chat", "openai-chat/m"), stream=stream)
            assert [(call.id, call.arguments) for call in reply.calls] == [("call_1", {"town": "Paris"})]
            assert len(up.requests) == 1

    run(work())


@pytest.mark.parametrize(("option", "told"), [("loop_limit = 3", True), ("", False)])
def test_a_model_that_repeats_a_call_is_told_to_stop(option: str, told: bool) -> None:
    async def work() -> None:
        asked = question("openai-chat", "openai-chat/m")
        for number in range(3):
            made = {
                "id": f"c{number}",
                "type": "function",
                "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'},
            }
            asked["messages"].append({"role": "assistant", "content": None, "tool_calls": [made]})
            asked["messages"].append({"role": "tool", "tool_call_id": f"c{number}", "content": "timeout"})
        route = 'ask = "native"\n' + option
        async with upstream_server(in_turn(text("It is down."))) as up, serving(config(up, route=route)) as gateway:
            _, _, headers = await gateway.ask("POST", *request_of("openai-chat", asked, stream=False))
            sent = [message["content"] for message in up.requests[0].body["messages"] if message["role"] == "tool"]
        assert sent[:2] == ["timeout", "timeout"]
        assert ("called get_weather 3 times" in sent[2]) is told
        assert ("loop: get_weather" in headers.get("x-toolglot-notes", "")) is told

    run(work())
