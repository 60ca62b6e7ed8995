"""Deferred tools: the vendors' SDKs against the gateway, with a model on an API that has no tool search."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import openai
import pytest

from tests.gateway.running import Running, config, run, serving
from tests.gateway.scripts import calls, in_turn, response_to, text
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server
from toolglot.core.messages import ToolCall

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
ABOUT = {
    "get_weather": "The weather in a city",
    "get_time": "The time of day in a city",
    "read_file": "Read a file from the disk",
}
ANTHROPIC_TOOLS: list[Any] = [
    {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
    {"name": "read_file", "description": ABOUT["read_file"], "input_schema": SCHEMA},
    *(
        {"name": name, "description": ABOUT[name], "input_schema": SCHEMA, "defer_loading": True}
        for name in ("get_weather", "get_time")
    ),
]
IN_NAMESPACE = [
    {"type": "function", "name": name, "description": ABOUT[name], "parameters": SCHEMA, "defer_loading": True}
    for name in ("get_weather", "get_time")
]
RESPONSES_TOOLS: list[Any] = [
    {"type": "tool_search"},
    {"type": "function", "name": "read_file", "description": ABOUT["read_file"], "parameters": SCHEMA},
    {"type": "namespace", "name": "city", "description": "Facts about cities", "tools": IN_NAMESPACE},
]


def sent_tools(request: UpstreamRequest) -> list[str]:
    return [tool["function"]["name"] for tool in request.body.get("tools", [])]


def searching(name: str) -> Any:
    """Searches for a weather tool, calls it once it is there, and answers after its result."""

    def play(request: UpstreamRequest) -> UpstreamResponse:
        last = request.body["messages"][-1]
        if last["role"] == "tool" and "sunny" in str(last["content"]):
            return response_to(request, text("It is sunny."))
        if name in sent_tools(request):
            return response_to(request, calls(ToolCall("call_w", name, '{"city":"Paris"}')))
        return response_to(request, calls(ToolCall("call_s", "tool_search", '{"query":"weather"}'), words="I search."))

    return play


@pytest.mark.parametrize("stream", [False, True])
def test_anthropic_client(stream: bool) -> None:
    async def work() -> None:
        async with upstream_server(searching("get_weather")) as upstream, serving(config(upstream, "openai-chat")) as running:
            async with anthropic.AsyncAnthropic(base_url=running.url, api_key="x", max_retries=0) as client:
                messages: list[Any] = [{"role": "user", "content": "How is the weather in Paris?"}]

                async def ask() -> Any:
                    arguments: Any = {
                        "model": "openai-chat/m",
                        "max_tokens": 99,
                        "messages": messages,
                        "tools": ANTHROPIC_TOOLS,
                    }
                    if not stream:
                        return await client.messages.create(**arguments)
                    async with client.messages.stream(**arguments) as events:
                        return await events.get_final_message()

                first = await ask()
                kinds = [block.type for block in first.content]
                assert kinds == ["text", "server_tool_use", "tool_search_tool_result", "tool_use"]
                assert first.content[1].name == "tool_search_tool_bm25"
                found = first.content[2].content.tool_references
                assert [one.tool_name for one in found] == ["get_weather"]
                assert first.content[2].tool_use_id == first.content[1].id
                assert (first.content[3].name, first.stop_reason) == ("get_weather", "tool_use")
                assert first.usage.output_tokens == 10  # of both requests
                result = {"type": "tool_result", "tool_use_id": first.content[3].id, "content": "sunny"}
                messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
                second = await ask()
            assert second.content[0].text == "It is sunny."
            assert [sent_tools(one) for one in upstream.requests] == [
                ["read_file", "tool_search"],
                ["read_file", "get_weather", "tool_search"],
                ["read_file", "get_weather", "tool_search"],
            ]
            within, later = upstream.requests[1].body["messages"], upstream.requests[2].body["messages"]
            assert later[: len(within)] == within  # what the model saw within the response is what it sees afterwards
            assert [message["role"] for message in later] == ["user", "assistant", "tool", "assistant", "tool"]

    run(work())


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("stored", [False, True])
def test_responses_client(stream: bool, stored: bool) -> None:
    async def work() -> None:
        play = searching("city__get_weather")
        async with upstream_server(play) as upstream, serving(config(upstream, "openai-chat")) as running:
            async with openai.AsyncOpenAI(base_url=f"{running.url}/v1", api_key="x", max_retries=0) as client:

                async def ask(given: Any, **more: Any) -> Any:
                    arguments: Any = {"model": "openai-chat/m", "input": given, "tools": RESPONSES_TOOLS, **more}
                    if not stream:
                        return await client.responses.create(**arguments)
                    async with client.responses.stream(**arguments) as events:
                        async for _ in events:
                            pass
                        return await events.get_final_response()

                question: list[Any] = [{"role": "user", "content": "How is the weather in Paris?"}]
                first = await ask(question)
                kinds = [item.type for item in first.output]
                assert kinds == ["message", "tool_search_call", "tool_search_output", "function_call"]
                search, output, made = first.output[1:]
                assert (search.execution, search.arguments) == ("server", {"query": "weather"})
                assert [(tool.type, tool.name, [one.name for one in tool.tools]) for tool in output.tools] == [
                    ("namespace", "city", ["get_weather"])
                ]
                assert (made.name, made.namespace) == ("get_weather", "city")
                result = {"type": "function_call_output", "call_id": made.call_id, "output": "sunny"}
                if stored:
                    second = await ask([result], previous_response_id=first.id)
                else:
                    items = [item.model_dump(exclude_none=True) for item in first.output]
                    second = await ask([*question, *items, result], store=False)
            assert second.output_text == "It is sunny."
            loaded = ["read_file", "city__get_weather", "tool_search"]
            assert [sent_tools(one) for one in upstream.requests] == [["read_file", "tool_search"], loaded, loaded]
            within, later = upstream.requests[1].body["messages"], upstream.requests[2].body["messages"]
            assert later[: len(within)] == within

    run(work())


@pytest.mark.parametrize("stream", [False, True])
def test_a_search_that_the_client_runs(stream: bool) -> None:
    """As Codex has it: the model's search goes to the client, and its output brings the tools."""

    async def work() -> None:
        found = {"type": "namespace", "name": "city", "description": "d", "tools": IN_NAMESPACE[:1]}
        tools = [{"type": "tool_search", "execution": "client", "description": "Find tools", "parameters": SCHEMA}]
        question = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Weather?"}]}
        made = ToolCall("call_w", "city__get_weather", '{"city":"Paris"}')
        play = in_turn(calls(ToolCall("call_s", "tool_search", '{"city":"Paris"}')), calls(made))
        async with upstream_server(play) as upstream, serving(config(upstream, "openai-chat")) as running:
            ask = {"model": "openai-chat/m", "tools": tools, "store": False, "stream": stream}
            [search] = await output_of(running, {**ask, "input": [question]})
            assert search["type"] == "tool_search_call"
            assert (search["execution"], search["call_id"], search["arguments"]) == ("client", "call_s", {"city": "Paris"})
            output = {"type": "tool_search_output", "call_id": "call_s", "execution": "client", "status": "completed"}
            [call] = await output_of(running, {**ask, "input": [question, search, {**output, "tools": [found]}]})
            assert (call["type"], call["namespace"], call["name"]) == ("function_call", "city", "get_weather")
            assert [sent_tools(one) for one in upstream.requests] == [["tool_search"], ["tool_search", "city__get_weather"]]
            *_, asked, loaded = upstream.requests[1].body["messages"]
            assert asked["tool_calls"][0]["function"] == {"name": "tool_search", "arguments": '{"city":"Paris"}'}
            assert "city__get_weather" in loaded["content"]

    run(work())


async def output_of(running: Running, body: dict[str, Any]) -> list[dict[str, Any]]:
    status, answer, _ = await running.ask("POST", "/v1/responses", body)
    assert status == 200, answer
    if not body["stream"]:
        return answer["output"]  # type: ignore[no-any-return]
    events = [json.loads(line[6:]) for line in answer.decode().splitlines() if line.startswith("data: ")]
    assert events[-1]["response"]["output"] == [one["item"] for one in events if one["type"] == "response.output_item.done"]
    return events[-1]["response"]["output"]  # type: ignore[no-any-return]


def test_many_tools_for_a_small_model() -> None:
    """The surplus is found by a search, which the client's API does not show."""

    async def work() -> None:
        wanted = {
            "type": "function",
            "function": {"name": "get_weather", "description": ABOUT["get_weather"], "parameters": SCHEMA},
        }
        others = [
            {"type": "function", "function": {"name": f"tool_{n}", "description": "Files and disks", "parameters": SCHEMA}}
            for n in range(130)
        ]
        async with upstream_server(searching("get_weather")) as upstream, serving(config(upstream, "openai-chat")) as running:
            async with openai.AsyncOpenAI(base_url=f"{running.url}/v1", api_key="x", max_retries=0) as client:
                messages: Any = [{"role": "user", "content": "Say something of files and disks"}]
                arguments: Any = {"model": "openai-chat/m", "messages": messages, "tools": [*others, wanted]}
                raw = await client.chat.completions.with_raw_response.create(**arguments)
                made = raw.parse().choices[0].message.tool_calls
            assert made is not None
            assert [json.loads(one.function.arguments) for one in made] == [{"city": "Paris"}]
            assert "through a search" in raw.headers["x-toolglot-notes"]
            first, second = map(sent_tools, upstream.requests)
            assert len(first) == len(second) == 64
            assert "get_weather" not in first
            assert {"get_weather", "tool_search"} <= set(second)

    run(work())
