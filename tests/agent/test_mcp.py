"""A real MCP server in a child process, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.agent.mcp_server import PIXEL
from tests.agent.scripted import agent, call_reply, text_reply
from tests.mcp_over_http import mcp_over_http
from tests.steady_loop import run_steadily
from toolglot.agent.agent import Agent
from toolglot.agent.mcp import mcp_server, mcp_tools
from toolglot.agent.record import replay
from toolglot.agent.results import media
from toolglot.agent.runnable import Context, Runnable, ToolError, as_result
from toolglot.core.messages import Media, Text
from toolglot.errors import CallerError, UpstreamError
from toolglot.io.json_codec import decode

SERVER = Path(__file__).parent / "mcp_server.py"
STDIO = [sys.executable, str(SERVER), "stdio"]
NAMES = ["add", "picture", "weather", "fail", "slow", "process", "die", "grow"]


def run(work: Coroutine[Any, Any, None]) -> None:
    async def guarded() -> None:
        before = asyncio.all_tasks()
        await asyncio.wait_for(work, 300)
        assert asyncio.all_tasks() - before == set()

    run_steadily(guarded())


@pytest.fixture(scope="module")
def http_server() -> Iterator[str]:
    with mcp_over_http(SERVER) as address:
        yield address


@pytest.fixture(params=["stdio", "http"])
def server(request: pytest.FixtureRequest) -> Any:
    return STDIO if request.param == "stdio" else request.getfixturevalue("http_server")


def by_name(tools: tuple[Runnable, ...]) -> dict[str, Runnable]:
    return {one.tool.name: one for one in tools}


async def asked(tools: tuple[Runnable, ...], name: str, **arguments: Any) -> Any:
    return as_result(await by_name(tools)[name].run(arguments, Context()))


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_tools_are_listed_and_run(server: Any) -> None:
    async def work() -> None:
        async with mcp_tools(server) as tools:
            assert [one.tool.name for one in tools] == NAMES
            add = by_name(tools)["add"]
            assert add.tool.description == "Adds two numbers."
            assert (add.tool.schema or {})["required"] == ["a"]
            assert add.source.startswith("mcp:")
            assert await asked(tools, "add", a=2, b=3) == (Text("5"),)
            assert await asked(tools, "picture") == (media(PIXEL, "image/png"),)
            (part,) = await asked(tools, "weather", city="Rome")
            assert decode(part.text) == {"city": "Rome", "degrees": 21}

    run(work())


def test_a_tool_error_is_reported_and_the_server_goes_on(server: Any) -> None:
    async def work() -> None:
        async with mcp_tools(server) as tools:
            with pytest.raises(ToolError, match="Error executing tool fail"):
                await asked(tools, "fail")
            with pytest.raises(ToolError, match="valid integer"):
                await asked(tools, "add", a="x")
            assert await asked(tools, "add", a=2) == (Text("3"),)

    run(work())


def test_a_call_has_its_time_and_the_next_its_own(server: Any) -> None:
    async def work() -> None:
        async with mcp_tools(server, timeout=3) as tools:
            assert tools[0].timeout == 3
            with pytest.raises(ToolError, match=r"slow took longer than 3 s"):
                await asked(tools, "slow", seconds=30)
            assert await asked(tools, "add", a=2) == (Text("3"),)

    run(work())


def test_calls_run_side_by_side(server: Any) -> None:
    async def work() -> None:
        async with mcp_tools(server) as tools:
            slow = [asyncio.ensure_future(asked(tools, "slow", seconds=30)) for _ in range(7)]
            await asyncio.sleep(0.1)  # they are on their way
            assert await asked(tools, "add", a=2) == (Text("3"),)
            assert not any(each.done() for each in slow)
            for each in slow:
                each.cancel()
            await asyncio.wait(slow)

    run(work())


def test_a_started_server_sees_its_variables_and_ends_with_the_block() -> None:
    async def work() -> None:
        async with mcp_tools(STDIO, env={"MCP_WORD": "hello"}, namespace="small") as tools:
            assert tools[0].tool.full_name == "small__add"
            (part,) = await asked(tools, "process")
            pid, word = part.text.split()
            assert word == "hello"
            assert not gone(int(pid))
        assert gone(int(pid))

    run(work())


def test_a_cancelled_user_leaves_no_process() -> None:
    async def work() -> None:
        seen: list[int] = []

        async def use() -> None:
            async with mcp_tools(STDIO) as tools:
                seen.append(int((await asked(tools, "process"))[0].text.split()[0]))
                await asked(tools, "slow", seconds=60)

        task = asyncio.create_task(use())
        while not seen:
            await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert gone(seen[0])

    run(work())


def test_it_may_be_left_by_another_task_than_entered_it() -> None:
    async def work() -> None:
        context = mcp_tools(STDIO)
        tools = await asyncio.create_task(context.__aenter__())
        assert await asked(tools, "add", a=1) == (Text("2"),)
        await asyncio.create_task(context.__aexit__(None, None, None))

    run(work())


def test_a_server_that_dies_fails_its_calls_and_nothing_hangs() -> None:
    async def work() -> None:
        async with mcp_tools(STDIO) as tools:
            with pytest.raises(ToolError, match="die: the server could not run it"):
                await asked(tools, "die")
            with pytest.raises(ToolError, match="add: the server could not run it"):
                await asked(tools, "add", a=1)

    run(work())


@pytest.mark.parametrize(
    ("server", "error", "message"),
    [
        ("no-such-command --x", CallerError, "mcp: no-such-command can't be started: No such file"),
        ("a 'b", CallerError, "is not a valid command line"),
        ("", CallerError, "expected an http"),
        ([sys.executable, "-c", "raise OSError('out of paper')"], UpstreamError, "its last stderr line: OSError: out of paper"),
        ([sys.executable, "-c", "import time; time.sleep(60)"], UpstreamError, "did not answer within 0.5 s"),
        ("http://me:secret@127.0.0.1:9/mcp?key=x", UpstreamError, "^http://127.0.0.1:9/mcp could not be reached"),
    ],
)
def test_a_server_that_does_not_come_up_is_named(server: Any, error: type[Exception], message: str) -> None:
    async def work() -> None:
        # a started interpreter needs its time, one that sleeps gets none
        seconds = 0.5 if "sleep" in str(server) else 30
        with pytest.raises(error, match=message):
            async with mcp_tools(server, connect_timeout=seconds):
                raise AssertionError

    run(work())


BARE = """
import json, sys
grown = 0
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    response = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "initialize":
        about = {"name": "bare", "version": "1"}
        response["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
    elif asked["method"] == "tools/list" and sys.argv[1] == "pages":
        page = int((asked.get("params") or {}).get("cursor") or 0)
        tool = {"name": f"tool{page}", "inputSchema": {"type": "object", "x-own": page}}
        response["result"] = {"tools": [tool]} | ({"nextCursor": str(page + 1)} if page < 2 else {})
    elif asked["method"] == "tools/list" and sys.argv[1] == "circle":
        response["result"] = {"tools": [{"name": "tool", "inputSchema": {"type": "object"}}], "nextCursor": "again"}
    elif asked["method"] == "tools/list" and sys.argv[1] == "silence":
        continue
    elif asked["method"] == "tools/list" and sys.argv[1] == "odd":
        response["result"] = {"tools": [{"name": "tool"}]}
    elif asked["method"] == "tools/call" and (asked["params"]["arguments"] or {}).get("odd"):
        response["result"] = {"content": [{"type": "hologram"}]}
    elif asked["method"] == "tools/list" and sys.argv[1] in ("grows", "clashes", "fades"):
        names = ["first", "first" if sys.argv[1] == "clashes" else "second"][: 1 + grown]
        if grown and sys.argv[1] == "fades":
            response["error"] = {"code": -32603, "message": "out of paper"}
        else:
            response["result"] = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]}
    elif asked["method"] == "tools/call" and sys.argv[1] in ("grows", "clashes", "fades"):
        grown = 1
        print(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}), flush=True)
        response["result"] = {"content": [{"type": "text", "text": "done"}]}
    elif asked["method"] == "tools/call":
        blocks = [
            {"type": "audio", "data": "YWJj", "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "YWJj"}},
        ]
        response["result"] = {"content": blocks, "structuredContent": {"n": 1}}
    else:
        response["error"] = {"code": -32601, "message": "no such method"}
    print(json.dumps(response), flush=True)
"""


def test_a_list_in_pages_is_read_to_its_end_and_every_kind_of_content_is_carried() -> None:
    async def work() -> None:
        async with mcp_tools([sys.executable, "-c", BARE, "pages"]) as tools:
            assert [one.tool.name for one in tools] == ["tool0", "tool1", "tool2"]
            assert tools[2].tool.schema == {"type": "object", "x-own": 2}
            assert await asked(tools, "tool1") == (
                Media("audio", "audio/wav", "YWJj"),
                Media("file", "application/octet-stream", "YWJj", name="file:///a.bin"),
                Text('{"n":1}'),
            )

    run(work())


def test_a_list_that_goes_round_in_circles_is_left() -> None:
    async def work() -> None:
        async with mcp_tools([sys.executable, "-c", BARE, "circle"]) as tools:
            assert len(tools) == 2

    run(work())


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("none", "no such method"),
        ("silence", "no answer within 3 s"),
        ("odd", "its response violates the protocol: tools.0.inputSchema: Field required"),
    ],
)
def test_a_server_without_a_list_of_tools_is_named(how: str, expected: str) -> None:
    async def work() -> None:
        with pytest.raises(UpstreamError, match=f"does not list its tools: {expected}") as caught:
            async with mcp_tools([sys.executable, "-c", BARE, how], connect_timeout=3):
                raise AssertionError
        assert len(caught.value.message.splitlines()) == 1
        assert len(caught.value.message) < 300

    run(work())


def test_a_response_that_violates_the_protocol_is_a_one_line_error() -> None:
    async def work() -> None:
        async with mcp_tools([sys.executable, "-c", BARE, "pages"]) as tools:
            with pytest.raises(ToolError, match=r"^tool0: the server could not run it: its response violates .*required$"):
                await asked(tools, "tool0", odd=True)

    run(work())


def test_without_the_package_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name="mcp")

    monkeypatch.setattr("toolglot.agent.mcp_connection.importlib.import_module", absent)

    async def work() -> None:
        with pytest.raises(CallerError, match=r"pip install 'toolglot\[mcp\]'"):
            async with mcp_tools(STDIO):
                raise AssertionError

    run(work())


# -- a list that changes


@pytest.mark.parametrize("server", [STDIO, [sys.executable, "-c", BARE, "grows"]], ids=["new handshake", "old handshake"])
def test_tools_that_are_added_while_it_runs_are_there_in_its_next_turn_and_in_the_next_run(
    server: list[str], tmp_path: Path
) -> None:
    first, added = ("grow", "grown") if server is STDIO else ("first", "second")
    record = tmp_path / "runs.jsonl"
    a, provider = agent(
        call_reply(("c1", first, "{}")),
        call_reply(("c2", added, '{"word": "tall"}')),
        text_reply("done"),
        text_reply("again"),
        mcp=[server],
        record=record,
    )

    async def work() -> None:
        async with a:
            run = await a.run("Grow.")
            assert [call.name for call in run.calls] == [first, added]
            assert run.end == "finished"
            assert replay(record) == run
            await a.run("And now?")

    run(work())
    results = [[tool["function"]["name"] for tool in body["tools"]] for body in provider.sent]
    assert added not in results[0]
    assert all(added in names for names in results[1:])
    assert provider.tool_results(2)[1]["content"] == ("grown tall" if server is STDIO else "done")


@pytest.mark.parametrize(("how", "warned"), [("clashes", "two tools with the name 'first'"), ("fades", "out of paper")])
def test_an_unusable_new_tool_list_keeps_the_previous_tools(how: str, warned: str, caplog: pytest.LogCaptureFixture) -> None:
    a, provider = agent(call_reply(("c1", "first", "{}")), text_reply("done"), mcp=[[sys.executable, "-c", BARE, how]])
    run(_ran(a))
    assert [tool["function"]["name"] for tool in provider.sent[1]["tools"]] == ["first"]
    assert warned in caplog.text


async def _ran(a: Agent) -> None:
    assert (await a.run("Go.")).end == "finished"


def test_a_list_is_read_once_while_nothing_changes() -> None:
    async def work() -> None:
        async with mcp_server([sys.executable, "-c", BARE, "pages"]) as server:
            assert await server.tools() is await server.tools()

    run(work())
