"""The work of comparing a call with tool results grows no faster than the results, and is bounded."""

from __future__ import annotations

import pytest

from toolglot import extract
from toolglot.evaluation.counted import lines_run
from toolglot.pipeline.response.extract import toolset

CALL = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
FLOODS = {
    "prose": "f is a word here, and a result goes on for long. ",
    "calls": '<tool_call>{"name": "f", "arguments": {"a": 2}}</tool_call>\n',
    "openers": "f <tool_call>{",
    "objects": '{"f": [{"x": 1}]},\n',
    "expressions": "f(a=2)\n",
    "backslashes": '\\"f\\" ',
    "entities": "f &lt;tool_call&gt; ",
    "nested": '{"name": "f", "arguments": {"a": "',
}


def work(text: str, results: int = 1) -> int:
    tools = toolset([{"name": "f", "schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}])
    tools.cache.clear()  # what earlier texts brought
    extract(CALL, tools)  # what is made once
    messages = [{"role": "tool", "content": f"{number} {text}"} for number in range(results)]
    return lines_run(lambda: extract(CALL, tools, messages=messages))


@pytest.mark.parametrize("flood", FLOODS)
def test_twice_the_text_is_about_twice_the_work(flood: str) -> None:
    once, twice = (work(FLOODS[flood] * (size // len(FLOODS[flood]))) for size in (1_500, 3_000))
    assert twice < 2.6 * once


def test_work_is_bounded_over_all_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolglot.pipeline.response.provenance._MAX_SCANNED", 10_000)
    text = FLOODS["openers"] * 100
    assert work(text, results=60) < 1.2 * work(text, results=30)


def test_a_result_is_scanned_once() -> None:
    tools = toolset([{"name": "f", "schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}])
    messages = [{"role": "tool", "content": FLOODS["calls"] * 100}]
    first = lines_run(lambda: extract(CALL, tools, messages=messages))
    assert lines_run(lambda: extract(CALL, tools, messages=messages)) < first / 5
