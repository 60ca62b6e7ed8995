"""All 36 pairs of client and upstream wires, whole and streamed, over real sockets."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from tests.gateway.running import WIRES, config, request_of, run, serving
from tests.gateway.scripts import calls, fixture, in_turn, question, text, weather
from tests.gateway.upstream_server import upstream_server
from tests.laws.conversations import body, meaning
from toolglot.core.reply import Reply

CASES = ("plain_text", "parallel_calls", "reasoning_and_call", "text_and_call", "error_result", "empty_arguments", "multi_turn")

# five dialects of calls as text
FORMS = {
    "hermes": '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>',
    "call expression": 'get_weather(city="Paris")',
    "fenced json": '```json\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n```',
    "tagged": '~~~tool_call\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n~~~',
    "qwen xml": "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>",
}


def comparable(reply: Reply) -> dict[str, Any]:
    return {
        "text": reply.text,
        "reasoning": reply.reasoning,
        "calls": [(call.full_name, call.arguments) for call in reply.calls],
        "stop": reply.stop and reply.stop.reason,
        "error": reply.error,
    }


@pytest.mark.parametrize("client", WIRES)
def test_each_conversation_is_translated(client: str) -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            ids = set()
            for upstream, case, stream in product(WIRES, CASES, (False, True)):
                up.play = fixture(case)
                sent = {**body(case, client, "request"), "model": f"{upstream}/m"}
                reply = await gateway.reply(client, sent, stream=stream)
                assert comparable(reply) == comparable(meaning(case).reply), (upstream, case, stream)
                assert reply.model == f"{upstream}/m"
                assert (up.requests[-1].wire, up.requests[-1].streams) == (upstream, stream)
                ids.add(reply.id)
            assert client == "ollama" or len(ids) == 2 * len(WIRES) * len(CASES)  # Ollama's replies have no ids

    run(work())


@pytest.mark.parametrize("client", WIRES)
def test_calls_written_as_text_are_rescued(client: str) -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text(""))) as up, serving(config(up)) as gateway:
            for upstream, form, stream in product(WIRES, FORMS, (False, True)):
                up.play = in_turn(text(FORMS[form]))
                reply = await gateway.reply(client, question(client, f"{upstream}/m"), stream=stream)
                found = [(call.name, call.arguments) for call in reply.calls]
                assert found == [("get_weather", {"city": "Paris"})], (upstream, form, stream)
                assert (reply.text, reply.stop and reply.stop.reason) == ("", "calls"), (upstream, form, stream)

    run(work())


@pytest.mark.parametrize("client", WIRES)
def test_a_call_of_an_unknown_tool_is_never_sent(client: str) -> None:
    async def work() -> None:
        invented = calls(weather({"q": 1}, "launch_rockets"))
        async with upstream_server(in_turn(invented)) as up, serving(config(up)) as gateway:
            for upstream, stream in product(WIRES, (False, True)):
                reply = await gateway.reply(client, question(client, f"{upstream}/m"), stream=stream)
                assert reply.calls == []
                assert "launch_rockets" in reply.text
                assert "no such tool" in reply.text
                assert reply.stop is not None
                assert reply.stop.reason == "stop"

    run(work())


@pytest.mark.parametrize("client", WIRES)
def test_upstream_requests_have_the_upstream_key_and_no_client_headers(client: str) -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            for upstream in WIRES:
                path, sent = request_of(client, question(client, f"{upstream}/m"), stream=False)
                await gateway.ask("POST", path, sent, authorization="Bearer mine", x_api_key="mine", cookie="a=b")
                headers = up.requests[-1].headers
                assert "k-up" in " ".join(headers.values())
                assert "mine" not in " ".join(headers.values())
                assert "cookie" not in headers

    run(work())


def test_a_beta_header_goes_only_to_the_same_wire() -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            for upstream in WIRES:
                path, sent = request_of("anthropic", question("anthropic", f"{upstream}/m"), stream=False)
                await gateway.ask("POST", path, sent, anthropic_beta="context-management-2025-06-27")
                assert ("anthropic-beta" in up.requests[-1].headers) is (upstream == "anthropic")

    run(work())


def test_ollama_streams_by_default_and_loads_models() -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            sent = question("ollama", "gemini/m", ())
            sent.pop("stream", None)
            _, _, headers = await gateway.ask("POST", "/api/chat", sent)
            assert headers["content-type"] == "application/x-ndjson"
            count = len(up.requests)
            _, loaded, _ = await gateway.ask("POST", "/api/chat", {"model": "gemini/m", "messages": []})
            assert (loaded["done"], loaded["done_reason"], len(up.requests)) == (True, "load", count)

    run(work())


@pytest.mark.parametrize("case", ["custom_tool", "namespaced_tool"])
def test_namespaces_and_custom_tools_are_restored(case: str) -> None:
    async def work() -> None:
        async with upstream_server(fixture(case)) as up, serving(config(up)) as gateway:
            for upstream, stream in product(WIRES, (False, True)):
                sent = {**body(case, "openai-responses", "request"), "model": f"{upstream}/m"}
                reply = await gateway.reply("openai-responses", sent, stream=stream)
                found = [(call.namespace, call.name, call.custom, call.arguments) for call in reply.calls]
                wanted = [(call.namespace, call.name, call.custom, call.arguments) for call in meaning(case).reply.calls]
                assert found == wanted, (upstream, stream)

    run(work())
