from __future__ import annotations

from typing import Any

import pytest

from toolglot import CallerError, prepare
from toolglot.catalog.providers import providers

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOL = {"name": "get_weather", "description": "The weather", "schema": SCHEMA}


def test_a_call_is_shown_as_it_would_be_sent_but_for_the_key() -> None:
    call = prepare("Weather in Paris?", "openai/gpt-5", [TOOL], max_tokens=99)
    assert (call.method, call.url) == ("POST", "https://api.openai.com/v1/chat/completions")
    assert call.headers == {"Content-Type": "application/json", "Authorization": "Bearer $OPENAI_API_KEY"}
    assert call.body == {
        "model": "gpt-5",
        "messages": [{"role": "user", "content": "Weather in Paris?"}],
        "tools": [
            {"type": "function", "function": {"name": "get_weather", "description": "The weather", "parameters": SCHEMA}}
        ],
        "max_completion_tokens": 99,
    }
    assert call.notes == ()


@pytest.mark.parametrize("name", sorted(providers()))
def test_every_provider_has_a_request(name: str) -> None:
    call = prepare([{"role": "user", "content": "hi"}], f"{name}/some-model", [TOOL], stream=True, temperature=0)
    assert call.url.startswith(("https://", "http://127.0.0.1:", "local:", "{"))  # {}: a variable
    assert "some-model" in str(call.body) + call.url
    assert "get_weather" in str(call.body["tools"])
    assert "secret" not in str(call.headers)


def test_the_path_names_the_model_where_the_wire_has_it_there() -> None:
    call = prepare("hi", "gemini/gemini-3-pro", stream=True)
    assert call.url.endswith("/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse")
    assert "model" not in call.body
    assert "stream" not in call.body
    assert call.headers["x-goog-api-key"] == "$GEMINI_API_KEY"


def test_openrouter_gets_its_headers() -> None:
    headers = prepare("hi", "openrouter/qwen/qwen3-coder").headers
    assert {"HTTP-Referer", "X-Title", "Authorization"} <= headers.keys()


def test_ollama_local_and_cloud() -> None:
    local = prepare("hi", "ollama/qwen3:8b", max_tokens=5)
    assert local.url == "http://127.0.0.1:11434/v1/chat/completions"
    assert "Authorization" not in local.headers
    assert local.body["max_tokens"] == 5
    cloud = prepare("hi", "ollama-cloud/qwen3-coder:480b-cloud")
    assert (cloud.url, cloud.body["model"]) == ("https://ollama.com/api/chat", "qwen3-coder:480b")


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [("required", "required"), ("get_weather", {"type": "function", "function": {"name": "get_weather"}}), ("none", "none")],
)
def test_the_choice_of_tools(choice: str, wanted: Any) -> None:
    assert prepare("hi", "openai/gpt-5", [TOOL], tool_choice=choice).body["tool_choice"] == wanted
    assert "tool_choice" not in prepare("hi", "openai/gpt-5", [TOOL]).body


def test_a_schema_for_the_answer_is_left_as_it_is() -> None:
    response_format = prepare("hi", "openai/gpt-5", response_schema=SCHEMA).body["response_format"]
    assert response_format["json_schema"]["schema"] == SCHEMA
    assert "strict" not in response_format["json_schema"]
    assert prepare("hi", "openai/gpt-5", response_schema=True).body["response_format"] == {"type": "json_object"}
    assert prepare("hi", "ollama-cloud/x", response_schema=SCHEMA).body["format"] == SCHEMA


def test_what_can_not_be_translated_is_noted() -> None:
    notes = prepare("hi", "anthropic/claude-x", [TOOL], seed=7, max_tokens=5).notes
    assert any("seed" in note for note in notes)
    notes = prepare("hi", "ollama-cloud/x", [TOOL], tool_choice="required", ask="native").notes
    assert any("tool choice" in note for note in notes)


@pytest.mark.parametrize(
    ("use", "where"),
    [
        ({"messages": 3}, "messages"),
        ({"messages": [{"role": "user", "content": 3}]}, r"messages\[0\]\.content"),
        ({"messages": "hi", "temperature": "hot"}, "temperature"),
        ({"messages": "hi", "response_schema": 3}, "response_schema"),
        ({"messages": "hi", "ask": "dialect:nope"}, "ask"),
        ({"messages": "hi", "tool_choice": "nothing_like_it"}, "tool_choice"),
    ],
)
def test_wrong_use_is_an_error_with_its_path(use: dict[str, Any], where: str) -> None:
    with pytest.raises(CallerError, match=where):
        prepare(model="openai/gpt-5", **use)


def test_fields_of_one_server_go_in_extra_body() -> None:
    body = prepare("hi", "vllm/m", temperature=0, extra_body={"repetition_penalty": 1.1, "temperature": 1}).body
    assert (body["repetition_penalty"], body["temperature"]) == (1.1, 1)
    assert "extra_body" not in body
    with pytest.raises(CallerError, match="extra_body: expected an object"):
        prepare("hi", "vllm/m", extra_body=3)  # type: ignore[arg-type]
