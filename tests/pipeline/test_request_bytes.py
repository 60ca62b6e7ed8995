"""Requests as bytes: the same result as with dicts, and repeated tools are parsed once."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.laws.conversations import CASES, body, the_wire
from toolglot import CallerError, convert
from toolglot.core.tools import Toolset
from toolglot.pipeline.convert import with_defaults
from toolglot.pipeline.request.request_bytes import read_request_bytes, write_request_bytes
from toolglot.pipeline.request.route import wire_format
from toolglot.wires import NAMES


def translated(data: bytes, source: str, target: str, notes: list[str]) -> Any:
    read, there = read_request_bytes(data, wire_format(source).wire), wire_format(target)
    return msgspec.json.decode(write_request_bytes(with_defaults(read, source, there.wire), there, notes))


@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize("source", NAMES)
def test_the_same_as_by_way_of_dicts_the_first_time_and_again(source: str, target: str) -> None:
    for case in CASES:
        payload = body(case, source, "request")
        data, wanted_notes = msgspec.json.encode(payload), list[str]()
        wanted = convert(payload, source, target, notes=wanted_notes)
        for key in the_wire(target).path_keys:
            wanted.pop(key, None)
        for _ in range(2):
            notes: list[str] = []
            assert translated(data, source, target, notes) == msgspec.json.decode(msgspec.json.encode(wanted))
            assert sorted(notes) == sorted(wanted_notes)


def request(tools: list[Any]) -> bytes:
    return msgspec.json.encode({"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": tools})


def test_tools_that_come_again_are_the_same_tools() -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    first, second = (read_request_bytes(request(tools), wire_format("openai-chat").wire).tools for _ in range(2))
    assert isinstance(first, Toolset)
    assert first is second
    other = read_request_bytes(request([*tools, tools[0]]), wire_format("openai-chat").wire).tools
    assert len(other) == 2


def test_tools_that_are_very_large_are_not_kept() -> None:
    tools = [{"type": "function", "function": {"name": "f", "description": "x" * 600_000}}]
    first, second = (read_request_bytes(request(tools), wire_format("openai-chat").wire).tools for _ in range(2))
    assert first == second
    assert first is not second


def test_functions_of_old_stand_beside_tools() -> None:
    payload = {
        "model": "m",
        "messages": [],
        "tools": [{"type": "function", "function": {"name": "a"}}],
        "functions": [{"name": "b"}],
    }
    read = read_request_bytes(msgspec.json.encode(payload), wire_format("openai-chat").wire)
    assert [tool.name for tool in read.tools] == ["a", "b"]


def test_values_from_the_path() -> None:
    read = read_request_bytes(b'{"contents": []}', wire_format("gemini").wire, model="m", stream=True)
    assert (read.model, read.stream) == ("m", True)
    assert b"model" not in write_request_bytes(read, wire_format("gemini"), [])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"{", "not JSON"),
        (b"", "not JSON"),
        (b"[1]", "expected an object, got a list"),
        (b'"x"', "expected an object, got a string"),
        (b'{"messages": 3}', "messages: expected a list"),
        (b'{"messages": [], "tools": 3}', "tools: expected a list"),
        (b'{"messages": [], "tools": [{"type": "function", "function": {}}]}', r"tools\[0\]\.function\.name"),
        (b'{"messages": [' + b"[" * 5000 + b"]" * 5000 + b"]}", "JSON|object"),
    ],
)
def test_a_bad_body_is_the_callers_error(data: bytes, message: str) -> None:
    with pytest.raises(CallerError, match=message):
        read_request_bytes(data, wire_format("openai-chat").wire)
