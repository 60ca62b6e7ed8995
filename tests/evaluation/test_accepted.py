from __future__ import annotations

from typing import Any

import pytest

from toolglot.evaluation.accepted import arguments_match, first, normal, paired, value_matches

SAME = [
    ("New York, NY", "new york ny"),
    ("April 1, 2024", "April 1,2024"),
    ("2024-03-01", "2024/03/01"),
    ("10:30 am", "10:30AM"),
    ("it’s", "it's"),
    ("Hello there!", "hello there"),
    ("fix/login-timeout", "Fix/Login_Timeout"),
    ("cafe\u0301 １２", "Café 12"),
]
OTHER = [("1.5", "15"), ("-5", "5"), ("x = −5", "x = 5"), ("Oslo", "Olso"), ("a=b", "a!=b"), ("", "x"), ("10:30", "1030")]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_strings_that_are_one(one: str, other: str) -> None:
    assert normal(one) == normal(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_strings_that_differ(one: str, other: str) -> None:
    assert normal(one) != normal(other)


VALUES: list[tuple[Any, Any, bool]] = [
    (5, 5.0, True),
    (5.0, 5, True),
    (0.1 + 0.2, 0.3, True),
    (1617262800001, 1617262800000, False),
    (1, True, False),
    (True, 1, False),
    (False, 0, False),
    (True, True, True),
    ("5", 5, False),
    (5, "5", False),
    (None, None, True),
    (0, None, False),
    ([1, 2], [1, 2], True),
    ([2, 1], [1, 2], False),
    ([1], [1, 2], False),
    ("1", [1], False),
    (["OSLO"], ["Oslo"], True),
    ({"a": 1}, {"a": [1, 2]}, True),
    ({"a": 2}, {"a": [1, 2]}, True),
    ({"a": 3}, {"a": [1, 2]}, False),
    ({"a": 1, "b": 1}, {"a": [1]}, False),
    ({}, {"a": [1]}, False),
    ({}, {"a": [1, ""]}, True),
    ([{"a": 1}], [{"a": [1]}], True),
    ({"a": "xy"}, {"a": "xy"}, True),
    ([], {"a": [1]}, False),
]


@pytest.mark.parametrize(("value", "gold", "same"), VALUES)
def test_values(value: Any, gold: Any, same: bool) -> None:
    assert value_matches(value, gold) is same


def test_absence_null_and_defaults() -> None:
    accepted = {"city": ["Oslo", "Oslo, Norway"], "unit": ["C", ""]}
    assert arguments_match({"city": "oslo norway"}, accepted)
    assert arguments_match({"city": "Oslo", "unit": None}, accepted)
    assert not arguments_match({"city": None}, accepted)
    assert not arguments_match({"unit": "C"}, accepted)
    assert not arguments_match({"city": "Oslo", "days": 1}, accepted)
    assert arguments_match({"city": "Oslo", "days": 1}, accepted, defaults={"days": 1})
    assert not arguments_match({"city": "Oslo", "days": 2}, accepted, defaults={"days": 1})
    assert arguments_match({"city": "Oslo", "days": None}, accepted)


def test_list_order_matters_unless_unordered() -> None:
    accepted: dict[str, list[Any]] = {"stops": [["a", "b"]], "deep": [{"stops": [[1, 2]]}, ""]}
    assert not arguments_match({"stops": ["b", "a"]}, accepted)
    assert arguments_match({"stops": ["b", "a"]}, accepted, ("stops",))
    assert arguments_match({"stops": ["b", "a"], "deep": {"stops": [2, 1]}}, accepted, ("stops",))
    assert not arguments_match({"stops": ["a", "a"]}, accepted, ("stops",))


def test_the_first_accepted_value_is_the_gold() -> None:
    assert first({"a": [1, 2], "b": ["", 3], "c": [[{"d": ["x", "y"]}]]}) == {"a": 1, "c": [{"d": "x"}]}


def test_pairing_gives_way_where_it_must() -> None:
    """The first takes what only the second could have, and has to move."""
    fits = {1: {"a", "b"}, 2: {"a"}}
    assert paired([1, 2], ["a", "b"], lambda one, other: other in fits[one]) == 2
    assert paired([2, 2], ["a", "b"], lambda one, other: other in fits[one]) == 1
