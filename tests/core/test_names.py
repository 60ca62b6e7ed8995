"""Names that a wire accepts, and how they are restored."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.core.names import NameMap, NameRule, legal, sanitize_names
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool

RULE = NameRule()
SPACES = NameRule(namespaces=True)
PATTERN = re.compile(RULE.name or "")

NAMES = [
    "get_weather",
    "a b",
    "a!b",
    "a.b",
    "a-b",
    "",
    "-",
    "x" * 64,
    "x" * 65,
    "x" * 66,
    "1st",
    "\u5929\u6c17",
    "caf\u00e9",
    "\ud800",
    "f\n",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_becomes_legal(name: str) -> None:
    word = legal(name, RULE.name)
    assert PATTERN.fullmatch(word)
    assert word == legal(name, RULE.name)
    assert (word == name) == bool(PATTERN.fullmatch(name))


@pytest.mark.parametrize(
    ("name", "beginning"),
    [("get weather!", "get_weather_"), ("1 st", "_1_st_"), ("\u5929\u6c17", "_"), ("x" * 65, "x" * 55 + "_"), ("a.b", "a_b_")],
)
def test_the_legal_name_is_readable(name: str, beginning: str) -> None:
    assert legal(name, RULE.name).startswith(beginning)


def test_any_name_is_legal_without_a_rule() -> None:
    assert legal("a b", None) == "a b"


def test_a_used_name_is_not_used_again() -> None:
    taken: list[str] = []
    for _ in range(4):
        taken.append(legal("f", RULE.name, taken))
    assert taken[0] == "f"
    assert len(set(taken)) == 4
    assert all(PATTERN.fullmatch(word) for word in taken)


@given(st.lists(st.tuples(st.none() | st.sampled_from(["n", "n m"]), st.text(max_size=70)), unique=True, max_size=8))
def test_every_tool_is_restored(keys: list[tuple[str | None, str]]) -> None:
    tools = [Tool(name, namespace=namespace) for namespace, name in keys]
    for rule in (RULE, SPACES):
        names = NameMap(tools, rule)
        for tool in tools:
            word = names.out(tool.name, tool.namespace)
            assert PATTERN.fullmatch(word)
            assert names.back(word, tool.namespace if rule.namespaces else None) is tool


COLLISIONS = {
    "sanitised alike": [Tool("a b"), Tool("a!b"), Tool("a_b")],
    "flattened alike": [Tool("y", namespace="x"), Tool("x__y")],
    "flattened alike, the other way": [Tool("x__y"), Tool("y", namespace="x")],
    "a name that is another's stand-in": [Tool("a b"), Tool(legal("a b", RULE.name))],
    "cut alike": [Tool("x" * 70 + "1"), Tool("x" * 70 + "2")],
}


@pytest.mark.parametrize("name", COLLISIONS)
def test_collisions(name: str) -> None:
    tools = COLLISIONS[name]
    names = NameMap(tools, RULE)
    words = [names.out(tool.name, tool.namespace) for tool in tools]
    assert len(set(words)) == len(tools)
    assert [names.back(word) for word in words] == tools


def test_namespaces_stay_where_the_wire_has_them() -> None:
    tools = [Tool("f", namespace="a"), Tool("f", namespace="b"), Tool("g h", namespace="a"), Tool("g h", namespace="b")]
    names = NameMap(tools, SPACES)
    assert [names.out(tool.name, tool.namespace) for tool in tools[:2]] == ["f", "f"]
    assert names.back("f", "b") is tools[1]
    assert names.back("f") is tools[0]
    assert names.back(names.out("g h", "b"), "b") is tools[3]
    assert names.changed


def test_a_duplicate_tool_is_one_tool() -> None:
    names = NameMap([Tool("f", "first"), Tool("f", "second")], RULE)
    assert names.out("f") == "f"
    assert not names.changed


def test_an_undeclared_name_is_not_restored() -> None:
    names = NameMap([Tool("web_search", kind="server")], RULE)
    assert names.back("web_search") is None
    assert names.out("unheard of").startswith("unheard_of_")
    assert names.out("f", "n") == "n__f"


def test_a_request_is_sanitized_consistently() -> None:
    request = Request(
        "m",
        (
            Message("user", (Text("hi"),)),
            Message("assistant", (ToolCall("call 1", "get weather"), ToolCall("b", "time", namespace="clock"))),
            Message("tool", (ToolResult("call 1", "get weather"), ToolResult("b", "clock__time"))),
        ),
        (Tool("get weather"), Tool("time", namespace="clock"), Tool("web", kind="server")),
        Choice("required", ("get weather", "clock__time")),
    )
    done = sanitize_names(request, RULE)
    weather, clock = done.tools[0].name, done.tools[1].name
    assert clock == "clock__time"
    assert done.tools[1].namespace is None
    assert done.tools[2] is request.tools[2]
    assert done.choice == Choice("required", (weather, clock))
    first, second = done.messages[1].parts
    assert isinstance(first, ToolCall)
    assert isinstance(second, ToolCall)
    assert (first.name, second.name, second.namespace) == (weather, clock, None)
    assert PATTERN.fullmatch(first.id)
    assert done.messages[2].parts == (ToolResult(first.id, weather), ToolResult("b", clock))
    assert done.messages[0] is request.messages[0]


def test_a_result_follows_its_call_where_names_collide() -> None:
    tools = (Tool("y", namespace="x"), Tool("x__y"))
    turns = (Message("assistant", (ToolCall("a", "y", namespace="x"),)), Message("tool", (ToolResult("a", "x__y"),)))
    done = sanitize_names(Request("m", turns, tools), RULE)
    call, result = done.messages[0].parts[0], done.messages[1].parts[0]
    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    assert call.name == result.name == done.tools[0].name


def test_a_legal_request_is_unchanged() -> None:
    turns = (Message("assistant", (ToolCall("a", "f"),)), Message("tool", (ToolResult("a", "f"),)))
    request = Request("m", turns, (Tool("f"),), Choice("required", ("f",)))
    done = sanitize_names(request, RULE)
    assert done == request
    assert done.tools is request.tools
    assert all(new is old for new, old in zip(done.messages, request.messages, strict=True))


def test_ids_are_free_where_the_rule_says_so() -> None:
    turns = (Message("assistant", (ToolCall("a b", "f"),)), Message("tool", (ToolResult("a b", "f"),)))
    assert sanitize_names(Request("m", turns), NameRule(call_id=None)).messages == turns
