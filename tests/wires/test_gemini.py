"""Gemini's wire: whole requests, their options, and what is wrong with them."""

from __future__ import annotations

import pytest

from tests.wires.gemini_pieces import CITY, WEATHER, Body, model, read, signed, user, write
from toolglot.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult
from toolglot.core.request import Output, Request, Thinking
from toolglot.core.tools import Choice, Tool
from toolglot.errors import CallerError
from toolglot.wires.gemini import WIRE


def test_a_rich_request_comes_back_as_it_was() -> None:
    request = Request(
        "gemini-x",
        (
            Message("system", (Text("Be brief."),)),
            user(Text("Weather and time in Paris?"), Media("image", "image/png", "AA==")),
            model(
                Reasoning("Two lookups.", signed("Cg==")),
                Text("Looking.", extra=signed("Ch==")),
                ToolCall("fc1", "get_weather", '{"city":"Paris"}', extra=signed("CiQB")),
                ToolCall("fc2", "get_time", "{}"),
            ),
            Message(
                "tool",
                (
                    ToolResult("fc1", "get_weather", (Text("18C"), Media("image", "image/png", "AA=="))),
                    ToolResult("fc2", "get_time", (Text("clock offline"),), is_error=True),
                ),
            ),
            user(Text("And tomorrow?")),
        ),
        (WEATHER, Tool("get_time"), Tool("googleSearch", kind="server", extra={"gemini": {"googleSearch": {}}})),
        Choice("required", ("get_weather",)),
        stream=True,
        stream_usage=True,
        max_tokens=100,
        temperature=0.5,
        top_p=0.9,
        top_k=3,
        stop=("END",),
        seed=7,
        presence_penalty=0.1,
        frequency_penalty=0.2,
        thinking=Thinking("low", show=True),
        output=Output(CITY),
        extra={
            "gemini": {
                "safetySettings": [{"category": "X"}],
                "generationConfig": {"candidateCount": 1},
                "toolConfig": {"includeServerSideToolInvocations": True},
            }
        },
    )
    body, notes = write(request)
    assert notes == []
    assert WIRE.read_request(body) == request
    assert body["model"] == "gemini-x"
    assert body["stream"] is True
    assert body["toolConfig"] == {
        "includeServerSideToolInvocations": True,
        "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["get_weather"]},
    }
    assert body["generationConfig"] == {
        "candidateCount": 1,
        "maxOutputTokens": 100,
        "temperature": 0.5,
        "topP": 0.9,
        "topK": 3,
        "stopSequences": ["END"],
        "seed": 7,
        "presencePenalty": 0.1,
        "frequencyPenalty": 0.2,
        "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "LOW"},
        "responseMimeType": "application/json",
        "responseJsonSchema": CITY,
    }


def test_snake_case_is_read_as_camel_case_but_not_inside_arguments_schemas_and_results() -> None:
    snake = {
        "model": "models/m",
        "system_instruction": {"parts": {"text": "S"}},
        "contents": [
            {"role": "user", "parts": [{"text": "x"}, {"inline_data": {"mime_type": "image/png", "data": "-_8="}}]},
            {"role": "model", "parts": [{"function_call": {"name": "f", "args": {"a_b": 1}}, "thought_signature": "Cg=="}]},
            {"role": "user", "parts": [{"function_response": {"name": "f", "response": {"c_d": 2}}}]},
        ],
        "tools": {"function_declarations": [{"name": "f", "parameters_json_schema": {"properties": {"a_b": {}}}}]},
        "tool_config": {"function_calling_config": {"mode": "any", "allowed_function_names": ["f"]}},
        "generation_config": {"max_output_tokens": 5, "thinking_config": {"thinking_budget": 9, "include_thoughts": True}},
    }
    request = WIRE.read_request(snake)
    assert request == Request(
        "m",
        (
            Message("system", (Text("S"),)),
            user(Text("x"), Media("image", "image/png", "+/8=")),
            model(ToolCall("f_0", "f", '{"a_b":1}', extra=signed("Cg=="))),
            Message("tool", (ToolResult("f_0", "f", (Text('{"c_d":2}'),)),)),
        ),
        (Tool("f", schema={"properties": {"a_b": {}}}),),
        Choice("required", ("f",)),
        max_tokens=5,
        thinking=Thinking(budget=9, show=True),
    )


def test_path() -> None:
    assert WIRE.path("gemini-x", False) == "/v1beta/models/gemini-x:generateContent"
    assert WIRE.path("models/gemini-x", True) == "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"
    assert WIRE.path("tunedModels/mine", False) == "/v1beta/tunedModels/mine:generateContent"
    assert WIRE.path("a b?c", False) == "/v1beta/models/a%20b%3Fc:generateContent"


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"contents": 5}, "contents[0]"),
        ({"contents": [{"role": "wizard", "parts": []}]}, "contents[0].role"),
        ({"contents": [{"role": ["user"]}]}, "contents[0].role"),
        ({"contents": [{"parts": [{"text": 5}]}]}, "contents[0].parts[0].text"),
        ({"contents": [{}, {"role": "model", "parts": [{"functionCall": {}}]}]}, "contents[1].parts[0].functionCall.name"),
        ({"contents": [{"parts": [{"functionCall": {"name": "f", "args": [1]}}]}]}, "contents[0].parts[0].functionCall.args"),
        (
            {"contents": [{"parts": [{"functionResponse": {"response": "x"}}]}]},
            "contents[0].parts[0].functionResponse.response",
        ),
        ({"contents": [{"parts": [{"inlineData": {"data": 1}}]}]}, "contents[0].parts[0].inlineData.data"),
        ({"contents": [{"role": "model", "parts": [{"functionResponse": {}}]}]}, "contents[0].parts"),
        ({"systemInstruction": 5}, "systemInstruction"),
        ({"systemInstruction": {"parts": [{"text": 1}]}}, "systemInstruction.parts[0].text"),
        ({"tools": {"name": "f", "description": 5}}, "tools[0].description"),
        ({"tools": [{"functionDeclarations": [{"name": "f"}, {}]}]}, "tools[0].functionDeclarations[1].name"),
        (
            {"tools": [{"functionDeclarations": [{"name": "f", "parameters": 1}]}]},
            "tools[0].functionDeclarations[0].parameters",
        ),
        ({"toolConfig": {"functionCallingConfig": {"mode": "SOMETIMES"}}}, "toolConfig.functionCallingConfig.mode"),
        (
            {"toolConfig": {"functionCallingConfig": {"allowedFunctionNames": [1]}}},
            "toolConfig.functionCallingConfig.allowedFunctionNames[0]",
        ),
        ({"generationConfig": {"temperature": "hot"}}, "generationConfig.temperature"),
        ({"generationConfig": {"thinkingConfig": 1}}, "generationConfig.thinkingConfig"),
        ({"generationConfig": []}, ""),
        ({"stream": "yes"}, "stream"),
        ({"model": 5}, "model"),
    ],
)
def test_a_bad_shape_is_refused_with_its_place(body: Body, where: str) -> None:
    if not where:
        WIRE.read_request(body)  # empty is absent
        return
    with pytest.raises(CallerError) as caught:
        WIRE.read_request(body)
    assert caught.value.where == where


@pytest.mark.parametrize(
    ("thinking", "config", "notes"),
    [
        (Thinking("off"), {"thinkingBudget": 0}, []),
        (Thinking("minimal"), {"thinkingLevel": "MINIMAL"}, []),
        (Thinking("high", show=False), {"includeThoughts": False, "thinkingLevel": "HIGH"}, []),
        (Thinking(budget=-1), {"thinkingBudget": -1}, []),
        (Thinking("xhigh"), {"thinkingLevel": "XHIGH"}, []),
        (Thinking("max"), {"thinkingLevel": "XHIGH"}, ["thinking effort max: gemini's highest is XHIGH"]),
        (
            Thinking("low", 512),
            {"thinkingBudget": 512},
            ["thinking effort low: gemini accepts a budget or a level; the budget is sent"],
        ),
        (Thinking("heroic"), None, ["thinking effort heroic: gemini has no such level; left out"]),
    ],
)
def test_thinking(thinking: Thinking, config: Body | None, notes: list[str]) -> None:
    body, said = write(Request("m", thinking=thinking))
    assert body.get("generationConfig", {}).get("thinkingConfig") == config
    assert said == notes
    if not notes:
        assert WIRE.read_request(body).thinking == thinking


@pytest.mark.parametrize(
    ("config", "output", "left"),
    [
        ({"responseMimeType": "application/json"}, Output(), {}),
        ({"responseMimeType": "application/json", "responseJsonSchema": CITY}, Output(CITY), {}),
        ({"responseMimeType": "application/json", "responseSchema": {"type": "STRING"}}, Output({"type": "string"}), {}),
        ({"response_format": [{"text": {"mimeType": "APPLICATION_JSON", "schema": CITY}}]}, Output(CITY), {}),
        ({"responseFormat": {"text": {"mime_type": "application/json", "jsonSchema": CITY}}}, Output(CITY), {}),
        ({"responseFormat": [{"image": {}}]}, None, {"responseFormat": [{"image": {}}]}),
        ({"responseMimeType": "text/plain"}, None, {}),
        (
            {"responseMimeType": "text/x.enum", "responseSchema": {"enum": ["a"]}},
            None,
            {"responseMimeType": "text/x.enum", "responseSchema": {"enum": ["a"]}},
        ),
    ],
)
def test_structured_output(config: Body, output: Output | None, left: Body) -> None:
    request = read(generationConfig=config)
    assert request.output == output
    assert request.extra.get("gemini", {}).get("generationConfig", {}) == left
