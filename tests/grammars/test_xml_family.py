"""Dialects in tags: fixtures in every split, round trips, damage, and linear work."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.grammars.tool_openers import bound, openers_of
from toolglot.core.messages import Text, ToolCall, ToolResult
from toolglot.core.tools import Tool
from toolglot.dialects import find_dialect
from toolglot.grammars.parsed_call import Grammar, ParsedCall, Region
from toolglot.grammars.tagged_json import TaggedRegion
from toolglot.grammars.tagged_xml import TagRegion

FIXTURES = Path(__file__).parents[2] / "fixtures" / "dialects"
NAMES = (
    "cline_xml",
    "deepseek_v32",
    "deepseek_v4",
    "dots",
    "glm45",
    "glm47",
    "hunyuan_v3",
    "kimi_k3",
    "minicpm5_xml",
    "minimax_m2",
    "minimax_m3",
    "muse_glimmer",
    "poolside_v1",
    "qwen3_coder",
    "seed_oss",
    "step3",
    "step3p5",
)
TOOLS = {one["name"]: Tool(**one) for one in json.loads((FIXTURES / "tools.json").read_text())}
CASES = [(name, case) for name in NAMES for case in tomllib.loads((FIXTURES / f"{name}.toml").read_text())["case"]]
CUTTINGS = (1, 2, 3, 7, 0)

Calls = list[tuple[str, Any]]


def grammars_of(name: str, tools: dict[str, Tool]) -> list[Grammar]:
    dialect = find_dialect(name)
    assert dialect is not None
    return [bound(grammar, tools) for grammar in dialect.grammars]


def end_of(region: Region, text: str, size: int) -> int:
    """Where the region ends, fed `size` characters at a time; -1 if it does not."""
    for at in range(0, len(text), size or len(text) or 1):
        found = region.feed(text[at : at + size] if size else text)
        if found >= 0:
            return at + found
    return -1


def parse_text(name: str, text: str, size: int, tools: dict[str, Tool] | None = None) -> tuple[list[ParsedCall], str]:
    """All that a dialect hears, and the text around it: a plain reading of what the pipeline does."""
    tools = TOOLS if tools is None else tools
    openings = [(opener, grammar) for grammar in grammars_of(name, tools) for opener in openers_of(grammar, tools)]
    found_calls: list[ParsedCall] = []
    content, at = "", 0
    while True:
        places = [(text.find(opener, at), -len(opener), opener) for opener, _ in openings if opener in text[at:]]
        if not places:
            return found_calls, content + text[at:]
        start, _, opener = min(places)
        content += text[at:start]
        at = start + 1
        for grammar in (grammar for marker, grammar in openings if marker == opener):
            region = grammar.open(opener)
            end = end_of(region, text[start + len(opener) :], size)
            whole = text[start:] if end < 0 else text[start : start + len(opener) + end]
            parsed = region.parse(whole, tools, complete=end >= 0)
            if parsed.calls or parsed.problem:
                assert whole.endswith(parsed.rest)
                found_calls += parsed.calls
                at = start + len(whole) - len(parsed.rest)
                break
        else:
            content += text[start]


def whole_calls(found_calls: list[ParsedCall]) -> Calls:
    return [(call.name, json.loads(call.arguments)) for call in found_calls if call.closed]


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}: {case['name']}" for name, case in CASES])
def test_fixture(name: str, case: dict[str, Any]) -> None:
    expected = [(call["name"], json.loads(call["arguments"])) for call in case["calls"]]
    whole = parse_text(name, case["text"], 0)
    assert whole_calls(whole[0]) == expected
    for size in CUTTINGS:
        assert parse_text(name, case["text"], size) == whole
    if case["kind"] == "truncated":
        assert [call.closed for call in whole[0]] == [False]
    if case["kind"] == "not_a_call" and "content" in case:
        assert whole[1] == case["text"]
    if case.get("content") == "" and case["kind"] == "broken" and name != "muse_glimmer":  # the pipeline drops its tokens
        assert not whole[1].strip()
    if case["kind"] in {"clean", "parallel"}:
        assert not any(call.fixes for call in whole[0])


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_is_there(name: str) -> None:
    kinds = [case["kind"] for dialect, case in CASES if dialect == name]
    assert {"clean", "parallel", "text_around", "reasoning", "broken", "truncated", "not_a_call"} <= set(kinds)
    assert kinds.count("broken") >= 2


# Round trips

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text("ab <>&\"'\n{}[]é", max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60)
@given(data=st.data())
def test_parse_of_render(data: st.DataObject) -> None:
    words = st.text("ab <>&\"'\n{}[]éü\t,;:=/", max_size=30)
    drawn: dict[str, dict[str, Any]] = {
        "get_weather": {"city": data.draw(words), "days": data.draw(st.integers())},
        "get_time": {},
        "search": {
            "query": data.draw(words),
            "tags": data.draw(st.lists(words, max_size=3)),
            "exact": data.draw(st.booleans()),
        },
        "write_file": {"path": data.draw(words), "content": data.draw(words)},
        "run.command": {"cmd": data.draw(words), "env": data.draw(st.dictionaries(words, VALUES, max_size=3))},
    }
    chosen = data.draw(st.lists(st.sampled_from(sorted(drawn)), min_size=1, max_size=3))
    size = data.draw(st.sampled_from(CUTTINGS))
    for name in NAMES:  # the same calls in all of them: to draw calls takes longer than to parse them
        values = drawn | ({"run.command": drawn["run.command"] | {"env": {}}} if name == "minimax_m3" else {})
        calls = tuple(ToolCall(f"call_{at}", tool, json.dumps(values[tool])) for at, tool in enumerate(chosen))
        dialect = find_dialect(name)
        assert dialect is not None
        found_calls, content = parse_text(name, dialect.render_calls(calls), size)
        assert whole_calls(found_calls) == [(call.name, call.arguments) for call in calls], name
        assert all(call.closed and not call.fixes for call in found_calls), name
        assert not content.replace("<|start|>assistant", "").replace("<|eom|>", "").strip(), name


@pytest.mark.parametrize("name", NAMES)
def test_tools_and_results_are_shown(name: str) -> None:
    dialect = find_dialect(name)
    assert dialect is not None
    prompt = dialect.render_tools(tuple(TOOLS.values()))
    assert all(f'"{tool}"' in prompt for tool in TOOLS)
    assert "sunny & 20°" in dialect.render_result(ToolResult("1", parts=(Text("sunny & 20°"),)))


@pytest.mark.parametrize("name", NAMES)
def test_arguments_that_are_not_an_object_are_rendered_empty(name: str) -> None:
    dialect = find_dialect(name)
    assert dialect is not None
    assert whole_calls(parse_text(name, dialect.render_calls((ToolCall("1", "get_time", "[1"),)), 0)[0]) == [("get_time", {})]


# Damage


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_damage_never_raises_and_all_splits_agree(name: str, data: st.DataObject) -> None:
    texts = [case["text"] for dialect, case in CASES if dialect == name]
    text = data.draw(st.sampled_from(texts))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(at, min(len(text), at + 20)))
        other = data.draw(st.sampled_from(texts))
        start = data.draw(st.integers(0, len(other)))
        text = text[:at] + other[start : start + data.draw(st.integers(0, 25))] + text[end:]
    whole = parse_text(name, text, 0)
    for size in (1, 3):
        assert parse_text(name, text, size) == whole
    content = whole[1] + "".join(call.raw for call in whole[0])
    assert len(content) <= len(text)


@pytest.mark.parametrize("name", NAMES)
def test_a_call_cut_before_its_last_value_ends_is_incomplete(name: str) -> None:
    dialect = find_dialect(name)
    assert dialect is not None
    text = dialect.render_calls((ToolCall("1", "write_file", '{"path":"a","content":"one two three"}'),))
    for at in range(text.index("three") + 5):
        assert not [call for call in parse_text(name, text[:at], 0)[0] if call.closed and "three" not in call.arguments] or (
            text[:at].rstrip().endswith(("</path>", "</parameter>", "</arg_value>", "</param>", "argument<|sep|>"))
            or "content" not in text[:at]
            or text[at - 1] in "</"
        )


# Linear work

FLOODS = (
    "<" * 3000,
    "</parameter>x" * 300,
    "<tool_call>" * 300,
    "<arg_key>" * 300,
    "<|open|>" * 300,
    "]<]minimax[>[" * 300,
    "</" * 900,
)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("flood", FLOODS, ids=[flood[:12] for flood in FLOODS])
def test_each_character_is_examined_once(name: str, flood: str) -> None:
    dialect = find_dialect(name)
    assert dialect is not None
    text = dialect.render_calls((ToolCall("1", "write_file", '{"path":"a","content":"HERE"}'),)).replace("HERE", flood)
    for grammar in grammars_of(name, TOOLS):
        for opener in openers_of(grammar, TOOLS):
            if opener in text:
                region = grammar.open(opener)
                assert isinstance(region, TagRegion | TaggedRegion)
                end_of(region, text[text.index(opener) + len(opener) :], 4)
                assert region.examined <= len(text) + len(opener)


# Decisions


@pytest.mark.parametrize(("name", "outer"), [("deepseek_v4", "function_calls"), ("deepseek_v32", "tool_calls")])
def test_the_other_deepseek_wrapper_is_a_problem(name: str, outer: str) -> None:
    opener, closer = f"<｜DSML｜{outer}>", f"</｜DSML｜{outer}>"
    body = f'\n<｜DSML｜invoke name="get_time"/>\n{closer}'
    grammar, *_ = grammars_of(name, TOOLS)
    region = grammar.open(opener)
    assert region.feed(body) == len(body)
    parsed = region.parse(opener + body, TOOLS, complete=True)
    assert not parsed.calls
    assert parsed.problem


def test_text_after_a_call_without_its_wrapper_is_returned() -> None:
    text = "<function=get_time>\n</function>\n\nDone <b>"
    for size in CUTTINGS:
        found_calls, content = parse_text("qwen3_coder", text, size)
        assert whole_calls(found_calls) == [("get_time", {})]
        assert found_calls[0].fixes == ("missing_opener",)
        assert content == "\n\nDone <b>"


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        (TOOLS, {"city": "7", "days": 7}),
        ({}, {"city": "7", "days": "7"}),  # without a schema it is text
    ],
)
def test_a_value_is_a_number_only_if_the_schema_has_one(tools: dict[str, Tool], expected: dict[str, Any]) -> None:
    pairs = "".join(f"<arg_key>{key}</arg_key><arg_value>7</arg_value>" for key in ("city", "days"))
    text = f"<tool_call>get_weather{pairs}</tool_call>"
    assert whole_calls(parse_text("glm45", text, 0, tools)[0]) == [("get_weather", expected)]


def test_a_prefixed_name_still_finds_its_schema() -> None:
    text = "<tool_call>functions.get_weather<arg_key>days</arg_key><arg_value>7</arg_value></tool_call>"
    assert whole_calls(parse_text("glm45", text, 0)[0]) == [("functions.get_weather", {"days": 7})]


def test_without_tools_no_tag_is_a_tool() -> None:
    [grammar] = grammars_of("cline_xml", {})
    assert openers_of(grammar, {}) == []


@pytest.mark.parametrize(
    ("tail", "closed"), [("", True), ("\n</func", True), ("\n<par", False), ("\n<parameter=da", False), ("<", False)]
)
def test_a_call_is_complete_unless_another_value_has_begun(tail: str, closed: bool) -> None:
    text = f"<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>{tail}"
    for size in CUTTINGS:
        assert [call.closed for call in parse_text("qwen3_coder", text, size)[0]] == [closed]


def test_a_name_after_too_much_space_is_rejected_in_any_split() -> None:
    text = f"<tool_call>{' ' * 500}get_time</tool_call>"
    assert all(parse_text("glm45", text, size) == ([], text) for size in CUTTINGS)


def test_a_call_with_an_unclosed_value_ends_before_the_next() -> None:
    text = "<get_weather>\n<city>Paris\n</get_weather>\n\n<get_time>\n</get_time>"
    for size in CUTTINGS:
        found_calls, content = parse_text("cline_xml", text, size)
        assert whole_calls(found_calls) == [("get_weather", {"city": "Paris"}), ("get_time", {})]
        assert found_calls[0].fixes == ("closed_truncated",)
        assert content == "\n\n"


def test_only_a_declared_key_begins_a_value_inside_an_unclosed_one() -> None:
    inside = "<parameter=path>\na\n<parameter=content>\n1\n<parameter=x>\n2\n</parameter>\n"
    text = f"<tool_call>\n<function=write_file>\n{inside}</function>\n</tool_call>"
    expected = {"path": "a", "content": "1\n<parameter=x>\n2"}
    assert whole_calls(parse_text("qwen3_coder", text, 0)[0]) == [("write_file", expected)]


def test_a_value_declared_as_text_is_text() -> None:
    text = "".join(
        f'<｜DSML｜parameter name="{string}" string="{string}">5</｜DSML｜parameter>' for string in ("true", "false")
    )
    text = f'<｜DSML｜tool_calls><｜DSML｜invoke name="other">{text}</｜DSML｜invoke></｜DSML｜tool_calls>'
    assert whole_calls(parse_text("deepseek_v4", text, 0)[0]) == [("other", {"true": "5", "false": 5})]


def test_cdata_may_contain_its_end_marker() -> None:
    dialect = find_dialect("minicpm5_xml")
    assert dialect is not None
    drawn = {"path": "x", "content": "<![CDATA[ a ]]> & </param></function>"}
    text = dialect.render_calls((ToolCall("1", "write_file", json.dumps(drawn)),))
    assert whole_calls(parse_text("minicpm5_xml", text, 1)[0]) == [("write_file", drawn)]
