"""The driver and the tool runner: parallel tools, timeouts, approval, and cleanup when a run is closed early."""

from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

import toolglot
from tests.agent.scripted import HANG, agent, call_reply, error_reply, text_reply
from tests.client.running import run
from toolglot.agent import tool_runner
from toolglot.agent.limits import Limits
from toolglot.agent.record import replay
from toolglot.agent.run import ToolRun
from toolglot.core.messages import ToolCall
from toolglot.schema.from_function import tool


def weather(city: str) -> str:
    """The weather."""
    return f"18C in {city}"


CALL = call_reply(("a", "weather", '{"city":"Rome"}'))


def test_tools_run_side_by_side_but_no_more_than_allowed() -> None:
    running = most = 0

    async def slow(n: int) -> int:
        """Slow."""
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return n * n

    many = call_reply(*((f"c{n}", "slow", f'{{"n":{n}}}') for n in range(20)))
    for limit, seen in ((8, 8), (3, 3)):
        most = 0
        asked, sent = agent(many, text_reply("done"), tools=[slow], parallel=limit)
        assert asked.run_sync("squares").text == "done"
        assert most == seen
        assert [message["content"] for message in sent.tool_results(1)] == [str(n * n) for n in range(20)]


def test_results_come_as_they_end_and_go_back_in_the_calls_order() -> None:
    async def wait(seconds: float) -> float:
        """Waits."""
        await asyncio.sleep(seconds)
        return seconds

    asked, sent = agent(
        call_reply(("a", "wait", '{"seconds":0.05}'), ("b", "wait", '{"seconds":0.0}')), text_reply("ok"), tools=[wait]
    )
    ended: list[str] = []

    async def work() -> None:
        async for event in asked.stream("go"):
            if isinstance(event, ToolRun):
                ended.append(event.call.id)

    run(work())
    assert ended == ["b", "a"]
    assert [message["tool_call_id"] for message in sent.tool_results(1)] == ["a", "b"]


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_tool_that_takes_too_long_is_an_error_and_the_rest_goes_on(kind: str) -> None:
    never = threading.Event()

    @tool(name="stuck", timeout=0.05)
    def stuck_sync() -> str:
        """Never ends."""
        never.wait(30)
        return ""

    @tool(name="stuck", timeout=0.05)
    async def stuck_async() -> str:
        """Never ends."""
        await asyncio.Event().wait()
        return ""

    first = call_reply(("a", "stuck", "{}"), ("b", "weather", '{"city":"Rome"}'))
    asked, sent = agent(first, text_reply("ok"), tools=[stuck_sync if kind == "sync" else stuck_async, weather])
    assert asked.run_sync("go").end == "finished"
    never.set()
    assert "no result within 0.05 seconds" in sent.tool_results(1)[0]["content"]
    assert sent.tool_results(1)[1]["content"] == "18C in Rome"


def test_a_tool_that_ignores_its_cancellation_does_not_block_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_runner, "_CANCEL_TIMEOUT", 0.05)

    async def work() -> None:
        never = asyncio.Event()

        @tool(timeout=0.05)
        async def stubborn() -> str:
            """Stubborn."""
            while not never.is_set():
                try:
                    await never.wait()
                except asyncio.CancelledError:
                    continue
            raise ValueError("too late")

        asked, sent = agent(call_reply(("a", "stubborn", "{}")), text_reply("ok"), tools=[stubborn])
        assert (await asked.run("go")).text == "ok"
        assert "no result within 0.05 seconds" in sent.tool_results(1)[0]["content"]
        never.set()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    run(work())


def test_whatever_a_tool_raises_is_a_result() -> None:
    def raises(kind: str) -> str:
        """Raises."""
        if kind == "cancelled":
            raise asyncio.CancelledError
        if kind == "time":
            raise TimeoutError("the database is slow")
        if kind == "exit":
            raise SystemExit(3)
        if kind == "panic":
            raise BaseException("of Rust's, as extensions raise it")
        raise ValueError("no such town")

    kinds = ["value", "cancelled", "time", "exit", "panic"]
    first = call_reply(*((kind, "raises", f'{{"kind":"{kind}"}}') for kind in kinds))
    asked, sent = agent(first, text_reply("ok"), tools=[raises])
    assert asked.run_sync("go").end == "finished"
    results = [message["content"] for message in sent.tool_results(1)]
    assert results[0] == "Error: ValueError: no such town"
    assert "Cancelled" in results[1]
    assert "the database is slow" in results[2]
    assert all(text.startswith("Error: ") for text in results)


def test_results_of_any_kind() -> None:
    png = b"\x89PNG\r\n\x1a\n" + bytes(8)

    def shot() -> bytes:
        """A picture."""
        return png

    def listed() -> dict[str, Any]:
        """Data."""
        return {"a": [1, None]}

    asked, sent = agent(call_reply(("a", "shot", "{}"), ("b", "listed", "{}")), text_reply("ok"), tools=[shot, listed])
    run = asked.run_sync("go")
    assert sent.tool_results(1)[1]["content"] == '{"a":[1,null]}'
    assert "image_url" in str(sent.sent[1]["messages"][-1])
    assert run.end == "finished"


# -- approval


def test_the_hook_sees_what_was_written_and_what_will_run() -> None:
    seen: list[ToolCall] = []

    def approve(call: ToolCall) -> bool:
        seen.append(call)
        return True

    asked, _ = agent(call_reply(("a", "weather", "{city: 'Rome',}")), text_reply("ok"), tools=[weather], approve=approve)
    asked.run_sync("go")
    assert seen[0].raw == "{city: 'Rome',}"
    assert seen[0].arguments == {"city": "Rome"}
    assert seen[0].fixes


async def _later(answer: Any) -> Any:
    await asyncio.sleep(0)
    return answer


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (True, "18C in Rome"),
        (False, "Error: The call was not allowed."),
        (None, "Error: The call was not allowed."),
        (1, "Error: The call was not allowed."),
        ("not Rome again", "Error: The call was not allowed: not Rome again"),
        (
            ToolCall("zzz", "weather", '{"city":"Oslo"}'),
            'Instead of this call, weather was run with {"city":"Oslo"}.\n18C in Oslo',
        ),
        (ToolCall("a", "weather", '{"town":1}'), "Error: The call was replaced by one that can't be run"),
    ],
)
def test_what_a_hook_may_answer(answer: Any, expected: str, later: bool) -> None:
    hook = (lambda call: _later(answer)) if later else (lambda call: answer)
    asked, sent = agent(CALL, text_reply("ok"), tools=[weather], approve=hook)
    run = asked.run_sync("go")
    assert sent.tool_results(1)[0]["content"].startswith(expected)
    assert sent.tool_results(1)[0]["tool_call_id"] == "a"
    assert run.end == "finished"


def test_a_hook_is_asked_about_one_call_at_a_time_in_order() -> None:
    asked_about: list[str] = []
    busy = False

    async def approve(call: ToolCall) -> bool:
        nonlocal busy
        assert not busy
        busy = True
        await asyncio.sleep(0.001)
        busy = False
        asked_about.append(call.id)
        return True

    many = call_reply(*((f"c{n}", "weather", f'{{"city":"{n}"}}') for n in range(6)))
    asked, _ = agent(many, text_reply("ok"), tools=[weather], approve=approve)
    asked.run_sync("go")
    assert asked_about == [f"c{n}" for n in range(6)]


def test_an_error_of_the_hook_is_the_callers(tmp_path: Path) -> None:
    def approve(call: ToolCall) -> bool:
        raise KeyError("policy")

    record = tmp_path / "runs.jsonl"
    asked, sent = agent(CALL, tools=[weather], approve=approve, record=record)
    with pytest.raises(KeyError, match="policy"):
        asked.run_sync("go")
    assert len(sent.sent) == 1
    assert replay(record).why == "the program raised KeyError"


@pytest.mark.parametrize("limits", [Limits(), Limits(seconds=50)])
def test_time_that_runs_out_in_the_hook_is_not_the_runs(limits: Limits) -> None:
    async def approve(call: ToolCall) -> bool:
        raise TimeoutError("no answer")

    asked, _ = agent(CALL, tools=[weather], approve=approve, limits=limits)
    with pytest.raises(TimeoutError, match="no answer"):
        asked.run_sync("go")


# -- limits and faults


def test_the_time_limit_ends_a_stalled_reply() -> None:
    asked, sent = agent([*text_reply("Well")[:2], HANG], tools=[weather], limits=Limits(seconds=1.5))
    run = asked.run_sync("go")
    assert (run.end, run.why) == ("time", "the limit of 1.5 seconds is reached")
    assert run.messages[-1] == {"role": "assistant", "content": "Well"}
    assert sent.answers[0].closed


def test_time_ends_tools_and_keeps_what_is_done() -> None:
    async def forever() -> str:
        """Never ends."""
        await asyncio.Event().wait()
        return ""

    first = call_reply(("a", "weather", '{"city":"Rome"}'), ("b", "forever", "{}"))
    asked, _ = agent(first, tools=[weather, forever], limits=Limits(seconds=2))
    run = asked.run_sync("go")
    assert run.end == "time"
    assert run.messages[-2]["content"] == "18C in Rome"
    assert run.messages[-1]["content"].startswith("Error: Interrupted")


def test_a_provider_that_fails_at_once_is_raised_and_later_is_the_end() -> None:
    asked, _ = agent(error_reply(500, "overloaded"), tools=[weather])
    with pytest.raises(toolglot.UpstreamError, match="overloaded"):
        asked.run_sync("go")
    asked, _ = agent(CALL, error_reply(500, "overloaded"), tools=[weather])
    run = asked.run_sync("go")
    assert (run.end, run.why) == ("failed", "the request to the model failed: overloaded")
    assert run.error is not None
    assert run.messages[-1]["content"] == "18C in Rome"


def test_an_interrupted_answer_ends_the_run_with_its_text() -> None:
    asked, _ = agent([*text_reply("It is|mild")[:3], b'data: {"error": {"message": "boom", "code": 500}}\n\n'], tools=[weather])
    run = asked.run_sync("go")
    assert (run.end, run.text) == ("failed", "It ismild")
    assert "boom" in run.why


# -- leaving


def test_cancelling_ends_tools_and_leaves_no_task() -> None:
    begun: list[str] = []
    ended: list[str] = []

    async def forever(name: str) -> str:
        """Never ends."""
        begun.append(name)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)
        return ""

    asked, sent = agent(call_reply(("a", "forever", '{"name":"x"}'), ("b", "forever", '{"name":"y"}')), tools=[forever])

    async def work() -> None:
        task = asyncio.create_task(asked.run("go"))
        while len(begun) < 2:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(work())
    assert sorted(ended) == ["x", "y"]
    assert sent.answers[0].closed


def test_cancelling_closes_the_upstream() -> None:
    asked, sent = agent([*text_reply("Well")[:2], HANG], tools=[weather])

    async def work() -> None:
        task = asyncio.create_task(asked.run("go"))
        while not sent.answers or not sent.answers[0].hangs:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(work())
    assert sent.answers[0].closed


@pytest.mark.parametrize("at", range(9))
def test_a_stream_left_anywhere_leaves_nothing(at: int) -> None:
    asked, sent = agent(
        call_reply(("a", "weather", '{"city":"Rome"}'), ("b", "weather", '{"city":"Oslo"}')),
        text_reply("a|b|c"),
        tools=[weather],
    )

    async def work() -> None:
        stream = asked.stream("go")
        async with aclosing(stream):
            for _ in range(at):
                await anext(stream)
        if at:
            assert stream.run.end == "stopped"

    run(work())
    assert all(answer.closed for answer in sent.answers)
