"""Ollama's requests but for their messages; its errors and times."""

from __future__ import annotations

from typing import Any

import pytest

from tests.wires.test_ollama_history import HISTORY
from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Message, Text, ToolCall
from toolglot.core.names import sanitize_names
from toolglot.core.request import Output, Request, Thinking
from toolglot.core.tools import Choice, Tool
from toolglot.errors import CallerError, UpstreamError
from toolglot.io.reply_values import read_timestamp, write_timestamp
from toolglot.wires.ollama import WIRE

PNG = "iVBORw0KGgoAAAANSUhEUg=="
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool("get_weather", "The weather now.", SCHEMA)
TIME = Tool("get_time", "The time.", {"type": "object", "properties": {}})
USER = Message("user", (Text("hi"),))


def write(request: Request) -> tuple[dict[str, Any], list[str]]:
    notes: list[str] = []
    return WIRE.write_request(request, notes, Quirks()), notes


# -- tools and the choice among them


def test_tools_both_ways() -> None:
    held = [
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}},
        {"type": "function", "items": [1], "function": {"name": "g", "parameters": {}, "extra": 2}},
    ]
    tools = WIRE.read_tools(held)
    assert tools[0] == Tool("f", "d", SCHEMA)
    notes: list[str] = []
    assert WIRE.write_tools(tools, notes, Quirks()) == held
    assert notes == []


def test_a_tool_without_parameters_gets_the_empty_schema() -> None:
    (written,) = WIRE.write_tools((Tool("f"),), [], Quirks())
    assert written == {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    assert WIRE.read_tools([written]) == (Tool("f", schema={"type": "object", "properties": {}}),)


def test_what_stands_beside_a_function_is_kept() -> None:
    (tool,) = WIRE.read_tools([{"items": 1, "function": {"name": "f", "strict": "very"}}])
    assert tool == Tool("f", extra={"ollama": {"items": 1, "function": {"strict": "very"}}})


def test_flat_tools_are_understood() -> None:
    assert WIRE.read_tools([{"type": "function", "name": "f", "strict": True}]) == (Tool("f", strict=True),)
    assert WIRE.read_tools([{"name": "f"}]) == (Tool("f"),)


def test_strict_custom_and_server_tools() -> None:
    grammar = {"type": "grammar", "syntax": "lark", "definition": "start: /x/"}
    own = Tool("magic", kind="server", extra={"ollama": {"type": "magic"}})
    foreign = Tool("web_search", kind="server", extra={"anthropic": {"type": "web_search"}})
    custom = Tool("patch", kind="custom", format=grammar)
    notes: list[str] = []
    written = WIRE.write_tools((Tool("f", strict=True), custom, own, foreign), notes, Quirks())
    assert [tool.get("function", tool).get("name", tool["type"]) for tool in written] == ["f", "patch", "magic"]
    assert written[1]["function"]["parameters"]["required"] == ["input"]
    assert "lark grammar:\nstart: /x/" in written[1]["function"]["parameters"]["properties"]["input"]["description"]
    assert notes == [
        "tool f: ollama does not support strict; left out",
        "tool patch: a custom tool is sent as a function with one string",
        "tool web_search: a server tool of another vendor; left out",
    ]
    assert WIRE.read_tools([{"type": "magic"}]) == (own,)


@pytest.mark.parametrize(
    ("choice", "names", "noted"),
    [
        (None, ["get_weather", "get_time"], []),
        (Choice(), ["get_weather", "get_time"], []),
        (Choice("none"), [], ["tool_choice none: ollama has no such option; the tools were left out"]),
        (
            Choice("required"),
            ["get_weather", "get_time"],
            ["tool_choice required: ollama can't force a call; left out"],
        ),
        (
            Choice("required", ("get_time",)),
            ["get_time"],
            [
                "tool_choice required: ollama can't force a call; left out",
                "tool_choice get_time: ollama has no tool choice; the other tools were left out",
            ],
        ),
        (
            Choice("auto", ("get_weather",)),
            ["get_weather"],
            ["tool_choice get_weather: ollama has no tool choice; the other tools were left out"],
        ),
        (
            Choice("required", extra={"anthropic": {"type": "x"}}),
            ["get_weather", "get_time"],
            [
                "tool_choice: type exists only on anthropic; left out",
                "tool_choice required: ollama can't force a call; left out",
            ],
        ),
    ],
)
def test_a_choice_comes_down_to_leaving_tools_out(choice: Choice | None, names: list[str], noted: list[str]) -> None:
    body, notes = write(Request("m", (USER,), (WEATHER, TIME), choice))
    assert [tool["function"]["name"] for tool in body.get("tools", [])] == names
    assert "tool_choice" not in body
    assert notes == noted


def test_a_forced_tool_in_a_namespace_is_found() -> None:
    tools = (Tool("find", schema=SCHEMA, namespace="crm"), TIME)
    body, _ = write(sanitize_names(Request("m", (USER,), tools, Choice("required", ("crm__find",))), WIRE.names))
    assert [tool["function"]["name"] for tool in body["tools"]] == ["crm__find"]


def test_one_call_at_a_time_can_not_be_asked_for() -> None:
    assert write(Request("m", (USER,), (TIME,), parallel=False))[1] == [
        "parallel: ollama can't limit a reply to one call; left out"
    ]
    assert write(Request("m", (USER,), (TIME,), parallel=True))[1] == []


def test_the_words_for_a_choice_are_understood() -> None:
    assert [WIRE.read_choice(word) for word in (None, "auto", "required")] == [None, Choice(), Choice("required")]
    with pytest.raises(CallerError, match="tool_choice: expected auto, none or required, got an object"):
        WIRE.read_choice({"type": "function"})


# -- the rest of a request


def test_a_request_comes_back_as_it_was() -> None:
    body = {
        "model": "qwen3:8b",
        "messages": HISTORY,
        "stream": False,
        "tools": [{"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}}],
        "think": True,
        "format": SCHEMA,
        "options": {
            "num_ctx": 8192,
            "min_p": 0.1,
            "repeat_penalty": 1.1,
            "temperature": 0.5,
            "top_p": 0.9,
            "top_k": 40,
            "stop": ["END"],
            "seed": 7,
            "presence_penalty": 0.25,
            "frequency_penalty": -0.5,
            "num_predict": 256,
        },
        "keep_alive": "5m",
        "truncate": False,
        "shift": True,
        "logprobs": True,
        "top_logprobs": 3,
        "tool_choice": "auto",
    }
    request = WIRE.read_request(body)
    assert (request.max_tokens, request.top_k, request.stop, request.seed) == (256, 40, ("END",), 7)
    assert request.output == Output(SCHEMA)
    assert request.extra["ollama"]["options"] == {"num_ctx": 8192, "min_p": 0.1, "repeat_penalty": 1.1}
    written, notes = write(request)
    assert written == body
    assert notes == []


def test_streaming_is_the_default_and_is_always_said() -> None:
    request = WIRE.read_request({"model": "m", "messages": None, "stream": None})
    assert request == Request("m", stream=True, stream_usage=True)
    assert write(request)[0] == {"model": "m", "messages": [], "stream": True}
    still = WIRE.read_request({"model": "m", "stream": False})
    assert (still.stream, still.stream_usage) == (False, False)
    assert write(still)[0]["stream"] is False


@pytest.mark.parametrize("endless", [-1, -2])
def test_an_endless_reply_is_no_number_of_tokens(endless: int) -> None:
    request = WIRE.read_request({"model": "m", "options": {"num_predict": endless}})
    assert request.max_tokens is None
    assert write(request)[0]["options"] == {"num_predict": endless}


@pytest.mark.parametrize(
    ("think", "thinking"),
    [
        (True, Thinking(budget=-1, show=True)),
        (False, Thinking("off")),
        ("low", Thinking("low")),
        ("medium", Thinking("medium")),
        ("high", Thinking("high")),
        ("max", Thinking("max")),
    ],
)
def test_thinking_both_ways(think: Any, thinking: Thinking) -> None:
    assert WIRE.read_request({"model": "m", "think": think}).thinking == thinking
    body, notes = write(Request("m", thinking=thinking))
    assert body["think"] is think if isinstance(think, bool) else body["think"] == think
    assert notes == []


@pytest.mark.parametrize(
    ("thinking", "think", "noted"),
    [
        (Thinking("minimal"), "low", ["thinking effort minimal: ollama's nearest is low"]),
        (Thinking("xhigh"), "max", ["thinking effort xhigh: ollama's nearest is max"]),
        (Thinking("ultra"), True, ["thinking effort ultra: ollama's nearest is true"]),
        (Thinking(budget=2048), True, ["thinking budget: ollama supports only efforts; left out"]),
        (Thinking(budget=0), False, []),
        (Thinking(show=True), True, []),
        (Thinking("low", show=False), "low", ["thinking hidden: ollama always returns it; left out"]),
        (Thinking(show=False), None, ["thinking hidden: ollama always returns it; left out"]),
        (Thinking(extra={"gemini": {"x": 1}}), None, ["thinking: x exists only on gemini; left out"]),
    ],
)
def test_thinking_of_other_wires(thinking: Thinking, think: Any, noted: list[str]) -> None:
    body, notes = write(Request("m", thinking=thinking))
    assert body.get("think") == think
    assert notes == noted


def test_structured_output() -> None:
    assert WIRE.read_request({"model": "m", "format": "json"}).output == Output()
    assert WIRE.read_request({"model": "m", "format": ""}).output is None
    assert write(Request("m", output=Output()))[0]["format"] == "json"
    body, notes = write(Request("m", output=Output(SCHEMA, "city", strict=True)))
    assert body["format"] == SCHEMA
    assert notes == ["output name, strict: ollama accepts only the schema; left out"]


def test_options_of_other_wires_are_noted() -> None:
    request = Request(
        "m", user="u", verbosity="low", extra={"openai": {"store": True}, "ollama": {"options": {"min_p": 1}}}, top_k=3
    )
    body, notes = write(request)
    assert body == {"model": "m", "messages": [], "stream": False, "options": {"min_p": 1, "top_k": 3}}
    assert notes == [
        "verbosity: ollama has no such option; left out",
        "user: ollama has no such option; left out",
        "request: store exists only on openai; left out",
    ]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"model": 1}, "model"),
        ({"messages": {}}, "messages"),
        ({"messages": ["x"]}, "messages[0]"),
        ({"messages": [{"role": "king"}]}, "messages[0].role"),
        ({"messages": [{"role": ["user"]}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": ["a"]}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "images": "x"}]}, "messages[0].images"),
        ({"messages": [{"role": "user", "images": [PNG, 1]}]}, "messages[0].images[1]"),
        ({"messages": [{"role": "assistant", "thinking": 1}]}, "messages[0].thinking"),
        ({"messages": [{"role": "assistant", "tool_calls": "x"}]}, "messages[0].tool_calls"),
        ({"messages": [{"role": "assistant", "tool_calls": [{}]}]}, "messages[0].tool_calls[0].function.name"),
        ({"messages": [{"role": "assistant", "tool_calls": [{"function": 1}]}]}, "messages[0].tool_calls[0].function"),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "x"}}]}]},
            "messages[0].tool_calls[0].function.arguments",
        ),
        (
            {"messages": [{"role": "assistant", "tool_calls": [{"id": 1, "function": {"name": "f"}}]}]},
            "messages[0].tool_calls[0].id",
        ),
        ({"messages": [{"role": "tool", "tool_call_id": 1}]}, "messages[0].tool_call_id"),
        ({"messages": [{"role": "tool", "tool_name": 1}]}, "messages[0].tool_name"),
        ({"messages": [{"role": "tool", "name": 1}]}, "messages[0].name"),
        ({"tools": "x"}, "tools"),
        ({"tools": {}}, "tools"),
        ({"messages": [{"role": "assistant", "tool_calls": {}}]}, "messages[0].tool_calls"),
        ({"messages": [{"role": "user", "content": 0}]}, "messages[0].content"),
        ({"tools": [{}]}, "tools[0].function"),
        ({"tools": [{"function": []}]}, "tools[0].function"),
        ({"tools": [{"function": {"name": 1}}]}, "tools[0].function.name"),
        ({"tools": [{"function": {"name": "f", "description": 1}}]}, "tools[0].function.description"),
        ({"tools": [{"function": {"name": "f", "parameters": []}}]}, "tools[0].function.parameters"),
        ({"stream": "yes"}, "stream"),
        ({"options": []}, "options"),
        ({"options": {"temperature": "hot"}}, "options.temperature"),
        ({"options": {"stop": [1]}}, "options.stop[0]"),
        ({"think": 1}, "think"),
        ({"format": "xml"}, "format"),
    ],
)
def test_a_bad_shape_is_refused_with_its_place(body: dict[str, Any], where: str) -> None:
    with pytest.raises(CallerError) as caught:
        WIRE.read_request({"model": "m", **body})
    assert caught.value.where == where


# -- errors, and the time


def test_errors_are_one_string_and_are_read_in_every_spelling() -> None:
    assert WIRE.write_error(UpstreamError("no such model", 404, "not_found")) == (404, {"error": "no such model"})
    assert WIRE.write_error(UpstreamError("broke off"))[0] == 502
    assert WIRE.read_error(401, {}, b'{"error":"unauthorized","signin_url":"https://x"}') == UpstreamError("unauthorized", 401)
    assert WIRE.read_error(500, {}, b"Internal Server Error") == UpstreamError("Internal Server Error", 500)
    overloaded = b'{"done":true,"error":{"status":503,"code":"overloaded","detail":"x","retryAfterMs":1500}}'
    assert WIRE.read_error(503, {}, overloaded) == UpstreamError("x", 503, "overloaded", 1.5)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("2023-11-14T22:13:20Z", 1700000000),
        ("2023-11-14T22:13:20.123456789Z", 1700000000),
        ("2023-11-15T00:13:20.5+02:00", 1700000000),
        ("2023-11-14T22:13:20", 1700000000),
        (1700000000, 1700000000),
        (1700000000.5, 1700000000),
        ("0001-01-01T00:00:00Z", None),
        ("1970-01-01T00:00:00Z", None),
        ("yesterday", None),
        (float("nan"), None),
        (True, None),
        (2**70, None),
        ([], None),
    ],
)
def test_times_are_read_with_any_fraction(written: Any, seconds: int | None) -> None:
    assert read_timestamp(written) == seconds


def test_times_are_written_without_a_clock() -> None:
    assert write_timestamp(1700000000) == "2023-11-14T22:13:20Z"
    assert write_timestamp(0) == write_timestamp(2**70) == write_timestamp(-1) == "1970-01-01T00:00:00Z"


def test_the_wire_names_itself() -> None:
    assert (WIRE.name, WIRE.media_type, WIRE.path("m", True)) == ("ollama", "application/x-ndjson", "/api/chat")
    odd = Request("m", (Message("assistant", (ToolCall("id with space", "näme.x"),)),), (Tool("näme.x"),))
    assert sanitize_names(odd, WIRE.names) == odd
