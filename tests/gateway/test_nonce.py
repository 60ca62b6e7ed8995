"""Where a model copies a nonce, the gateway puts one into its prompt, and only a call with it leaves."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from tests.gateway.running import run, serving
from tests.gateway.scripts import question, response_to, text
from tests.gateway.upstream_server import Upstream, UpstreamRequest, UpstreamResponse, upstream_server
from toolglot.gateway.config import Config, read_config
from toolglot.gateway.server import Source, make_gateway

MARK = re.compile(r"~~~tool_call ([0-9a-f]{8})")
CALL = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
ASKED = question("openai-chat", "any")


def config(up: Upstream, secret: str = "") -> Config:
    return read_config(
        f'[server]\nport = 0\ndetect = false\n{secret}\n[[upstream]]\nname = "up"\nprovider = "vllm"\nbase_url = "{up.url}"\n'
        '[[route]]\nmodel = "*"\nto = "up/qwen2.5-coder-7b"\nask = "dialect:tagged"\nretries = 0\n'
    )


def mark_in(request: UpstreamRequest) -> str:
    found = MARK.search(request.body["messages"][0]["content"])
    assert found is not None
    return found[1]


def writes(form: Callable[[str], str]) -> Callable[[UpstreamRequest], UpstreamResponse]:
    return lambda request: response_to(request, text(form(mark_in(request))))


def test_only_a_call_with_the_nonce_leaves() -> None:
    async def work(form: Callable[[str], str], calls: int) -> None:
        async with upstream_server(writes(form)) as up, serving(config(up)) as gateway:
            for stream in (False, True):
                reply = await gateway.reply("openai-chat", ASKED, stream=stream)
                assert len(reply.calls) == calls
                assert ("get_weather" in reply.text) == (calls == 0)

    run(work(lambda mark: f"~~~tool_call {mark}\n{CALL}\n~~~", 1))
    run(work(lambda _: f"~~~tool_call\n{CALL}\n~~~", 0))
    run(work(lambda _: f"<tool_call>\n{CALL}\n</tool_call>", 0))


def test_the_prompt_begins_the_same_in_every_turn_and_on_every_gateway_with_the_same_secret() -> None:
    async def work() -> None:
        async with upstream_server(writes(lambda mark: f"~~~tool_call {mark}\n{CALL}\n~~~")) as up:
            shared = config(up, 'nonce_secret = "a-secret-of-many-letters"')
            call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
            turn = [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "call_1", "content": "sunny"}]
            later = {**ASKED, "messages": [*ASKED["messages"], *turn, {"role": "user", "content": "And in Rome?"}]}
            for one in (shared, shared, config(up)):
                async with serving(one) as gateway:
                    await gateway.reply("openai-chat", ASKED, stream=False)
                    await gateway.reply("openai-chat", later, stream=False)
        first, second, *others, alone, alone_later = [request.body["messages"] for request in up.requests]
        assert second[: len(first)] == first
        assert others == [first, second]
        assert alone_later[0] == alone[0] != first[0]

    run(work())


def test_all_workers_have_the_same_secret() -> None:
    source = Source()
    sent = msgspec.json.decode(msgspec.json.encode(source), type=Source)
    assert sent.nonce_secret == source.nonce_secret != Source().nonce_secret
    secrets = {make_gateway(Config(), one.nonce_secret).live.session.nonce_secret for one in (source, sent)}
    assert secrets == {source.nonce_secret}
    assert make_gateway(Config()).live.session.nonce_secret != make_gateway(Config()).live.session.nonce_secret
