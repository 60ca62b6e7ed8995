"""A server that reports what its models support is queried once before tools are sent, and decides the tool mode."""

from __future__ import annotations

import pytest

from tests.gateway.running import request_of, run, serving
from tests.gateway.scripts import fixture, question
from tests.gateway.upstream_server import upstream_server
from tests.laws.conversations import body
from tests.llamacpp import LlamaServer
from toolglot.gateway.config import read_config


def test_a_real_server_with_a_template_without_tools(llamacpp_server: LlamaServer) -> None:
    """The model's name is unknown: without detection the server would silently drop the tools."""

    async def work() -> None:
        configuration = read_config(
            f'[[upstream]]\nname = "here"\nprovider = "llamacpp"\nbase_url = "{llamacpp_server.address}"\n'
            '[[route]]\nmodel = "*"\nto = "here/zorblax"\n'
        )
        async with serving(configuration) as gateway:
            path, sent = request_of("openai-chat", question("openai-chat", "m"), stream=False)
            status, _, headers = await gateway.ask("POST", path, {**sent, "max_tokens": 8, "temperature": 0})
            assert status == 200
            assert "tool mode: " in headers["x-toolglot-notes"]

    run(work())


@pytest.mark.parametrize("model", ["zorblax", "llama3.2:3b", "qwen3.6"])
def test_two_gateways_in_a_row(model: str) -> None:
    """The outer one takes the inner one for an Ollama server; tools and history stay native."""

    async def work() -> None:
        async with upstream_server(fixture("plain_text")) as up:
            inner = read_config(
                f'[server]\nport = 0\n[[upstream]]\nname = "up"\nprovider = "openai"\nbase_url = "{up.url}"\napi_key = "k"\n'
                '[[route]]\nmodel = "*"\nto = "up/*"\n'
            )
            async with serving(inner) as first:
                outer = read_config(
                    f'[server]\nport = 0\n[[upstream]]\nname = "in"\nprovider = "ollama"\nbase_url = "{first.url}"\n'
                    '[[route]]\nmodel = "*"\nto = "in/*"\n'
                )
                async with serving(outer) as gateway:
                    path, sent = request_of("openai-chat", body("multi_turn", "openai-chat", "request"), stream=False)
                    status, answer, headers = await gateway.ask("POST", path, {**sent, "model": model})
            assert status == 200, answer
            assert "written as text" not in headers.get("x-toolglot-notes", "")
            got = up.requests[-1].body
            assert "tool" in {message["role"] for message in got["messages"]}
            assert [tool["function"]["name"] for tool in got["tools"]] == [tool["function"]["name"] for tool in sent["tools"]]

    run(work())
