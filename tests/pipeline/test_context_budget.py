from __future__ import annotations

import pytest

from tests.pipeline.answering import HELLO, TOOLS, WEATHER
from toolglot.core.messages import Media, Message, Part, Reasoning, Text, ToolCall, ToolResult
from toolglot.core.request import Request
from toolglot.core.tools import Toolset
from toolglot.pipeline.request.context_budget import ContextBudget, context_budget, estimate, request_tokens


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", 0, 1),
        ("The quick brown fox jumps over the lazy dog. " * 20, 200, 300),  # 10 tokens each
        ('{"name": "get_weather", "arguments": {"city": "Paris"}}', 13, 22),
        ("東京の天気はどうですか", 7, 12),
        ("東京" * 40_000, 50_000, 80_000),
        ("a" * 30_000 + "東" * 30_000, 8_000, 45_000),
    ],
)
def test_an_estimate_leans_to_the_high_side_but_not_far(text: str, least: int, most: int) -> None:
    assert least <= estimate(text) <= most


def test_all_that_is_sent_costs_something() -> None:
    plain = request_tokens(Request("m", messages=HELLO))
    assert plain < request_tokens(Request("m", messages=HELLO, tools=TOOLS))
    assert request_tokens(Request("m", tools=Toolset([WEATHER]))) < request_tokens(Request("m", tools=TOOLS))
    parts: list[Part] = [
        Text("word " * 50),
        Reasoning("word " * 50),
        ToolCall("c", "f", "word " * 50),
        ToolResult("c", "f", (Text("word " * 50),)),
        Media("image", data="x" * 999),
    ]
    for part in parts:
        assert request_tokens(Request("m", messages=(*HELLO, Message("user", (part,))))) > plain + 50


def test_the_smaller_window_counts() -> None:
    request = Request("m", messages=HELLO, max_tokens=5000)
    assert context_budget(request, 4096, 32768).short
    assert context_budget(request, 4096, None).short
    assert context_budget(request, None, 4096).short
    assert not context_budget(request, 8192, 32768).short
    assert not context_budget(request, None, None).short


@pytest.mark.parametrize(
    ("needed", "most", "wanted"),
    [(5000, None, 8192), (5000, 6000, 6000), (5000, 4096, None), (100, None, 4096), (9000, 9000, 9000)],
)
def test_a_window_that_would_do(needed: int, most: int | None, wanted: int | None) -> None:
    assert ContextBudget(needed, 4096, most).larger == wanted
