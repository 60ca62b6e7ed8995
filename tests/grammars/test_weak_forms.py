"""Forms without markers: fixtures in every split, early release of ordinary text, damage, linear work."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.grammars.dialect_parsing import CUTTINGS, TOOLS, cases, decoded, dialect_of, end_of, parse_text
from tests.grammars.test_python_family import CALLS, DAMAGE, VALUES, WORDS, damaged
from toolglot.core.messages import Text, ToolCall, ToolResult
from toolglot.grammars.bare_json import BARE_JSON
from toolglot.grammars.call_expression import CALL_EXPRESSION
from toolglot.grammars.fences import CODE_FENCES, JSON_FENCES, TOOL_CODE_FENCES
from toolglot.grammars.name_then_json import NAME_THEN_JSON
from toolglot.grammars.pythonic import BARE_LIST
from toolglot.grammars.react import REACT
from toolglot.grammars.whole_message import whole_message

NAMES = ("pythonic", "bare_json", "fenced_json", "tool_code", "call_expression", "name_then_json", "react")
CASES = cases(*NAMES)


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}: {case['name']}" for name, case in CASES])
def test_fixture(name: str, case: dict[str, Any]) -> None:
    parsed, content, problems = whole = parse_text(name, case["text"])
    for size in CUTTINGS:
        assert parse_text(name, case["text"], size) == whole
    closed = [call for call in parsed if call.closed]
    assert decoded(closed) == [(call["name"], json.loads(call["arguments"])) for call in case["calls"]]
    assert not problems
    if case["kind"] == "truncated":
        assert [call.closed for call in parsed] == [False]
    if case["kind"] == "not_a_call":
        assert (parsed, content) == ([], case["text"])
    if "content" in case:
        assert content == case["content"]


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_is_there(name: str) -> None:
    kinds = [case["kind"] for dialect, case in CASES if dialect == name]
    assert {"clean", "parallel", "text_around", "reasoning", "broken", "truncated", "not_a_call"} <= set(kinds)
    assert dialect_of(name).weak == (name != "react")


@settings(max_examples=150)
@given(drawn=CALLS, size=st.sampled_from(CUTTINGS))
def test_parse_of_render(drawn: list[tuple[str, dict[str, Any]]], size: int) -> None:
    text = json.dumps(drawn)
    assume("```" not in text and "'''" not in text)  # they do not round trip in weak forms yet
    calls = tuple(ToolCall(f"c{at}", tool, json.dumps(value)) for at, (tool, value) in enumerate(drawn))
    for name in NAMES:  # the same calls in all of them: to draw calls takes longer than to parse them
        if name == "name_then_json":  # it accepts only known parameters
            continue
        parsed, content, problems = parse_text(name, dialect_of(name).render_calls(calls), size)
        assert decoded(parsed) == drawn, name
        assert all(call.closed for call in parsed), name
        assert (content.strip(), problems) == ("", []), name


@settings(max_examples=150, deadline=None)
@given(query=WORDS, filters=st.dictionaries(WORDS, VALUES, max_size=3), size=st.sampled_from(CUTTINGS))
def test_a_name_and_json_round_trip(query: str, filters: dict[str, Any], size: int) -> None:
    drawn: list[tuple[str, dict[str, Any]]] = [("search", {"query": f"x{query}", "filters": filters}), ("get_time", {})]
    assume("```" not in json.dumps(drawn) and "'''" not in json.dumps(drawn))
    calls = tuple(ToolCall(f"c{at}", tool, json.dumps(value)) for at, (tool, value) in enumerate(drawn))
    parsed, content, problems = parse_text("name_then_json", dialect_of("name_then_json").render_calls(calls), size)
    assert (decoded(parsed), content.strip(), problems) == (drawn, "", [])


@pytest.mark.parametrize("name", NAMES)
def test_tools_and_results_are_shown(name: str) -> None:
    prompt = dialect_of(name).render_tools(tuple(TOOLS.values()))
    assert all(tool in prompt for tool in TOOLS)
    assert "20°" in dialect_of(name).render_result(ToolResult("1", "get_time", (Text("20°"),)))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_damage_never_raises_and_all_splits_agree(name: str, data: st.DataObject) -> None:
    case = data.draw(st.sampled_from([case for dialect, case in CASES if dialect == name]))
    text = damaged(case["text"], data.draw(DAMAGE))
    assert parse_text(name, text, data.draw(st.sampled_from(CUTTINGS))) == parse_text(name, text)


# -- without tools

WITHOUT_TOOLS: tuple[tuple[str, str, list[Any]], ...] = (
    ("bare_json", '{"name": "f", "arguments": {"a": 1}}', [("f", {"a": 1})]),
    ("bare_json", '{"f": {"a": 1}}', []),
    ("bare_json", '{"name": "f"}', []),
    ("bare_json", "{'name': 'f', 'arguments': {}}", []),
    ("bare_json", '[{"name": "f", "arguments": {"a": 1}', []),
    ("fenced_json", '```json\n{"name": "f", "parameters": {}}\n```', [("f", {})]),
    ("tool_code", "```tool_code\nf(a=1)\n```", [("f", {"a": 1})]),
    ("tool_code", "```tool_code\nf(1)\n```", []),
    ("call_expression", "f(a=1)", []),
)


@pytest.mark.parametrize(("name", "text", "calls"), WITHOUT_TOOLS)
def test_without_tools_only_well_formed_calls_count(name: str, text: str, calls: list[Any]) -> None:
    assert decoded(parse_text(name, text, tools={})[0], {}) == calls


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ('SearchDatabase(query="python", limit=10)\n', [("SearchDatabase", {"query": "python", "limit": 10})]),
        ("f()", [("f", {})]),
        ("f(x)", []),
        ("f(a=1) and more", []),
        ("Python (version 3)", []),
        ("f(a=1", []),
    ],
)
def test_a_message_that_is_one_call(text: str, calls: list[Any]) -> None:
    assert decoded(list(whole_message(text).calls), {}) == calls


# -- ordinary text is released early

NAMED = NAME_THEN_JSON.for_tools(TOOLS)
HARMLESS = (
    (BARE_JSON, "[", "see below] and a long text", 4),
    (BARE_JSON, "{", " fmt.Println() }", 16),
    (BARE_LIST, "[", "x](https://example.com) and more", 4),
    (BARE_LIST, "(", "as I said) it goes on", 4),
    (JSON_FENCES, "```", "bash\nls -l\n```\n", 8),
    (JSON_FENCES, "```", "\nSome words of prose", 12),
    (JSON_FENCES, "```", "json\n<tool_call>", 8),
    (CODE_FENCES, "```", "python\nimport os\nprint(os)", 16),
    (TOOL_CODE_FENCES, "```", "python\nget_time()", 8),
    (REACT, "Action:", " wait for the bank\nThen go on", 24),
    (NAMED, "search", " the documents for it", 2),
    (NAMED, "search", ": the documents for it", 3),
    (NAMED, "search", "\n```python\nprint({})\n```", 12),
)


@pytest.mark.parametrize(("grammar", "opener", "text", "most"), HARMLESS)
@pytest.mark.parametrize("size", [1, 4])
def test_text_that_is_not_a_call_is_released_early(grammar: Any, opener: str, text: str, most: int, size: int) -> None:
    region = grammar.open(opener)
    end = end_of(region, text, size)
    assert 0 <= end <= most
    assert not region.parse(opener + text[:end], TOOLS, complete=True).calls


CALL = '{"name": "get_time", "arguments": {}}'


@pytest.mark.parametrize(
    ("text", "end"), [(f"{CALL}, {CALL} x", 77), (f"{CALL},, {CALL}", 38), (f"{CALL}\n\nx", 39), (f"{CALL}]}} ; x", 42)]
)
@pytest.mark.parametrize("size", [1, 2, 100])
def test_consecutive_values_are_one_region(text: str, end: int, size: int) -> None:
    assert end_of(BARE_JSON.open("{"), text[1:], size) + 1 == end


# -- linear work

EXPRESSIONS = CALL_EXPRESSION.for_tools(TOOLS)
BEGINNINGS = (
    (BARE_JSON, "{", '"name": "'),
    (BARE_LIST, "[", 'search(query="'),
    (JSON_FENCES, "```", 'json\n{"name": "'),
    (CODE_FENCES, "```", 'python\nsearch(query="'),
    (EXPRESSIONS, "search(", 'query="'),
    (REACT, "Action:", ' search\nAction Input: {"query": "'),
    (NAMED, "search", ': {"query": "'),
    (NAMED, "search", '\n```json\n{"query": '),
)
FLOODS = ("`", '"', "[", "(", "\\", "'", "{", "a=", '",', "}`", "~", " ", "\n", "\n```x", "\n ", '"""', ",;")


@pytest.mark.parametrize(("grammar", "opener", "beginning"), BEGINNINGS)
@pytest.mark.parametrize("flood", FLOODS)
def test_each_character_is_examined_a_bounded_number_of_times(grammar: Any, opener: str, beginning: str, flood: str) -> None:
    region = grammar.open(opener)
    text = beginning + flood * 5000
    end = end_of(region, text, 4)
    assert region.examined <= 16 * len(text)
    region.parse(opener + (text if end < 0 else text[:end]), TOOLS, complete=end >= 0)
