"""Dialects in JSON: fixtures in every split, round trips, damage, and linear work."""

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
from toolglot.grammars.dialect import Dialect
from toolglot.grammars.parsed_call import ParsedCall
from toolglot.grammars.tagged_json import TOOL_CALL

FIXTURES = Path(__file__).parents[2] / "fixtures" / "dialects"
NAMES = (
    "apertus",
    "cohere_command3",
    "cohere_command4",
    "deepseek_v3",
    "deepseek_v31",
    "ernie45",
    "functionary_v31",
    "functionary_v32",
    "gigachat3",
    "granite3",
    "granite4",
    "granite_20b_fc",
    "harmony",
    "hermes",
    "hunyuan_a13b",
    "inkling",
    "internlm2",
    "jamba",
    "kimi_k2",
    "llama3_json",
    "longcat",
    "mistral",
    "nemotron_v2",
    "phi4_mini",
    "tagged",
    "xlam",
)
TOOLS = {one["name"]: Tool(**one) for one in json.loads((FIXTURES / "tools.json").read_text(encoding="utf-8"))}
CASES = [
    (name, case) for name in NAMES for case in tomllib.loads((FIXTURES / f"{name}.toml").read_text(encoding="utf-8"))["case"]
]
CUTTINGS = (1, 2, 3, 7, 0)


def dialect_of(name: str) -> Dialect:
    found = find_dialect(name)
    assert found is not None
    return found


def begins_line(text: str, at: int) -> bool:
    return not text[:at].rpartition("\n")[2].strip(" \t")


def regions(name: str, text: str) -> list[tuple[int, str, Any]]:
    """Where a grammar of the dialect may open a region: earliest first, the longest opener first."""
    found = []
    for grammar in dialect_of(name).grammars:
        drawn = bound(grammar, TOOLS)
        for opener in openers_of(drawn, TOOLS):
            at, lines = text.find(opener), getattr(drawn, "at_line_start", opener not in drawn.openers)
            while at >= 0 and lines and not begins_line(text, at):
                at = text.find(opener, at + 1)
            if at >= 0:
                found.append((at, opener, drawn))
    return sorted(found, key=lambda one: (one[0], -len(one[1])))


def parse_text(name: str, text: str, size: int = 0) -> tuple[list[ParsedCall], str, list[str]]:
    """Calls, the text around them, problems: a simple reference for the pipeline. The rest of a region is scanned again."""
    found_calls: list[ParsedCall] = []
    content, problems = "", []
    while found := regions(name, text):
        start, opener, _ = found[0]
        content, text = content + text[:start], text[start:]
        for grammar in [candidate for at, marker, candidate in found if (at, marker) == (start, opener)]:
            region = grammar.open(opener)
            end = end_of(region, text[len(opener) :], size)
            whole = text if end < 0 else text[: len(opener) + end]
            parsed = region.parse(whole, TOOLS, complete=end >= 0)
            if parsed.calls:
                assert whole.endswith(parsed.rest)
                found_calls += parsed.calls
                text = text[len(whole) - len(parsed.rest) :]
                break
            problems += [parsed.problem] if parsed.problem else []
        else:
            content, text = content + text[0], text[1:]
    return found_calls, content + text, problems


def end_of(region: Any, text: str, size: int) -> int:
    for at in range(0, len(text), size or len(text) or 1):
        found: int = region.feed(text[at : at + size] if size else text)
        if found >= 0:
            return at + found
    return -1


def readable(arguments: str) -> Any:
    """Arguments that need repair are tested elsewhere."""
    try:
        return json.loads(arguments)
    except ValueError:
        return None


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}: {case['name']}" for name, case in CASES])
def test_fixture(name: str, case: dict[str, Any]) -> None:
    found_calls, content, problems = whole = parse_text(name, case["text"])
    for size in CUTTINGS:
        assert parse_text(name, case["text"], size) == whole
    closed = [call for call in found_calls if call.closed]
    assert [call.name for call in closed] == [call["name"] for call in case["calls"]]
    for call, wanted in zip(closed, case["calls"], strict=True):
        found = readable(call.arguments)
        expected = json.loads(wanted["arguments"])  # a key around all arguments is removed when the call is validated
        assert found is None or isinstance(found, str) or found in (expected, {"arguments": expected})
        assert found is not None or case["kind"] == "broken"
    if "ids" in case:
        assert [call.id for call in found_calls] == case["ids"]
    if case["kind"] == "truncated":
        assert problems or [call.closed for call in found_calls] == [False]
    if case["kind"] == "not_a_call":
        assert content == case["text"]
        assert not problems
    if case["kind"] in {"clean", "parallel"}:
        assert not any(call.fixes for call in found_calls)


@pytest.mark.parametrize("after", ["", "\n</tool_cal> is", " <think>", "\n<tool_cal>", "}\n", ", then", "[/x]", "`"])
@pytest.mark.parametrize("name", NAMES)
def test_a_region_ends_at_the_same_offset_in_any_split(name: str, after: str) -> None:
    text = dialect_of(name).render_calls((ToolCall("1", "get_weather", '{"city": "Paris"}'),)) + after
    for start, opener, grammar in regions(name, text):
        scanned = set()
        for size in CUTTINGS:
            region = grammar.open(opener)
            end = end_of(region, text[start + len(opener) :], size)
            whole = text[start:] if end < 0 else text[start : start + len(opener) + end]
            scanned.add((end, repr(region.parse(whole, TOOLS, complete=end >= 0))))
        assert len(scanned) == 1


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_is_there(name: str) -> None:
    kinds = [case["kind"] for dialect, case in CASES if dialect == name]
    assert {"clean", "parallel", "text_around", "reasoning", "broken", "truncated", "not_a_call"} <= set(kinds)
    assert kinds.count("broken") >= 2


# Round trips

WORDS = st.text("ab <>&\"'\n{}[]é\t,;:=/\\|`~", max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
CALLS = st.lists(st.tuples(st.sampled_from(sorted(TOOLS)), st.dictionaries(WORDS, VALUES, max_size=3)), min_size=1, max_size=3)


@settings(max_examples=60)
@given(drawn=CALLS, size=st.sampled_from(CUTTINGS))
def test_parse_of_render(drawn: list[tuple[str, dict[str, Any]]], size: int) -> None:
    calls = tuple(ToolCall(f"c{at}", tool, json.dumps(value)) for at, (tool, value) in enumerate(drawn))
    for name in NAMES:  # the same calls in all of them: to draw calls takes longer than to parse them
        if name == "xlam":  # its bare array is tested with bare_json
            continue
        found_calls, content, problems = parse_text(name, dialect_of(name).render_calls(calls), size)
        assert [(call.name, json.loads(call.arguments)) for call in found_calls] == drawn, name
        assert all(call.closed and not call.fixes for call in found_calls), name
        assert not problems, name
        for marker in dialect_of(name).dropped:
            content = content.replace(marker, "")
        assert not content.strip(), name


@pytest.mark.parametrize(("name", "written"), [("cohere_command3", "7"), ("kimi_k2", "functions.get_time:12")])
def test_ids_round_trip(name: str, written: str) -> None:
    text = dialect_of(name).render_calls((ToolCall(written, "get_time"),))
    assert [call.id for call in parse_text(name, text)[0]] == [written]


@pytest.mark.parametrize("name", NAMES)
def test_tools_and_results_are_shown(name: str) -> None:
    prompt = dialect_of(name).render_tools(tuple(TOOLS.values()))
    assert all(tool in prompt for tool in TOOLS)
    assert "20°" in dialect_of(name).render_result(ToolResult("1", "get_time", (Text("20°"),)))


@pytest.mark.parametrize("name", NAMES)
def test_arguments_that_are_not_an_object_are_rendered_empty(name: str) -> None:
    text = dialect_of(name).render_calls((ToolCall("1", "get_time", "[1"),))
    assert [(call.name, call.arguments) for call in parse_text(name, text)[0]] == [("get_time", "{}")]


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
    whole = parse_text(name, text)
    for size in (1, 3):
        assert parse_text(name, text, size) == whole


@pytest.mark.parametrize("name", [name for name in NAMES if name != "xlam"])
def test_a_call_cut_inside_its_arguments_is_incomplete(name: str) -> None:
    text = dialect_of(name).render_calls((ToolCall("1", "write_file", '{"path": "a", "content": {"b": "one two three"}}'),))
    for at in range(text.index("three") + 7):  # up to the brace that closes the inner object
        assert not [call for call in parse_text(name, text[:at])[0] if call.closed]


# Work


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "f", "arguments": {"a": "' + "x" * 20_000 + '"}}</tool_call>',
        '{"name": "f", "arguments": {"a": "' + "</tool_cal" * 2_000 + '"}}</tool_call>',
        '{"name": "f", "arguments": ' + "</tool_cal" * 2_000,
        '{"name": "f", "arguments": ' + "[{" * 5_000 + "}]" * 5_000,
        '{"name": "f", "arguments": ' + "[" * 10_000 + "}" * 10_000,
        '{"a": 1}' + " " * 20_000,
        " " * 20_000,
    ],
    ids=["string", "closers in a string", "closers outside", "nested", "nothing closes", "space behind", "space before"],
)
@pytest.mark.parametrize("size", [1, 4, 0])
def test_work_is_linear(text: str, size: int) -> None:
    region = TOOL_CALL.open("<tool_call>")
    end_of(region, text, size)
    assert region.examined <= 8 * len(text) + 40_000  # a head, or a prefix of a marker, is scanned again; both are short
    region.parse("<tool_call>" + text, TOOLS, complete=False)
