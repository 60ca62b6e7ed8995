"""Gemini's wire: tools and the choice among them."""

from __future__ import annotations

import pytest

from tests.wires.gemini_pieces import CITY, WEATHER, Body, read, write
from toolglot.core.interfaces import Quirks
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool
from toolglot.wires.gemini import WIRE


def test_googles_own_kind_of_schema_becomes_json_schema() -> None:
    deep = {
        "type": "OBJECT",
        "properties": {
            "type": {"type": "STRING", "nullable": True, "enum": ["A", "B"]},
            "list": {"type": "ARRAY", "items": {"type": "INTEGER", "format": "int32"}, "min_items": "1", "maxItems": "9"},
            "either": {"any_of": [{"type": "NUMBER"}, {"type": "BOOLEAN"}], "nullable": True},
            "free": {"type": "TYPE_UNSPECIFIED", "nullable": True},
            "again": {"ref": "#/$defs/x", "nullable": True},
        },
        "defs": {"x": {"type": "STRING"}},
        "required": ["type"],
        "propertyOrdering": ["type", "list"],
    }
    (tool,) = WIRE.read_tools([{"functionDeclarations": [{"name": "f", "parameters": deep}]}])
    assert tool.schema == {
        "type": "object",
        "properties": {
            "type": {"type": ["string", "null"], "enum": ["A", "B", None]},
            "list": {"type": "array", "items": {"type": "integer", "format": "int32"}, "minItems": 1, "maxItems": 9},
            "either": {"anyOf": [{"type": "number"}, {"type": "boolean"}, {"type": "null"}]},
            "free": {},
            "again": {"anyOf": [{"$ref": "#/$defs/x"}, {"type": "null"}]},
        },
        "$defs": {"x": {"type": "string"}},
        "required": ["type"],
        "propertyOrdering": ["type", "list"],
    }
    assert deep["properties"]["type"]["type"] == "STRING"  # type: ignore[index]  # what was handed in stays as it was


def test_tools_keep_what_only_gemini_knows() -> None:
    held = [
        {"googleSearch": {}},
        {
            "functionDeclarations": [
                {"name": "f", "description": "d", "behavior": "NON_BLOCKING", "response": {"type": "STRING"}}
            ]
        },
        {"codeExecution": {}, "urlContext": {}},
    ]
    tools = WIRE.read_tools(held)
    assert [(tool.name, tool.kind) for tool in tools] == [
        ("googleSearch", "server"),
        ("f", "function"),
        ("codeExecution", "server"),
        ("urlContext", "server"),
    ]
    notes: list[str] = []
    assert WIRE.write_tools(tools, notes, Quirks()) == [*held[:2], {"codeExecution": {}}, {"urlContext": {}}]
    assert notes == []


def test_a_declaration_alone_is_a_tool() -> None:
    assert WIRE.read_tools({"name": "f", "parameters": {"type": "OBJECT"}}) == (Tool("f", schema={"type": "object"}),)


@pytest.mark.parametrize(
    ("schema", "kept"),
    [
        (None, False),
        ({"type": "object", "properties": {}}, False),
        ({"type": "object", "properties": {}, "additionalProperties": False, "required": []}, False),
        ({"type": "object", "additionalProperties": {"type": "string"}}, True),
        ({"$ref": "#/$defs/x", "$defs": {"x": {}}}, True),
        (CITY, True),
    ],
)
def test_parameters_are_left_out_where_there_are_none(schema: Body | None, kept: bool) -> None:
    (written,) = WIRE.write_tools((Tool("f", schema=schema),), [], Quirks())
    assert ("parametersJsonSchema" in written["functionDeclarations"][0]) is kept


def test_tools_that_gemini_lacks() -> None:
    notes: list[str] = []
    tools = (
        Tool("patch", "Patches.", kind="custom", format={"type": "grammar", "syntax": "lark", "definition": "start: x"}),
        Tool("web_search", kind="server", extra={"anthropic": {"type": "web_search"}}),
        Tool("f", extra={"anthropic": {"cache_control": {}}}),
    )
    (written,) = WIRE.write_tools(tools, notes, Quirks())
    patch, other = written["functionDeclarations"]
    assert patch["parametersJsonSchema"]["required"] == ["input"]
    assert other == {"name": "f"}
    assert notes == [
        "tool patch: a custom tool is sent as a function with one string",
        "tool web_search: a server tool of another vendor; left out",
        "tool f: cache_control exists only on anthropic; left out",
    ]


@pytest.mark.parametrize(
    ("choice", "config"),
    [
        (Choice("auto"), {"mode": "AUTO"}),
        (Choice("none"), {"mode": "NONE"}),
        (Choice("required"), {"mode": "ANY"}),
        (Choice("required", ("get_weather",)), {"mode": "ANY", "allowedFunctionNames": ["get_weather"]}),
        (Choice("required", ("a", "b")), {"mode": "ANY", "allowedFunctionNames": ["a", "b"]}),
        (Choice("auto", ("a", "b")), {"mode": "VALIDATED", "allowedFunctionNames": ["a", "b"]}),
        (Choice("auto", extra={"gemini": {"mode": "VALIDATED"}}), {"mode": "VALIDATED"}),
    ],
)
def test_every_choice_both_ways(choice: Choice, config: Body) -> None:
    body, notes = write(Request("m", tools=(WEATHER,), choice=choice))
    assert notes == []
    assert body["toolConfig"] == {"functionCallingConfig": config}
    assert WIRE.read_request(body).choice == choice
    assert WIRE.read_choice(config) == choice


def test_choice_in_other_forms() -> None:
    assert WIRE.read_choice("any") == Choice("required")
    assert WIRE.read_choice({"function_calling_config": {"mode": "NONE"}}) == Choice("none")
    assert WIRE.read_choice({"functionCallingConfig": {}}) == Choice()
    assert WIRE.read_choice({"retrievalConfig": {}}) is None
    assert WIRE.read_choice(None) is None


def test_keys_beside_the_choice_are_kept() -> None:
    config = {"mode": "ANY", "streamFunctionCallArguments": True}
    request = read(tools=[{"functionDeclarations": [{"name": "f"}]}], toolConfig={"functionCallingConfig": config})
    assert request.choice == Choice("required")
    assert write(request)[0]["toolConfig"] == {"functionCallingConfig": config}


@pytest.mark.parametrize(
    ("choice", "mode"), [(None, "VALIDATED"), (Choice(), "VALIDATED"), (Choice("required"), "ANY"), (Choice("none"), "NONE")]
)
def test_strict_tools_make_the_request_validated(choice: Choice | None, mode: str) -> None:
    body, notes = write(Request("m", tools=(Tool("f", strict=True), WEATHER), choice=choice))
    assert body["toolConfig"]["functionCallingConfig"]["mode"] == mode
    assert notes == []


def test_strict_is_noted_where_the_server_does_not_know_it() -> None:
    body, notes = write(Request("m", tools=(Tool("f", strict=True),)), Quirks(strict=False))
    assert "toolConfig" not in body
    assert notes == ["tools: the server does not support strict; left out"]


def test_one_call_at_a_time_can_not_be_asked_for() -> None:
    assert write(Request("m", tools=(WEATHER,), parallel=False))[1] == ["parallel: gemini does not support it; left out"]
    assert write(Request("m", tools=(WEATHER,), parallel=True))[1] == []


def test_a_choice_without_tools_is_not_sent() -> None:
    assert "toolConfig" not in write(Request("m", choice=Choice("required")))[0]
