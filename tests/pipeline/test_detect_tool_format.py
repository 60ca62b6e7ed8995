from __future__ import annotations

from typing import Any

import pytest

from toolglot import CallerError, Choice, Tool
from toolglot.pipeline.detect_tool_format import read_any_choice, read_any_tools
from toolglot.schema.from_function import tool

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool("get_weather", "The weather", SCHEMA)

FORMS: dict[str, Any] = {
    "ours": WEATHER,
    "openai chat": {
        "type": "function",
        "function": {"name": "get_weather", "description": "The weather", "parameters": SCHEMA},
    },
    "openai responses": {"type": "function", "name": "get_weather", "description": "The weather", "parameters": SCHEMA},
    "anthropic": {"name": "get_weather", "description": "The weather", "input_schema": SCHEMA},
    "anthropic, with type": {"type": "custom", "name": "get_weather", "description": "The weather", "input_schema": SCHEMA},
    "gemini": {"functionDeclarations": [{"name": "get_weather", "description": "The weather", "parametersJsonSchema": SCHEMA}]},
    "gemini, snake": {
        "function_declarations": [{"name": "get_weather", "description": "The weather", "parameters_json_schema": SCHEMA}]
    },
    "gemini, bare": {"name": "get_weather", "description": "The weather", "parametersJsonSchema": SCHEMA},
    "mcp": {"name": "get_weather", "description": "The weather", "inputSchema": SCHEMA},
    "plain": {"name": "get_weather", "description": "The weather", "schema": SCHEMA},
    "function of old": {"name": "get_weather", "description": "The weather", "parameters": SCHEMA},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_tool_is_read_in_every_form(form: str) -> None:
    (tool,) = read_any_tools([FORMS[form]])
    assert (tool.name, tool.description, tool.schema, tool.kind) == ("get_weather", "The weather", SCHEMA, "function")


def test_forms_may_be_mixed_and_one_object_is_a_list_of_one() -> None:
    assert [tool.name for tool in read_any_tools(list(FORMS.values()))] == ["get_weather"] * len(FORMS)
    assert len(read_any_tools(FORMS["gemini"])) == 1
    assert len(read_any_tools({"name": "a"})) == 1


def test_a_namespace_and_a_free_text_tool() -> None:
    tools = read_any_tools(
        [
            {"type": "namespace", "name": "crm", "tools": [{"type": "function", "name": "find", "parameters": SCHEMA}]},
            {"type": "custom", "name": "run_sql", "format": {"type": "text"}},
        ]
    )
    assert [(tool.full_name, tool.kind) for tool in tools] == [("crm__find", "function"), ("run_sql", "custom")]


def test_the_named_wire_reads_what_several_have() -> None:
    flat = {**FORMS["openai responses"], "behavior": "BLOCKING"}
    for hint, owner in (("gemini-interactions", "gemini-interactions"), ("openai-chat", "openai-responses")):
        (tool,) = read_any_tools([flat], hint)
        assert (tool.name, tool.extra) == ("get_weather", {owner: {"behavior": "BLOCKING"}})
    (search,) = read_any_tools([{"type": "google_search"}], "gemini-interactions")
    assert (search.kind, search.extra) == ("server", {"gemini-interactions": {"type": "google_search"}})


def a_function(city: str) -> str:
    return city


def test_a_function_is_a_tool_decorated_or_not() -> None:
    plain, decorated = read_any_tools([a_function, tool(a_function)])
    assert plain.name == decorated.name == "a_function"
    assert (
        plain.schema == decorated.schema == {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    )


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ([WEATHER, int], r"tools\[1\]: int is a class"),
        ([WEATHER, 3], r"tools\[1\]: expected an object, got a number"),
        ([WEATHER, {"type": "function", "function": {"name": 3}}], r"tools\[1\]\.function\.name: expected a string"),
        ([{"name": "a", "schema": 3}], r"tools\[0\]\.schema: expected an object"),
        ([{"hello": 1}], r"tools\[0\]: unknown tool format"),
        ("get_weather", "expected a list of tools, got a string"),
        (7, "expected a list of tools, got a number"),
    ],
)
def test_a_wrong_tool_is_an_error_with_its_path(tools: Any, message: str) -> None:
    with pytest.raises(CallerError, match=message):
        read_any_tools(tools)


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        ("auto", None),
        (None, None),
        ("none", Choice("none")),
        ("required", Choice("required")),
        ("any", Choice("required")),
        ("get_weather", Choice("required", ("get_weather",))),
        ({"type": "function", "function": {"name": "get_weather"}}, Choice("required", ("get_weather",))),
        ({"type": "function", "name": "get_weather"}, Choice("required", ("get_weather",))),
        ({"type": "tool", "name": "get_weather"}, Choice("required", ("get_weather",))),
        ({"type": "any"}, Choice("required")),
        ({"allowed_tools": {"mode": "any", "tools": ["get_weather"]}}, Choice("required", ("get_weather",))),
        (
            {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["get_weather"]}},
            Choice("required", ("get_weather",)),
        ),
    ],
)
def test_a_choice_is_read_in_every_form(choice: Any, wanted: Choice | None) -> None:
    assert read_any_choice(choice, (WEATHER,)) == wanted


def test_a_choice_of_an_unknown_tool_is_an_error() -> None:
    with pytest.raises(CallerError, match=r"get_wether.*get_weather"):
        read_any_choice("get_wether", (WEATHER,))


@pytest.mark.parametrize("kind", [["string", 5], {}, {"a": []}])
def test_a_type_that_is_no_text_is_an_error(kind: Any) -> None:
    with pytest.raises(CallerError):
        read_any_tools([{"type": kind}])
