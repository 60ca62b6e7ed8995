"""A server that can tell about its models is asked before tools are sent to it, once, and its word decides how they are."""

from __future__ import annotations

from tests.gateway.running import request_of, run, serving
from tests.gateway.scripts import question
from tests.llamacpp import LlamaServer
from toolglot.gateway.config import read_config


def test_a_real_server_whose_template_has_no_place_for_tools(llamacpp_server: LlamaServer) -> None:
    """By its name nothing is known of the model: the tools would be sent, and dropped without a word."""

    async def work() -> None:
        made = read_config(
            f'[[upstream]]\nname = "here"\nprovider = "llamacpp"\nbase_url = "{llamacpp_server.address}"\n'
            '[[route]]\nmodel = "*"\nto = "here/zorblax"\n'
        )
        async with serving(made) as gateway:
            path, sent = request_of("openai-chat", question("openai-chat", "m"), stream=False)
            status, _, headers = await gateway.ask("POST", path, {**sent, "max_tokens": 8, "temperature": 0})
            assert status == 200
            assert "asked " in headers["x-toolglot-notes"]

    run(work())
