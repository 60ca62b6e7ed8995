"""Prices: every row has a source and a date, the user's rows win, and cached input counts at its own price."""

from __future__ import annotations

import pytest

from toolglot.catalog.prices import Price, cost, prices
from toolglot.catalog.providers import providers
from toolglot.core.reply import Usage


def test_every_row_has_a_source_a_date_and_known_providers() -> None:
    rows = prices()
    for row in rows:
        assert row.source, row.model
        assert row.date[:2] == "20", row.model
        assert row.output > row.input > 0, row.model
        assert row.cache_write is None or row.cache_write > row.input > (row.cache_read or 0), row.model
        assert set(row.providers) <= providers().keys(), row.model
        assert row.providers, row.model
    assert len({(row.model, row.providers) for row in rows}) == len(rows)


@pytest.mark.parametrize(
    ("model", "provider", "usage", "expected"),
    [
        ("claude-opus-5", "anthropic", Usage(1_000_000, 100_000), 5 + 2.5),
        ("claude-opus-5", "anthropic", Usage(1_000_000, 0, cache_read=500_000), 2.5 + 0.25),
        ("claude-opus-5", "anthropic", Usage(1_000_000, 0, cache_read=500_000, cache_write=400_000), 0.5 + 0.25 + 2.5),
        ("gpt-5", "openai", Usage(1_000_000, 0, cache_write=400_000), 1.25),
        ("claude-sonnet-4-5-20250929", "anthropic", Usage(1_000_000, 0), 3),
        ("claude-opus-5-5", "anthropic", Usage(1_000_000, 0), 4),
        ("claude-opus-5", "ollama", Usage(1_000_000, 0), None),
        ("claude-opus-50", "anthropic", Usage(1_000_000, 0), None),
        ("gpt-5", "openai", Usage(), 0),
    ],
)
def test_cost(model: str, provider: str, usage: Usage, expected: float | None) -> None:
    assert cost(model, provider, usage) == (None if expected is None else pytest.approx(expected))


def test_the_rows_of_the_user_win() -> None:
    own = (Price("claude-opus-5", 1, 2), Price("qwen*", 0.5, 0.5, providers=("ollama",)))
    assert cost("claude-opus-5", "anthropic", Usage(1_000_000, 1_000_000), own) == 3
    assert cost("qwen3:8b", "ollama", Usage(1_000_000, 0), own) == 0.5
    assert cost("qwen3:8b", "vllm", Usage(1_000_000, 0), own) is None
