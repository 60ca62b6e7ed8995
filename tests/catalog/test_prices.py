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
        assert row.output >= row.input > 0, row.model  # Mistral's small ones cost the same both ways
        assert row.input > (row.cache_read or 0), row.model
        assert (row.cache_write_1h or 9e9) > (row.cache_write or 8e9) >= row.input, row.model
        assert set(row.providers) <= providers().keys(), row.model
        assert row.providers, row.model
    assert len({(row.model, row.providers, row.above) for row in rows}) == len(rows)
    places = {(row.model, row.above): at for at, row in enumerate(rows)}
    assert all(at < places[model, 0] for (model, above), at in places.items() if above)


def test_what_anthropic_keeps_for_an_hour_costs_twice_as_much_as_other_input() -> None:
    rows = [row for row in prices() if "anthropic" in row.providers]
    assert rows
    for row in rows:
        assert row.cache_write == pytest.approx(1.25 * row.input), row.model
        assert row.cache_write_1h == pytest.approx(2 * row.input), row.model


@pytest.mark.parametrize(
    ("model", "provider", "usage", "expected"),
    [
        ("claude-opus-5", "anthropic", Usage(1_000_000, 100_000), 5 + 2.5),
        ("claude-opus-5", "anthropic", Usage(1_000_000, 0, cache_read=500_000), 2.5 + 0.25),
        ("claude-opus-5", "anthropic", Usage(1_000_000, 0, cache_read=500_000, cache_write=400_000), 0.5 + 0.25 + 2.5),
        ("claude-opus-5", "anthropic", Usage(1_000_000, 0, cache_write=400_000, cache_write_1h=300_000), 3 + 0.625 + 3),
        ("gpt-5", "openai", Usage(1_000_000, 0, cache_write=400_000), 1.25),
        ("gpt-5.5", "openai", Usage(272_000, 1_000_000), 1.36 + 30),
        ("gpt-5.5", "openai", Usage(272_001, 1_000_000), 2.72001 + 45),
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


def test_the_first_row_of_the_user_that_fits_the_length_of_the_prompt_counts() -> None:
    own = (Price("gpt-5.5", 7, 0, above=100), Price("gpt-5.5", 1, 0))
    assert cost("gpt-5.5", "openai", Usage(1_000_000, 0), own) == 7
    assert cost("gpt-5.5", "openai", Usage(100, 0), own) == pytest.approx(0.0001)
