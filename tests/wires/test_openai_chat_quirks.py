"""How servers depart from OpenAI: each quirk changes what is written, and what is lost by it is noted."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from toolglot.core.interfaces import Quirks
from toolglot.core.messages import Extra, Message, Part, Reasoning, Role, Text, ToolCall, ToolResult
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool
from toolglot.wires.openai_chat import WIRE

Body = dict[str, Any]

CACHED: Extra = {"anthropic": {"cache_control": {"type": "ephemeral"}, "x": 1}}
TOOLS = (Tool("f"), Tool("g"), Tool("h"))
FORCED = Choice("required", ("f",))


def turn(role: Role, *parts: Part) -> Request:
    return Request("m", (Message(role, parts),))


def function(name: str) -> Body:
    return {"type": "function", "function": {"name": name}}


def named(*names: str) -> list[Body]:
    return [function(name) for name in names]


def subset(mode: str, *names: str) -> Body:
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": named(*names)}}


def inputs(tool: Tool) -> Body:
    schema = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
    return {"type": "function", "function": {"name": tool.name, "parameters": schema}}


class Case(msgspec.Struct):
    """What is written without and with the quirk, where it differs; and how the notes begin that it costs."""

    request: Request
    quirk: dict[str, Any]
    usual: Body
    bent: Body
    notes: list[str] = []


SERVER = Tool("openrouter:web", kind="server", extra={"openai-chat": {"type": "openrouter:web"}})
CUSTOM = Tool("sql", kind="custom")
CUSTOM_CALL = ToolCall("a", "sql", '{"input":"x"}', custom=True)

EXPLICIT = {"mode": "explicit"}
CASES = {
    "max_tokens_key": Case(
        Request("m", max_tokens=5), {"max_tokens_key": "max_tokens"}, {"max_completion_tokens": 5}, {"max_tokens": 5}
    ),
    "family_keys": Case(
        Request("m", extra={"openai": {"store": False, "metadata": {"a": "b"}}}),
        {"family_keys": ("metadata",)},
        {"store": False, "metadata": {"a": "b"}},
        {"metadata": {"a": "b"}},
        ["request: the server does not support store; left out"],
    ),
    "cache_breakpoints": Case(
        turn("user", Text("a", extra={"anthropic": {"cache_control": {"type": "ephemeral"}}})),
        {"cache_breakpoints": ("m",)},
        {"messages": [{"role": "user", "content": "a"}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "a", "prompt_cache_breakpoint": EXPLICIT}]}]},
    ),
    "developer_role": Case(
        turn("developer", Text("a")),
        {"developer_role": False},
        {"messages": [{"role": "developer", "content": "a"}]},
        {"messages": [{"role": "system", "content": "a"}]},
    ),
    "tool_choice, forced": Case(
        Request("m", tools=TOOLS, choice=FORCED),
        {"tool_choice": False},
        {"tools": named("f", "g", "h"), "tool_choice": function("f")},
        {"tools": named("f")},
        ["tool_choice required:"],
    ),
    "tool_choice, required": Case(
        Request("m", tools=TOOLS, choice=Choice("required")),
        {"tool_choice": False},
        {"tools": named("f", "g", "h"), "tool_choice": "required"},
        {"tools": named("f", "g", "h")},
        ["tool_choice required:"],
    ),
    "tool_choice, auto": Case(
        Request("m", tools=TOOLS, choice=Choice()),
        {"tool_choice": False},
        {"tools": named("f", "g", "h"), "tool_choice": "auto"},
        {"tools": named("f", "g", "h")},
    ),
    "tool_choice, none": Case(
        Request("m", tools=TOOLS, choice=Choice("none")),
        {"tool_choice": False},
        {"tools": named("f", "g", "h"), "tool_choice": "none"},
        {},
        ["tools: none may be called"],
    ),
    "allowed_tools": Case(
        Request("m", tools=TOOLS, choice=Choice("required", ("f", "h"))),
        {"allowed_tools": False},
        {"tools": named("f", "g", "h"), "tool_choice": subset("required", "f", "h")},
        {"tools": named("f", "h"), "tool_choice": "required"},
        ["tool_choice: the server does not support a subset"],
    ),
    "allowed_tools, one that may be called": Case(
        Request("m", tools=TOOLS, choice=Choice("auto", ("f",))),
        {"allowed_tools": False},
        {"tools": named("f", "g", "h"), "tool_choice": subset("auto", "f")},
        {"tools": named("f"), "tool_choice": "auto"},
        ["tool_choice: the server does not support a subset"],
    ),
    "allowed_tools, one that must": Case(
        Request("m", tools=TOOLS, choice=FORCED),
        {"allowed_tools": False},
        {"tools": named("f", "g", "h"), "tool_choice": function("f")},
        {"tools": named("f", "g", "h"), "tool_choice": function("f")},
    ),
    "custom_tools": Case(
        Request("m", (Message("assistant", (CUSTOM_CALL,)),), (CUSTOM,), Choice("required", ("sql",))),
        {"custom_tools": False},
        {
            "messages": [
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "sql", "input": "x"}}],
                }
            ],
            "tools": [{"type": "custom", "custom": {"name": "sql"}}],
            "tool_choice": {"type": "custom", "custom": {"name": "sql"}},
        },
        {
            "messages": [
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "sql", "arguments": '{"input":"x"}'}}],
                }
            ],
            "tools": [inputs(CUSTOM)],
            "tool_choice": function("sql"),
        },
        ["tool sql: a custom tool is sent as a function"],
    ),
    "parallel_control": Case(
        Request("m", tools=TOOLS[:1], parallel=False),
        {"parallel_control": False},
        {"tools": named("f"), "parallel_tool_calls": False},
        {"tools": named("f")},
        ["parallel:"],
    ),
    "strict": Case(
        Request("m", tools=(Tool("f", strict=True),)),
        {"strict": False},
        {"tools": [{"type": "function", "function": {"name": "f", "strict": True}}]},
        {"tools": named("f")},
        ["tool f: the server does not support strict"],
    ),
    "stream_usage": Case(
        Request("m", stream=True),
        {"stream_usage": False},
        {"stream": True, "stream_options": {"include_usage": True}},
        {"stream": True},
    ),
    "text_parts": Case(
        turn("user", Text("a"), Text("b", extra={"openai-chat": {"x": 1}})),
        {"text_parts": False},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b", "x": 1}]}]},
        {"messages": [{"role": "user", "content": "a\nb"}]},
        ["text: the server accepts one string; x left out"],
    ),
    "text_parts of a result": Case(
        turn("tool", ToolResult("a", "f", (Text("a"), Text("b")))),
        {"text_parts": False},
        {
            "messages": [
                {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
            ]
        },
        {"messages": [{"role": "tool", "tool_call_id": "a", "content": "a\nb"}]},
    ),
    "top_k": Case(Request("m", top_k=5), {"top_k": True}, {}, {"top_k": 5}),
    "reasoning_key": Case(
        turn("assistant", Reasoning("h"), Reasoning("m"), Text("a")),
        {"reasoning_key": "reasoning"},
        {"messages": [{"role": "assistant", "content": "a"}]},
        {"messages": [{"role": "assistant", "reasoning": "hm", "content": "a"}]},
    ),
    "cache_control on a tool": Case(
        Request("m", tools=(Tool("f", extra=CACHED),)),
        {"cache_control": True},
        {"tools": named("f")},
        {"tools": [{**function("f"), "cache_control": {"type": "ephemeral"}}]},
        ["tool f: x exists only on anthropic"],
    ),
    "cache_control on a part": Case(
        turn("user", Text("a", extra=CACHED)),
        {"cache_control": True},
        {"messages": [{"role": "user", "content": "a"}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]}]},
        ["text: x exists only on anthropic"],
    ),
    "seed_key": Case(Request("m", seed=7), {"seed_key": "random_seed"}, {"seed": 7}, {"random_seed": 7}),
    "server_tools": Case(
        Request("m", tools=(SERVER, TOOLS[0])),
        {"server_tools": ("other:",)},
        {"tools": [{"type": "openrouter:web"}, function("f")]},
        {"tools": named("f")},
        ["tool openrouter:web: a server tool"],
    ),
    "server_tools of its own": Case(
        Request("m", tools=(SERVER,)),
        {"server_tools": ("openrouter:",)},
        {"tools": [{"type": "openrouter:web"}]},
        {"tools": [{"type": "openrouter:web"}]},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_quirks(name: str) -> None:
    case = CASES[name]
    plain = {"model": "m", "messages": []}
    notes: list[str] = []
    assert WIRE.write_request(case.request, [], Quirks()) == {**plain, **case.usual}
    assert WIRE.write_request(case.request, notes, Quirks(**case.quirk)) == {**plain, **case.bent}
    assert len(notes) == len(case.notes)
    assert all(note.startswith(start) for note, start in zip(notes, case.notes, strict=True))


def test_every_quirk_is_shown() -> None:
    shown = {key for case in CASES.values() for key in case.quirk} | {"call_id_length", "tool_search"}  # no part of this wire
    assert shown == set(Quirks.__struct_fields__)


IDS = ["abc123DEF", "call_abc", "", "abc12345_", "abc123DEFg", "\u00e4bc123DEF", "toolu_" + "x" * 40]


@pytest.mark.parametrize("length", [9, 40])
def test_ids_of_one_length(length: int) -> None:
    calls = tuple(ToolCall(id, "f") for id in IDS)
    results = tuple(ToolResult(id, "f") for id in reversed(IDS))
    messages = (Message("assistant", calls), Message("tool", results))
    quirks = Quirks(call_id_length=length)
    assistant, *told = WIRE.write_messages(messages, [], quirks)
    ids = [call["id"] for call in assistant["tool_calls"]]
    assert all(len(id) == length and id.isascii() and id.isalnum() for id in ids)
    assert [result["tool_call_id"] for result in reversed(told)] == ids
    assert len(set(ids)) == len(IDS)
    assert (ids[0] == IDS[0]) == (length == 9)
    assert WIRE.write_messages(messages, [], quirks)[0] == assistant


def test_ids_are_kept_where_any_will_do() -> None:
    assistant, *_ = WIRE.write_messages((Message("assistant", (ToolCall("any id", "f"),)),), [], Quirks())
    assert assistant["tool_calls"][0]["id"] == "any id"
