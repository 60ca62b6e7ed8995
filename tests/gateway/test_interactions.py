"""Gemini Interactions at the gateway: stored conversations, and what upstreams get. The vendor's client is in test_sdks.py."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai._gaos.types.interactions import Step
from pydantic import TypeAdapter

from tests.gateway.running import WIRES, Running, config, read_back, run, serving
from tests.gateway.scripts import calls, fixture, in_turn, question, text, weather
from tests.gateway.test_server_tools import asks, tools_config
from tests.gateway.upstream_server import upstream_server
from tests.laws.conversations import the_wire
from toolglot.core.interfaces import ResponseContext
from toolglot.core.messages import Text
from toolglot.core.reply import Reply, Stop, Usage

WIRE = the_wire("gemini-interactions")
STEP: TypeAdapter[Any] = TypeAdapter(Step)
PATH = "/v1beta/interactions"
NAME = "gemini-interactions"
ONE, TWO = {"x_goog_api_key": "key-one-0123456789"}, {"x_goog_api_key": "key-two-0123456789"}


async def interact(gateway: Running, stream: bool = False, **fields: Any) -> Any:
    status, body, _ = await gateway.ask("POST", PATH, {"stream": stream, **fields})
    assert status == 200, body
    return read_back(NAME, body)


@pytest.mark.parametrize("stream", [False, True])
def test_a_stored_conversation_continues_on_every_upstream(stream: bool) -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text(""))) as up, serving(config(up)) as gateway:
            for upstream in WIRES:
                up.play = in_turn(calls(weather({"city": "Paris"}, id="call_1")), text("It is warm."), text("Yes."))
                model = {"model": f"{upstream}/m", "tools": question(NAME, "m")["tools"]}
                first = await interact(gateway, stream, **model, system_instruction="Be brief.", input="Weather in Paris?")
                [call] = first.calls
                result = {"type": "function_result", "call_id": call.id, "result": {"degrees": 18}}
                second = await interact(gateway, stream, **model, input=[result], previous_interaction_id=first.id)
                await interact(gateway, stream, **model, input="Sure?", previous_interaction_id=second.id)
                seen = str(up.requests[-1].body)
                for words in ("Weather in Paris?", "get_weather", "18", "It is warm.", "Sure?"):
                    assert words in seen, (upstream, words)
                assert "Be brief." not in seen, "turn-scoped, as in the vendor's API"
                assert "previous_interaction_id" not in seen

    run(work())


def test_a_stored_interaction_is_read_with_its_input_and_deleted() -> None:
    async def work() -> None:
        keys = 'keys = ["key-one-0123456789", "key-two-0123456789"]'
        async with upstream_server(in_turn(text("Hello."))) as up, serving(config(up, server=keys)) as gateway:
            sent = {"model": "anthropic/m", "input": "Hi"}
            _, first, _ = await gateway.ask("POST", PATH, sent, **ONE)
            _, second, _ = await gateway.ask("POST", PATH, {**sent, "previous_interaction_id": first["id"]}, **ONE)
            where = f"{PATH}/{second['id']}"
            _, stored, _ = await gateway.ask("GET", where, **ONE)
            assert stored == second
            assert stored["previous_interaction_id"] == first["id"]
            _, with_input, _ = await gateway.ask("GET", f"{where}?include_input=true", **ONE)
            user = {"type": "user_input", "content": [{"type": "text", "text": "Hi"}]}
            assert with_input == {**stored, "input": [user]}, "the input of this turn alone"
            status, error, _ = await gateway.ask("GET", f"{where}?stream=true&last_event_id=7", **ONE)
            assert (status, error["error"]["code"]) == (400, "invalid_request_error")
            assert (await gateway.ask("POST", f"{where}/cancel", **ONE))[0] == 400, "it is complete"
            for method, path in (("GET", where), ("DELETE", where), ("POST", f"{where}/cancel")):
                assert (await gateway.ask(method, path, **TWO))[0] == 404
            assert await _status(gateway, {**sent, "previous_interaction_id": second["id"]}, TWO) == (404, "not_found")
            assert (await gateway.ask("DELETE", where, **ONE))[:2] == (200, {})
            assert await _status(gateway, {**sent, "previous_interaction_id": second["id"]}, ONE) == (404, "not_found")

    run(work())


async def _status(gateway: Running, sent: dict[str, Any], headers: dict[str, str]) -> tuple[int, str]:
    status, body, _ = await gateway.ask("POST", PATH, sent, **headers)
    return status, body["error"]["code"]


def test_a_response_of_another_api_is_not_found_there() -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text("Hello."))) as up, serving(config(up)) as gateway:
            _, response, _ = await gateway.ask("POST", "/v1/responses", {"model": "gemini/m", "input": "Hi"})
            _, interaction, _ = await gateway.ask("POST", PATH, {"model": "gemini/m", "input": "Hi"})
            for wrong in (f"{PATH}/{response['id']}", f"/v1/responses/{interaction['id']}"):
                for method in ("GET", "DELETE"):
                    assert (await gateway.ask(method, wrong))[0] == 404
            assert (await gateway.ask("GET", f"/v1/responses/{response['id']}"))[0] == 200

    run(work())


@pytest.mark.parametrize("client", [wire for wire in WIRES if wire != NAME])
def test_an_upstream_gets_its_revision_and_stores_nothing_by_itself(client: str) -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            await gateway.reply(client, question(client, f"{NAME}/m"), stream=False)
            request = up.requests[-1]
            assert (request.path, request.body["store"]) == (PATH, False)
            assert (request.headers["api-revision"], request.headers["x-goog-api-key"]) == ("2026-05-20", "k-up")

    run(work())


SERVER_TOOLS = [
    ("google_search", "web_search", {"query": "otter food"}, {"queries": ["otter food"]}, "https://example.org/otters"),
    ("url_context", "web_fetch", {"url": "https://example.org/otters"}, {"urls": ["https://example.org/otters"]}, "success"),
    ("code_execution", "code_execution", {"code": "1+1"}, {"language": "python", "code": "1+1"}, "3 characters"),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("case", SERVER_TOOLS, ids=lambda case: case[0])
def test_a_server_tool_of_the_gateway_is_two_steps(case: tuple[str, str, dict[str, str], Any, str], stream: bool) -> None:
    tool, name, asked, arguments, shown = case

    async def work() -> None:
        more = 'tool = "search"' if name == "web_search" else ""
        async with upstream_server(asks(name, **asked)) as up, serving(tools_config(up, name=name, more=more)) as gateway:
            model = {"model": "openai-chat/m", "tools": [{"type": tool}]}
            user = {"type": "user_input", "content": [{"type": "text", "text": "Look."}]}
            reply = await interact(gateway, stream, **model, input=[user])
            steps = WIRE.write_reply(reply, ResponseContext(), [])["steps"]
            assert [step["type"] for step in steps] == ["model_output", f"{tool}_call", f"{tool}_result", "model_output"]
            assert (steps[1]["arguments"], steps[2]["call_id"]) == (arguments, steps[1]["id"])
            assert shown in str(steps[2]["result"])
            for step in steps:
                assert "UNKNOWN" not in str(STEP.validate_python(step))
            within = up.requests[-1].body["messages"]
            for earlier in ({"input": [user, *steps, user]}, {"input": [user], "previous_interaction_id": reply.id}):
                await interact(gateway, stream, **model, **earlier)
                assert up.requests[-2].body["messages"][: len(within)] == within, "later turns show the model what it saw"

    run(work())


def test_an_agent_is_routed_by_its_name() -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            sent = {"agent": f"{NAME}/deep-research", "input": "Hi", "agent_config": {"type": "deep-research"}}
            status, body, _ = await gateway.ask("POST", PATH, sent)
            assert (status, body["agent"]) == (200, f"{NAME}/deep-research")
            upstream = up.requests[-1].body
            assert (upstream["agent"], upstream["agent_config"]) == ("deep-research", {"type": "deep-research"})
            assert "model" not in upstream

    run(work())


def test_paths_without_a_version_and_unknown_ones() -> None:
    async def work() -> None:
        async with upstream_server(in_turn(text("Hello."))) as up, serving(config(up)) as gateway:
            for path in ("/v1/interactions", "/interactions", "/v1beta/interactions/"):
                assert (await gateway.ask("POST", path, {"model": "gemini/m", "input": "Hi"}))[0] == 200
            status, body, _ = await gateway.ask("PUT", PATH, {})
            assert (status, type(body["error"]["code"])) == (405, str)
            status, body, _ = await gateway.ask("POST", PATH, {"input": "Hi"})
            assert (status, body["error"]["code"]) == (400, "invalid_request_error")
            status, body, _ = await gateway.ask("POST", PATH, {"model": "gemini/m", "input": [{"type": 5}]})
            assert status == 400
            assert "input[0].type" in body["error"]["message"]

    run(work())


@pytest.mark.parametrize("stream", [False, True])
def test_a_continuation_token_goes_there_and_back_and_is_a_note_elsewhere(stream: bool) -> None:
    async def work() -> None:
        reply = Reply("r", "m", (Text("Once"),), Stop("pause"), Usage(1, 1), extra={NAME: {"continuation_token": "ct_2"}})
        async with upstream_server(in_turn(reply)) as up, serving(config(up)) as gateway:
            asked = {"input": "A tale", "continuation_token": "ct_1", "stream": stream, "store": False}
            status, body, _ = await gateway.ask("POST", PATH, {"model": f"{NAME}/m", **asked})
            assert (status, up.requests[-1].body["continuation_token"]) == (200, "ct_1")
            assert "ct_2" in str(body)
            assert "requires_continuation" in str(body)
            await gateway.ask("POST", PATH, {"model": "openai-chat/m", **asked})
            assert any("continuation_token" in str(record.notes) for record in gateway.gateway.records.recent())
            assert "ct_1" not in str(up.requests[-1].body)
            _, first, _ = await gateway.ask("POST", PATH, {"model": f"{NAME}/m", "input": "A tale"})
            again = {"continuation_token": first["continuation_token"], "previous_interaction_id": first["id"]}
            await gateway.ask("POST", PATH, {"model": f"{NAME}/m", **again})
            sent = up.requests[-1].body
            assert (len(sent["input"]), sent["continuation_token"]) == (2, "ct_2"), "with the stored history"

    run(work())
