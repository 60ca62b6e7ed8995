"""Tools that are not in `tools`: in items of Codex, of a tool search, and in blocks of Anthropic."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from toolglot import convert
from toolglot.core.messages import ToolCall
from toolglot.pipeline.request.request_bytes import read_request_bytes
from toolglot.pipeline.request.route import wire_format
from toolglot.pipeline.response.call_validator import validate_call

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"type": "function", "name": "get_weather", "parameters": SCHEMA}
NAMESPACE = {"type": "namespace", "name": "mcp__maps", "description": "Maps", "tools": [FUNCTION]}
ASK = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
INLINE = {
    "type": "tool_addition",
    "tool": {"type": "tool_definition", "definition": {"name": "get_weather", "input_schema": SCHEMA}},
}
REFERENCE = {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "other"}}


def responses(*items: Any, tools: Any = ()) -> dict[str, Any]:
    return {"model": "m", "input": [*items, ASK], **({"tools": list(tools)} if tools else {})}


def anthropic(*blocks: Any, tools: Any = ()) -> dict[str, Any]:
    messages = [{"role": "user", "content": "Hi"}, {"role": "system", "content": list(blocks)}]
    return {"model": "m", "max_tokens": 9, "messages": messages, **({"tools": list(tools)} if tools else {})}


SEARCH = {"type": "tool_search_output", "call_id": "s", "execution": "client", "status": "completed", "tools": [FUNCTION]}
ADDED = {"type": "additional_tools", "role": "developer", "tools": [FUNCTION]}
CASES = [
    ("openai-responses", responses(ADDED), "get_weather"),
    ("openai-responses", responses({**ADDED, "tools": [NAMESPACE]}), "mcp__maps__get_weather"),
    ("openai-responses", responses(SEARCH, tools=[{"type": "tool_search"}]), "get_weather"),
    ("anthropic", anthropic(INLINE, REFERENCE), "get_weather"),
    ("anthropic", anthropic({"type": "compaction", "content": "x", "tool_changes": [INLINE]}), "get_weather"),
]


@pytest.mark.parametrize(("wire", "body", "name"), CASES)
def test_calls_of_such_tools_are_valid_and_checked(wire: str, body: dict[str, Any], name: str) -> None:
    request = read_request_bytes(msgspec.json.encode(body), wire_format(wire).wire)
    assert validate_call(ToolCall("c", name, '{"city": "Paris"}'), request.tools).call is not None
    assert [one.code for one in validate_call(ToolCall("c", name, "{}"), request.tools).decisions] == ["rejected_schema"]


@pytest.mark.parametrize(("wire", "body", "name"), CASES)
def test_another_wire_gets_them_as_tools_and_the_same_wire_gets_the_block_alone(
    wire: str, body: dict[str, Any], name: str
) -> None:
    sent = convert(body, wire, "openai-chat")
    assert [tool["function"]["name"] for tool in sent["tools"]] == [name]
    assert convert(body, wire, wire) == body


def test_a_tool_that_is_in_both_is_sent_once() -> None:
    sent = convert(responses(ADDED, ADDED, tools=[FUNCTION]), "openai-responses", "openai-chat")
    assert len(sent["tools"]) == 1


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ({"type": "computer_toolset_20260801"}, "left_click"),
        ({"type": "browser_toolset_20260801"}, "navigate"),
        ({"type": "bash_20250124", "name": "bash"}, "bash"),
        ({"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"}, "str_replace_based_edit_tool"),
    ],
)
def test_members_of_a_toolset_are_known_by_their_own_names(tool: dict[str, Any], name: str) -> None:
    other = {"name": "get_weather", "input_schema": SCHEMA}
    request = read_request_bytes(msgspec.json.encode(anthropic(tools=[tool, other])), wire_format("anthropic").wire)
    call = validate_call(ToolCall("c", name, '{"x": 1}'), request.tools).call
    assert call is not None
    assert call.name == name
    unknown = validate_call(ToolCall("c", "no_such_tool", "{}"), request.tools)
    assert [one.code for one in unknown.decisions] == ["rejected_unknown_tool"]


def test_what_a_tool_returned_declares_no_tools() -> None:
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "read", "input": {}}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [INLINE]}]}
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Hi"}, call, result]}
    assert not read_request_bytes(msgspec.json.encode(body), wire_format("anthropic").wire).tools
