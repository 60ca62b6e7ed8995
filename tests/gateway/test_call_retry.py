"""A rejected call goes back to the model with the reason before the client sees any of it."""

from __future__ import annotations

import msgspec
import pytest

from tests.gateway.running import WIRES, config, request_of, run, serving
from tests.gateway.scripts import calls, in_turn, question, response_to, text, weather
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, streamed, upstream_server, whole
from toolglot.gateway.config import read_config

GOOD = weather({"city": "Paris"}, id="call_good")
BAD = weather({"town": "Paris"}, id="call_bad")


@pytest.mark.parametrize("stream", [False, True])
def test_a_bad_call_is_repaired_by_a_retry(stream: bool) -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text(""))) as up, serving(config(up)) as gateway:
            for upstream in WIRES:
                right = calls(weather({"city": "Paris"}, id="call_2"), words="Sorry!")
                up.play, up.requests = in_turn(calls(BAD, words="Let me look."), right), []
                reply = await gateway.reply("openai-chat", question("openai-chat", f"{upstream}/m"), stream=stream)
                assert [(call.name, call.arguments) for call in reply.calls] == [("get_weather", {"city": "Paris"})]
                assert reply.text == "Let me look."  # only the call of the second reply is used
                assert reply.stop is not None
                assert reply.stop.reason == "calls"
                if not stream:
                    assert reply.usage is not None
                    assert (reply.usage.input, reply.usage.output) == (20, 10)
                assert len(up.requests) == 2
                assert "city" in str(up.requests[1].body)
                assert "get_weather" in str(up.requests[1].body)
                record = gateway.gateway.records.recent()[0]
                assert record.retried == 1
                assert [one.code for one in record.decisions] == ["rejected_schema", "retried_call"]

    run(work())


@pytest.mark.parametrize("stream", [False, True])
def test_without_parallel_calls_one_good_call_is_enough(stream: bool) -> None:
    async def work() -> None:
        rome, oslo = weather({"city": "Rome"}, id="call_3"), weather({"city": "Oslo"}, id="call_4")
        async with upstream_server(in_turn(text(""))) as up, serving(config(up, route="retries = 2")) as gateway:
            for upstream in WIRES:
                sent = {**question("openai-chat", f"{upstream}/m"), "parallel_tool_calls": False}
                for first, expected in ((calls(GOOD, rome), 1), (calls(BAD, GOOD), 1), (calls(BAD, BAD), 2)):
                    up.play, up.requests = in_turn(first, calls(GOOD, oslo)), []
                    reply = await gateway.reply("openai-chat", sent, stream=stream)
                    assert [call.arguments for call in reply.calls] == [{"city": "Paris"}]
                    assert len(up.requests) == expected

    run(work())


MALFORMED = {
    "candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Malformed function call: print(get_weather"}],
    "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5},
}


@pytest.mark.parametrize("client", WIRES)
@pytest.mark.parametrize("stream", [False, True])
def test_a_malformed_gemini_call_is_retried_or_reported(client: str, stream: bool) -> None:
    def malformed(request: UpstreamRequest) -> UpstreamResponse:
        return (
            streamed("gemini", b"data: " + msgspec.json.encode(MALFORMED) + b"\r\n\r\n")
            if request.streams
            else whole(MALFORMED)
        )

    async def work() -> None:
        async with upstream_server(malformed) as up, serving(config(up)) as gateway:
            sent = question(client, "gemini/m")
            reply = await gateway.reply(client, sent, stream=stream)
            assert (reply.calls, reply.stop and reply.stop.reason) == ([], "stop")
            assert "print(get_weather" in reply.text
            up.play = lambda request: response_to(request, calls(GOOD)) if len(up.requests) % 2 == 0 else malformed(request)
            reply = await gateway.reply(client, sent, stream=stream)
            assert ([call.arguments for call in reply.calls], reply.text) == ([{"city": "Paris"}], "")
            assert reply.stop is not None
            assert reply.stop.reason == "calls"
            assert len(up.requests) == 4
            assert "print(get_weather" in str(up.requests[-1].body)

    run(work())


@pytest.mark.parametrize("stream", [False, True])
def test_good_calls_are_sent_once_and_a_retry_adds_only_the_missing_one(stream: bool) -> None:
    async def work() -> None:
        again = calls(GOOD, weather({"city": "Rome"}, id="call_3"), weather({"city": "Oslo"}, id="call_4"))
        play = in_turn(calls(GOOD, BAD), again)
        async with upstream_server(play) as up, serving(config(up, "anthropic")) as gateway:
            reply = await gateway.reply("anthropic", question("anthropic", "anthropic/m"), stream=stream)
            assert [call.arguments["city"] for call in reply.calls] == ["Paris", "Rome"]
            assert len({call.id for call in reply.calls}) == 2

    run(work())


@pytest.mark.parametrize("stream", [False, True])
def test_a_call_that_stays_invalid_is_dropped_and_reported(stream: bool) -> None:
    async def work() -> None:
        async with upstream_server(in_turn(calls(BAD))) as up, serving(config(up, "gemini", route="retries = 2")) as gateway:
            reply = await gateway.reply("openai-responses", question("openai-responses", "gemini/m"), stream=stream)
            assert reply.calls == []
            assert "get_weather" in reply.text
            assert "city" in reply.text
            assert reply.stop is not None
            assert reply.stop.reason == "stop"
            assert len(up.requests) == 3

    run(work())


def test_a_retry_without_a_call_keeps_the_first_reason() -> None:
    async def work() -> None:
        async with upstream_server(in_turn(calls(BAD), text("I can't."))) as up, serving(config(up, "ollama")) as gateway:
            reply = await gateway.reply("ollama", question("ollama", "ollama/m"), stream=True)
            assert reply.calls == []
            assert "I can't" not in reply.text
            assert "city" in reply.text

    run(work())


def test_a_failed_retry_is_a_note() -> None:
    async def work() -> None:
        play = in_turn(calls(BAD, words="Look:"), whole({"error": {"message": "down"}}, 503))
        async with upstream_server(play) as up, serving(config(up, "openai-chat")) as gateway:
            path, sent = request_of("openai-chat", question("openai-chat", "openai-chat/m"), stream=False)
            status, body, headers = await gateway.ask("POST", path, sent)
            assert (status, body["choices"][0]["message"]["content"]) == (200, "Look:")
            assert "retry failed: 503" in headers["x-toolglot-notes"]
            assert headers["x-toolglot-decisions"] == "rejected_schema"

    run(work())


def test_pass_mode_sends_calls_unchanged_and_never_retries() -> None:
    async def work() -> None:
        async with (
            upstream_server(in_turn(calls(BAD))) as up,
            serving(config(up, "anthropic", route='calls = "pass"')) as gateway,
        ):
            reply = await gateway.reply("openai-chat", question("openai-chat", "anthropic/m"), stream=True)
            assert len(up.requests) == 1
            assert [call.arguments for call in reply.calls] == [{"town": "Paris"}]
            assert [call.outcome for call in gateway.gateway.records.recent()[0].calls] == ["refused"]

    run(work())


@pytest.mark.parametrize("choice", ["none", None])
def test_no_retry_where_calls_are_not_allowed(choice: str | None) -> None:
    async def work() -> None:
        async with upstream_server(in_turn(calls(GOOD))) as up, serving(config(up, "anthropic")) as gateway:
            body = question("openai-chat", "anthropic/m")
            if choice is None:
                del body["tools"]
            else:
                body["tool_choice"] = choice
            reply = await gateway.reply("openai-chat", body, stream=False)
            assert reply.calls == []
            assert len(up.requests) == 1

    run(work())


CHOICES = ("required", {"type": "function", "function": {"name": "get_weather"}})


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("provider", ["vllm", "ollama", "llamacpp"])
def test_words_where_a_call_is_required_are_answered_by_a_retry_under_a_schema(provider: str, *, stream: bool) -> None:
    def play(request: UpstreamRequest) -> UpstreamResponse:
        is_constrained = "response_format" in request.body
        answer = '[{"name": "get_weather", "arguments": {"city": "Paris"}}]' if is_constrained else "It is sunny."
        return response_to(request, text(answer))

    async def work() -> None:
        async with upstream_server(play) as up:
            configuration = read_config(
                f'[server]\nport = 0\ndetect = false\n[[upstream]]\nname = "u"\nprovider = "{provider}"\n'
                f'base_url = "{up.url}"\n'
                '[[route]]\nmodel = "*"\nto = "u/qwen3:8b"\n'
            )
            async with serving(configuration) as gateway:
                for choice in CHOICES:
                    up.requests = []
                    sent = {**question("openai-chat", "m"), "tool_choice": choice}
                    reply = await gateway.reply("openai-chat", sent, stream=stream)
                    assert [(call.name, call.arguments) for call in reply.calls] == [("get_weather", {"city": "Paris"})]
                    assert reply.stop is not None
                    assert reply.stop.reason == "calls"
                    assert [one.body.get("tool_choice") for one in up.requests] == [choice, None]
                    assert up.requests[0].body["tools"]

    run(work())
