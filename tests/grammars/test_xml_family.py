"""The dialects in tags: their fixtures at every cutting, what they write read back, damage, and linear work."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolglot.core.messages import Text, ToolCall, ToolResult
from toolglot.core.tools import Tool
from toolglot.dialects import find_dialect
from toolglot.grammars.heard import Grammar, Heard, Region
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
    return [grammar.for_tools(tools) if hasattr(grammar, "for_tools") else grammar for grammar in dialect.grammars]


def end_of(region: Region, text: str, size: int) -> int:
    """Where the region says that it ends, fed `size` characters at a time; -1 if nowhere."""
    for at in range(0, len(text), size or len(text) or 1):
        found = region.feed(text[at : at + size] if size else text)
        if found >= 0:
            return at + found
    return -1


def hear(name: str, text: str, size: int, tools: dict[str, Tool] | None = None) -> tuple[list[Heard], str]:
    """All that a dialect hears, and the text around it: a plain reading of what the pipeline does."""
    tools = TOOLS if tools is None else tools
    openings = [(opener, grammar) for grammar in grammars_of(name, tools) for opener in grammar.openers]
    heard: list[Heard] = []
    said, at = "", 0
    while True:
        places = [(text.find(opener, at), -len(opener), opener) for opener, _ in openings if opener in text[at:]]
        if not places:
            return heard, said + text[at:]
        start, _, opener = min(places)
        said += text[at:start]
        at = start + 1
        for grammar in (grammar for held, grammar in openings if held == opener):
            region = grammar.open(opener)
            end = end_of(region, text[start + len(opener) :], size)
            whole = text[start:] if end < 0 else text[start : start + len(opener) + end]
            parsed = region.parse(whole, tools, complete=end >= 0)
            if parsed.calls or parsed.problem:
                assert whole.endswith(parsed.rest)
                heard += parsed.calls
                at = start + len(whole) - len(parsed.rest)
                break
        else:
            said += text[start]


def whole_calls(heard: list[Heard]) -> Calls:
    return [(call.name, json.loads(call.arguments)) for call in heard if call.closed]


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}: {case['name']}" for name, case in CASES])
def test_fixture(name: str, case: dict[str, Any]) -> None:
    expected = [(call["name"], json.loads(call["arguments"])) for call in case["calls"]]
    whole = hear(name, case["text"], 0)
    assert whole_calls(whole[0]) == expected
    for size in CUTTINGS:
        assert hear(name, case["text"], size) == whole
    if case["kind"] == "truncated":
        assert [call.closed for call in whole[0]] == [False]
    if case["kind"] == "not_a_call" and "content" in case:
        assert whole[1] == case["text"]
    if case.get("content") == "" and case["kind"] == "broken" and name != "muse_glimmer":  # whose tokens the pipeline drops
        assert not whole[1].strip()
    if case["kind"] in {"clean", "parallel"}:
        assert not any(call.fixes for call in whole[0])


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_is_there(name: str) -> None:
    kinds = [case["kind"] for held, case in CASES if held == name]
    assert {"clean", "parallel", "text_around", "reasoning", "broken", "truncated", "not_a_call"} <= set(kinds)
    assert kinds.count("broken") >= 2


# What is written is read again

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | st.text("ab <>&\"'\n{}[]é", max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_parse_of_render(name: str, data: st.DataObject) -> None:
    words = st.text("ab <>&\"'\n{}[]éü\t,;:=/", max_size=30)
    made = {
        "get_weather": {"city": data.draw(words), "days": data.draw(st.integers())},
        "get_time": {},
        "search": {
            "query": data.draw(words),
            "tags": data.draw(st.lists(words, max_size=3)),
            "exact": data.draw(st.booleans()),
        },
        "write_file": {"path": data.draw(words), "content": data.draw(words)},
        "run.command": {
            "cmd": data.draw(words),
            "env": {} if name == "minimax_m3" else data.draw(st.dictionaries(words, VALUES, max_size=3)),
        },
    }
    chosen = data.draw(st.lists(st.sampled_from(sorted(made)), min_size=1, max_size=3))
    calls = tuple(ToolCall(f"call_{at}", tool, json.dumps(made[tool])) for at, tool in enumerate(chosen))
    dialect = find_dialect(name)
    assert dialect is not None
    heard, said = hear(name, dialect.render_calls(calls), data.draw(st.sampled_from(CUTTINGS)))
    assert whole_calls(heard) == [(call.name, call.arguments) for call in calls]
    assert all(call.closed and not call.fixes for call in heard)
    assert not said.replace("<|start|>assistant", "").replace("<|eom|>", "").strip()


@pytest.mark.parametrize("name", NAMES)
def test_tools_and_results_are_shown(name: str) -> None:
    dialect = find_dialect(name)
    assert dialect is not None
    prompt = dialect.render_tools(tuple(TOOLS.values()))
    assert all(f'"{tool}"' in prompt for tool in TOOLS)
    assert "sunny & 20°" in dialect.render_result(ToolResult("1", parts=(Text("sunny & 20°"),)))


@pytest.mark.parametrize("name", NAMES)
def test_arguments_that_are_no_object_are_written_as_none(name: str) -> None:
    dialect = find_dialect(name)
    assert dialect is not None
    assert whole_calls(hear(name, dialect.render_calls((ToolCall("1", "get_time", "[1"),)), 0)[0]) == [("get_time", {})]


# Damage


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_damage_never_raises_and_cutting_never_matters(name: str, data: st.DataObject) -> None:
    texts = [case["text"] for held, case in CASES if held == name]
    text = data.draw(st.sampled_from(texts))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(at, min(len(text), at + 20)))
        other = data.draw(st.sampled_from(texts))
        start = data.draw(st.integers(0, len(other)))
        text = text[:at] + other[start : start + data.draw(st.integers(0, 25))] + text[end:]
    whole = hear(name, text, 0)
    for size in (1, 3):
        assert hear(name, text, size) == whole
    said = whole[1] + "".join(call.raw for call in whole[0])
    assert len(said) <= len(text)


@pytest.mark.parametrize("name", NAMES)
def test_cut_anywhere_before_its_last_value_ends_it_is_never_whole(name: str) -> None:
    dialect = find_dialect(name)
    assert dialect is not None
    text = dialect.render_calls((ToolCall("1", "write_file", '{"path":"a","content":"one two three"}'),))
    for at in range(text.index("three") + 5):
        assert not [call for call in hear(name, text[:at], 0)[0] if call.closed and "three" not in call.arguments] or (
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
def test_each_character_is_looked_at_once(name: str, flood: str) -> None:
    dialect = find_dialect(name)
    assert dialect is not None
    text = dialect.render_calls((ToolCall("1", "write_file", '{"path":"a","content":"HERE"}'),)).replace("HERE", flood)
    for grammar in grammars_of(name, TOOLS):
        for opener in grammar.openers:
            if opener in text:
                region = grammar.open(opener)
                assert isinstance(region, TagRegion)
                end_of(region, text[text.index(opener) + len(opener) :], 4)
                assert region.examined <= len(text) + len(opener)


# Decisions


@pytest.mark.parametrize(("name", "outer"), [("deepseek_v4", "function_calls"), ("deepseek_v32", "tool_calls")])
def test_the_other_deepseek_wrapper_is_refused_and_said_so(name: str, outer: str) -> None:
    opener, closer = f"<｜DSML｜{outer}>", f"</｜DSML｜{outer}>"
    body = f'\n<｜DSML｜invoke name="get_time"/>\n{closer}'
    grammar, *_ = grammars_of(name, TOOLS)
    region = grammar.open(opener)
    assert region.feed(body) == len(body)
    parsed = region.parse(opener + body, TOOLS, complete=True)
    assert not parsed.calls
    assert parsed.problem


def test_what_follows_a_call_without_its_wrapper_is_given_back() -> None:
    text = "<function=get_time>\n</function>\n\nDone <b>"
    for size in CUTTINGS:
        heard, said = hear("qwen3_coder", text, size)
        assert whole_calls(heard) == [("get_time", {})]
        assert heard[0].fixes == ("missing_opener",)
        assert said == "\n\nDone <b>"


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        (TOOLS, {"city": "7", "days": 7}),
        ({}, {"city": "7", "days": "7"}),  # nobody said that it is a number
    ],
)
def test_a_number_is_one_where_the_schema_says_so(tools: dict[str, Tool], expected: dict[str, Any]) -> None:
    pairs = "".join(f"<arg_key>{key}</arg_key><arg_value>7</arg_value>" for key in ("city", "days"))
    text = f"<tool_call>get_weather{pairs}</tool_call>"
    assert whole_calls(hear("glm45", text, 0, tools)[0]) == [("get_weather", expected)]


def test_a_prefixed_name_still_finds_its_schema() -> None:
    text = "<tool_call>functions.get_weather<arg_key>days</arg_key><arg_value>7</arg_value></tool_call>"
    assert whole_calls(hear("glm45", text, 0)[0]) == [("functions.get_weather", {"days": 7})]


def test_without_tools_no_tag_is_a_tool() -> None:
    [grammar] = grammars_of("cline_xml", {})
    assert grammar.openers == ()


@pytest.mark.parametrize(
    ("tail", "closed"), [("", True), ("\n</func", True), ("\n<par", False), ("\n<parameter=da", False), ("<", False)]
)
def test_a_call_is_whole_unless_another_value_was_to_come(tail: str, closed: bool) -> None:
    text = f"<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>{tail}"
    for size in CUTTINGS:
        assert [call.closed for call in hear("qwen3_coder", text, size)[0]] == [closed]


def test_a_name_after_endless_space_is_none_at_any_cutting() -> None:
    text = f"<tool_call>{' ' * 500}get_time</tool_call>"
    assert all(hear("glm45", text, size) == ([], text) for size in CUTTINGS)


def test_a_call_that_lacks_its_value_s_end_ends_before_the_next() -> None:
    text = "<get_weather>\n<city>Paris\n</get_weather>\n\n<get_time>\n</get_time>"
    for size in CUTTINGS:
        heard, said = hear("cline_xml", text, size)
        assert whole_calls(heard) == [("get_weather", {"city": "Paris"}), ("get_time", {})]
        assert heard[0].fixes == ("closed_truncated",)
        assert said == "\n\n"


def test_only_a_declared_key_begins_a_value_inside_one_that_never_ends() -> None:
    inside = "<parameter=path>\na\n<parameter=content>\n1\n<parameter=x>\n2\n</parameter>\n"
    text = f"<tool_call>\n<function=write_file>\n{inside}</function>\n</tool_call>"
    expected = {"path": "a", "content": "1\n<parameter=x>\n2"}
    assert whole_calls(hear("qwen3_coder", text, 0)[0]) == [("write_file", expected)]


def test_a_value_that_says_it_is_text_is_text() -> None:
    text = "".join(f'<｜DSML｜parameter name="{said}" string="{said}">5</｜DSML｜parameter>' for said in ("true", "false"))
    text = f'<｜DSML｜tool_calls><｜DSML｜invoke name="other">{text}</｜DSML｜invoke></｜DSML｜tool_calls>'
    assert whole_calls(hear("deepseek_v4", text, 0)[0]) == [("other", {"true": "5", "false": 5})]


def test_cdata_may_hold_its_own_end() -> None:
    dialect = find_dialect("minicpm5_xml")
    assert dialect is not None
    made = {"path": "x", "content": "<![CDATA[ a ]]> & </param></function>"}
    text = dialect.render_calls((ToolCall("1", "write_file", json.dumps(made)),))
    assert whole_calls(hear("minicpm5_xml", text, 1)[0]) == [("write_file", made)]
