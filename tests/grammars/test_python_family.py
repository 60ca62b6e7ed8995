"""Python between markers and Gemma's notation: every split, round trips, damage, linear work."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grammars.dialect_parsing import CUTTINGS, TOOLS, cases, decoded, dialect_of, end_of, parse_text
from toolglot.core.messages import Text, ToolCall, ToolResult

NAMES = ("llama4_pythonic", "lfm2", "olmo3", "functiongemma", "gemma4")
CASES = cases(*NAMES)


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}: {case['name']}" for name, case in CASES])
def test_fixture(name: str, case: dict[str, Any]) -> None:
    parsed, content, problems = whole = parse_text(name, case["text"])
    for size in CUTTINGS:
        assert parse_text(name, case["text"], size) == whole
    closed = [call for call in parsed if call.closed]
    assert decoded(closed) == [(call["name"], json.loads(call["arguments"])) for call in case["calls"]]
    if case["kind"] == "truncated":
        assert problems or [call.closed for call in parsed] == [False]
    if case["kind"] == "not_a_call":
        assert (content, problems) == (case["text"], [])
    if case["kind"] in {"clean", "parallel"}:
        assert not any(call.fixes for call in parsed)
    if "content" in case:
        assert content == case["content"]


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_is_there(name: str) -> None:
    kinds = [case["kind"] for dialect, case in CASES if dialect == name]
    assert {"clean", "parallel", "text_around", "reasoning", "broken", "truncated", "not_a_call"} <= set(kinds)


# -- round trips

WORDS = st.text("ab <>|&\"'\n{}[]()é\t,;:=/\\`~#*", max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
CALLS = st.lists(st.tuples(st.sampled_from(sorted(TOOLS)), st.dictionaries(WORDS, VALUES, max_size=3)), min_size=1, max_size=3)


@settings(max_examples=150)
@given(drawn=CALLS, size=st.sampled_from(CUTTINGS), tools=st.sampled_from([TOOLS, {}]))
def test_parse_of_render(drawn: list[tuple[str, dict[str, Any]]], size: int, tools: Any) -> None:
    calls = tuple(ToolCall(f"c{at}", tool, json.dumps(value)) for at, (tool, value) in enumerate(drawn))
    for name in NAMES:  # the same calls in all of them: to draw calls takes longer than to parse them
        parsed, content, problems = parse_text(name, dialect_of(name).render_calls(calls), size, tools)
        assert decoded(parsed, tools) == drawn, name
        assert all(call.closed and not call.fixes for call in parsed), name
        assert (content, problems) == ("", []), name


@pytest.mark.parametrize("name", NAMES)
def test_markers_inside_values_are_text(name: str) -> None:
    grammar: Any = dialect_of(name).grammars[0]
    odd = f"{grammar.closer} {grammar.opener} {getattr(grammar, 'mark', '')}"
    text = dialect_of(name).render_calls((ToolCall("1", "search", json.dumps({"query": odd, odd: 1})),))
    assert decoded(parse_text(name, text, 1)[0]) == [("search", {"query": odd, odd: 1})]


@pytest.mark.parametrize("name", NAMES)
def test_tools_and_results_are_shown(name: str) -> None:
    prompt = dialect_of(name).render_tools(tuple(TOOLS.values()))
    assert all(tool in prompt for tool in TOOLS)
    assert "20°" in dialect_of(name).render_result(ToolResult("1", "get_time", (Text("20°"),)))


@pytest.mark.parametrize("name", NAMES)
def test_arguments_that_are_not_an_object_are_rendered_empty(name: str) -> None:
    text = dialect_of(name).render_calls((ToolCall("1", "get_time", "[1"),))
    assert decoded(parse_text(name, text)[0]) == [("get_time", {})]


# -- damage

DAMAGE = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 3), st.text("\"'()[]{}<>|,:=\\ \nab", max_size=3)), min_size=1, max_size=4
)


def damaged(text: str, damage: list[tuple[float, int, str]]) -> str:
    for where, gone, came in damage:
        at = int(where * len(text))
        text = text[:at] + came + text[at + gone :]
    return text


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_damage_never_raises_and_all_splits_agree(name: str, data: st.DataObject) -> None:
    case = data.draw(st.sampled_from([case for dialect, case in CASES if dialect == name]))
    text = damaged(case["text"], data.draw(DAMAGE))
    assert parse_text(name, text, data.draw(st.sampled_from(CUTTINGS))) == parse_text(name, text)


# -- linear work

FLOODS = ("<", '"', "<|", "[", "(", "\\", "'", "{", "a=", '",', "}<", '<|"|', " ", "\n")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("flood", FLOODS)
def test_each_character_is_examined_a_bounded_number_of_times(name: str, flood: str) -> None:
    grammar: Any = dialect_of(name).grammars[0]
    region = grammar.open(grammar.openers[0])
    text = 'call:f{a:"' + flood * 5000
    assert end_of(region, text, 4) == -1
    assert region.examined <= 12 * len(text)
    region.parse(grammar.openers[0] + text, {}, complete=False)
