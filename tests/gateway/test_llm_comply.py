"""llm-comply, a validator that others wrote, against the running gateway. Each case passes, and none is skipped."""

from __future__ import annotations

import asyncio
import json
import os
import sys

import pytest

from tests.gateway.running import Running, config, run, serving
from tests.gateway.scripts import calls, response_to
from tests.gateway.upstream_server import UpstreamRequest, UpstreamResponse, upstream_server
from toolglot.core.messages import Reasoning, Text, ToolCall
from toolglot.core.reply import Reply, Stop, Usage

# format of llm-comply -> base path, model, and what it is given besides
FORMATS: dict[str, tuple[str, ...]] = {
    "open-responses": ("/v1", "gpt-5"),
    "openai-chat": ("/v1", "gpt-5"),
    "anthropic": ("/v1", "claude-sonnet-4-5", "--auth-header", "x-api-key", "--no-bearer"),
    "google-interactions": ("", "gemini-2.5-pro", "--auth-header", "x-goog-api-key", "--no-bearer"),
    "google-genai": ("", "gemini-2.5-pro", "--auth-header", "x-goog-api-key", "--no-bearer"),
}
WIRES = ("openai-chat", "anthropic", "gemini")


def a_model(request: UpstreamRequest) -> UpstreamResponse:
    """Calls a tool if there is one; else it answers, and thinks before if it is asked to."""
    if request.body.get("tools"):
        return response_to(request, calls(ToolCall("call_1", "get_weather", '{"location":"San Francisco"}')))
    thinks = any(word in str(request.body) for word in ("reasoning", "thinking"))
    parts = (*((Reasoning("It is a greeting."),) if thinks else ()), Text("Hello there, 1 2 3 4 5."))
    return response_to(request, Reply("r", "m", parts, Stop("stop"), Usage(10, 9, reasoning=4)))


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("form", FORMATS)
def test_every_case_passes(form: str, wire: str) -> None:
    route = f'[[route]]\nmodel = "*"\nto = "{wire}/m"'

    async def work() -> None:
        async with upstream_server(a_model) as up, serving(config(up, wire, route=route)) as gateway:
            found = await complied(gateway, form)
        failed = {one["id"]: one["errors"] for one in found if one["status"] != "passed"}
        assert not failed
        assert len(found) >= 9

    run(work())


async def complied(gateway: Running, form: str) -> list[dict[str, object]]:
    path, model, *more = FORMATS[form]
    words = ("-m", "llm_comply.cli", "--format", form, "-u", gateway.url + path, "-k", "x", "-m", model, "--json", *more)
    environ = {**os.environ, "NO_PROXY": "127.0.0.1"}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=pipe, stderr=pipe, env=environ)
    printed, errors = await process.communicate()
    assert printed, errors
    results: list[dict[str, object]] = json.loads(printed)["results"]
    return results
