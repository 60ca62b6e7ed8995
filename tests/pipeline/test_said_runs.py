from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.pipeline.said import Said
from toolglot.pipeline.said_runs import number_rows, runs, word_rows


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the fast boat, in red", ["fast", "fast boat", "boat", "red"]),
        ("Find a jazz concert", ["jazz", "jazz concert", "concert"]),
        ("in Los Angeles now", ["Los Angeles"]),
        ("Weigh Mars", ["Weigh", "Weigh Mars", "Mars"]),
        ("is The Weeknd there", ["The Weeknd"]),
        ("in Portland, OR", ["Portland", "Portland, OR"]),
        ("called 'Starry Night' here", ["called", "Starry Night"]),
        ("of John Doe has some", ["John Doe"]),
    ],
)
def test_runs_leave_out_what_can_hardly_be_a_value(text: str, found: list[str]) -> None:
    assert [one.value for one in runs(Said(text))] == found


def test_what_only_says_which_tool_is_meant_is_no_value() -> None:
    said = Said("a jazz concert")
    assert [one.value for one in runs(said, frozenset({"concert"}))] == ["jazz", "jazz concert"]
    assert [one.value for one in runs(said, frozenset({"jazz", "concert"}))] == ["jazz", "jazz concert", "concert"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A [3, 4, 5] and B [7, 8]", [[3, 4, 5], [7, 8]]),
        ("from A(3,4) to (-1, 2.5)", [[3, 4], [-1, 2.5]]),
        ("the mean of 2, 4 and 9 over 3 days", [[2, 4, 9], [3]]),
        ("[a, b] or 5", [[5]]),
        ("from 2015 to 2021", [[2015, 2021], [2015], [2021]]),
        ("between x = -1 and x = 2", [[-1, 2], [-1], [2]]),
        ("3 apples and 2 pears", [[3, 2], [3], [2]]),
        ("the 2nd, 3rd and 4th floor", [[2, 3, 4]]),
    ],
)
def test_lists_of_numbers(text: str, found: list[list[Any]]) -> None:
    assert number_rows(Said(text)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("with 'Age', 'Income' and 'Sex'", [["Age", "Income", "Sex"]]),
        ("columns [name, age]", [["name", "age"]]),
        ("buy milk, brown bread and eggs", [["milk", "brown bread", "eggs"]]),
        ("stops at Santa Barbara and Monterey", [["Santa Barbara", "Monterey"]]),
        ("prices of Apple and Google", [["Apple", "Google"]]),
        ("order three pumpkins and two eggs", [["pumpkins", "eggs"]]),
    ],
)
def test_lists_of_words(text: str, found: list[list[Any]]) -> None:
    assert word_rows(Said(text))[: len(found)] == found


@given(st.text(max_size=80))
def test_a_run_is_what_the_text_says(text: str) -> None:
    said = Said(text)
    for one in runs(said):
        assert 0 <= one.start < one.end <= len(text)
    number_rows(said)
    word_rows(said)
