"""Results that are given again: which, for how long, and how many."""

from __future__ import annotations

import asyncio

from tests.agent.scripted import agent, call_reply, text_reply
from toolglot.agent.result_cache import ResultCache
from toolglot.agent.run import ToolRun
from toolglot.core.messages import Text, ToolCall, ToolResult
from toolglot.schema.from_function import tool


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def call(arguments: str, call_id: str = "a", name: str = "weather") -> ToolCall:
    return ToolCall(call_id, name, arguments)


def result(text: str, *, is_error: bool = False) -> ToolResult:
    return ToolResult("a", "weather", (Text(text),), is_error)


def test_equal_calls_share_a_result_for_its_lifetime() -> None:
    clock = Clock()
    cache = ResultCache(clock=clock)
    cache.put(call('{"city":"Rome","unit":"C"}'), result("18C"), 10)
    again = cache.get(call('{ "unit": "C", "city": "Rome" }', "b"))
    assert again is not None
    assert (again.call_id, again.text) == ("b", "18C")
    assert cache.get(call('{"city":"Oslo","unit":"C"}')) is None
    assert cache.get(call('{"city":"Rome","unit":"C"}', name="time")) is None
    clock.now += 10
    assert cache.get(call('{"city":"Rome","unit":"C"}')) is None
    assert len(cache) == 0


def test_errors_are_not_kept() -> None:
    cache = ResultCache()
    cache.put(call("{}"), result("down", is_error=True), 10)
    cache.put(call("{}"), result("x"), 0)
    assert len(cache) == 0


def test_what_was_not_used_for_longest_goes_first() -> None:
    cache = ResultCache(2)
    for number in (1, 2):
        cache.put(call(f'{{"n":{number}}}'), result(str(number)), 10)
    cache.get(call('{"n":1}'))
    cache.put(call('{"n":3}'), result("3"), 10)
    kept = [cache.get(call(f'{{"n":{number}}}')) is not None for number in (1, 2, 3)]
    assert kept == [True, False, True]
    cache.clear()
    assert len(cache) == 0


def test_only_tools_that_allow_it_are_answered_from_the_cache() -> None:
    counted = {"kept": 0, "fresh": 0}

    @tool(cache_for=60)
    def kept(n: int) -> int:
        """Kept."""
        counted["kept"] += 1
        return n

    @tool
    def fresh(n: int) -> int:
        """Fresh."""
        counted["fresh"] += 1
        return n

    turns = [call_reply((f"k{at}", "kept", '{"n":1}'), (f"f{at}", "fresh", '{"n":1}')) for at in range(2)]
    asked, _ = agent(*turns, text_reply("ok"), text_reply("ok"), tools=[kept, fresh])
    asked.run_sync("go")
    assert counted == {"kept": 1, "fresh": 2}
    turns = [call_reply((f"k{at}", "kept", '{"n":1}')) for at in range(2)]
    asked, _ = agent(*turns, text_reply("ok"), tools=[kept], cache=None)
    asked.run_sync("go")
    assert counted["kept"] == 3


def test_equal_calls_of_one_turn_are_run_once() -> None:
    counted: list[int] = []

    @tool(cache_for=60)
    async def kept(n: int) -> int:
        """Kept."""
        await asyncio.sleep(0)
        counted.append(n)
        return n

    turn = call_reply(*((f"k{at}", "kept", f'{{"n":{at % 2}}}') for at in range(6)))
    asked, sent = agent(turn, text_reply("ok"), tools=[kept], parallel=3)
    asked.run_sync("go")
    assert sorted(counted) == [0, 1]
    assert [one["content"] for one in sent.tool_results(1)] == ["0", "1"] * 3


def test_a_tool_run_is_marked_as_cached() -> None:
    @tool(cache_for=60)
    def kept() -> str:
        """Kept."""
        return "x"

    asked, _ = agent(call_reply(("a", "kept", "{}")), call_reply(("b", "kept", "{}")), text_reply("ok"), tools=[kept])

    async def work() -> list[bool]:
        return [event.cached async for event in asked.stream("go") if isinstance(event, ToolRun)]

    assert asyncio.run(work()) == [False, True]


def test_equal_calls_of_several_runs_at_a_time_are_run_once() -> None:
    ran: list[int] = []
    waits = asyncio.Event()

    @tool(cache_for=60)
    async def kept(n: int) -> int:
        """Kept."""
        ran.append(n)
        await waits.wait()
        return n

    turns = [call_reply((f"k{at}", "kept", '{"n":1}')) for at in range(2)]
    asked, sent = agent(*turns, text_reply("ok"), text_reply("ok"), tools=[kept])

    async def work() -> None:
        runs = asyncio.gather(asked.run("go"), asked.run("go"))
        while not ran:
            await asyncio.sleep(0)
        for _ in range(20):  # the other one comes to its call, too
            await asyncio.sleep(0)
        waits.set()
        await runs

    asyncio.run(work())
    assert ran == [1]
    assert [sent.tool_results(at)[0]["content"] for at in (2, 3)] == ["1", "1"]
