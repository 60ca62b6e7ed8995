from __future__ import annotations

import pytest

from toolglot.evaluation.intervals import Rate, wilson

# by hand from Wilson's formula: at the ends it comes down to z^2 / (n + z^2)
KNOWN = [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (50, 100, 0.4038, 0.5962), (0, 0, 0.0, 1.0)]


@pytest.mark.parametrize(("hits", "of", "low", "high"), KNOWN)
def test_wilson(hits: int, of: int, low: float, high: float) -> None:
    assert wilson(hits, of) == pytest.approx((low, high), abs=5e-5)


def test_more_questions_make_it_narrower() -> None:
    widths = [high - low for low, high in (wilson(8 * n, 10 * n) for n in (1, 2, 5, 20))]
    assert widths == sorted(widths, reverse=True)


def test_a_rate_as_text() -> None:
    assert str(Rate(5, 10)) == "50% [24%, 76%]"
    assert (Rate(0, 0).share, str(Rate(0, 0))) == (None, "-")
