from __future__ import annotations

from toolglot.schema.fixes import FIXES, price, sentence


def test_rows_have_a_price_and_a_sentence() -> None:
    for row in FIXES.values():
        assert row.price > 0
        assert row.sentence.endswith(".")


def test_an_unlisted_code_has_a_high_price_and_a_sentence() -> None:
    assert price(["trailing_comma", "missing_closer"]) == 4
    assert price(["some_grammar_slip"]) == 5
    assert sentence("some_grammar_slip") == "Some grammar slip."
