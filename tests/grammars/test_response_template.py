"""A checkpoint's response_template as a dialect. The templates describe forms of built-in dialects, so their fixtures apply."""

from __future__ import annotations

import json
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws.dialect_cases import Case, cases, shared_tools
from toolglot import CallerError, Extraction, StreamExtractor, dialect_from_template, extract
from toolglot.core.messages import ToolCall
from toolglot.dialects import find_dialect
from toolglot.evaluation.counted import lines_run
from toolglot.grammars.dialect import Dialect
from toolglot.pipeline.response.scanned_dialects import scanner_for
from toolglot.pipeline.response.tool_call_scanner import ToolCallScanner

ROOT = Path(__file__).parents[2] / "fixtures" / "response_templates"
TEMPLATES = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(ROOT.glob("*.json"))}

# what a built-in dialect parses too, but its template does not describe
OTHER_FORMS = {
    *("cohere_command3: Command R+", "inkling: a tool in text mode", "qwen3_coder: two functions in one block"),
    *("harmony: recipient before the channel", "harmony: the first header is in the prompt", "harmony: to analysis"),
    *("mistral: array with ids", "mistral: a call id", "mistral: no separator", "mistral: brackets in the arguments"),
}
CASES = [
    (name, case)
    for name in TEMPLATES
    for case in cases(name)
    if case.kind != "broken" and case.policy != "eager" and f"{name}: {case.name}" not in OTHER_FORMS
]
IDS = [f"{name}-{case.name}" for name, case in CASES]


@cache
def dialect(name: str) -> Dialect:
    return dialect_from_template(TEMPLATES[name])


def parsed(name: str, text: str, case: Case | None = None, *, size: int = 0, calls: Any = "hold") -> Extraction:
    extractor = StreamExtractor(
        shared_tools() if case is None else case.toolset,
        dialect=dialect(name),
        policy="strict",
        calls=calls,
        starts_in_reasoning=case is not None and case.starts_in_reasoning,
    )
    size = size or max(1, len(text))
    for at in range(0, len(text), size):
        extractor.feed(text[at : at + size])
    extractor.close()
    return extractor.result()


def read(found: Extraction) -> list[tuple[str, Any]]:
    return [(call.full_name, call.arguments) for call in found.calls]


@pytest.mark.parametrize(("name", "case"), CASES, ids=IDS)
def test_it_parses_what_its_checkpoint_writes(name: str, case: Case) -> None:
    found = parsed(name, case.text, case)
    assert read(found) == case.wanted
    assert found.dialect == ("template" if case.wanted else None)
    if case.reasoning is not None:
        assert found.reasoning.strip().startswith(case.reasoning.strip())


@pytest.mark.parametrize(("name", "case"), CASES, ids=IDS)
def test_any_split_gives_the_same(name: str, case: Case) -> None:
    whole = parsed(name, case.text, case)
    for size in (1, 2, 3, 7):
        assert parsed(name, case.text, case, size=size) == whole
        assert read(parsed(name, case.text, case, size=size, calls="pass")) == read(parsed(name, case.text, case, calls="pass"))


CALLS = (
    ToolCall("get_weather_0", "get_weather", '{"city":"Zürich","days":3}'),
    ToolCall("get_time_1", "get_time", "{}"),
    ToolCall(
        "search_2",
        "search",
        '{"query":"a \\"b\\" <c> & {d}\\n  next, line","limit":-2,"tags":["x","y z"],"exact":true,"filters":{"k":[1,2.5]}}',
    ),
    ToolCall("run_3", "run.command", '{"cmd":"ls -la"}'),
)


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("count", [1, 2, 4])
def test_rendered_calls_are_parsed_back(name: str, count: int) -> None:
    text = dialect(name).render_calls(CALLS[:count])
    for size in (0, 1, 5):
        assert read(parsed(name, text, size=size)) == [(call.name, call.arguments) for call in CALLS[:count]]


@pytest.mark.parametrize("name", TEMPLATES)
def test_without_tools_names_and_values_are_still_parsed(name: str) -> None:
    found = extract(dialect(name).render_calls(CALLS[:1]), dialect=dialect(name))
    assert [call.name for call in found.calls] == ["get_weather"]
    assert found.calls[0].arguments["city"] == "Zürich"


@settings(max_examples=200)
@given(st.sampled_from(CASES), st.data())
def test_damaged_text_never_raises_and_all_splits_agree(pair: tuple[str, Case], data: st.DataObject) -> None:
    name, case = pair
    text = case.text
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, max(0, len(text) - 1)))
        put = data.draw(st.sampled_from(["", '"', "}", "<", "\\", "\n", "</", text[:9], text[-9:]]))
        text = text[:at] + put + text[at + data.draw(st.integers(0, 8)) :]
    cuts = sorted({0, len(text), *data.draw(st.lists(st.integers(0, len(text)), max_size=4))})
    whole = extract(text, case.toolset, dialect=dialect(name))
    extractor = StreamExtractor(case.toolset, dialect=dialect(name))
    for start, end in pairwise(cuts):
        extractor.feed(text[start:end])
    extractor.close()
    assert extractor.result() == whole


def scanned(name: str, text: str, size: int) -> int:
    scanner = ToolCallScanner(scanner_for(shared_tools(), dialect(name), "strict"))
    for at in range(0, len(text), size):
        scanner.feed(text[at : at + size])
    scanner.close()
    return scanner.examined


@pytest.mark.parametrize("name", TEMPLATES)
def test_work_is_linear(name: str) -> None:
    openers = [opener for grammar in dialect(name).grammars for opener in grammar.openers]
    call = dialect(name).render_calls(CALLS[:1])
    for unit in (*openers, *(opener + "get_weather" for opener in openers), call, call[: len(call) // 2]):
        texts = [unit * (length // len(unit)) for length in (2000, 8000)]
        for size in (1, 7, 8000):
            assert scanned(name, texts[1], size) <= 6 * scanned(name, texts[0], size)
        lines = [lines_run(partial(parsed, name, text, size=7)) for text in texts]
        assert lines[1] <= 6 * lines[0]


def test_the_same_template_is_the_same_dialect() -> None:
    again = json.loads(json.dumps(TEMPLATES["hermes"]))
    assert dialect_from_template(again) is dialect("hermes")
    assert dialect_from_template({"chat_template": "", "response_template": again}) is dialect("hermes")
    assert dialect_from_template(again, "mine").name == "mine"


def test_other_dialects_are_parsed_too_unless_strict() -> None:
    text = '[TOOL_CALLS][{"name": "get_time", "arguments": {}}]'
    assert [call.source for call in extract(text, shared_tools(), dialect=dialect("hermes")).calls] == ["mistral"]
    assert extract(text, shared_tools(), dialect=dialect("hermes"), policy="strict").calls == []


def test_a_declared_dialect_may_be_given_as_an_object() -> None:
    glm = find_dialect("glm47")
    assert glm is not None
    found = extract("<tool_call>get_time</tool_call>", shared_tools(), dialect=glm)
    assert (read(found), found.dialect) == ([("get_time", {})], "glm47")


# -- more forms of a template

FUNCTION = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}


def calls_field(**changes: Any) -> dict[str, Any]:
    field = {"open": "<tool_call>", "close": "</tool_call>", "content": "json", "repeats": True}
    return {"fields": {"tool_calls": {key: value for key, value in {**field, **changes}.items() if value is not None}}}


def tags_field(pattern: str, **options: Any) -> dict[str, Any]:
    return calls_field(
        open=None,
        open_pattern=r"<call (?P<name>[\w.]+)>",
        close="</call>",
        content="xml-inline",
        content_args={"tag_pattern": pattern, **options},
        transform=FUNCTION,
    )


@pytest.mark.parametrize(
    ("template", "text", "expected"),
    [
        (calls_field(transform=None), '<tool_call>{"name": "get_time", "arguments": {}}</tool_call>', {}),
        (calls_field(close=None), '<tool_call>{"name": "get_time", "arguments": {}}', {}),
        (calls_field(close=None, close_pattern=r"</tool_call>|\Z"), '<tool_call>{"name": "get_time"}', {}),
        (
            calls_field(open=["<tool_call>", "<function_call>"]),
            '<function_call>{"name": "get_time", "arguments": {}}</tool_call>',
            {},
        ),
        (
            calls_field(
                open=None, open_pattern=r"<(?:tool|function)_call>", close=None, close_pattern="</(?:tool|function)_call>"
            ),
            '<function_call>{"name": "get_time", "arguments": {}}</function_call>',
            {},
        ),
        (
            calls_field(
                open="<|clock|>", close="<|end|>", transform={"function": {"name": "get_time", "arguments": "{content}"}}
            ),
            "<|clock|>{}<|end|>",
            {},
        ),
        (
            calls_field(open=None, open_pattern=r"<call>\s*(?P<name>\w+)\s*", close="</call>", transform=FUNCTION),
            "<call>\nget_time\n{}</call>",
            {},
        ),
        (
            calls_field(
                open=None,
                open_pattern=r"<call id=(?P<call>\w+) (?P<name>\w+)\s*>\s*",
                transform={"id": "{call}", "type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
            ),
            '<call id=c7 search >\n{"query": "x"}\n</tool_call>',
            {"query": "x"},
        ),
        (
            tags_field(r"<arg k=\"(?P<key>[^\"]+)\">(?P<value>.*?)</arg>"),
            '<call search><arg k="query"> x\n</arg></call>',
            {"query": " x\n"},
        ),
        (
            tags_field(r"<arg=(?P<key>\w+)>\s*(?P<value>.*?)\s*</arg>"),
            "<call search>\n<arg=query>\n  x\n</arg>\n</call>",
            {"query": "  x"},
        ),
        (
            tags_field(
                r"<arg=(?P<key>\w+)>(?P<value>.*?)</arg>", value_parser={"name": "json", "args": {"allow_non_json": True}}
            ),
            '<call search><arg=query>03106</arg><arg=tags>["a"]</arg></call>',
            {"query": "03106", "tags": ["a"]},
        ),
    ],
)
def test_other_forms(template: dict[str, Any], text: str, expected: dict[str, Any]) -> None:
    found = extract(text, shared_tools(), dialect=dialect_from_template(template), policy="strict")
    assert [(call.name, call.arguments) for call in found.calls] == [("search" if expected else "get_time", expected)]
    if "id=" in text:
        assert found.calls[0].id == "c7"


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        ([], "expected object"),
        ({"response_schema": {}}, "response_schema is not supported"),
        ({"fields": {}}, "no tool_calls"),
        ({"fields": {"tool_calls": {"open": "<a>"}}, "version": 2}, "version"),
        ({"fields": {"tool_calls": {"open": "<a>", "opens": "<b>"}}}, "unknown field `opens`"),
        (calls_field(content="yaml"), "content"),
        (calls_field(content="kv-lines"), "kv-lines are not supported"),
        (calls_field(content="text"), "text are not supported"),
        (calls_field(open=None), "one of open and open_pattern"),
        (calls_field(open_pattern="<b>"), "one of open and open_pattern"),
        (calls_field(close_pattern="</b>"), "can't both be there"),
        (calls_field(open=""), "none of them empty"),
        (calls_field(open=[f"<a{at}>" for at in range(17)]), "expected 1 to 16 texts"),
        (calls_field(open=None, open_pattern="<a>" + "(?:b|c)" * 20), "more than 16 ways"),
        (calls_field(open=None, open_pattern="<a>" + "(?:|b)" * 50), "so many"),
        (calls_field(close=None, close_pattern="<a>" + "(?:b|c)" * 20), "more than 16 ways"),
        (calls_field(open="["), "too short for a marker"),
        (calls_field(open=None, open_pattern=r"(?P<name>\w+):"), "begin with a fixed text"),
        (calls_field(open=None, open_pattern=r"<a>(?P<name>(?:\w+\s?)*)>"), "a repeated group"),
        (calls_field(open=None, open_pattern=r"<a>(?P<name>(\w+)+)>"), "a repeated group"),
        (calls_field(open=None, open_pattern=r"<a>(?<!x)b"), "is not supported"),
        (calls_field(open=None, open_pattern=r"<a>(?!x)b"), "is not supported"),
        (calls_field(open=None, open_pattern=r"<a>(?i)b"), "is not supported"),
        (calls_field(open=None, open_pattern=r"<a (?P<name>\w+)></\1>"), r"\1"),
        (calls_field(open=None, open_pattern=r"<a>(b"), "unclosed group"),
        (calls_field(open=None, open_pattern=r"<a>[b"), "unclosed set"),
        (calls_field(open=None, open_pattern=r"<a>b)"), "unmatched )"),
        (calls_field(open=None, open_pattern="<a>" + "b" * 1000), "longer than"),
        (calls_field(open=None, open_pattern="<a>" + "(?:" * 20 + ")" * 20), "so deeply nested groups"),
        (calls_field(open=None, open_pattern=r"<aa>(?P<name>.*?)\w+>", transform=FUNCTION), "must be a fixed text"),
        (calls_field(transform=FUNCTION), "must take the name"),
        (calls_field(transform={"function": {"name": "{content.a.b}", "arguments": "{content}"}}), "must take the name"),
        (calls_field(transform={"function": "{content.call}"}), "must take the name"),
        (calls_field(content_args={"string_delims": [["«", "»"]]}), "one mark for both ends"),
        (calls_field(content="xml-inline", content_args={"tag_pattern": "<a>"}), "need a name from open_pattern"),
        (tags_field(r"<(?P<key>\w+)>(?P<value>.*?)</\1>"), r"\1"),
        (tags_field(r"(?P<key>\w+)=(?P<value>.*?);"), "a fixed text, the key, and the value"),
        (tags_field(r"<a=(?P<key>\w+)>(?P<value>.*)"), "must end with a fixed text"),
        (tags_field(r"<a=(?P<key>\w+)>(?P<value>.*?)</a>", merge_duplicates=True), "merge_duplicates"),
        (tags_field(r"<a=(?P<key>\w+)>(?P<value>.*?)</a>", value_parser={"name": "kv-lines"}), "kv-lines are not supported"),
        (tags_field(r"<a=(?P<key>\w+)>(?P<value>.*?);"), "too short for a marker"),
        (calls_field(open=None, open_pattern=r"<aa>(?P<name>\w+)(?P<name>\w+)"), "a name twice"),
        (calls_field(open=None, open_pattern=r"<aa>b{3,2}"), "{3,2}"),
        (calls_field(open="<a" * 40_000), "larger than"),
    ],
)
def test_what_is_wrong_or_not_supported_is_refused(template: Any, problem: str) -> None:
    with pytest.raises(CallerError, match=r"response_template") as error:
        dialect_from_template(template)
    assert problem in str(error.value)
