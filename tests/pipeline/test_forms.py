"""Forms that models write and that only the tools and the whole message show to be calls."""

from __future__ import annotations

from typing import Any

import pytest

from toolglot import Extraction, StreamExtractor, Tool

TEXT = {"type": "string"}
OPTIONAL = {
    "type": "object",
    "properties": {"city_name": TEXT, "tags": {"type": "array", "items": TEXT}, "more": {"type": "object"}},
}
TOOLS = [
    Tool("get_weather", schema=OPTIONAL),
    Tool("math.add", schema={"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}),
    Tool("set_any", schema={"type": "object", "properties": {"a": TEXT}, "additionalProperties": True}),
]


def parsed(text: str, tools: list[Tool] = TOOLS, size: int = 1000, **options: Any) -> Extraction:
    extractor = StreamExtractor(tools, **options)
    for at in range(0, len(text), size):
        extractor.feed(text[at : at + size])
    extractor.close()
    return extractor.result()


def calls(text: str, tools: list[Tool] = TOOLS, **options: Any) -> list[tuple[str, Any]]:
    found = [(call.name, call.arguments) for call in parsed(text, tools, **options).calls]
    assert found == [(call.name, call.arguments) for call in parsed(text, tools, 3, **options).calls]
    return found


PARIS = [("get_weather", {"city_name": "Paris"})]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (r'get\_weather(city\_name="Paris")', PARIS),
        (r'[get\_weather(city\_name="Paris")]', PARIS),
        (r'get\_weather: {"city\_name": "Paris"}', PARIS),
        (r'{"name": "get\_weather", "arguments": {"city\_name": "Paris"}}', PARIS),
        (r'<tool_call>{"name": "get\_weather", "arguments": {"city\_name": "Paris"}}</tool_call>', PARIS),
        ('math_add\n{"a": 5}', [("math.add", {"a": 5})]),
        ('[{"math_add": "{\\"a\\": 5}"}]', [("math.add", {"a": 5})]),
        ("math_add(a=5)", [("math.add", {"a": 5})]),
        ('<tool_call>{"name": "get_weather", "arguments": {"arguments": {"city_name": "Paris"}}}</tool_call>', PARIS),
        ('<tool_call>{"name": "get_weather", "arguments": {"input": {"city_name": "Paris"}}}</tool_call>', PARIS),
        ('get_weather(input={"city_name": "Paris"})', PARIS),
        (
            '<tool_call>{"name": "set_any", "arguments": {"input": {"a": "b"}}}</tool_call>',
            [("set_any", {"input": {"a": "b"}})],
        ),
        (
            '<tool_call>{"name": "get_weather", "arguments": {"input": {"x": "b"}}}</tool_call>',
            [("get_weather", {"input": {"x": "b"}})],
        ),
        (
            '<tool_call>get_weather\n<arg_key>tags</arg_key>\n<arg_value>[\\"a\\", \\"b\\"]</arg_value>\n</tool_call>',
            [("get_weather", {"tags": ["a", "b"]})],
        ),
        (
            '<tool_call>get_weather\n<arg_key>tags</arg_key>\n<arg_value>"[\\"a\\"]"</arg_value>\n</tool_call>',
            [("get_weather", {"tags": ["a"]})],
        ),
        ('I look it up: get_weather {"city_name": "Paris"}', PARIS),
        ('Assistant: get_weather\n{"city_name": "Paris"}', PARIS),
        ('<tool_code>\nprint(get_weather(city_name="Paris"))\n</tool_code>', PARIS),
        ('<function_call>[get_weather(city_name="Paris")]</function_call>', PARIS),
    ],
)
def test_it_is_a_call(text: str, wanted: list[tuple[str, Any]]) -> None:
    assert calls(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        'Use `get_weather(city_name="Paris")` for it.',
        '`get_weather(city_name="Paris")`',
        'You can get_weather(city_name="Paris") it.',
        'I called get_weather {"city_name": "Paris"}',
        'Log: get_weather {"city_name": "Paris"} ok',
        '"{\\"name\\": \\"Paris\\", \\"size\\": 3}"',
    ],
)
def test_it_is_text(text: str) -> None:
    found = parsed(text)
    assert (found.calls, found.text) == ([], text)


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ('<function=get_weather>{"city_name": "Paris"}</function>', "auto"),
        ('```\n<function=get_weather>{"city_name": "Paris"}</function>\n```', "auto"),
        ('```xml\n<function=get_weather>{"city_name": "Paris"}</function>\n```', "auto"),
        ('<function=get_weather>{"city_name": "Paris"}</function>', "functionary_v31"),
        ('<function_call>[get_weather(city_name="Paris")]</function_call>', "auto"),
    ],
)
def test_complete_forms_are_calls_under_strict_too(text: str, dialect: str) -> None:
    assert calls(text, dialect=dialect, policy="strict") == PARIS


@pytest.mark.parametrize(
    ("text", "dialect", "wanted"),
    [
        ("[f(a=1)]", "auto", [("f", {"a": 1})]),
        ('[f(a=1), g(b="x")]', "pythonic", [("f", {"a": 1}), ("g", {"b": "x"})]),
        ("[f(a=1)", "auto", []),
        ("[f(a=1)] and more", "auto", []),
        ("[f](a)", "auto", []),
        (
            '<|channel|>commentary to=browser.search <|constrain|>json<|message|>{"q": "x"}<|call|>',
            "harmony",
            [("browser.search", {"q": "x"})],
        ),
        ('<|channel|>commentary to=python <|constrain|>json<|message|>{"q": "x"}<|call|>', "harmony", []),
        (
            ' to=a.b<|message|><atem:function_calls>\n<atem:invoke name="a.b">\n<atem:parameter name="x">y</atem:parameter>\n'
            "</atem:invoke>\n</atem:function_calls><|eom|>",
            "muse_glimmer",
            [("a.b", {"x": "y"})],
        ),
    ],
)
def test_without_tools(text: str, dialect: str, wanted: list[tuple[str, Any]]) -> None:
    assert calls(text, [], dialect=dialect) == wanted
