"""The right shape, or an error that says where it is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from toolglot.core.messages import Extra
from toolglot.core.request import Request
from toolglot.errors import CallerError
from toolglot.reading.shape import (
    OPTIONS,
    a_boolean,
    a_list,
    a_number,
    a_string,
    a_whole_number,
    an_object,
    each_object,
    or_none,
    own_extra,
    put_options,
    strings,
    take_options,
)

VALUES: list[Any] = [None, True, 0, 1.5, "x", [], {}]
READERS: dict[str, tuple[Callable[[Any, str], Any], list[Any]]] = {
    "object": (an_object, [{}, {"a": 1}]),
    "list": (a_list, [[], [1]]),
    "string": (a_string, ["", "x"]),
    "number": (a_number, [0, -1, 1.5, 2**70]),
    "whole": (a_whole_number, [0, -1]),
    "boolean": (a_boolean, [True, False]),
}


@pytest.mark.parametrize("name", READERS)
def test_what_fits_is_read_and_the_rest_refused(name: str) -> None:
    read, fitting = READERS[name]
    assert [read(value, "key") for value in fitting] == fitting
    for value in VALUES:
        if type(value) not in map(type, fitting):
            with pytest.raises(CallerError, match=r"^key: expected .*, got ") as caught:
                read(value, "key")
            assert caught.value.where == "key"


def test_a_whole_number_may_be_written_as_a_float() -> None:
    found = a_whole_number(2.0, "key")
    assert (found, type(found)) == (2, int)


def test_one_string_is_a_list_of_one() -> None:
    assert strings("x", "key") == ("x",)
    assert strings(["a", "b"], "key") == ("a", "b")


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "null"), (True, "a boolean"), (1, "a number"), (1.5, "a number"), ([], "a list"), ("x", "a string")],
)
def test_a_value_is_named_as_json_names_it(value: object, said: str) -> None:
    with pytest.raises(CallerError, match=f"expected an object, got {said}"):
        an_object(value, "key")


def test_or_none() -> None:
    assert or_none(a_string, None, "key") is None
    assert or_none(a_string, "x", "key") == "x"
    with pytest.raises(CallerError):
        or_none(a_string, 1, "key")


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (1, "outer"),
        ([1], "outer[0]"),
        ([{"inner": []}, {"inner": [{}, {"name": 1}]}], "outer[1].inner[1].name"),
        ([{}], "outer[0].inner"),
    ],
)
def test_where_grows_from_the_inside_out(value: Any, where: str) -> None:
    def item(held: dict[str, Any]) -> list[Any]:
        return each_object(held.get("inner"), "inner", lambda deep: a_string(deep.get("name", ""), "name"))

    with pytest.raises(CallerError) as caught:
        each_object(value, "outer", item)
    assert caught.value.where == where


def test_a_string_in_a_list_of_strings_is_found() -> None:
    with pytest.raises(CallerError) as caught:
        strings(["a", 1], "stop")
    assert caught.value.where == "stop[1]"


def test_options_are_taken_out_and_put_back() -> None:
    table = {"max_tokens": "max_tokens", "max": "max_tokens", "stop": "stop", "seed": "seed"}
    rest: dict[str, Any] = {"max_tokens": 5, "max": None, "stop": "x", "seed": 1.0, "other": 1}
    found = take_options(rest, table)
    assert found == {"max_tokens": 5, "stop": ("x",), "seed": 1}
    assert rest == {"other": 1}
    body: dict[str, Any] = {}
    notes: list[str] = []
    put_options(Request("m", top_k=3, **found), {"max_tokens": "max", "stop": "stop", "seed": "seed"}, body, "w", notes)
    assert body == {"max": 5, "stop": ["x"], "seed": 1}
    assert notes == ["top_k: w has no such option; left out"]


def test_every_option_is_a_field_of_a_request() -> None:
    assert set(OPTIONS) <= set(Request.__struct_fields__)


def test_own_extra() -> None:
    notes: list[str] = []
    extra: Extra = {"w": {"a": 1}, "family": {"b": 2}, "other": {"d": 4, "c": 3}, "silent": {}}
    assert own_extra(extra, "w", "here", notes, "family") == {"a": 1, "b": 2}
    assert notes == ["here: c, d is known to other alone; left out"]
    assert own_extra({}, "w", "here", notes) == {}
