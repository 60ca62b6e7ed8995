"""`Agent` as its users see it: on the embedded model, and on scripted providers."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import toolglot
from tests.agent.scripted import Scripted, agent, call_reply, text_reply
from tests.client.running import run
from toolglot.agent.agent import Agent
from toolglot.agent.limits import Limits
from toolglot.agent.loop import AskModel, Done, Loop, RunTools
from toolglot.agent.record import replay
from toolglot.agent.run import ToolRun
from toolglot.agent.runnable import Context
from toolglot.core.events import Delta, Finish, Start
from toolglot.core.fold import fold
from toolglot.core.messages import Text, ToolResult
from toolglot.errors import CallerError
from toolglot.schema.from_function import tool


def weather(city: str) -> str:
    """The weather in a city now.

    Args:
        city: The city's name.
    """
    return f"18 degrees and clear in {city}"


def hello() -> str:
    """Says hello."""
    return "hello"


def add(a: int, b: int) -> int:
    """Adds two whole numbers."""
    return a + b


CALL = call_reply(("a", "weather", '{"city":"Rome"}'))


def test_the_embedded_model_calls_a_tool_and_gets_its_result(smollm2_path: Path, tmp_path: Path) -> None:
    record = tmp_path / "runs.jsonl"
    agent = Agent(
        "local/smollm2", [weather, add], tool_choice="required", temperature=0, max_tokens=40, max_turns=2, record=record
    )
    first, second = (agent.run_sync("What is the weather in Paris?") for _ in range(2))
    assert (first.calls[0].name, first.calls[0].arguments) == ("weather", {"city": "Paris"})
    assert first.messages[2]["content"] == "18 degrees and clear in Paris"
    assert first.turns == 2
    assert [message["role"] for message in first.messages] == [message["role"] for message in second.messages]
    assert first.text == second.text
    assert (first.end, first.why) == (second.end, second.why)
    assert first.usage is not None
    assert replay(record, first.id) == first


def test_hello_world_is_short() -> None:
    asked, sent = agent(CALL, text_reply("Mild."), tools=[weather])
    run = asked.run_sync("Weather in Rome?")
    assert (run.text, run.end) == ("Mild.", "finished")
    assert [(call.name, call.arguments) for call in run.calls] == [("weather", {"city": "Rome"})]
    assert run.usage == toolglot.Usage(20, 10)
    assert run.id.startswith("run_")
    assert [tool["function"]["name"] for tool in sent.sent[0]["tools"]] == ["weather"]


PROVIDERS = {
    "openai-chat": "openai/gpt-5",
    "openai-responses": "openai-responses/gpt-5",
    "anthropic": "anthropic/claude-opus-5",
    "gemini": "gemini/gemini-2.5-pro",
    "gemini-interactions": "gemini-interactions/gemini-3-pro",
    "ollama": "ollama-cloud/gpt-oss:120b",
}
CONVERSATIONS = Path(__file__).parents[2] / "fixtures" / "conversations"


@pytest.mark.parametrize("wire", PROVIDERS)
def test_a_loop_on_every_wire(wire: str) -> None:
    """The bytes of each API: two calls at once, then text."""
    pieces = [[(CONVERSATIONS / case / f"{wire}.stream").read_bytes()] for case in ("parallel_calls", "plain_text")]
    transport = Scripted(*pieces)
    seen: list[str] = []

    def get_weather(city: str, unit: str = "C") -> str:
        """The weather in a city, now."""
        seen.append(city)
        return f"18C in {city}"

    asked = Agent(PROVIDERS[wire], [get_weather], api_key="k", transport=transport, detect=False)
    run = asked.run_sync("Weather in Paris and Oslo?")
    assert (run.end, sorted(seen)) == ("finished", ["Oslo", "Paris"])
    assert run.text == "Hello! I am a small test model, glad to meet you."
    assert [message["role"] for message in run.messages] == ["user", "assistant", "tool", "tool", "assistant"]
    for city in seen:
        assert f"18C in {city}" in str(transport.sent[1])


def test_the_tools_of_an_mcp_server() -> None:
    server = [sys.executable, str(Path(__file__).parent / "mcp_server.py"), "stdio"]
    asked, sent = agent(
        call_reply(("a", "add", '{"a":2,"b":3}'), ("b", "near__add", '{"a":1}')),
        text_reply("5"),
        tools=[hello],
        mcp=[server, {"server": server, "namespace": "near"}],
    )
    run = asked.run_sync("2 + 3?")
    assert [message["content"] for message in sent.tool_results(1)] == ["5", "2"]
    assert run.text == "5"


def test_streams_hold_the_events_of_all_turns_and_the_runs_of_tools() -> None:
    asked, _ = agent(CALL, text_reply("It is|mild"), tools=[weather])

    async def work() -> None:
        stream = asked.stream("go")
        with pytest.raises(CallerError, match="not over"):
            _ = stream.run
        events = [event async for event in stream]
        kinds = [type(event) for event in events]
        assert kinds.count(Start) == kinds.count(Finish) == 2
        ran = [event for event in events if isinstance(event, ToolRun)]
        assert [(one.call.id, one.result.text, one.error) for one in ran] == [("a", "18 degrees and clear in Rome", None)]
        last = events[kinds.index(ToolRun) + 1 :]
        assert "".join(event.text for event in last if isinstance(event, Delta)) == "It ismild" == stream.run.text

    run(work())


def test_messages_can_be_passed_in_again() -> None:
    asked, sent = agent(CALL, text_reply("Mild."), text_reply("Rome."), text_reply("Yes."), tools=[weather], system="Be brief.")
    first = asked.run_sync("Weather in Rome?")
    second = asked.run_sync([*first.messages, {"role": "user", "content": "Where?"}])
    assert second.text == "Rome."
    third = asked.run_sync((*second.history, toolglot.Message("user", (Text("Sure?"),))))
    assert [message["role"] for message in third.messages] == [
        *("system", "user", "assistant", "tool", "assistant", "user", "assistant", "user", "assistant")
    ]
    assert sent.sent[-1]["messages"] == third.messages[:-1]


def test_options_are_those_of_prepare() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    asked, sent = agent(text_reply("{}"), text_reply("{}"), temperature=0.5, response_schema=schema)
    asked.run_sync("go", temperature=0.1)
    assert sent.sent[0]["temperature"] == 0.1
    assert sent.sent[0]["response_format"]["json_schema"]["schema"] == schema
    asked.run_sync("go")
    assert sent.sent[1]["temperature"] == 0.5


def test_a_required_call_is_required_once() -> None:
    asked, sent = agent(CALL, text_reply("ok"), tools=[weather], tool_choice="required")
    asked.run_sync("go")
    assert sent.sent[0]["tool_choice"] == "required"
    assert "tool_choice" not in sent.sent[1]


def test_a_refused_call_is_mended_by_the_model() -> None:
    asked, sent = agent(call_reply(("a", "weather", '{"town":"Rome"}')), CALL, text_reply("Mild."), tools=[weather])
    run = asked.run_sync("go")
    assert run.text == "Mild."
    assert "rejected_schema" in [one.code for one in run.decisions]
    assert "city" in sent.tool_results(1)[0]["content"]
    assert [call.arguments for call in run.calls] == [{"city": "Rome"}]


def test_tools_see_their_call_and_share_a_state() -> None:
    seen: list[Any] = []

    @tool
    def note(text: str, context: Context) -> int:
        """Notes something."""
        seen.append((context.call.id if context.call else None, len(context.messages)))
        context.state["notes"] = [*context.state.get("notes", []), text]
        return len(context.state["notes"])

    turns = [call_reply((f"n{at}", "note", f'{{"text":"{at}"}}')) for at in range(2)]
    asked, sent = agent(*turns, text_reply("ok"), *turns, text_reply("ok"), tools=[note])
    asked.run_sync("go")
    assert seen == [("n0", 2), ("n1", 4)]
    assert [message["content"] for message in sent.tool_results(2)] == ["1", "2"]
    asked.run_sync("go")
    assert sent.tool_results(5)[0]["content"] == "1"  # each run begins with nothing
    assert "context" not in str(sent.sent[0]["tools"])


def test_run_sync_works_inside_a_running_loop() -> None:
    asked, _ = agent(CALL, text_reply("ok"), tools=[weather])

    async def work() -> None:
        assert asked.run_sync("go").text == "ok"

    run(work())


@pytest.mark.parametrize("runner", ["a notebook's", "asyncio's"])
def test_an_interrupt_inside_a_running_loop_ends_the_run_at_once(runner: str) -> None:
    async def long() -> str:
        """Takes long."""
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()
        return ""

    asked, sent = agent(call_reply(("a", "long", "{}")), text_reply("ok"), tools=[long], timeout=5)

    async def work() -> None:
        asked.run_sync("go")

    with closing(asyncio.new_event_loop()) as loop:
        # asyncio's takes the signal itself, and only cancels the task
        begin = asyncio.run if runner == "asyncio's" else loop.run_until_complete
        with pytest.raises(KeyboardInterrupt):
            begin(work())
    assert len(sent.sent) == 1


def test_runs_at_a_time_do_not_mix() -> None:
    agents = [agent(call_reply((f"c{n}", "add", f'{{"a":{n},"b":1}}')), text_reply(str(n)), tools=[add]) for n in range(5)]

    async def work() -> None:
        runs = await asyncio.gather(*(asked.run(str(n)) for n, (asked, _) in enumerate(agents)))
        assert [run.text for run in runs] == [str(n) for n in range(5)]
        assert [run.messages[2]["content"] for run in runs] == [str(n + 1) for n in range(5)]

    run(work())


def test_an_agent_kept_open_closes_its_client_at_the_end() -> None:
    closed: list[bool] = []

    class Closing(Scripted):
        async def aclose(self) -> None:
            closed.append(True)

    transport = Closing(text_reply("a"), text_reply("b"))

    async def work() -> None:
        async with Agent("openai/gpt-5", api_key="k", transport=transport) as asked:
            assert [(await asked.run("go")).text for _ in range(2)] == ["a", "b"]
            assert closed == []
            with pytest.raises(CallerError, match="open already"):
                await asked.__aenter__()
        assert closed == [True]

    run(work())


def test_what_would_be_sent() -> None:
    asked, sent = agent(tools=[weather], system="Be brief.", temperature=0)

    async def work() -> None:
        call = await asked.prepare("Weather?")
        assert call.url == "https://api.openai.com/v1/chat/completions"
        assert [message["content"] for message in call.body["messages"]] == ["Be brief.", "Weather?"]
        assert call.body["stream"] is True

    run(work())
    assert sent.sent == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"tools": [weather, weather]}, "two tools with the name 'weather'"),
        ({"tools": [{"name": "x"}]}, "only a definition"),
        ({"tools": weather}, "expected a list of tools"),
        ({"tools": "weather"}, "expected a list of tools"),
        ({"max_turns": 0}, "at least once"),
        ({"max_turns": "2"}, "at least once"),
        ({"parallel": 0}, "parallel: expected at least 1"),
        ({"parallel": "2"}, "parallel: expected at least 1"),
        ({"system": 5}, "system: expected a string"),
        ({"limits": 60}, "limits: expected toolglot.Limits"),
        ({"limits": Limits(seconds="9")}, "limits: Expected `float . null`, got `str` - at `seconds`"),  # type: ignore[arg-type]
        ({"limits": Limits(repeats=1)}, "limits.repeats: expected at least 2"),
        ({"limits": Limits(refusals=-1)}, "limits: Expected `int` >= 0 - at `refusals`"),
        ({"limits": Limits(seconds=float("nan"))}, "limits: Expected `float` >= 0.0 - at `seconds`"),
        ({"limits": Limits(tokens=-1)}, "limits: Expected `int` >= 0 - at `tokens`"),
        ({"cache": 60}, "cache: expected a ResultCache"),
        ({"make_id": "run"}, "make_id: expected a function"),
        ({"client": 5}, "client: expected an AsyncClient"),
        ({"aprove": print}, "aprove: there is no such option; did you mean approve"),
        ({"max_turn": 3}, "did you mean max_turns"),
        ({"timeout": 0}, "timeout: expected seconds"),
        ({"record": 3}, "record: expected a file"),
        ({"mcp": 3}, "mcp: expected commands"),
        ({"mcp": [5]}, "mcp: expected an http"),
        ({"mcp": {"url": "http://x"}}, "mcp: unknown option url; the options are server, headers"),
        ({"mcp": {"env": {}}}, "mcp: server is missing"),
        ({"approve": True}, "approve: expected a function"),
        ({"model": "gpt-5"}, "provider/model"),
        ({"model": "opnai/gpt-5"}, "did you mean openai"),
        ({"client": object(), "api_key": "x"}, "api_key: not allowed together with a client"),
    ],
)
def test_wrong_arguments_raise_at_once(options: dict[str, Any], expected: str) -> None:
    with pytest.raises(CallerError, match=expected):
        Agent(**{"model": "openai/gpt-5", **options})


@pytest.mark.parametrize("question", [[], 5, ()])
def test_a_question_that_is_none(question: Any) -> None:
    asked, _ = agent(text_reply("x"))
    with pytest.raises(CallerError):
        asked.run_sync(question)


def test_the_loop_without_the_driver() -> None:
    """A program can drive the loop itself."""
    asked, _ = agent(tools=[weather])
    transport = Scripted(CALL, text_reply("Mild."))
    client = toolglot.AsyncClient("openai/gpt-5", api_key="k", transport=transport)
    loop = Loop(asked.request("Weather in Rome?"), Limits(turns=5))

    async def work() -> str:
        step = loop.next()
        while not isinstance(step, Done):
            if isinstance(step, AskModel):
                step = loop.next(fold([event async for event in client.stream(step.request)]))
            elif isinstance(step, RunTools):
                step = loop.next([ToolResult(call.id, call.name, (Text(weather(**call.arguments)),)) for call in step.calls])
        return step.run.text

    assert asyncio.run(work()) == "Mild."
