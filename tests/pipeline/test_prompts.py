"""The tool prompt: golden texts, and properties of every dialect.

TOOLGLOT_WRITE_PROMPTS=1 pytest tests/pipeline/test_prompts.py      rewrites the golden prompts; then read the diff
"""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.for_each import for_each
from tests.laws.dialect_cases import shared_tools
from toolglot import CallerError, Choice, Tool, ToolCall, extract
from toolglot.catalog.profile import Profile
from toolglot.dialects import dialect_names, find_dialect
from toolglot.grammars.dialect import Dialect
from toolglot.pipeline.request.example_call import example_calls
from toolglot.pipeline.request.prompts import STYLES, augment_system_prompt, prompt_form, tool_prompt
from toolglot.schema.check import checker

GOLDEN = Path(__file__).parents[2] / "fixtures" / "prompts"
DIALECTS = ("tagged", "fenced_json", "bare_json", "pythonic", "hermes", "qwen3_coder")
TOOLS = tuple(shared_tools())
BASE = "You help people.\n  Be brief. "


def dialect(name: str) -> Dialect:
    found = find_dialect(name)
    assert found is not None
    return found


def made(calls: Any) -> list[tuple[str, Any]]:
    return [(call.full_name, call.arguments) for call in calls]


# -- golden prompts


def check_golden(name: str, prompt: str) -> None:
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("TOOLGLOT_WRITE_PROMPTS"):
        path.write_text(prompt + "\n", encoding="utf-8")
    assert path.read_text(encoding="utf-8") == prompt + "\n"


@pytest.mark.parametrize("style", STYLES)
@for_each("name", DIALECTS)
def test_golden(style: str, name: str) -> None:
    check_golden(f"{style}.{name}", augment_system_prompt(BASE, TOOLS[:3], dialect=name, style=style))


def test_golden_with_a_nonce() -> None:
    check_golden("standard.tagged.nonce", augment_system_prompt(BASE, TOOLS[:3], nonce="7f3a"))


def test_no_golden_prompt_is_left_over() -> None:
    wanted = {f"{style}.{name}" for style in STYLES for name in DIALECTS} | {"standard.tagged.nonce"}
    assert {path.stem for path in GOLDEN.glob("*.txt")} == wanted


# -- laws


@pytest.mark.parametrize("tools", [TOOLS, TOOLS[:1], TOOLS[1:2], TOOLS[2:]], ids=["all", "one", "no parameters", "others"])
@pytest.mark.parametrize("policy", ["strict", "balanced"])
@for_each("name", dialect_names())
def test_the_example_calls_are_parsed(name: str, tools: tuple[Tool, ...], policy: Any) -> None:
    """The example, and the two calls at once, are in the prompt, and are calls by themselves."""
    lesson = tool_prompt(tools, dialect(name))
    calls = example_calls(tools)
    assert made(calls)[0][0] == tools[0].full_name
    for shown in (calls[:1], calls):
        text = dialect(name).render_calls(shown).strip("\n")
        assert text in lesson or "repeat the form" in lesson
        found = extract(text, tools, dialect=name, policy=policy)
        assert made(found.calls) == made(shown)
        assert not any(call.fixes for call in found.calls)


@pytest.mark.parametrize("style", STYLES)
@for_each("name", dialect_names())
def test_every_prompt_has_its_tools_a_call_and_the_rules(name: str, style: str) -> None:
    prompt = augment_system_prompt(BASE, TOOLS, dialect=name, style=style)
    assert prompt.startswith(BASE)
    assert all(tool.full_name in prompt for tool in TOOLS)
    assert dialect(name).render_calls(example_calls(TOOLS)[:1]).strip("\n") in prompt
    assert STYLES[style].no_call in prompt
    assert "repeat the form" in prompt or "Two calls at once:" in prompt


@pytest.mark.parametrize("style", STYLES)
@for_each("name", dialect_names())
def test_size_grows_by_the_same_for_each_tool(name: str, style: str) -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string", "description": "which"}}, "required": ["city"]}
    tools = [Tool(f"tool_{number:02}", "Does something", schema) for number in range(40)]
    sizes = [len(augment_system_prompt("", tools[:count], dialect=name, style=style)) for count in range(2, 41)]
    assert len({after - before for before, after in pairwise(sizes)}) == 1


def test_no_tools_no_change() -> None:
    assert augment_system_prompt(BASE, []) == BASE
    assert augment_system_prompt("", []) == ""
    assert augment_system_prompt(BASE, [Tool("web_search", kind="server")]) == BASE


# -- choosing


def test_tagged_is_taught_where_nothing_is_named() -> None:
    prompt = augment_system_prompt(None, [{"name": "f", "inputSchema": {"type": "object", "title": "F", "properties": {}}}])
    assert '{"name":"f","parameters":{"type":"object","properties":{}}}' in prompt
    assert '~~~tool_call\n{"name": "f", "arguments": {}}\n~~~' in prompt
    assert prompt.startswith("# Tools")


def test_a_parameter_called_title_is_kept() -> None:
    schema = {"title": "Book", "type": "object", "properties": {"title": {"title": "Title", "type": "string"}}, "$schema": "x"}
    prompt = augment_system_prompt("", [Tool("find", None, schema)])
    assert '{"name":"find","parameters":{"type":"object","properties":{"title":{"type":"string"}}}}' in prompt


@pytest.mark.parametrize(
    ("profile", "dialect_name", "style"),
    [
        (Profile("a", "qwen", "row", dialect="hermes", prompt_style="hermes"), "hermes", "hermes"),
        (Profile("a", "kimi", "row", tool_format="openai", prompt_style="agentic"), "tagged", "agentic"),
        (Profile("a", "qwen", "row", tool_format="hermes"), "hermes", "standard"),
        (Profile("a", "small", "row", dialect="hermes", ask="dialect:fenced_json"), "fenced_json", "standard"),
        (Profile("a", "big", "row", dialect="qwen3_coder", ask="native"), "qwen3_coder", "standard"),
    ],
)
def test_the_profile_sets_dialect_and_style(
    profile: Profile, dialect_name: str, style: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles = pytest.importorskip("toolglot.catalog.profiles")
    monkeypatch.setattr(profiles, "profile", lambda model, provider=None: profile)
    tool_mode = prompt_form("a")
    assert (tool_mode.dialect.name, tool_mode.style) == (dialect_name, style)
    tool_mode = prompt_form("a", "react", "standard")
    assert (tool_mode.dialect.name, tool_mode.style) == ("react", "standard")


@pytest.mark.parametrize(
    ("given", "where", "hint"),
    [
        ({"dialect": "hermess"}, "dialect", "did you mean hermes?"),
        ({"style": "agent"}, "style", "did you mean agentic?"),
        ({"nonce": "a b"}, "nonce", "letters and digits"),
        ({"nonce": "7f3a", "dialect": "pythonic"}, "nonce", "tagged"),
    ],
)
def test_bad_use_says_what_there_is(given: dict[str, Any], where: str, hint: str) -> None:
    with pytest.raises(CallerError, match=hint) as caught:
        augment_system_prompt("", TOOLS, **given)
    assert caught.value.where == where
    with pytest.raises(CallerError, match="prompt"):
        augment_system_prompt(3, TOOLS)  # type: ignore[arg-type]


def test_one_call_at_a_time_where_several_are_not_wanted() -> None:
    lesson = tool_prompt(TOOLS, dialect("pythonic"), parallel=False)
    assert "Make one call at a time." in lesson
    assert "Two calls" not in lesson


def test_a_forced_choice_replaces_the_rule_for_no_call() -> None:
    forced = tool_prompt(TOOLS, dialect("tagged"), choice=Choice("required", ("get_time",)))
    assert "Answer now with a call of get_time, and with nothing else." in forced
    assert STYLES["standard"].no_call not in forced
    assert "at least one call" in tool_prompt(TOOLS, dialect("tagged"), choice=Choice("required"))


# -- examples


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"n": {"type": "integer", "minimum": 7, "maximum": 7}}, "required": ["n"]},
        {"type": "object", "properties": {"n": {"type": "number", "exclusiveMinimum": -3, "multipleOf": 5}}, "required": ["n"]},
        {"type": "object", "properties": {"s": {"type": "string", "minLength": 30, "maxLength": 31}}, "required": ["s"]},
        {"type": "object", "properties": {"s": {"type": "string", "maxLength": 2}}, "required": ["s"]},
        {"type": "object", "properties": {"d": {"type": "string", "format": "date"}}, "required": ["d"]},
        {"type": "object", "properties": {"e": {"enum": [3, "x"]}, "c": {"const": None}}, "required": ["e", "c"]},
        {"type": "object", "properties": {"a": {"anyOf": [{"type": "null"}, {"type": "boolean"}]}}, "required": ["a"]},
        {"type": "object", "properties": {"t": {"type": ["null", "array"], "items": {"type": "integer"}, "minItems": 2}}},
        {
            "type": "object",
            "properties": {"node": {"$ref": "#/$defs/node"}},
            "required": ["node"],
            "$defs": {"node": {"type": "object", "properties": {"v": {"type": "string"}}, "required": ["v"]}},
        },
        {"type": "object", "properties": {"p": {"type": "string", "pattern": "^x$", "examples": ["x"]}}, "required": ["p"]},
    ],
)
def test_examples_satisfy_their_schema(schema: dict[str, Any]) -> None:
    for call in example_calls((Tool("f", None, schema),)):
        assert checker(schema).fits(call.arguments)
        assert call.arguments


def test_the_example_is_of_another_tool_only_where_no_value_fits_the_first() -> None:
    odd = Tool("odd", None, {"type": "object", "properties": {"p": {"type": "string", "pattern": "^q{9}$"}}, "required": ["p"]})
    assert example_calls((odd, TOOLS[0]))[0].name == "get_weather"
    assert example_calls((odd,)) == (ToolCall("", "odd", "{}"),)


def test_examples_of_one_tool_differ() -> None:
    first, second = example_calls(TOOLS[:1])
    assert (first.arguments, second.arguments) == ({"city": "some city"}, {"city": "another city"})
    assert len(example_calls(TOOLS[1:2])) == 1


def test_a_schema_that_refers_to_itself_ends() -> None:
    schema = {
        "type": "object",
        "properties": {"next": {"$ref": "#"}},
        "required": ["next"],
    }
    for name in dialect_names():
        assert "endless" in augment_system_prompt("", [Tool("endless", None, schema)], dialect=name)


def test_signatures_say_every_type() -> None:
    schema = json.loads(
        """{"type": "object", "required": ["a"], "properties": {
        "a": {"type": "array", "items": {"type": ["string", "null"]}, "description": "some\\n words"},
        "b": {"anyOf": [{"type": "integer"}, {"const": "all"}]},
        "c": {"type": "object", "properties": {"d": {"type": "number"}}, "required": ["d"]},
        "e": {"$ref": "#/$defs/e"}, "f": {"type": "array"}, "g": {}}, "$defs": {"e": {"enum": ["x", 1]}}}"""
    )
    prompt = augment_system_prompt("", [Tool("f", "Does it", schema)], dialect="call_expression")
    wanted = 'f(a: (string | null)[], b?: integer | "all", c?: {d: number}, e?: "x" | 1, f?: any[], g?: any)'
    assert f"{wanted}\n  Does it\n  a: some words\n" in prompt
    spaced = augment_system_prompt("", [Tool("f", "Does it", schema)], dialect="harmony")
    assert '// Does it\ntype f = (_: {\n// some words\na: (string | null)[],\nb?: integer | "all",\n' in spaced
