"""`toolglot explain` of a request, asked of a real gateway."""

from __future__ import annotations

import asyncio
import json

from click.testing import CliRunner, Result

from tests.gateway.running import config, request_of, run, serving
from tests.gateway.scripts import in_turn, question, text
from tests.gateway.upstream_server import upstream_server
from toolglot.cli.explain import command


def explained(*words: str) -> Result:
    return CliRunner().invoke(command, list(words), catch_exceptions=False)


def test_a_request_of_a_running_gateway() -> None:
    async def work() -> None:
        said = text('<tool_call>{"name": "get_weather", "arguments": {"city": "Paris", "days": "2"}}</tool_call>')
        async with upstream_server(in_turn(said)) as up, serving(config(up, "openai-chat")) as gateway:
            path, sent = request_of("openai-chat", question("openai-chat", "openai-chat/m"), stream=False)
            _, _, headers = await gateway.ask("POST", path, sent)
            known = headers["x-request-id"]
            told = await asyncio.to_thread(explained, known, "--gateway", gateway.url)
            assert told.exit_code == 0, told.output
            assert "coerced_type" in told.output
            held = json.loads((await asyncio.to_thread(explained, known, "--gateway", gateway.url, "--json")).output)
            assert held["id"] == known
            unknown = await asyncio.to_thread(explained, "req_nope", "--gateway", gateway.url)
            assert (unknown.exit_code, "remembers" in unknown.output) == (2, True)

    run(work())


def test_no_gateway_there() -> None:
    told = explained("req_1", "--gateway", "http://127.0.0.1:9")
    assert told.exit_code == 2
    assert "no gateway answers" in told.output
