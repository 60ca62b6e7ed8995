"""The laws for every dialect, which `toolglot dialect check` runs on anyone's, too; and damage in more random ways."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws.dialect_cases import ALL, ROOT, Case, cases
from toolglot import StreamExtractor, extract
from toolglot.core.event_order import first_order_error
from toolglot.dialects import dialect_names
from toolglot.evaluation.dialect_cases import SHARED_TOOLS
from toolglot.evaluation.dialect_laws import LAWS


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("dialect", dialect_names())
def test_every_dialect_keeps_the_law(dialect: str, law: str) -> None:
    assert list(LAWS[law].failures(dialect, cases(dialect))) == []


def test_the_shared_tools_are_those_of_the_fixtures() -> None:
    assert json.loads((ROOT / "tools.json").read_text(encoding="utf-8")) == [*SHARED_TOOLS]


@settings(max_examples=400)
@given(st.sampled_from(ALL), st.data())
def test_damaged_text_never_raises_and_all_splits_agree(pair: tuple[str, Case], data: st.DataObject) -> None:
    dialect, case = pair
    text = case.text
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, max(0, len(text) - 1)))
        size = data.draw(st.integers(0, 8))
        text = (
            text[:at]
            + data.draw(st.sampled_from(["", '"', "}", "{", "<", "\\", "\n", "'", "</", "``", text[:9]]))
            + text[at + size :]
        )
    cuts = sorted({0, len(text), *data.draw(st.lists(st.integers(0, max(0, len(text))), max_size=5))})
    for named in (dialect, "auto"):
        whole = extract(text, case.toolset, dialect=named)
        extractor = StreamExtractor(case.toolset, dialect=named)
        events = [event for a, b in pairwise(cuts) for event in extractor.feed(text[a:b])] + extractor.close()
        assert first_order_error(events) is None
        assert extractor.result() == whole
