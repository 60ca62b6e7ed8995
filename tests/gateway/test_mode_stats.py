"""Outcomes per model and server are counted and choose the tool mode."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gateway.running import request_of, run, serving
from tests.gateway.scripts import in_turn, question
from tests.gateway.upstream_server import Upstream, upstream_server
from toolglot.client.mode_stats import ModeStats, was_good
from toolglot.core.messages import Text, ToolCall
from toolglot.core.reply import Reply, Stop
from toolglot.gateway.config import Config, read_config

GOOD = Reply("r", "m", (ToolCall("c1", "get_weather", '{"city":"Rome"}'),), Stop("calls"))
BAD = Reply("r", "m", (ToolCall("c1", "launch", "{}"),), Stop("calls"))
WORDS = Reply("r", "m", (Text("Sunny."),), Stop("stop"))
TAGGED = Reply("r", "m", (Text('~~~tool_call\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n~~~'),), Stop("stop"))


def behind(up: Upstream, provider: str = "vllm") -> Config:
    return read_config(
        f'[server]\ndetect = false\n[[upstream]]\nname = "v"\nprovider = "{provider}"\nbase_url = "{up.url}"\napi_key = "k"\n'
        '[[route]]\nmodel = "*"\nto = "v/m"\n'
    )


def counts() -> list[dict[str, tuple[int, int]]]:
    return [entry.tool_modes for entry in ModeStats().entries()]


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOOLGLOT_REMEMBER", raising=False)
    monkeypatch.setenv("TOOLGLOT_CACHE", str(tmp_path))


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("stream", [False, True])
def test_outcomes_are_counted_and_choose_the_tool_mode(stream: bool) -> None:
    async def work() -> None:
        async with upstream_server(in_turn(GOOD, WORDS, BAD)) as up:
            async with serving(behind(up)) as gateway:
                path, sent = request_of("openai-chat", question("openai-chat", "m"), stream=stream)
                for _ in range(3):
                    assert (await gateway.ask("POST", path, sent))[0] == 200
            assert counts() == [{"native": (2, 1)}]  # a text reply does not count

            stats = ModeStats()
            (entry,) = stats.entries()
            for _ in range(8):
                stats.note(entry.server, "m", "native", False)
                stats.note(entry.server, "m", "dialect:tagged", True)
            stats.flush()
            up.requests.clear()
            up.play = in_turn(TAGGED)
            async with serving(behind(up)) as gateway:
                assert (await gateway.ask("POST", path, sent))[0] == 200
            assert "tools" not in up.requests[-1].body
            assert "~~~tool_call" in up.requests[-1].body["messages"][0]["content"]
            assert counts()[0]["dialect:tagged"] == (9, 9)

    run(work())


@pytest.mark.usefixtures("memory")
def test_hosted_apis_are_not_counted() -> None:
    async def work() -> None:
        async with upstream_server(in_turn(GOOD)) as up, serving(behind(up, "openai")) as gateway:
            path, sent = request_of("openai-chat", question("openai-chat", "m"), stream=False)
            await gateway.ask("POST", path, sent)
        assert counts() == []

    run(work())


def test_disabled_by_the_environment() -> None:
    async def work() -> None:
        async with upstream_server(in_turn(GOOD)) as up, serving(behind(up)) as gateway:
            path, sent = request_of("openai-chat", question("openai-chat", "m"), stream=False)
            await gateway.ask("POST", path, sent)
            assert gateway.gateway.mode_stats.entries() == ()

    run(work())


@pytest.mark.parametrize(
    ("calls", "codes", "good"),
    [
        (1, [], True),
        (1, ["coerced_type"], True),
        (0, [], None),
        (0, ["missing_call"], False),
        (1, ["rejected_schema"], False),
        (0, ["rejected_ungrounded"], None),  # valid format, wrong content
        (1, ["rejected_repeat"], True),
    ],
)
def test_outcomes_of_a_reply(calls: int, codes: list[str], good: bool | None) -> None:
    assert was_good(calls, codes) is good
