"""`toolglot mcp`, with the client of the mcp package."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import pytest
from click.testing import CliRunner

from toolglot.agent.mcp_connection import connect, read_server
from toolglot.cli import mcp
from toolglot.cli.main import main

PATH = {"PYTHONPATH": os.environ.get("PYTHONPATH", ""), "TOOLGLOT_CACHE": os.environ["TOOLGLOT_CACHE"]}
SERVER = read_server([sys.executable, "-m", "toolglot", "mcp"], {}, PATH, None)
TOOLS = [
    {"name": "get_weather", "schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}
]
CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'


def ask(*asked: tuple[str, dict[str, Any]]) -> list[Any]:
    """The results of calls, as the client of the mcp package returns them."""

    async def work() -> list[Any]:
        async with connect(SERVER, 60) as connection:
            return [await connection.session.call_tool(name, arguments) for name, arguments in asked]

    return [found.model_dump(mode="json", by_alias=True) for found in asyncio.run(work())]


def test_a_client_calls_every_tool() -> None:
    payload = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "temperature": 0.5}
    extracted, validated, converted, explained = ask(
        ("extract", {"text": f"Let me look. {CALL}", "tools": TOOLS}),
        ("validate", {"calls": [{"id": "1", "function": {"name": "get_weather", "arguments": "{}"}}], "tools": TOOLS}),
        ("convert", {"payload": payload, "source": "openai-chat", "target": "gemini"}),
        ("explain", {"what": "rejected_schema"}),
    )
    found = json.loads(extracted["content"][0]["text"])
    assert [(call["name"], call["arguments"]) for call in found["calls"]] == [("get_weather", {"city": "Paris"})]
    assert [one["code"] for one in found["decisions"]] == ["rescued_text"]
    refused = json.loads(validated["content"][0]["text"])
    assert (refused["calls"], refused["decisions"][0]["code"]) == ([], "rejected_schema")
    assert json.loads(converted["content"][0]["text"])["result"]["generationConfig"] == {"temperature": 0.5}
    assert explained["content"][0]["text"] == "The arguments do not satisfy the tool's schema."


def test_wrong_use_is_an_error_that_names_what_to_do() -> None:
    wires, limit, unknown = ask(
        ("convert", {"payload": {}, "source": "opnai", "target": "gemini"}),
        ("extract", {"text": "x" * (mcp._MOST + 1), "tools": []}),
        ("explain", {"what": "req_none"}),
    )
    assert all(one["isError"] for one in (wires, limit, unknown))
    assert "did you mean openai?" in wires["content"][0]["text"]
    assert f"{mcp._MOST} are allowed" in limit["content"][0]["text"]
    assert "no gateway answers" in unknown["content"][0]["text"] or "on record" in unknown["content"][0]["text"]


def test_the_tools_as_json() -> None:
    found = json.loads(CliRunner().invoke(main, ["mcp", "--json"]).stdout)
    assert [tool["name"] for tool in found] == ["extract", "validate", "convert", "explain"]
    assert found[0]["inputSchema"]["required"] == ["text", "tools"]


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("mcp", "mcp.server.mcpserver", "mcp.server.fastmcp"):
        monkeypatch.setitem(sys.modules, name, None)
    done = CliRunner().invoke(main, ["mcp"])
    assert (done.exit_code, "pip install 'toolglot[mcp]'" in done.stderr) == (2, True)
