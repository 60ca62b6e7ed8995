"""Damaged texts that the fuzzer found: cut anywhere they give the same result, and no text is doubled or out of order."""

from __future__ import annotations

from typing import Any

import pytest

from toolglot import Extraction, StreamExtractor, Tool

TEXT = {"type": "string"}
TOOLS = [
    Tool("get_weather", schema={"type": "object", "properties": {"city": TEXT, "days": {"type": "integer"}}}),
    Tool("search", schema={"type": "object", "properties": {"query": TEXT}}),
]
CLOSER_IN_REASONING = '{"name": "search", "arguments": {"query": "a"}}\n<think>I look.\n"b"}} [c]</think>'
OTHER_SUFFIX = "<tool_call:6124c7>search<arg_key:6124c7>query</arg_key:e><arg_value:e>x</arg_value:6124c7></tool_call:6124c7>"
OBJECT_AS_NAME = '<think>I look.<invoke name={"name": "search"}></think>'
REJECTED_IN_REASONING = '<think>I look.\n<tool_call>\n{"name": \n</tool_call></think>'


def parsed(text: str, size: int, **options: Any) -> Extraction:
    extractor = StreamExtractor(TOOLS, **options)
    for at in range(0, len(text), size):
        extractor.feed(text[at : at + size])
    extractor.close()
    return extractor.result()


@pytest.mark.parametrize("calls", ["hold", "pass"])
@pytest.mark.parametrize("text", [CLOSER_IN_REASONING, OTHER_SUFFIX, OBJECT_AS_NAME, REJECTED_IN_REASONING])
def test_however_the_text_is_cut_the_result_is_the_same(text: str, calls: str) -> None:
    whole = parsed(text, len(text), calls=calls)
    for size in range(1, 9):
        assert parsed(text, size, calls=calls) == whole


def test_a_rejected_call_in_reasoning_is_not_text_too() -> None:
    found = parsed(REJECTED_IN_REASONING, 1000)
    assert (found.text, found.reasoning) == ("", REJECTED_IN_REASONING[len("<think>") : -len("</think>")])
    assert [one.code for one in found.decisions] == ["rejected_malformed"]


@pytest.mark.parametrize("calls", ["hold", "pass"])
def test_text_around_quoted_calls_of_one_region_keeps_its_order(calls: str) -> None:
    text = "<|python_start|>[get_weather(city=\"Rome\")]<1])\n<|python_start|>[get_weather(city='Oslo')]<|python_end|>"
    found = parsed(text, 3, calls=calls, messages=[{"role": "tool", "tool_call_id": "c", "content": text}])
    assert [one for one in found.calls if one.sealed] == []
    left = iter(text)
    assert all(char in left for char in found.text)
