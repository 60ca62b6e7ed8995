"""Valid requests are read; invalid ones give an error with a path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from toolglot.core.messages import Extra
from toolglot.core.request import Request
from toolglot.errors import CallerError
from toolglot.io.request_validation import (
    OPTIONS,
    optional,
    put_options,
    read_each,
    require_boolean,
    require_integer,
    require_list,
    require_number,
    require_object,
    require_string,
    require_strings,
    take_options,
    wire_extra,
)

VALUES: list[Any] = [None, True, 0, 1.5, "x", [], {}]
READERS: dict[str, tuple[Callable[[Any, str], Any], list[Any]]] = {
    "object": (require_object, [{}, {"a": 1}]),
    "list": (require_list, [[], [1]]),
    "string": (require_string, ["", "x"]),
    "number": (require_number, [0, -1, 1.5, 2**70]),
    "whole": (require_integer, [0, -1]),
    "boolean": (require_boolean, [True, False]),
}


@pytest.mark.parametrize("name", READERS)
def test_valid_values_are_read_and_others_rejected(name: str) -> None:
    read, fitting = READERS[name]
    assert [read(value, "key") for value in fitting] == fitting
    for value in VALUES:
        if type(value) not in map(type, fitting):
            with pytest.raises(CallerError, match=r"^key: expected .*, got ") as caught:
                read(value, "key")
            assert caught.value.where == "key"


def test_a_whole_number_may_be_written_as_a_float() -> None:
    found = require_integer(2.0, "key")
    assert (found, type(found)) == (2, int)


def test_one_string_is_a_list_of_one() -> None:
    assert require_strings("x", "key") == ("x",)
    assert require_strings(["a", "b"], "key") == ("a", "b")


@pytest.mark.parametrize(
    ("value", "message"),
    [(None, "null"), (True, "a boolean"), (1, "a number"), (1.5, "a number"), ([], "a list"), ("x", "a string")],
)
def test_json_type_names(value: object, message: str) -> None:
    with pytest.raises(CallerError, match=f"expected an object, got {message}"):
        require_object(value, "key")


def test_optional() -> None:
    assert optional(require_string, None, "key") is None
    assert optional(require_string, "x", "key") == "x"
    with pytest.raises(CallerError):
        optional(require_string, 1, "key")


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (1, "outer"),
        ([1], "outer[0]"),
        ([{"inner": []}, {"inner": [{}, {"name": 1}]}], "outer[1].inner[1].name"),
        ([{}], "outer[0].inner"),
    ],
)
def test_error_paths_are_built_from_the_inside_out(value: Any, where: str) -> None:
    def item(obj: dict[str, Any]) -> list[Any]:
        return read_each(obj.get("inner"), "inner", lambda deep: require_string(deep.get("name", ""), "name"))

    with pytest.raises(CallerError) as caught:
        read_each(value, "outer", item)
    assert caught.value.where == where


def test_errors_in_a_list_of_strings_name_the_index() -> None:
    with pytest.raises(CallerError) as caught:
        require_strings(["a", 1], "stop")
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


def test_wire_extra() -> None:
    notes: list[str] = []
    extra: Extra = {"w": {"a": 1}, "family": {"b": 2}, "other": {"d": 4, "c": 3}, "silent": {}}
    assert wire_extra(extra, "w", "here", notes, "family") == {"a": 1, "b": 2}
    assert notes == ["here: c, d exists only on other; left out"]
    assert wire_extra({}, "w", "here", notes) == {}
