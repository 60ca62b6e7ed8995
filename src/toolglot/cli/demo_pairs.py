"""`toolglot demo --pairs`: one conversation with two tools, translated between every pair of APIs, whole and streamed."""

from __future__ import annotations

import sys
import time
from importlib.resources import files
from typing import Any

import click
import msgspec

from toolglot.core.fold import fold
from toolglot.core.messages import ToolResult
from toolglot.io.json_codec import encode
from toolglot.pipeline.convert import convert, convert_stream, read_request, read_stream
from toolglot.pipeline.request.route import wire_format
from toolglot.wires import NAMES

WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
REQUEST: dict[str, Any] = {
    "model": "any-model",
    "messages": [
        {"role": "system", "content": "Answer briefly."},
        {"role": "user", "content": "Weather and time in Paris?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_a", "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Paris"}'}},
                {"id": "call_b", "type": "function", "function": {"name": "get_time", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_a", "content": "18C, clear"},
        {"role": "tool", "tool_call_id": "call_b", "content": "14:05"},
        {"role": "user", "content": "And in Rome?"},
    ],
    "tools": [
        {"type": "function", "function": {"name": "get_weather", "description": "Weather now", "parameters": WEATHER}},
        {"type": "function", "function": {"name": "get_time", "description": "Local time"}},
    ],
    "max_tokens": 300,
}
WANTED = [("get_weather", {"city": "Rome"}), ("get_time", {})]

_WIDTH = max(map(len, NAMES)) + 1


def run(as_json: bool) -> None:
    """Translate and check requests and streamed replies for all pairs of APIs. Exits with 1 if a pair loses a call or a result.

    Nothing is sent anywhere: the reply is a recorded Anthropic stream.
    """
    began = time.process_time()
    recorded = files("toolglot.cli").joinpath("demo_stream.txt").read_bytes()
    results_by_pair = {source: {target: _pair(source, target, recorded) for target in NAMES} for source in NAMES}
    seconds = time.process_time() - began
    right = sum(pair == "ok" for row in results_by_pair.values() for pair in row.values())
    if as_json:
        click.echo(encode({"pairs": results_by_pair, "right": right, "cpu_seconds": round(seconds, 3)}))
    else:
        _show(results_by_pair, right, seconds, recorded)
    sys.exit(0 if right == len(NAMES) ** 2 else 1)


def _pair(source: str, target: str, recorded: bytes) -> str:
    """Translate the request to `source` and then to `target`, and the recorded anthropic reply likewise."""
    request = convert(convert(REQUEST, "openai-chat", source), source, target)
    tool_results = [
        (part.name, part.text)
        for message in read_request(request, wire_format(target)).messages
        for part in message.parts
        if isinstance(part, ToolResult)
    ]
    if tool_results != [("get_weather", "18C, clear"), ("get_time", "14:05")]:
        return f"results lost: {tool_results}"
    first = b"".join(convert_stream([recorded], "anthropic", source))
    second = b"".join(convert_stream([first], source, target))
    calls = [(call.name, call.arguments) for call in fold(read_stream([second], target)).calls]
    return "ok" if calls == WANTED else f"calls lost: {calls}"


def _show(results_by_pair: dict[str, dict[str, str]], right: int, seconds: float, recorded: bytes) -> None:
    click.secho("One request with two tools, on each API", bold=True)
    for wire in NAMES:
        body = convert(REQUEST, "openai-chat", wire)
        click.echo(f"  {wire:{_WIDTH}} {len(encode(body)):5} bytes   {_first_tool(body)}")
    click.secho("\nA recorded Anthropic stream, as an OpenAI Chat client would see it", bold=True)
    for line in b"".join(convert_stream([recorded], "anthropic", "openai-chat")).decode().splitlines():
        if '"tool_calls"' in line or '"content":"' in line or "DONE" in line:
            click.echo("  " + (line if len(line) < 160 else f"{line[:72]} ... {line[-80:]}"))
    click.secho("\nFrom each API (down) to each (across): request, results and streamed calls", bold=True)
    click.echo(" " * (_WIDTH + 2) + "  ".join(f"{wire:{_WIDTH}}" for wire in NAMES))
    for source, row in results_by_pair.items():
        click.echo(f"  {source:{_WIDTH}}" + "  ".join(f"{pair:{_WIDTH}.{_WIDTH}}" for pair in row.values()))
    click.echo(f"\n{right} of {len(NAMES) ** 2} pairs right, in {seconds * 1000:.0f} ms of CPU time.")
    click.echo("Next: toolglot convert --help")


def _first_tool(body: dict[str, Any]) -> str:
    return msgspec.json.encode(body["tools"][0]).decode()[:84] + " ..."
