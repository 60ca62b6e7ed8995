"""Endpoints beside the chat endpoints: without the version, passed through, and about stored responses."""

from __future__ import annotations

from typing import Any

import msgspec
import ollama
import pytest

from tests.gateway.running import Running, config, run, serving
from tests.gateway.scripts import fixture, response_to
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server, whole
from toolglot.core.messages import Reasoning, Text
from toolglot.core.reply import Reply, Stop, Usage
from toolglot.gateway.config import read_config

ASK = [{"role": "user", "content": "Hi"}]


def test_the_same_paths_without_the_version() -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            model = "openai-chat/m"
            for path, body in (
                ("/chat/completions", {"messages": ASK}),
                ("/responses", {"input": "Hi"}),
                ("/messages", {"messages": ASK, "max_tokens": 9}),
            ):
                assert (await gateway.ask("POST", path, {"model": model, **body}))[0] == 200
            assert (await gateway.ask("GET", "/health"))[:2] == (200, {"status": "ok"})
            assert (await gateway.ask("POST", "/messages", {"model": "nope/x"}))[1]["type"] == "error"
            assert (await gateway.ask("GET", "/api/ps"))[0] == 200

    run(work())


@pytest.mark.parametrize("path", ["/v1/embeddings", "/embeddings", "/v1/completions", "/api/embed", "/api/generate"])
def test_passed_to_an_upstream_that_has_it(path: str) -> None:
    body = {"model": "mine", "input": ["a", "b"], "dimensions": 3}

    def play(request: UpstreamRequest) -> UpstreamResponse:
        if request.body.get("input") == "bad":
            return whole({"error": {"message": "no such input", "type": "invalid_request_error"}}, 400)
        return whole({"data": [{"embedding": [0.1]}], "model": request.body["model"]})

    async def work(gateway: Running, requests: list[UpstreamRequest]) -> None:
        status, answer, headers = await gateway.ask("POST", path, body)
        assert (status, answer["model"]) == (200, "real")
        assert headers["x-toolglot-upstream"] == "u/real"
        assert requests[-1].path == (path if path.startswith(("/v1/", "/api/")) else f"/v1{path}")
        assert requests[-1].body == {**body, "model": "real"}
        status, answer, _ = await gateway.ask("POST", path, {**body, "input": "bad"})
        assert status == 400
        assert "no such input" in str(answer)
        assert (await gateway.ask("POST", path, {"input": "a"}))[0] == 400
        assert (await gateway.ask("POST", path, b"[]"))[0] == 400
        status, answer, _ = await gateway.ask("POST", path, {"model": "other", "suffix": "x"})
        assert (status, "not supported by upstream" in str(answer)) == (404, True)

    async def served() -> None:
        async with upstream_server(play) as up:
            text = f'[server]\nport = 0\ndetect = false\n[[upstream]]\nname = "u"\nprovider = "ollama"\nbase_url = "{up.url}"\n'
            text += f'[[upstream]]\nname = "a"\nprovider = "anthropic"\nbase_url = "{up.url}"\napi_key = "k"\n'
            text += '[[route]]\nmodel = "mine"\nto = "u/real"\n[[route]]\nmodel = "other"\nto = "a/x"\n'
            async with serving(read_config(text)) as gateway:
                await work(gateway, up.requests)

    run(served())


@pytest.mark.parametrize("wire", ["openai-chat", "anthropic", "gemini"])
def test_generate_is_a_chat_where_the_upstream_has_none(wire: str) -> None:
    def play(request: UpstreamRequest) -> UpstreamResponse:
        if "fail" in str(request.body):
            return whole({"error": {"message": "slow down"}}, 400)
        return response_to(request, Reply("r", "m", (Reasoning("Hm."), Text("It is warm.")), Stop("stop"), Usage(10, 5)))

    async def work() -> None:
        async with (
            upstream_server(play) as up,
            serving(config(up, server="max_concurrent = 1")) as gateway,
            ollama.AsyncClient(host=gateway.url) as client,
        ):
            asked: dict[str, Any] = {
                "model": f"{wire}/m",
                "system": "Be brief.",
                "prompt": "Weather?",
                "options": {"temperature": 0.5},
            }
            answer = await client.generate(**asked)
            assert (answer.response, answer.thinking, answer.done_reason, answer.eval_count) == (
                "It is warm.",
                "Hm.",
                "stop",
                5,
            )
            parts = [part async for part in await client.generate(**asked, stream=True)]
            assert "".join(part.response or "" for part in parts) == "It is warm."
            assert "".join(part.thinking or "" for part in parts) == "Hm."
            assert [part.done for part in parts] == [False] * (len(parts) - 1) + [True]
            seen = msgspec.json.encode(up.requests[-1].body).decode()
            assert all(words in seen for words in ("Be brief.", "Weather?", "0.5"))
            with pytest.raises(ollama.ResponseError, match="slow down"):
                await client.generate(**{**asked, "prompt": "fail"})
            with pytest.raises(ollama.ResponseError, match="not supported by upstream"):
                await client.generate(**asked, suffix="x")
            asked_before = len(up.requests)
            assert (await client.generate(model=f"{wire}/m")).done_reason == "load"
            assert len(up.requests) == asked_before
            records = gateway.gateway.records.recent()
            assert [one.status for one in records] == [200, 404, 400, 200, 200]

    run(work())


def test_the_input_of_a_stored_response() -> None:
    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up, serving(config(up)) as gateway:
            first = (await gateway.ask("POST", "/v1/responses", {"model": "openai-chat/m", "input": "One"}))[1]["id"]
            sent = {"model": "openai-chat/m", "input": "Two", "previous_response_id": first}
            second = (await gateway.ask("POST", "/v1/responses", sent))[1]["id"]
            _, listed, _ = await gateway.ask("GET", f"/v1/responses/{second}/input_items?order=asc")
            assert [item["role"] for item in listed["data"]] == ["user", "assistant", "user"]
            assert "Two" in msgspec.json.encode(listed["data"][-1]).decode()
            _, page, _ = await gateway.ask("GET", f"/v1/responses/{second}/input_items?limit=1")
            assert (page["data"], page["has_more"]) == ([listed["data"][-1]], True)
            _, rest, _ = await gateway.ask("GET", f"/v1/responses/{second}/input_items?after={page['last_id']}")
            assert rest["data"] == listed["data"][1::-1]
            assert (await gateway.ask("GET", f"/v1/responses/{second}/input_items?limit=0"))[0] == 400
            assert (await gateway.ask("POST", f"/v1/responses/{second}/cancel"))[0] == 400
            for method, path in (("GET", "input_items"), ("POST", "cancel")):
                assert (await gateway.ask(method, f"/v1/responses/resp_nope/{path}"))[0] == 404

    run(work())


def test_a_key_that_the_upstream_repeats_is_not_passed_on() -> None:
    def play(request: UpstreamRequest) -> UpstreamResponse:
        return whole({"error": {"message": f"wrong: {request.headers['authorization']}"}}, 401)

    async def work() -> None:
        async with upstream_server(play) as up:
            text = f'[server]\nport = 0\ndetect = false\n[[upstream]]\nname = "u"\nprovider = "vllm"\nbase_url = "{up.url}"\n'
            text += 'api_key = "upstream-key-0123456789"\n[[route]]\nmodel = "*"\nto = "u/*"\n'
            async with serving(read_config(text)) as gateway:
                status, answer, _ = await gateway.ask("POST", "/v1/embeddings", {"model": "m", "input": "a"})
                assert (status, "wrong: " in str(answer)) == (401, True)
                assert "upstream-key" not in str(answer)
                assert "upstream-key" not in str((await gateway.ask("GET", "/toolglot/live"))[1])

    run(work())
