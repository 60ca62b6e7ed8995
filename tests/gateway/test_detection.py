"""A server that reports what its models support is queried once before tools are sent, and decides the tool mode."""

from __future__ import annotations

from tests.gateway.running import request_of, run, serving
from tests.gateway.scripts import question
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
