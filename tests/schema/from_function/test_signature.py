"""Functions of every sort as tools, and a call's arguments as they take them."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import functools
import math
from typing import TYPE_CHECKING, Any, Literal, Optional, Required, TypedDict, Unpack

import msgspec
import pydantic
import pytest

from toolglot.errors import ArgumentsError, CallerError
from toolglot.schema.from_function import ReadFunction, read_function

if TYPE_CHECKING:
    from decimal import Decimal as NotThere


class Injected:
    __toolglot_injected__ = True


def called(function: Any, arguments: dict[str, Any], context: Any = None) -> Any:
    bound = read_function(function).bind(arguments, context)
    return function(*bound.args, **bound.kwargs)


def get_weather(city: str, unit: Literal["C", "F"] = "C") -> str:
    """The weather in a city.

    Args:
        city: Its name.
        unit: Of the temperature.
    """
    return f"{city} {unit}"


def test_a_function_is_read_whole() -> None:
    read = read_function(get_weather)
    assert read.tool.name == "get_weather"
    assert read.tool.description == "The weather in a city."
    assert read.tool.schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Its name."},
            "unit": {"type": "string", "enum": ["C", "F"], "description": "Of the temperature.", "default": "C"},
        },
        "required": ["city"],
    }
    assert read.notes == ()
    assert called(get_weather, {"city": "Rome"}) == "Rome C"


def test_a_function_without_parameters_takes_an_empty_object() -> None:
    def now() -> str:
        """The time."""
        return "noon"

    assert read_function(now).tool.schema == {"type": "object", "properties": {}}
    assert called(now, {}) == "noon"


def test_without_hints_any_value_is_accepted_with_a_note() -> None:
    def bare(x, y=2):  # type: ignore[no-untyped-def]
        return [x, y]

    read = read_function(bare)
    assert read.tool.schema == {"type": "object", "properties": {"x": {}, "y": {"default": 2}}, "required": ["x"]}
    assert read.notes == (
        "bare(x): no type hint; any value is accepted",
        "bare(y): no type hint; any value is accepted",
        "bare: no docstring; the model sees the name and the parameters alone",
    )
    assert called(bare, {"x": {"a": 1}}) == [{"a": 1}, 2]


def test_parameters_of_every_kind_find_their_place() -> None:
    def every(a: int, b: int = 2, /, c: int = 3, *more: int, d: int, e: int = 5, **rest: int) -> Any:
        return a, b, c, more, d, e, rest

    schema = read_function(every).tool.schema
    assert schema is not None
    assert schema["properties"]["more"] == {"type": "array", "items": {"type": "integer"}}
    assert schema["required"] == ["a", "d"]
    assert schema["additionalProperties"] == {"type": "integer"}
    assert called(every, {"a": 1, "d": 4}) == (1, 2, 3, (), 4, 5, {})
    assert called(every, {"a": 1, "more": [7, 8], "d": 4, "z": 9}) == (1, 2, 3, (7, 8), 4, 5, {"z": 9})
    assert called(every, {"a": 1, "c": 0, "d": 4}) == (1, 2, 0, (), 4, 5, {})
    with pytest.raises(ArgumentsError, match="z: expected an integer"):
        called(every, {"a": 1, "d": 4, "z": "nine"})


def test_unknown_or_missing_arguments_are_reported() -> None:
    with pytest.raises(ArgumentsError, match="town: unknown parameter; known: city, unit"):
        called(get_weather, {"town": "Rome"})
    with pytest.raises(ArgumentsError, match="city: is missing"):
        called(get_weather, {})


def test_injected_parameters_are_not_in_the_schema() -> None:
    def whole(city: str, context: Injected, again: Optional[Injected] = None) -> Any:  # noqa: UP045
        return city, context, again

    schema = read_function(whole).tool.schema
    assert schema is not None
    assert list(schema["properties"]) == ["city"]
    context = Injected()
    assert called(whole, {"city": "Rome"}, context) == ("Rome", context, context)
    with pytest.raises(ArgumentsError, match="context: unknown parameter"):
        called(whole, {"city": "Rome", "context": {}}, context)


class Where(TypedDict, total=False):
    city: Required[str]
    unit: str


def test_keywords_of_a_typed_dict_are_parameters() -> None:
    def weather(day: int, **where: Unpack[Where]) -> Any:
        """The weather.

        Args:
            city: of the world
        """
        return day, where

    assert read_function(weather).tool.schema == {
        "type": "object",
        "properties": {
            "day": {"type": "integer"},
            "city": {"type": "string", "description": "of the world"},
            "unit": {"type": "string"},
        },
        "required": ["day", "city"],
    }
    assert called(weather, {"day": 1, "city": "Rome"}) == (1, {"city": "Rome"})
    assert called(weather, {"day": 1, "city": "Rome", "unit": "C"}) == (1, {"city": "Rome", "unit": "C"})
    with pytest.raises(ArgumentsError, match="city: is missing"):
        called(weather, {"day": 1})


class Station:
    """A station."""

    def at(self, city: str) -> str:
        """The weather there."""
        return f"at {city}"

    @classmethod
    def of(cls, city: str) -> str:
        """The weather of it."""
        return f"{cls.__name__} {city}"

    def __call__(self, city: str) -> str:
        return f"call {city}"


@pytest.mark.parametrize(
    ("thing", "name", "about", "gives"),
    [
        (Station().at, "at", "The weather there.", "at Rome"),
        (Station.of, "of", "The weather of it.", "Station Rome"),
        (Station(), "Station", "A station.", "call Rome"),
        (functools.partial(get_weather, unit="F"), "get_weather", "The weather in a city.", "Rome F"),
    ],
)
def test_methods_objects_and_partials_are_functions_too(thing: Any, name: str, about: str, gives: str) -> None:
    tool = read_function(thing).tool
    assert (tool.name, tool.description) == (name, about)
    assert tool.schema is not None
    assert list(tool.schema["properties"]) == ["city"]
    assert called(thing, {"city": "Rome"}) == gives


def test_a_wrapped_function_shows_what_it_wraps() -> None:
    @functools.wraps(get_weather)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return get_weather(*args, **kwargs).upper()

    assert read_function(wrapper).tool == read_function(get_weather).tool
    assert called(wrapper, {"city": "Rome"}) == "ROME C"


def test_async_is_decided_by_the_wrapper() -> None:
    async def later(city: str) -> str:
        """Later."""
        return city

    @functools.wraps(later)
    def now(*args: Any, **kwargs: Any) -> str:
        return asyncio.run(later(*args, **kwargs))

    assert read_function(later).is_async
    assert read_function(functools.partial(later)).is_async
    assert not read_function(now).is_async  # so it runs in a thread, where it may have a loop of its own


class Pair(enum.Enum):
    ONE = (1, 2)


def test_a_default_is_json_or_left_out() -> None:
    def limited(most: float = math.inf, pair: Pair = Pair.ONE, few: float = 1.5) -> None:
        """Limits."""

    schema = read_function(limited).tool.schema
    assert schema is not None
    assert {name: schema_of.get("default") for name, schema_of in schema["properties"].items()} == {
        "most": None,
        "pair": "ONE",
        "few": 1.5,
    }


def test_names_of_an_enclosing_function_are_resolved_while_it_runs() -> None:
    class Inner(msgspec.Struct):
        x: int

    def takes(inner: Inner) -> int:
        return inner.x

    assert called(takes, {"inner": {"x": 3}}) == 3


def test_resolved_names_stay_known_after_the_enclosing_function_returns() -> None:
    def made() -> ReadFunction:
        class Inner(msgspec.Struct):
            x: int

        @dataclasses.dataclass
        class Outer:
            inner: Inner

        def takes(outer: Outer) -> int:
            return outer.inner.x

        return read_function(takes)

    read = made()
    assert read.function(*read.bind({"outer": {"inner": {"x": 3}}}).args) == 3


def test_an_unresolvable_hint_is_rejected() -> None:
    def lost(x: NotThere) -> None: ...

    with pytest.raises(CallerError, match="lost: a hint can't be resolved: name 'NotThere' is not defined; define it before"):
        read_function(lost)


def test_a_default_of_pydantics_carries_limits_words_and_value() -> None:
    none: list[int] = pydantic.Field(default_factory=list)

    def few(n: int = pydantic.Field(3, gt=0, description="How many"), m: list[int] = none) -> Any:
        return n, m

    schema = read_function(few).tool.schema
    assert schema is not None
    assert schema["properties"]["n"] == {"type": "integer", "exclusiveMinimum": 0, "description": "How many", "default": 3}
    assert "required" not in schema
    assert called(few, {}) == (3, [])
    with pytest.raises(ArgumentsError, match="n: Input should be greater than 0"):
        called(few, {"n": 0})


def test_an_invalid_parameter_is_named() -> None:
    def bad(x: list[complex]) -> None: ...

    with pytest.raises(CallerError, match=r"bad\(x\): complex has no JSON form"):
        read_function(bad)


@pytest.mark.parametrize(("thing", "message"), [(int, "int is a class"), (lambda x: x, "a lambda has no name")])
def test_a_class_is_rejected(thing: Any, message: str) -> None:
    with pytest.raises(CallerError, match=message):
        read_function(thing)
