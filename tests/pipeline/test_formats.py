from __future__ import annotations

from typing import Any

import pytest

from toolglot import CallerError, Media, Text, format_tool_result, format_tools, parse_tool_calls

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"name": "get_weather", "description": "The weather", "schema": SCHEMA}
ARGS = {"city": "Paris"}
TEXT = '{"city": "Paris"}'

CHAT = {"id": "call_a", "type": "function", "function": {"name": "get_weather", "arguments": TEXT}}
OLLAMA = {"id": "call_a", "function": {"name": "get_weather", "arguments": ARGS}}
USE = {"type": "tool_use", "id": "call_a", "name": "get_weather", "input": ARGS}
ITEM = {"type": "function_call", "id": "fc_1", "call_id": "call_a", "name": "get_weather", "arguments": TEXT}
STEP = {"type": "function_call", "id": "call_a", "name": "get_weather", "arguments": ARGS}
PART = {"functionCall": {"id": "call_a", "name": "get_weather", "args": ARGS}}

RESPONSES: list[tuple[str, str, Any]] = [
    ("whole", "openai", {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [CHAT]}}]}),
    ("choice", "openai", {"index": 0, "message": {"tool_calls": [CHAT]}, "finish_reason": "tool_calls"}),
    ("message", "openai", {"role": "assistant", "tool_calls": [CHAT]}),
    ("list", "openai", [CHAT]),
    ("one call", "openai", CHAT),
    ("flat", "openai", [{"id": "call_a", "name": "get_weather", "arguments": TEXT}]),
    ("object arguments", "mistral", {"choices": [{"message": {"tool_calls": [OLLAMA]}}]}),
    ("whole", "ollama", {"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": [OLLAMA]}, "done": True}),
    ("message", "ollama", {"role": "assistant", "content": "", "tool_calls": [OLLAMA]}),
    ("chat's form", "ollama", {"choices": [{"message": {"tool_calls": [CHAT]}}]}),
    ("whole", "anthropic", {"type": "message", "role": "assistant", "content": [USE], "stop_reason": "tool_use"}),
    ("message", "anthropic", {"role": "assistant", "content": [{"type": "text", "text": "hi"}, USE]}),
    ("list", "anthropic", [USE]),
    ("untyped", "anthropic", [{"id": "call_a", "name": "get_weather", "input": ARGS}]),
    ("whole", "openai-responses", {"object": "response", "status": "completed", "output": [ITEM]}),
    ("list", "openai-responses", [ITEM]),
    ("whole", "gemini", {"candidates": [{"content": {"role": "model", "parts": [PART]}, "finishReason": "STOP"}]}),
    ("content", "gemini", {"role": "model", "parts": [PART]}),
    ("list", "gemini", [PART]),
    ("bare", "gemini", [{"id": "call_a", "name": "get_weather", "args": ARGS}]),
    ("whole", "gemini-interactions", {"id": "v1_1", "status": "requires_action", "steps": [STEP]}),
    ("list", "gemini-interactions", [{"type": "thought", "signature": "c2ln"}, STEP]),
    ("one call", "gemini-interactions", STEP),
    ("one step", "openai", STEP),
    ("whole", "anthropic", {"object": "interaction", "steps": [STEP]}),
    ("chat's message", "gemini", {"role": "assistant", "content": None, "tool_calls": [CHAT]}),
    ("chat's message", "gemini-interactions", {"role": "assistant", "content": "Hi", "tool_calls": [CHAT]}),
    ("anthropic's message", "gemini-interactions", {"role": "assistant", "content": [USE]}),
    ("another's shape", "anthropic", {"choices": [{"message": {"tool_calls": [CHAT]}}]}),
]


@pytest.mark.parametrize(("form", "provider", "response"), RESPONSES)
def test_calls_are_found_in_every_form(form: str, provider: str, response: Any) -> None:
    (call,) = parse_tool_calls(response, provider)
    assert (call.id, call.name, call.arguments, call.source) == ("call_a", "get_weather", ARGS, "native")


def test_the_call_of_old_and_made_up_ids() -> None:
    old = {"choices": [{"message": {"role": "assistant", "function_call": {"name": "SearchDatabase", "arguments": "{}"}}}]}
    assert [call.id for call in parse_tool_calls(old, "openai")] == ["SearchDatabase_0"]
    parts = {"parts": [{"functionCall": {"name": "a", "args": {}}}, {"functionCall": {"name": "get_weather"}}]}
    assert [(call.id, call.arguments) for call in parse_tool_calls(parts, "gemini")] == [("a_0", {}), ("get_weather_1", {})]


@pytest.mark.parametrize("arguments", ["[1, 2]", '"text"', "42", "not json", [1], 42, True])
def test_arguments_that_are_not_an_object_are_rejected(arguments: Any) -> None:
    bad = {"id": "x", "type": "function", "function": {"name": "secret_plan", "arguments": arguments}}
    calls = parse_tool_calls([bad, CHAT], "openai")
    assert [call.id for call in calls] == ["call_a"]
    assert [decision.code for decision in calls.decisions] == ["rejected_arguments"]


@pytest.mark.parametrize("arguments", ["", None, "{}", {}, "null"])
def test_no_arguments_are_an_empty_object(arguments: Any) -> None:
    (call,) = parse_tool_calls([{"id": "x", "function": {"name": "f", "arguments": arguments}}], "openai")
    assert call.arguments == {}


@pytest.mark.parametrize(
    ("provider", "entries"),
    [
        ("openai", [None, "x", 3, {"id": "y"}, CHAT]),
        ("anthropic", [None, {"type": "tool_use", "id": "y"}, USE]),
        ("gemini", [None, {"functionCall": "x"}, PART]),
        ("openai-responses", [None, {"type": "function_call"}, ITEM]),
    ],
)
def test_a_malformed_entry_is_skipped_with_a_decision(provider: str, entries: list[Any]) -> None:
    calls = parse_tool_calls(entries, provider)
    assert [call.id for call in calls] == ["call_a"]
    assert calls.decisions
    assert all(decision.code.startswith("rejected_") for decision in calls.decisions)


@pytest.mark.parametrize("response", [None, 3, "text"])
def test_what_is_not_a_response_is_an_error(response: Any) -> None:
    with pytest.raises(CallerError, match="expected a response"):
        parse_tool_calls(response, "openai")


def test_the_error_for_an_sdk_object_names_model_dump() -> None:
    class Completion:
        def model_dump(self) -> dict[str, Any]:
            return {}

    with pytest.raises(CallerError, match=r"got Completion; pass the result of its model_dump\(\)"):
        parse_tool_calls(Completion(), "openai")


@pytest.mark.parametrize(
    ("provider", "wanted"),
    [
        (
            "openai",
            [{"type": "function", "function": {"name": "get_weather", "description": "The weather", "parameters": SCHEMA}}],
        ),
        ("anthropic", [{"name": "get_weather", "description": "The weather", "input_schema": SCHEMA}]),
        (
            "gemini",
            [{"functionDeclarations": [{"name": "get_weather", "description": "The weather", "parametersJsonSchema": SCHEMA}]}],
        ),
        (
            "ollama",
            [{"type": "function", "function": {"name": "get_weather", "description": "The weather", "parameters": SCHEMA}}],
        ),
        (
            "gemini-interactions",
            [{"type": "function", "name": "get_weather", "description": "The weather", "parameters": SCHEMA}],
        ),
    ],
)
def test_tools_are_formatted_with_no_key_added(provider: str, wanted: list[Any]) -> None:
    assert format_tools([TOOL], provider) == wanted


@pytest.mark.parametrize(
    ("provider", "wanted"),
    [
        ("openai", {"role": "tool", "tool_call_id": "call_a", "content": "18C"}),
        ("anthropic", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_a", "content": "18C"}]}),
        ("openai-responses", {"type": "function_call_output", "call_id": "call_a", "output": "18C"}),
        ("ollama", {"role": "tool", "tool_name": "get_weather", "tool_call_id": "call_a", "content": "18C"}),
        ("gemini-interactions", {"type": "function_result", "call_id": "call_a", "name": "get_weather", "result": "18C"}),
        (
            "gemini",
            {
                "role": "user",
                "parts": [{"functionResponse": {"id": "call_a", "name": "get_weather", "response": {"output": "18C"}}}],
            },
        ),
    ],
)
def test_a_result(provider: str, wanted: Any) -> None:
    assert format_tool_result("call_a", "get_weather", "18C", provider) == wanted


def test_a_result_that_is_an_error_json_or_a_picture() -> None:
    assert format_tool_result("a", "f", "no net", "openai", is_error=True)["content"] == "Error: no net"
    assert format_tool_result("a", "f", "no net", "anthropic", is_error=True)["content"][0]["is_error"] is True
    assert format_tool_result("a", "f", {"t": 18}, "openai")["content"] == '{"t":18}'
    picture = format_tool_result("a", "f", [Text("see"), Media("image", "image/png", "AA==")], "anthropic")
    assert [block["type"] for block in picture["content"][0]["content"]] == ["text", "image"]
    with pytest.raises(CallerError, match="text or JSON"):
        format_tool_result("a", "f", object(), "openai")


def deep() -> Any:
    """Deeper than any encoder goes."""
    value: Any = 1
    for _ in range(100_000):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("provider", "response"),
    [
        ("openai-chat", lambda value: [{"function": {"name": "a", "arguments": value}}]),
        ("openai-responses", lambda value: {"output": [{"type": "function_call", "name": "a", "arguments": value}]}),
        ("anthropic", lambda value: {"content": [{"type": "tool_use", "name": "a", "input": value}]}),
        ("gemini", lambda value: {"candidates": [{"content": {"parts": [{"functionCall": {"name": "a", "args": value}}]}}]}),
        ("gemini-interactions", lambda value: {"steps": [{"type": "function_call", "name": "a", "arguments": value}]}),
        ("ollama", lambda value: {"message": {"tool_calls": [{"function": {"name": "a", "arguments": value}}]}}),
    ],
)
def test_arguments_that_can_not_be_encoded_are_rejected(provider: str, response: Any) -> None:
    found = parse_tool_calls(response(deep()), provider)
    assert (found, len(found.decisions)) == ([], 1)
    assert found.decisions[0].code.startswith("rejected_")
