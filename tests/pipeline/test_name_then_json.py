"""A name and JSON behind it: a call where the message is about it, and text where it is an entry, an example or a report."""

from __future__ import annotations

import pytest

from tests.laws.dialect_cases import shared_tools
from toolglot import Extraction, StreamExtractor, extract

CALL = 'get_weather: {"city": "Paris"}'


def extracted(text: str, *, size: int = 0, calls: str = "hold") -> Extraction:
    stream = StreamExtractor(shared_tools(), calls=calls)  # type: ignore[arg-type]
    for at in range(0, len(text), size or len(text)):
        stream.feed(text[at : at + (size or len(text))])
    stream.close()
    return stream.result()


MADE = (
    CALL,
    f"Sure:\n{CALL}\n",
    f"I'll look it up.\n\n{CALL}\n\nOne moment, please: this can take a while, since the service that I ask for it is slow.",
    f"Thought: I need the weather there\n{CALL}",
    f"For example:\n{CALL}",
    f"Shall I ask for it?\n{CALL}",
    f"```\n{CALL}\n```",
    f"```json\n{CALL}\n```",
    "get_weather {'city': 'Paris',}",
    "get_weather {city: 'Paris'}",
    'get_weather {"city": "Paris"}.',
    '["get_weather", {"city": "Paris"}]',
    'Let me check.\n["get_weather", {"city": "Paris"}]',
)
NOT_MADE = (
    f"tools:\n  {CALL}\n",
    f"version: 1\n{CALL}\n",
    f"{CALL}\ntimeout: 30\n",
    f"{CALL}\nResult: 20\n",
    f"I'll write the file:\nversion: 1\n{CALL}\n",
    f"config = {{\n{CALL}\n}}",
    f"```yaml\n{CALL}\n```",
    f"I'll write it:\n```toml\n{CALL}\n```",
    f"- {CALL}",
    f"> {CALL}",
    f"12:00:01 {CALL}",
    '| get_weather | {"city": "Paris"} |',
    f"`{CALL}`",
    f"{CALL}, and so on",
    f"This describes how the service keeps its entries.\n\n{CALL}\n\n{'More of them may follow here. ' * 8}",
    'get_weather\n```json\n{"city": "Paris"}\n```\nis what the service was sent in the end, after it had been asked in vain.',
    'You can call get_weather with {"city": "Paris"}.',
    'The service ran get_weather with {"city": "Paris"}.',
    '["get_weather", {"city": "Paris"}] is the first entry of the queue.',
    '["get_weather", {"city": "<city>"}]',
    '["get_weather", {"city": "Paris", "temperature": 20}]',
    '["get_weather", {"city": "Paris"}, 1]',
    '["get_weather", "get_time"]',
)


@pytest.mark.parametrize("text", MADE)
def test_it_is_a_call(text: str) -> None:
    assert [(call.name, call.arguments) for call in extract(text, shared_tools()).calls] == [("get_weather", {"city": "Paris"})]


@pytest.mark.parametrize("text", NOT_MADE)
def test_it_is_text(text: str) -> None:
    found = extract(text, shared_tools())
    assert (found.calls, found.text) == ([], text)


@pytest.mark.parametrize("calls", ["hold", "pass"])
@pytest.mark.parametrize("text", [*MADE, *NOT_MADE])
def test_chunk_sizes_do_not_matter(text: str, calls: str) -> None:
    for size in (1, 2, 3, 7):
        assert extracted(text, size=size, calls=calls) == extract(text, shared_tools())


def test_choices_may_be_called_as_types_are() -> None:
    schema = {"type": "object", "properties": {"kind": {"type": "string", "enum": ["string", "object"]}}}
    assert extract('describe {"kind": "object"}', [{"name": "describe", "schema": schema}]).calls
    assert not extract('describe {"kind": "object"}', [{"name": "describe", "schema": {"properties": {"kind": {}}}}]).calls


def test_the_longest_name_counts() -> None:
    tools = [
        {"name": name, "schema": {"properties": {"a": {"type": "integer"}}}} for name in ("mbti", "mbti.analyse", "mbti-run")
    ]
    for name in ("mbti", "mbti.analyse", "mbti-run"):
        assert [call.name for call in extract(f'{name}, {{"a": 1}}', tools).calls] == [name]
    assert not extract('mbti.other, {"a": 1}', tools).calls


def test_without_tools_it_is_text() -> None:
    assert not extract(CALL).calls
