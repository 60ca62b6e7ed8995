"""`[[server_tool]]`: vendors' SDKs declare their server tools, an MCP server in a process of its own runs them."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import llm_comply  # type: ignore[import-untyped]
import openai
import pytest
from google import genai
from google.genai import types
from llm_comply.schema import SpecLoader  # type: ignore[import-untyped]

from tests.gateway.running import config, read_back, run, serving
from tests.gateway.scripts import WEATHER, calls, in_turn, response_to, text, weather
from tests.gateway.upstream_server import Upstream, UpstreamRequest, UpstreamResponse, upstream_server
from tests.mcp_over_http import mcp_over_http
from toolglot.core.messages import ToolCall
from toolglot.errors import CallerError
from toolglot.gateway.config import Config, read_config
from toolglot.io.json_codec import dumps

SERVER = Path(__file__).with_name("web_tools.py")
STDIO = shlex.join([sys.executable, str(SERVER), "stdio"])
ANSWER = "15 % of its weight."
ANTHROPIC_TOOL: dict[str, Any] = {"type": "web_search_20250305", "name": "web_search"}
GEMINI_SDK = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession")  # where aiohttp is installed
STREAM = pytest.mark.parametrize("stream", [False, True])


def tools_config(upstream: Upstream, mcp: str = STDIO, *, name: str = "web_search", more: str = "") -> Config:
    table = f'[[server_tool]]\nname = "{name}"\nmcp = {json.dumps(mcp)}\n{more}\n'
    return config(upstream, "openai-chat", route=table)


@pytest.fixture(scope="module")
def http_server() -> Iterator[str]:
    with mcp_over_http(SERVER) as address:
        yield address


@pytest.fixture(params=["stdio", "http"])
def mcp(request: pytest.FixtureRequest) -> Any:
    return STDIO if request.param == "stdio" else request.getfixturevalue("http_server")


def asks(name: str, **arguments: str) -> Any:
    """A model that calls this tool once, and answers after its result."""

    def play(request: UpstreamRequest) -> UpstreamResponse:
        if request.body["messages"][-1]["role"] == "tool":
            return response_to(request, text(ANSWER))
        return response_to(request, calls(ToolCall("call_s", name, dumps(arguments)), words="I look."))

    return play


def last_result(upstream: Upstream) -> str:
    message = upstream.requests[-1].body["messages"][-1]
    assert message["role"] == "tool"
    return str(message["content"])


async def ask_anthropic(url: str, messages: list[Any], tools: list[Any], *, stream: bool) -> Any:
    arguments: Any = {"model": "openai-chat/m", "max_tokens": 99, "messages": messages, "tools": tools}
    async with anthropic.AsyncAnthropic(base_url=url, api_key="x", max_retries=0) as client:
        if not stream:
            return await client.messages.create(**arguments)
        async with client.messages.stream(**arguments) as events:
            return await events.get_final_message()


async def ask_responses(url: str, given: Any, tools: list[Any], *, stream: bool) -> tuple[Any, list[str]]:
    arguments: Any = {"model": "openai-chat/m", "input": given, "tools": tools}
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="x", max_retries=0) as client:
        if not stream:
            return await client.responses.create(**arguments), []
        async with client.responses.stream(**arguments) as events:
            seen: list[str] = [event.type async for event in events]
            return await events.get_final_response(), seen


async def ask_gemini(url: str, contents: Any, tool: dict[str, Any], *, stream: bool) -> Any:
    """The last candidate, with the parts of all chunks."""
    arguments: Any = {
        "model": "openai-chat/m",
        "contents": contents,
        "config": types.GenerateContentConfig(tools=[types.Tool(**tool)]),
    }
    client = genai.Client(api_key="x", http_options=types.HttpOptions(base_url=url))
    try:
        if not stream:
            answer: Any = await client.aio.models.generate_content(**arguments)
            return answer.candidates[0]
        chunks: list[Any] = [
            chunk.candidates[0]  # type: ignore[index]
            async for chunk in await client.aio.models.generate_content_stream(**arguments)
        ]
    finally:
        await client.aio.aclose()
    parts = [part for one in chunks for part in one.content.parts]
    return chunks[-1].model_copy(update={"content": types.Content(role="model", parts=parts)})


# -- the items of each API


@STREAM
def test_anthropic_sees_a_search_and_its_pages(stream: bool, mcp: str) -> None:
    async def work() -> None:
        play = asks("web_search", query="otter food")
        async with upstream_server(play) as up, serving(tools_config(up, mcp, more='tool = "search"')) as gateway:
            messages: list[Any] = [{"role": "user", "content": "What does an otter eat?"}]
            reply = await ask_anthropic(gateway.url, messages, [ANTHROPIC_TOOL], stream=stream)
            assert [block.type for block in reply.content] == ["text", "server_tool_use", "web_search_tool_result", "text"]
            _, use, result, answer = reply.content
            assert (use.name, use.input, answer.text) == ("web_search", {"query": "otter food"}, ANSWER)
            assert result.tool_use_id == use.id
            assert [(page.title, page.url) for page in result.content] == [
                ("Otters", "https://example.org/otters"),
                ("Rivers", "https://example.org/rivers"),
            ]
            assert reply.stop_reason == "end_turn"
            assert reply.usage.server_tool_use.web_search_requests == 1
            assert reply.usage.output_tokens == 10  # of both requests
            [tool] = up.requests[0].body["tools"]
            assert tool["function"]["description"] == "Searches the web."  # as the MCP server has it
            assert "15 %" in last_result(up)
            within = up.requests[1].body["messages"]
            messages += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": "And where?"}]
            await ask_anthropic(gateway.url, messages, [ANTHROPIC_TOOL], stream=stream)
            assert up.requests[2].body["messages"][: len(within)] == within  # later turns show the model what it saw

    run(work())


@STREAM
def test_responses_shows_a_search_with_its_progress(stream: bool, mcp: str) -> None:
    async def work() -> None:
        play = asks("web_search", query="otter food")
        async with upstream_server(play) as up, serving(tools_config(up, mcp, more='tool = "search"')) as gateway:
            reply, seen = await ask_responses(gateway.url, "What does an otter eat?", [{"type": "web_search"}], stream=stream)
            assert [item.type for item in reply.output] == ["message", "web_search_call", "message"]
            search = reply.output[1]
            assert (search.status, search.action.query) == ("completed", "otter food")
            assert [source.url for source in search.action.sources] == [
                "https://example.org/otters",
                "https://example.org/rivers",
            ]
            assert reply.output[2].content[0].text == ANSWER
            assert "15 %" in last_result(up)
            if stream:
                progress = [kind for kind in seen if "web_search_call" in kind]
                assert [kind.rpartition(".")[2] for kind in progress] == ["in_progress", "searching", "completed"]
            within = up.requests[1].body["messages"]
            items = [item.model_dump(exclude_none=True) for item in reply.output]
            again: list[Any] = [
                {"role": "user", "content": "What does an otter eat?"},
                *items,
                {"role": "user", "content": "?"},
            ]
            await ask_responses(gateway.url, again, [{"type": "web_search"}], stream=stream)
            assert up.requests[2].body["messages"][: len(within)] == within  # later turns show the model what it saw

    run(work())


@GEMINI_SDK
@STREAM
def test_gemini_shows_the_pages_at_the_end(stream: bool) -> None:
    async def work() -> None:
        play = asks("web_search", query="otter food")
        async with upstream_server(play) as up, serving(tools_config(up, more='tool = "search"')) as gateway:
            reply = await ask_gemini(gateway.url, "What?", {"google_search": {}}, stream=stream)
            grounding = reply.grounding_metadata
            assert grounding.web_search_queries == ["otter food"]
            assert [(one.web.title, one.web.uri) for one in grounding.grounding_chunks] == [
                ("Otters", "https://example.org/otters"),
                ("Rivers", "https://example.org/rivers"),
            ]
            assert "".join(part.text or "" for part in reply.content.parts) == f"I look.{ANSWER}"

    run(work())


@GEMINI_SDK
@STREAM
def test_code(stream: bool) -> None:
    """The code and its output, in each API, and again in the history."""

    async def work() -> None:
        play = asks("code_execution", code="1+1")
        async with upstream_server(play) as up, serving(tools_config(up, name="code_execution")) as gateway:
            declared = {"type": "code_execution_20250825", "name": "code_execution"}
            messages: list[Any] = [{"role": "user", "content": "Add."}]
            ran = await ask_anthropic(gateway.url, messages, [declared], stream=stream)
            assert [block.type for block in ran.content[1:3]] == ["server_tool_use", "code_execution_tool_result"]
            assert ran.content[2].content.stdout == "3 characters\n"
            interpreter = {"type": "code_interpreter", "container": {"type": "auto"}}
            reply, seen = await ask_responses(gateway.url, "Add.", [interpreter], stream=stream)
            assert (reply.output[1].code, reply.output[1].outputs[0].logs) == ("1+1", "3 characters\n")
            assert not stream or "response.code_interpreter_call.completed" in seen
            asked = types.Content(role="user", parts=[types.Part(text="Add.")])
            candidate = await ask_gemini(gateway.url, [asked], {"code_execution": {}}, stream=stream)
            code, output = candidate.content.parts[1:3] if not stream else _code_parts(candidate)
            assert (code.executable_code.code, output.code_execution_result.output) == ("1+1", "3 characters\n")
            within = up.requests[-1].body["messages"]
            again = [asked, candidate.content, types.Content(role="user", parts=[types.Part(text="Again.")])]
            await ask_gemini(gateway.url, again, {"code_execution": {}}, stream=stream)
            assert up.requests[-1].body["messages"][: len(within)] == within

    run(work())


def _code_parts(candidate: Any) -> list[Any]:
    return [part for part in candidate.content.parts if part.executable_code or part.code_execution_result]


@GEMINI_SDK
@STREAM
def test_pages_are_fetched(stream: bool) -> None:
    async def work() -> None:
        play = asks("web_fetch", url="https://example.org/otters")
        row = tools_config_environ(play_env="secret")
        async with upstream_server(play) as up, serving(row(up)) as gateway:
            declared = {"type": "web_fetch_20250910", "name": "web_fetch"}
            reply = await ask_anthropic(gateway.url, [{"role": "user", "content": "Read"}], [declared], stream=stream)
            document = reply.content[2].content
            assert document.url == "https://example.org/otters"
            assert document.content.source.data == "The page at https://example.org/otters: secret"
            assert reply.usage.server_tool_use.web_fetch_requests == 1
            candidate = await ask_gemini(gateway.url, "Read", {"url_context": {}}, stream=stream)
            [page] = candidate.url_context_metadata.url_metadata
            assert page.retrieved_url == "https://example.org/otters"

    run(work())


def tools_config_environ(play_env: str) -> Any:
    """With a variable for the MCP server, from the gateway's environment."""

    def made(upstream: Upstream) -> Config:
        text = f'[[upstream]]\nname = "openai-chat"\nprovider = "vllm"\nbase_url = "{upstream.url}"\n'
        text += '[[route]]\nmodel = "*"\nto = "openai-chat/m"\n[server]\ndetect = false\n'
        text += f'[[server_tool]]\nname = "web_fetch"\nmcp = {json.dumps(STDIO)}\nenv = {{ WORD = "env:PLAY" }}\n'
        return read_config(text, environ={"PLAY": play_env})

    return made


@STREAM
def test_interactions_have_a_search_as_steps(stream: bool) -> None:
    async def work() -> None:
        play = asks("web_search", query="otter food")
        async with upstream_server(play) as up, serving(tools_config(up, more='tool = "search"')) as gateway:
            body = {"model": "openai-chat/m", "input": "What?", "tools": [{"type": "google_search"}], "stream": stream}
            status, answer, _ = await gateway.ask("POST", "/v1beta/interactions", body)
            assert status == 200
            shown = answer.decode() if stream else json.dumps(answer)
            assert shown.index("google_search_call") < shown.index("google_search_result") < shown.index(ANSWER[:3])
            assert "otter food" in shown
            assert "15 %" in last_result(up)

    run(work())


@pytest.mark.filterwarnings("ignore:jsonschema.RefResolver is deprecated")  # in llm-comply
@pytest.mark.parametrize("query", ["otter food", "fail"])
@pytest.mark.parametrize(
    ("kind", "declared", "tool"),
    [
        ("web_search", "web_search_20250305", "search"),
        ("web_fetch", "web_fetch_20250910", "web_fetch"),
        ("code_execution", "code_execution_20250825", "code_execution"),
    ],
)
def test_the_reply_fits_anthropics_own_schema(kind: str, declared: str, tool: str, query: str) -> None:
    specification = SpecLoader(str(Path(llm_comply.__file__).parent / "specs" / "anthropic.json"))

    async def work() -> None:
        play = asks(kind, **{{"web_search": "query", "web_fetch": "url", "code_execution": "code"}[kind]: query})
        async with upstream_server(play) as up, serving(tools_config(up, name=kind, more=f'tool = "{tool}"')) as gateway:
            body = {"model": "openai-chat/m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}]}
            _, reply, _ = await gateway.ask("POST", "/v1/messages", {**body, "tools": [{"type": declared, "name": kind}]})
            assert len(reply["content"]) == 4
            assert specification.validate(reply, "Message") == []

    run(work())


# -- together with the client's tools


@STREAM
def test_a_call_for_the_client_ends_the_response(stream: bool) -> None:
    async def work() -> None:
        both = calls(ToolCall("call_s", "web_search", '{"query":"x"}'), weather({"city": "Paris"}, id="call_w"))
        async with upstream_server(in_turn(both)) as up, serving(tools_config(up, more='tool = "search"')) as gateway:
            function = {"name": WEATHER.name, "description": "d", "input_schema": WEATHER.schema}
            messages: list[Any] = [{"role": "user", "content": "Weather?"}]
            reply = await ask_anthropic(gateway.url, messages, [ANTHROPIC_TOOL, function], stream=stream)
            assert {block.type for block in reply.content} == {"tool_use", "server_tool_use", "web_search_tool_result"}
            assert reply.stop_reason == "tool_use"
            assert len(up.requests) == 1

    run(work())


# -- limits and failures


@STREAM
@pytest.mark.parametrize(("query", "why"), [("fail", "Error executing tool search"), ("die", "Connection closed")])
def test_a_failure_is_an_error_result(query: str, why: str, stream: bool) -> None:
    """Also of a server that ends. The next request starts it again."""

    async def work() -> None:
        play = asks("web_search", query=query)
        async with upstream_server(play) as up, serving(tools_config(up, more='tool = "search"')) as gateway:
            messages: list[Any] = [{"role": "user", "content": "?"}]
            reply = await ask_anthropic(gateway.url, messages, [ANTHROPIC_TOOL], stream=stream)
            assert reply.content[2].content.error_code == "unavailable"
            assert reply.content[3].text == ANSWER
            assert why in last_result(up)
            output, _ = await ask_responses(gateway.url, "?", [{"type": "web_search"}], stream=stream)
            assert output.output[1].status == "failed"
            up.play = asks("web_search", query="otter")
            reply = await ask_anthropic(gateway.url, messages, [ANTHROPIC_TOOL], stream=stream)
            assert reply.content[2].content[0].title == "Otters"

    run(work())


def test_a_server_that_is_not_there_is_a_note() -> None:
    async def work() -> None:
        async with (
            upstream_server(in_turn(text("No search."))) as up,
            serving(tools_config(up, "./no-such-program")) as gateway,
        ):
            body = {"model": "openai-chat/m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}]}
            status, answer, headers = await gateway.ask("POST", "/v1/messages", {**body, "tools": [ANTHROPIC_TOOL]})
            assert (status, answer["content"][0]["text"]) == (200, "No search.")
            assert "server tool web_search: not available" in headers["x-toolglot-notes"]
            assert "tools" not in up.requests[0].body

    run(work())


def test_options_that_are_not_kept_are_a_note() -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text("x"))) as up, serving(tools_config(up, more='tool = "search"')) as gateway:
            tool = {**ANTHROPIC_TOOL, "allowed_domains": ["example.org"]}
            body = {"model": "openai-chat/m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}], "tools": [tool]}
            _, _, headers = await gateway.ask("POST", "/v1/messages", body)
            assert "server tool web_search: allowed_domains left out" in headers["x-toolglot-notes"]

    run(work())


def test_uses_rounds_and_sizes_are_limited() -> None:
    async def work() -> None:
        def play(request: UpstreamRequest) -> UpstreamResponse:
            if not request.body.get("tools"):
                return response_to(request, text("enough"))
            number = len(request.body["messages"])
            return response_to(request, calls(ToolCall(f"call_{number}", "web_search", f'{{"query":"long {number}"}}')))

        async with upstream_server(play) as up, serving(tools_config(up, more='tool = "search"')) as gateway:
            messages: list[Any] = [{"role": "user", "content": "?"}]
            reply = await ask_anthropic(gateway.url, messages, [{**ANTHROPIC_TOOL, "max_uses": 2}], stream=True)
            assert reply.content[-1].text == "enough"
            assert len(up.requests) == 12
            results = [str(one["content"]) for one in up.requests[-1].body["messages"] if one["role"] == "tool"]
            assert all(len(one) < 101_000 and "cut: the result has 150" in one for one in results[:2])
            assert all("the limit of 2 calls is reached" in one for one in results[2:])

    run(work())


def test_a_slow_tool_is_an_error_result(tmp_path: Path) -> None:
    file = tmp_path / "tools.py"
    file.write_text('import asyncio\nasync def web_search(query: str) -> None:\n    "Searches."\n    await asyncio.sleep(60)\n')

    async def work() -> None:
        table = f'[[server_tool]]\nname = "web_search"\nfile = "{file}"\ntimeout = 0.2\n'
        play = asks("web_search", query="x")
        async with upstream_server(play) as up, serving(config(up, "openai-chat", route=table)) as gateway:
            reply = await ask_anthropic(gateway.url, [{"role": "user", "content": "?"}], [ANTHROPIC_TOOL], stream=False)
            assert reply.content[2].content.error_code == "unavailable"
            assert "0.2 seconds" in last_result(up)

    run(work())


def test_a_reload_keeps_the_server_or_stops_it() -> None:
    async def work() -> None:
        async with upstream_server(asks("web_search", query="x")) as up:
            same = tools_config(up, more='tool = "search"')
            async with serving(same) as gateway:
                messages: list[Any] = [{"role": "user", "content": "?"}]
                await ask_anthropic(gateway.url, messages, [ANTHROPIC_TOOL], stream=False)
                before = gateway.gateway.live.session.server_tools["web_search"]
                gateway.gateway.use(tools_config(up, more='tool = "search"'))
                assert gateway.gateway.live.session.server_tools["web_search"] is before
                tasks = len(asyncio.all_tasks())
                gateway.gateway.use(config(up, "openai-chat"))
                assert not gateway.gateway.live.session.server_tools
                while len(asyncio.all_tasks()) >= tasks:  # the connection's ends
                    await asyncio.sleep(0.05)

    run(work())


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ('name = "web_search"', r"line 1, \[server_tool\] mcp: needs mcp .* or file"),
        ('name = "web_search"\nmcp = "x"\nfile = "y"', "not both"),
        ('name = "web"\nmcp = "x"', r"line 2, \[server_tool\] name: there is no choice 'web'"),
        ('name = "web_search"\nmcp = "x"\ntimeout = 0', r"line 4, \[server_tool\] timeout: must be more than 0"),
        ('name = "web_search"\nmcp = "x"\nenv = { A = "env:NOPE" }', r"line 4, \[server_tool\] env: .* NOPE is not set"),
        ('name = "web_search"\nfile = "/nope.py"', r"line 3, \[server_tool\] file: there is no file /nope.py"),
        ('name = "web_search"\nmcp = "\'"', r"line 3, \[server_tool\] mcp: .* not a valid command line"),
        ('name = "web_search"\nmcp = "x"\n[[server_tool]]\nname = "web_search"\nmcp = "y"', "line 5, .* duplicate server tool"),
    ],
)
def test_wrong_rows_are_errors_with_a_line(row: str, problem: str) -> None:
    with pytest.raises(CallerError, match=problem):
        read_config(f"[[server_tool]]\n{row}", environ={})


CHAT_SEARCH = {"messages": [{"role": "user", "content": "Otters?"}], "web_search_options": {"search_context_size": "low"}}


@STREAM
def test_chats_search_options_are_a_server_tool(stream: bool) -> None:
    search = ToolCall("call_s", "web_search", dumps({"query": "otters"}))
    table = f'[[server_tool]]\nname = "web_search"\nmcp = {json.dumps(STDIO)}\ntool = "search"\n'

    async def work() -> None:
        async with (
            upstream_server(in_turn(calls(search), text(ANSWER))) as up,
            serving(config(up, "anthropic", route=table)) as gateway,
        ):
            asked = {"model": "anthropic/m", "stream": stream, **CHAT_SEARCH}
            status, body, _ = await gateway.ask("POST", "/v1/chat/completions", asked)
            assert status == 200
            assert read_back("openai-chat", body).text == ANSWER
            assert "search_context_size left out" in str(gateway.gateway.records.recent()[-1].notes)
            assert [tool["name"] for tool in up.requests[0].body["tools"]] == ["web_search"]
            assert "tool_result" in str(up.requests[1].body["messages"][-1])

    run(work())


def test_chats_search_options_without_a_tool_for_them() -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text(ANSWER))) as up, serving(config(up, "anthropic", "openai-chat")) as gateway:
            notes = []
            for model in ("anthropic/m", "openai-chat/m"):
                _, _, headers = await gateway.ask("POST", "/v1/chat/completions", {"model": model, **CHAT_SEARCH})
                notes.append(headers.get("x-toolglot-notes", ""))
            foreign, own = (request.body for request in up.requests)
            assert "web_search_options: a server tool of another vendor; left out" in notes[0]
            assert "web_search" not in notes[1]
            assert (own["web_search_options"], "tools" in own) == (CHAT_SEARCH["web_search_options"], False)
            assert "web_search" not in str(foreign)

    run(work())
