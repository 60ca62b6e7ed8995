"""Every provider's own form of a reply: `fixtures/providers.toml`, or the conversations of its wire."""

from __future__ import annotations

import asyncio
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.client.running import PATIENT
from toolglot import AsyncClient
from toolglot.catalog.providers import provider, providers
from toolglot.client.embedded import Ready
from toolglot.client.transport import Limits
from toolglot.core.fold import fold
from toolglot.core.messages import Message, Text, ToolResult
from toolglot.core.request import Request
from toolglot.pipeline.convert import open_reader, write_request
from toolglot.pipeline.request.route import WireFormat
from toolglot.wires import find_wire

FILE = tomllib.loads((Path(__file__).parents[2] / "fixtures" / "providers.toml").read_text(encoding="utf-8"))
ROWS: dict[str, dict[str, Any]] = {row["name"]: row for row in FILE["provider"]}
TOOLS = [{"name": "get_weather", "schema": {"type": "object", "properties": {"city": {"type": "string"}}}}]


def wire_of(name: str) -> WireFormat:
    wire = find_wire(provider(name).wire)
    assert wire is not None
    return WireFormat(wire, provider(name).quirks)


def stream_of(row: dict[str, Any]) -> bytes:
    return "".join(f"data: {data}\n\n" for data in (*row["stream"], "[DONE]")).encode()


def test_every_provider_has_one() -> None:
    assert sorted([*ROWS, *FILE["conversations"]]) == sorted(providers())


@pytest.mark.parametrize("name", ROWS)
def test_whole_and_streamed_are_the_same(name: str) -> None:
    row, here = ROWS[name], wire_of(name)
    whole = here.wire.read_reply(json.loads(row["reply"]), None)
    reader = open_reader(here)
    streamed = fold([*reader.feed(stream_of(row)), *reader.close()])
    for reply in (whole, streamed):
        [call] = reply.calls
        assert (call.name, call.arguments, call.sealed) == ("get_weather", {"city": "Paris"}, True)
        assert reply.stop is not None
        assert reply.stop.reason == "calls"
        assert reply.error is None
        assert not reply.notes
    assert (whole.calls[0].id, whole.text, whole.reasoning) == (streamed.calls[0].id, streamed.text, streamed.reasoning)
    for reply in (whole, streamed) if "usage" in row else (whole,):
        assert reply.usage is not None
        assert [reply.usage.input, reply.usage.output] == row.get("usage", [20, 9])


class Transport:
    """Answers every request with one body."""

    def __init__(self, body: str) -> None:
        self._body = body.encode()

    async def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", *, limits: Limits = PATIENT
    ) -> Ready:
        return Ready(self._body)

    async def aclose(self) -> None: ...


@pytest.mark.parametrize("name", ROWS)
def test_a_client_tells_thoughts_and_text_apart(name: str) -> None:
    client = AsyncClient(
        f"{name}/m", base_url="http://up/v1", api_key="k" * 20, transport=Transport(ROWS[name]["reply"]), detect=False
    )
    reply = asyncio.run(client.complete([{"role": "user", "content": "Weather?"}], tools=TOOLS))
    assert [(call.name, call.arguments) for call in reply.calls] == [("get_weather", {"city": "Paris"})]
    assert reply.reasoning.strip() == ROWS[name].get("reasoning", "")
    assert reply.text.strip() == ROWS[name].get("text", "")


@pytest.mark.parametrize("name", ROWS)
def test_the_reply_goes_back_as_it_came(name: str) -> None:
    """The call with its id, and the thoughts where the provider wants them back."""
    here = wire_of(name)
    reply = here.wire.read_reply(json.loads(ROWS[name]["reply"]), None)
    call = reply.calls[0]
    result = Message("tool", (ToolResult(call.id, "get_weather", (Text("18C"),)),))
    asked = (Message("user", (Text("Weather?"),)), Message("assistant", reply.parts), result)
    _, sent, answered = write_request(Request("m", asked), here, [])["messages"]
    [given] = json.loads(ROWS[name]["reply"])["choices"][0]["message"]["tool_calls"]
    assert (sent["tool_calls"][0]["id"], answered["tool_call_id"]) == (given["id"], given["id"])
    assert json.loads(sent["tool_calls"][0]["function"]["arguments"]) == {"city": "Paris"}
    key = here.quirks.reasoning_key
    assert (sent.get(key) if key else None) == (reply.reasoning or None if key else None)
