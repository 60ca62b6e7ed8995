"""Tools whose schemas can't be compiled completely: `[server] schemas` decides what happens to their calls."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.gateway.running import config, request_of, run, serving
from tests.gateway.scripts import calls, in_turn, question, text, weather
from tests.gateway.upstream_server import upstream_server
from toolglot.pipeline.response import validate_calls
from toolglot.pipeline.response.call_validator import validate_call
from toolglot.pipeline.response.response_pipeline import ResponsePipeline

PATHS = {"type": "object", "properties": {"path": {"type": "string", "pattern": r"^(?>[a-z]+)\.txt$"}}}
TOOLS = [
    {"type": "function", "function": {"name": "read", "parameters": PATHS}},
    {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}},
]
READ = weather({"path": "../../etc/passwd"}, name="read", id="call_read")
WEATHER = weather({"city": "Paris"}, id="call_weather")


def _question() -> dict[str, Any]:
    return {**question("openai-chat", "openai-chat/m"), "tools": TOOLS}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("schemas", "names", "code"),
    [
        ("reject", ["get_weather"], "rejected_unsupported_keyword"),
        ("lenient", ["read", "get_weather"], "unsupported_keyword"),
    ],
)
def test_calls_of_a_tool_with_an_unsupported_keyword(schemas: str, names: list[str], code: str, stream: bool) -> None:
    async def work() -> None:
        configuration = f'schemas = "{schemas}"\nrecord = true'
        async with (
            upstream_server(in_turn(calls(READ, WEATHER))) as up,
            serving(config(up, server=configuration, route="retries = 0")) as gateway,
        ):
            reply = await gateway.reply("openai-chat", _question(), stream=stream)
            assert [call.name for call in reply.calls] == names
            [decision] = gateway.gateway.records.recent()[0].decisions
            assert decision.code == code
            assert "properties.path.pattern" in (decision.message or "")

    run(work())


def test_strict_answers_400_when_the_tools_arrive() -> None:
    async def work() -> None:
        async with (
            upstream_server(in_turn(text("no"))) as up,
            serving(config(up, server='schemas = "strict"')) as gateway,
        ):
            path, body = request_of("openai-chat", _question(), stream=False)
            status, answer, _ = await gateway.ask("POST", path, body)
            assert status == 400
            assert "the schema of read can't be compiled: properties.path.pattern" in answer["error"]["message"]
            assert not up.requests

    run(work())


@pytest.mark.parametrize("stream", [False, True])
def test_a_long_call_is_validated_in_a_worker_thread(stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []

    def noted(*args: Any, **options: Any) -> Any:
        threads.append(threading.current_thread().name)
        return validate_call(*args, **options)

    monkeypatch.setattr(validate_calls, "validate_call", noted)

    async def work() -> None:
        async with upstream_server(in_turn(text(""))) as up, serving(config(up)) as gateway:
            for length, in_worker in ((10, False), (100_000, True)):
                up.play, threads[:] = in_turn(calls(weather({"city": "x" * length}))), []
                reply = await gateway.reply("openai-chat", _question(), stream=stream)
                assert len(reply.calls[0].arguments["city"]) == length
                assert [name.startswith("toolglot-worker") for name in threads] == [in_worker]

    run(work())


@pytest.mark.parametrize("stream", [False, True])
def test_in_a_long_conversation_only_calls_in_text_go_to_a_worker(stream: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be quoted, so the conversation is searched. A native call is not."""
    threads: list[str] = []

    def noted(self: Any, *args: Any, **options: Any) -> Any:
        threads.append(threading.current_thread().name)
        return _validated(self, *args, **options)

    _validated = ResponsePipeline.feed
    monkeypatch.setattr(ResponsePipeline, "feed", noted)
    written = '<tool_call>{"name": "get_weather", "arguments": {"city": "Bern"}}</tool_call>'

    async def work() -> None:
        async with upstream_server(in_turn(text(""))) as up, serving(config(up)) as gateway:
            for reply, in_worker in ((calls(weather({"city": "Bern"})), False), (text(written), True), (text("No."), False)):
                up.play, threads[:] = in_turn(reply), []
                asked = {**_question(), "messages": [{"role": "user", "content": "Hot? " * 4000}]}
                await gateway.reply("openai-chat", asked, stream=stream)
                assert any(name.startswith("toolglot-worker") for name in threads) == in_worker, reply

    run(work())
