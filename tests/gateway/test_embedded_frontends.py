"""The embedded model behind all frontends, as `toolglot serve` runs it: each API gets a call in its format."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.gateway.running import WIRES, read_back, request_of
from tests.gateway.scripts import question
from toolglot.cli.demo import CONFIG
from toolglot.core.tools import Tool

TOOL = Tool(
    "get_weather", "The weather of a city", {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
)
CALL = ("get_weather", {"city": "Paris"})

CallSummary = tuple[str, Any, str]  # name, arguments, stop reason


def _chat(body: Any) -> CallSummary:
    [choice] = body["choices"]
    [call] = choice["message"]["tool_calls"]
    assert (call["type"], call["id"][:5]) == ("function", "call_")
    return call["function"]["name"], json.loads(call["function"]["arguments"]), choice["finish_reason"]


def _responses(body: Any) -> CallSummary:
    [call] = [item for item in body["output"] if item["type"] == "function_call"]
    assert (call["status"], call["call_id"][:5]) == ("completed", "call_")
    return call["name"], json.loads(call["arguments"]), body["status"]


def _anthropic(body: Any) -> CallSummary:
    [call] = [block for block in body["content"] if block["type"] == "tool_use"]
    assert call["id"]
    return call["name"], call["input"], body["stop_reason"]


def _gemini(body: Any) -> CallSummary:
    [candidate] = body["candidates"]
    [call] = [part["functionCall"] for part in candidate["content"]["parts"] if "functionCall" in part]
    return call["name"], call["args"], candidate["finishReason"]


def _interactions(body: Any) -> CallSummary:
    [call] = [step for step in body["steps"] if step["type"] == "function_call"]
    assert call["id"][:5] == "call_"
    return call["name"], call["arguments"], body["status"]


def _ollama(body: Any) -> CallSummary:
    [call] = body["message"]["tool_calls"]
    assert body["done"] is True
    return call["function"]["name"], call["function"]["arguments"], body["done_reason"]


# reads the call and the stop reason of a whole reply in each API
SHAPES: dict[str, tuple[Callable[[Any], CallSummary], str]] = {
    "openai-chat": (_chat, "tool_calls"),
    "openai-responses": (_responses, "completed"),
    "anthropic": (_anthropic, "tool_use"),
    "gemini": (_gemini, "STOP"),
    "gemini-interactions": (_interactions, "requires_action"),
    "ollama": (_ollama, "stop"),
}
# the events that start the call and end the reply in each API
SIGNS = {
    "openai-chat": (b'"tool_calls":[{"index":0,', b'"finish_reason":"tool_calls"'),
    "openai-responses": (b"event: response.function_call_arguments.done\n", b"event: response.completed\n"),
    "anthropic": (b'"content_block":{"type":"tool_use",', b'"stop_reason":"tool_use"'),
    "gemini": (b'"functionCall":{', b'"finishReason":"STOP"'),
    "gemini-interactions": (b'"step":{"type":"function_call",', b"event: interaction.completed\n"),
    "ollama": (b'"tool_calls":[{', b'"done":true'),
}


@pytest.fixture(scope="session")
def gateway(smollm2_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its host and port. It runs until the tests end."""
    file = tmp_path_factory.mktemp("gateway") / "toolglot.toml"
    file.write_text(CONFIG.format(model="smollm2"), encoding="utf-8")
    command = [sys.executable, "-m", "toolglot.cli.main", "serve", "--config", str(file), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield urlsplit(json.loads(process.stdout.readline())["url"]).netloc
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
    assert process.returncode == 0


def send(gateway: str, wire: str, *, stream: bool) -> bytes:
    path, body = request_of(wire, question(wire, "smollm2", (TOOL,), temperature=0.0), stream=stream)
    connection = HTTPConnection(gateway, timeout=60)
    try:
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        answer = connection.getresponse()
        data = answer.read()
    finally:
        connection.close()
    assert answer.status == 200, data
    assert answer.headers["x-toolglot-upstream"] == "embedded/smollm2"
    return data


@pytest.mark.parametrize("wire", WIRES)
def test_a_whole_reply_has_the_call(wire: str, gateway: str) -> None:
    read, word = SHAPES[wire]
    assert read(json.loads(send(gateway, wire, stream=False))) == (*CALL, word)


@pytest.mark.parametrize("wire", WIRES)
def test_a_stream_has_the_call(wire: str, gateway: str) -> None:
    data = send(gateway, wire, stream=True)
    reply = read_back(wire, data)
    assert [(call.name, call.arguments) for call in reply.calls] == [CALL]
    assert reply.stop is not None
    assert reply.stop.reason == "calls"
    assert [sign for sign in SIGNS[wire] if sign not in data] == []


STOPPED_SOON = """
import toolglot.gateway.server as serving
assert serving.GRACE > 1
serving.GRACE = 1
from toolglot.cli.main import main
main()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_gateway_that_stops_during_a_stream_exits_cleanly(number: int, smollm2_path: Path, tmp_path: Path) -> None:
    file = tmp_path / "toolglot.toml"
    file.write_text(CONFIG.format(model="smollm2"), encoding="utf-8")
    command = [sys.executable, "-c", STOPPED_SOON, "serve", "--config", str(file), "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        connection = HTTPConnection(urlsplit(json.loads(process.stdout.readline())["url"]).netloc)
        body = {"model": "x", "stream": True, "max_tokens": 6000, "messages": [{"role": "user", "content": "Tell a story."}]}
        body["ignore_eos"] = True
        connection.request("POST", "/v1/chat/completions", json.dumps(body), {"content-type": "application/json"})
        assert connection.getresponse().readline()
        process.send_signal(number)
        errors = process.stderr.read()
        connection.close()
    assert process.returncode == 0
    assert "Traceback" not in errors
