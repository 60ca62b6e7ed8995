"""Compaction with the OpenAI SDK: by the upstream, by the routed model, and on a trigger, as Codex does it."""

from __future__ import annotations

from typing import Any

import pytest
from openai import APIStatusError, AsyncOpenAI, BadRequestError

from tests.gateway.running import WIRES, Running, config, run, serving
from tests.gateway.scripts import WEATHER, calls, in_turn, question, text, weather
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server, whole
from toolglot.gateway.compaction import _REQUEST

_KEYS = 'keys = ["key-one-0123456789", "key-two-0123456789"]'
_TOOLS: Any = question("openai-responses", "m", (WEATHER,))["tools"]
_INPUT: Any = [
    {"role": "user", "content": "Weather in Paris?"},
    {"type": "function_call", "call_id": "call_1", "name": "get_weather", "arguments": '{"city": "Paris"}'},
    {"type": "function_call_output", "call_id": "call_1", "output": "18C"},
    {"role": "assistant", "content": "It is warm."},
    {"role": "user", "content": "And Rome?"},
]
_COMPACTED = {
    "id": "resp_up",
    "object": "response.compaction",
    "created_at": 1,
    "output": [{"type": "compaction", "id": "cmp_up", "encrypted_content": "sealed"}],
    "usage": {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12},
}


def _sdk(gateway: Running, key: str = "key-one-0123456789") -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key=key, max_retries=0)


def _param(items: list[Any]) -> list[Any]:
    return [item.to_dict(warnings=False) for item in items]  # the SDK's types have no user message here


@pytest.mark.parametrize("wire", [wire for wire in WIRES if wire != "openai-responses"])
def test_the_routed_model_writes_the_summary(wire: str) -> None:
    async def work() -> None:
        play = in_turn(text("They asked about Paris: 18C."), text("Rome is warmer."))
        async with upstream_server(play) as up, serving(config(up)) as gateway, _sdk(gateway) as client:
            model = f"{wire}/m"
            compacted = await client.responses.compact(
                model=model, input=_INPUT, instructions="Be brief.", extra_body={"tools": _TOOLS}
            )
            assert compacted.object == "response.compaction"
            assert (compacted.usage.input_tokens, compacted.usage.output_tokens) == (10, 5)
            *users, item = compacted.output
            assert [user["role"] for user in _param(users)] == ["user", "user"]
            assert "18C" not in str(compacted.to_dict(warnings=False))  # the summary is here, not in the item
            assert item.type == "compaction"
            seen = str(up.requests[0].body)
            assert all(words in seen for words in ("18C", "It is warm.", "Be brief.", _REQUEST[:40]))
            later = await client.responses.create(
                model=model, input=[*_param(compacted.output), {"role": "user", "content": "Go on."}]
            )
            assert later.output_text == "Rome is warmer."
            seen = str(up.requests[1].body)
            assert all(words in seen for words in ("They asked about Paris: 18C.", "Weather in Paris?", "Go on."))
            assert "It is warm." not in seen
            assert [one.status for one in gateway.gateway.records.recent()] == [200, 200]

    run(work())


def test_a_stored_conversation_and_an_earlier_compaction_are_compacted() -> None:
    async def work() -> None:
        play = in_turn(text("Hello."), text("Summary one."), text("Summary two."))
        async with upstream_server(play) as up, serving(config(up)) as gateway, _sdk(gateway) as client:
            first = await client.responses.create(model="gemini/m", input="Remember seven.")
            one = await client.responses.compact(model="gemini/m", previous_response_id=first.id)
            assert "Remember seven." in str(_param(one.output))
            items: Any = [*_param(one.output), {"role": "user", "content": "Eight."}]
            two = await client.responses.compact(model="gemini/m", input=items)
            assert "Summary one." in str(up.requests[-1].body)
            assert "Summary one." not in str(two.to_dict(warnings=False))
            assert [item.type for item in two.output] == ["message", "message", "compaction"]

    run(work())


def test_an_upstream_that_compacts_does_it() -> None:
    async def work() -> None:
        def play(request: UpstreamRequest) -> UpstreamResponse:
            return whole(_COMPACTED)

        async with upstream_server(play) as up, serving(config(up)) as gateway, _sdk(gateway) as client:
            compacted = await client.responses.compact(model="openai-responses/m", input=_INPUT)
            assert compacted.output[0].to_dict() == _COMPACTED["output"][0]  # type: ignore[index]
            assert (up.requests[0].path, up.requests[0].body["model"]) == ("/v1/responses/compact", "m")
            assert up.requests[0].body["input"] == _INPUT
            record = gateway.gateway.records.recent()[0]
            assert (record.status, record.upstream, record.input, record.output) == (200, "openai-responses", 9, 3)

    run(work())


def test_an_upstream_without_the_endpoint_writes_a_summary() -> None:
    async def work() -> None:
        missing = UpstreamResponse(404, {}, [b'{"error":{"message":"Not Found"}}'])
        async with (
            upstream_server(in_turn(missing, text("A summary."))) as up,
            serving(config(up)) as gateway,
            _sdk(gateway) as client,
        ):
            compacted = await client.responses.compact(model="openai-responses/m", input=_INPUT)
            assert str(compacted.output[-1].to_dict()["encrypted_content"]).startswith("toolglot:")
            assert [request.path for request in up.requests] == ["/v1/responses/compact", "/v1/responses"]

    run(work())


@pytest.mark.parametrize("stream", [False, True])
def test_a_trigger_yields_a_compaction_item(stream: bool) -> None:
    async def work() -> None:
        play = in_turn(text("A summary."), text("Going on."), text("And on."))
        async with upstream_server(play) as up, serving(config(up)) as gateway, _sdk(gateway) as client:
            sent: Any = {"model": "anthropic/m", "input": [*_INPUT, {"type": "compaction_trigger"}], "tools": _TOOLS}
            if stream:
                events: list[Any] = [event async for event in await client.responses.create(**sent, stream=True)]
                kinds = [event.type for event in events]
                assert "response.compaction.compacting" in kinds
                done = next(event for event in events if event.type == "response.output_item.done")
                response = events[-1].response
                assert done.item == response.output[0]
            else:
                response = await client.responses.create(**sent)
            assert [item.type for item in response.output] == ["compaction"]
            assert (response.status, response.usage.output_tokens) == ("completed", 5)
            items: Any = [*_param(response.output), {"role": "user", "content": "Go on."}]
            await client.responses.create(model="anthropic/m", input=items)
            assert "A summary." in str(up.requests[-1].body)
            await client.responses.create(model="anthropic/m", input="More.", previous_response_id=response.id)
            seen = str(up.requests[-1].body)
            assert "A summary." in seen
            assert "It is warm." not in seen

    run(work())


def test_another_key_can_not_open_it_and_failures_are_told() -> None:
    async def work() -> None:
        broken = UpstreamResponse(400, {}, [b'{"error":{"message":"too long"}}'])
        play = in_turn(text("A summary."), calls(weather({"city": "Rome"})), broken)
        async with (
            upstream_server(play) as up,
            serving(config(up, server=_KEYS)) as gateway,
            _sdk(gateway) as client,
            _sdk(gateway, "key-two-0123456789") as stranger,
        ):
            compacted = await client.responses.compact(model="openai-chat/m", input=_INPUT)
            items: Any = _param(compacted.output)
            with pytest.raises(BadRequestError, match="compaction item is unknown"):
                await stranger.responses.create(model="openai-chat/m", input=items)
            with pytest.raises(APIStatusError, match="no summary"):
                await client.responses.compact(model="openai-chat/m", input=_INPUT, extra_body={"tools": _TOOLS})
            with pytest.raises(BadRequestError, match="too long"):
                await client.responses.compact(model="openai-chat/m", input=_INPUT)
            with pytest.raises(BadRequestError, match="missing or empty"):
                await client.responses.compact(model="openai-chat/m")

    run(work())


def test_a_compaction_that_is_cut_off_is_a_fault_of_the_upstream() -> None:
    async def work() -> None:
        cut = UpstreamResponse(200, {"content-type": "application/json"}, [b'{"object":"response.compaction","output":['])
        async with upstream_server(lambda _: cut) as up, serving(config(up)) as gateway:
            sent = {"model": "openai-responses/m", "input": "Hello."}
            status, body, _ = await gateway.ask("POST", "/v1/responses/compact", sent)
            assert (status, body["error"]["code"]) == (502, "bad_answer")

    run(work())
