"""A refused call goes back to the model with the reason, before the client sees anything of it."""

from __future__ import annotations

import msgspec
import pytest

from tests.gateway.running import WIRES, config, request_of, run, serving
from tests.gateway.scripts import calls, in_turn, question, said, text, weather
from tests.gateway.upstream_server import Asked, Said, streamed, upstream_server, whole

GOOD = weather({"city": "Paris"}, id="call_good")
BAD = weather({"town": "Paris"}, id="call_bad")


@pytest.mark.parametrize("stream", [False, True])
def test_a_bad_call_is_put_right(stream: bool) -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text(""))) as up, serving(config(up)) as gateway:
            for upstream in WIRES:
                right = calls(weather({"city": "Paris"}, id="call_2"), words="Sorry!")
                up.play, up.asked = in_turn(calls(BAD, words="Let me look."), right), []
                reply = await gateway.reply("openai-chat", question("openai-chat", f"{upstream}/m"), stream=stream)
                assert [(call.name, call.arguments) for call in reply.calls] == [("get_weather", {"city": "Paris"})]
                assert reply.text == "Let me look."  # of the second reply only the call is taken
                assert reply.stop is not None
                assert reply.stop.reason == "calls"
                if not stream:
                    assert reply.usage is not None
                    assert (reply.usage.input, reply.usage.output) == (20, 10)
                assert len(up.asked) == 2
                assert "city" in str(up.asked[1].body)
                assert "get_weather" in str(up.asked[1].body)
                record = gateway.gateway.records.recent()[0]
                assert record.mended == 1
                assert [one.code for one in record.decisions] == ["rejected_schema", "mended_call"]

    run(work())


@pytest.mark.parametrize("stream", [False, True])
def test_where_one_call_is_wanted_no_more_is_asked_for(stream: bool) -> None:
    async def work() -> None:
        rome, oslo = weather({"city": "Rome"}, id="call_3"), weather({"city": "Oslo"}, id="call_4")
        async with upstream_server(in_turn(text(""))) as up, serving(config(up, route="mend = 2")) as gateway:
            for upstream in WIRES:
                sent = {**question("openai-chat", f"{upstream}/m"), "parallel_tool_calls": False}
                for first, asked in ((calls(GOOD, rome), 1), (calls(BAD, GOOD), 1), (calls(BAD, BAD), 2)):
                    up.play, up.asked = in_turn(first, calls(GOOD, oslo)), []
                    reply = await gateway.reply("openai-chat", sent, stream=stream)
                    assert [call.arguments for call in reply.calls] == [{"city": "Paris"}]
                    assert len(up.asked) == asked

    run(work())


MALFORMED = {
    "candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Malformed function call: print(get_weather"}],
    "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5},
}


@pytest.mark.parametrize("client", WIRES)
@pytest.mark.parametrize("stream", [False, True])
def test_a_call_that_gemini_could_not_read_itself_is_put_right_or_told(client: str, stream: bool) -> None:
    def malformed(asked: Asked) -> Said:
        return (
            streamed("gemini", b"data: " + msgspec.json.encode(MALFORMED) + b"\r\n\r\n") if asked.streams else whole(MALFORMED)
        )

    async def work() -> None:
        async with upstream_server(malformed) as up, serving(config(up)) as gateway:
            sent = question(client, "gemini/m")
            reply = await gateway.reply(client, sent, stream=stream)
            assert (reply.calls, reply.stop and reply.stop.reason) == ([], "stop")
            assert "print(get_weather" in reply.text
            up.play = lambda asked: said(asked, calls(GOOD)) if len(up.asked) % 2 == 0 else malformed(asked)
            reply = await gateway.reply(client, sent, stream=stream)
            assert ([call.arguments for call in reply.calls], reply.text) == ([{"city": "Paris"}], "")
            assert reply.stop is not None
            assert reply.stop.reason == "calls"
            assert len(up.asked) == 4
            assert "print(get_weather" in str(up.asked[-1].body)

    run(work())


@pytest.mark.parametrize("stream", [False, True])
def test_good_calls_leave_once_and_only_the_missing_one_is_taken(stream: bool) -> None:
    async def work() -> None:
        again = calls(GOOD, weather({"city": "Rome"}, id="call_3"), weather({"city": "Oslo"}, id="call_4"))
        play = in_turn(calls(GOOD, BAD), again)
        async with upstream_server(play) as up, serving(config(up, "anthropic")) as gateway:
            reply = await gateway.reply("anthropic", question("anthropic", "anthropic/m"), stream=stream)
            assert [call.arguments["city"] for call in reply.calls] == ["Paris", "Rome"]
            assert len({call.id for call in reply.calls}) == 2

    run(work())


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_that_stays_wrong_is_left_out_and_named(stream: bool) -> None:
    async def work() -> None:
        async with upstream_server(in_turn(calls(BAD))) as up, serving(config(up, "gemini", route="mend = 2")) as gateway:
            reply = await gateway.reply("openai-responses", question("openai-responses", "gemini/m"), stream=stream)
            assert reply.calls == []
            assert "get_weather" in reply.text
            assert "city" in reply.text
            assert reply.stop is not None
            assert reply.stop.reason == "stop"
            assert len(up.asked) == 3

    run(work())


def test_a_model_that_gives_up_leaves_the_first_reason() -> None:
    async def work() -> None:
        async with upstream_server(in_turn(calls(BAD), text("I can't."))) as up, serving(config(up, "ollama")) as gateway:
            reply = await gateway.reply("ollama", question("ollama", "ollama/m"), stream=True)
            assert reply.calls == []
            assert "I can't" not in reply.text
            assert "city" in reply.text

    run(work())


def test_a_fault_while_mending_is_a_note() -> None:
    async def work() -> None:
        play = in_turn(calls(BAD, words="Look:"), whole({"error": {"message": "down"}}, 503))
        async with upstream_server(play) as up, serving(config(up, "openai-chat")) as gateway:
            path, sent = request_of("openai-chat", question("openai-chat", "openai-chat/m"), stream=False)
            status, held, headers = await gateway.ask("POST", path, sent)
            assert (status, held["choices"][0]["message"]["content"]) == (200, "Look:")
            assert "mending failed" in headers["x-toolglot-notes"]
            assert headers["x-toolglot-decisions"] == "rejected_schema"

    run(work())


def test_calls_that_pass_are_not_mended_and_told_as_they_came() -> None:
    async def work() -> None:
        async with (
            upstream_server(in_turn(calls(BAD))) as up,
            serving(config(up, "anthropic", route='calls = "pass"')) as gateway,
        ):
            reply = await gateway.reply("openai-chat", question("openai-chat", "anthropic/m"), stream=True)
            assert len(up.asked) == 1
            assert [call.arguments for call in reply.calls] == [{"town": "Paris"}]
            assert [call.outcome for call in gateway.gateway.records.recent()[0].calls] == ["refused"]

    run(work())


@pytest.mark.parametrize("choice", ["none", None])
def test_where_calls_are_not_wanted_nothing_is_mended(choice: str | None) -> None:
    async def work() -> None:
        async with upstream_server(in_turn(calls(GOOD))) as up, serving(config(up, "anthropic")) as gateway:
            body = question("openai-chat", "anthropic/m")
            if choice is None:
                del body["tools"]
            else:
                body["tool_choice"] = choice
            reply = await gateway.reply("openai-chat", body, stream=False)
            assert reply.calls == []
            assert len(up.asked) == 1

    run(work())
