"""Each kind of hint as a schema, and each value on its way in: one table for both, so that they can't disagree."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import enum
import typing
import uuid
from collections import abc
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, NotRequired, Optional, TypedDict, TypeVar, Union

import msgspec
import pydantic
import pytest

from toolglot.errors import ArgumentsError, CallerError
from toolglot.schema.check import checker
from toolglot.schema.from_function.hints import Schemas
from toolglot.schema.from_function.values import read_value


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Odd(enum.Enum):
    PAIR = (1, 2)
    OTHER = object()


class Word(str):
    __slots__ = ()


@dataclasses.dataclass
class Place:
    """A place.

    Attributes:
        lat: North is up.
    """

    lat: float
    name: str = "here"
    tags: list[str] = dataclasses.field(default_factory=list)


Held = TypeVar("Held")


@dataclasses.dataclass
class Box(Generic[Held]):
    held: Held
    others: list[Held] | None = None


class Options(TypedDict):
    fast: bool
    unit: NotRequired[Literal["C", "F"]]


class Pair(NamedTuple):
    left: int
    right: int = 0


class Cat(msgspec.Struct, tag=True):
    lives: int = 9


class Dog(msgspec.Struct, tag="dog", rename="camel"):
    is_good: bool


class Tree(msgspec.Struct):
    value: int
    children: list[Tree] = []


class Leaf(pydantic.BaseModel):
    size: int = pydantic.Field(gt=0, description="In cm")


class Branch(pydantic.BaseModel):
    leaves: list[Leaf] = []
    side: Branch | None = None


UserId = NewType("UserId", int)
UUID = "12345678-1234-5678-1234-567812345678"
PLACE = {
    "type": "object",
    "description": "A place.",
    "properties": {
        "lat": {"type": "number", "description": "North is up."},
        "name": {"type": "string", "default": "here"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["lat"],
}
CAT = {
    "type": "object",
    "properties": {"type": {"type": "string", "enum": ["Cat"]}, "lives": {"type": "integer", "default": 9}},
}
DOG = {"type": "object", "properties": {"type": {"type": "string", "enum": ["dog"]}, "isGood": {"type": "boolean"}}}

# hint, schema, JSON value, Python value
CASES: list[tuple[Any, dict[str, Any], Any, Any]] = [
    (str, {"type": "string"}, "a", "a"),
    (int, {"type": "integer"}, 3.0, 3),
    (float, {"type": "number"}, 3, 3.0),
    (bool, {"type": "boolean"}, True, True),
    (None, {"type": "null"}, None, None),
    (Any, {}, {"a": [1]}, {"a": [1]}),
    (object, {}, 1, 1),
    (Word, {"type": "string"}, "w", Word("w")),
    (UserId, {"type": "integer"}, 7, 7),
    (bytes, {"type": "string", "contentEncoding": "base64"}, "aGk=", b"hi"),
    (Decimal, {"type": "number"}, 0.1, Decimal("0.1")),
    (Path, {"type": "string", "format": "path"}, "/tmp", Path("/tmp")),  # noqa: S108
    (uuid.UUID, {"type": "string", "format": "uuid"}, UUID, uuid.UUID(UUID)),
    (
        dt.datetime,
        {"type": "string", "format": "date-time"},
        "2026-01-31T12:00:00Z",
        dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC),
    ),
    (dt.date, {"type": "string", "format": "date"}, "2026-01-31", dt.date(2026, 1, 31)),
    (dt.time, {"type": "string", "format": "time"}, "12:30:00", dt.time(12, 30)),
    (dt.timedelta, {"type": "string", "format": "duration"}, "PT90M", dt.timedelta(minutes=90)),
    (Literal["C", "F"], {"type": "string", "enum": ["C", "F"]}, "F", "F"),
    (Literal["a", 1, None], {"type": ["string", "integer", "null"], "enum": ["a", 1, None]}, 1, 1),
    (Literal[Color.RED], {"type": "string", "enum": ["red"]}, "red", Color.RED),
    (Color, {"type": "string", "enum": ["red", "blue"]}, "blue", Color.BLUE),
    (Level, {"type": "integer", "enum": [1, 2]}, 2, Level.HIGH),
    (Odd, {"type": "string", "enum": ["PAIR", "OTHER"]}, "PAIR", Odd.PAIR),
    (Optional[str], {"type": ["string", "null"]}, None, None),  # noqa: UP045
    (Union[int, str], {"type": ["integer", "string"]}, "5", "5"),  # noqa: UP007
    (float | int, {"type": ["number", "integer"]}, 5, 5),
    (Literal["a"] | None, {"type": ["string", "null"], "enum": ["a", None]}, None, None),
    (Literal["a"] | int, {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "integer"}]}, 2, 2),
    (dt.date | None, {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]}, "2026-01-31", dt.date(2026, 1, 31)),
    (int | Any, {}, "x", "x"),
    (list, {"type": "array"}, [1, "a"], [1, "a"]),
    (list[int], {"type": "array", "items": {"type": "integer"}}, [1], [1]),
    (typing.List[Color], {"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}}, ["red"], [Color.RED]),  # noqa: UP006
    (abc.Sequence[str], {"type": "array", "items": {"type": "string"}}, ["a"], ["a"]),
    (abc.Iterable, {"type": "array"}, [1], [1]),
    (collections.deque[int], {"type": "array", "items": {"type": "integer"}}, [1], collections.deque([1])),
    (set[int], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, [1, 2], {1, 2}),
    (frozenset[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}, ["a"], frozenset("a")),
    (abc.Set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}, ["a"], frozenset("a")),
    (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}, [1, 2], (1, 2)),
    (
        tuple[int, str],
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2},
        [1, "a"],
        (1, "a"),
    ),
    (dict, {"type": "object"}, {"a": 1}, {"a": 1}),
    (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}, {"a": 1}, {"a": 1}),
    (abc.Mapping[int, Any], {"type": "object"}, {"1": "a"}, {1: "a"}),
    (
        dict[Color, int],
        {
            "type": "object",
            "additionalProperties": {"type": "integer"},
            "propertyNames": {"type": "string", "enum": ["red", "blue"]},
        },
        {"red": 1},
        {Color.RED: 1},
    ),
    (Place, PLACE, {"lat": 1}, Place(1.0)),
    (
        Options,
        {
            "type": "object",
            "properties": {"fast": {"type": "boolean"}, "unit": {"type": "string", "enum": ["C", "F"]}},
            "required": ["fast"],
        },
        {"fast": True},
        {"fast": True},
    ),
    (
        Pair,
        {
            "type": "object",
            "properties": {"left": {"type": "integer"}, "right": {"type": "integer", "default": 0}},
            "required": ["left"],
        },
        {"left": 1},
        Pair(1),
    ),
    (
        Cat | Dog,
        {"anyOf": [{**CAT, "required": ["type"]}, {**DOG, "required": ["type", "isGood"]}]},
        {"type": "dog", "isGood": True},
        Dog(True),
    ),
    (Annotated[int, "How many"], {"type": "integer", "description": "How many"}, 1, 1),
    (
        Annotated[int, msgspec.Meta(gt=0, le=9, multiple_of=2, description="Even")],
        {"type": "integer", "exclusiveMinimum": 0, "maximum": 9, "multipleOf": 2, "description": "Even"},
        2,
        2,
    ),
    (
        Annotated[str, msgspec.Meta(pattern="^a", min_length=1, max_length=3, examples=["ab"])],
        {"type": "string", "pattern": "^a", "minLength": 1, "maxLength": 3, "examples": ["ab"]},
        "ab",
        "ab",
    ),
    (
        list[Annotated[str, msgspec.Meta(min_length=2)]],
        {"type": "array", "items": {"type": "string", "minLength": 2}},
        ["ab"],
        ["ab"],
    ),
    (
        Annotated[list[int], msgspec.Meta(max_length=2)],
        {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
        [1],
        [1],
    ),
    (
        Annotated[int, pydantic.Field(ge=1, description="Few")],
        {"type": "integer", "minimum": 1, "description": "Few"},
        1,
        1,
    ),
    (Annotated[str, pydantic.AfterValidator(str.upper)], {"type": "string"}, "a", "A"),
    (
        Leaf,
        {
            "type": "object",
            "properties": {"size": {"type": "integer", "exclusiveMinimum": 0, "description": "In cm"}},
            "required": ["size"],
        },
        {"size": 2},
        Leaf(size=2),
    ),
    (
        Box[dt.date],
        {
            "type": "object",
            "properties": {
                "held": {"type": "string", "format": "date"},
                "others": {"anyOf": [{"type": "array", "items": {"type": "string", "format": "date"}}, {"type": "null"}]},
            },
            "required": ["held"],
        },
        {"held": "2026-01-31", "others": ["2026-02-01"]},
        Box(dt.date(2026, 1, 31), [dt.date(2026, 2, 1)]),
    ),
    (
        collections.Counter[str],
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"a": 2},
        collections.Counter("aa"),
    ),
    (Annotated[str | None, msgspec.Meta(min_length=2)], {"type": ["string", "null"], "minLength": 2}, "ab", "ab"),
    (typing.LiteralString, {"type": "string"}, "a", "a"),
]


@pytest.mark.parametrize(("hint", "schema", "value", "expected"), CASES, ids=[str(case[0])[-50:] for case in CASES])
def test_a_hint_has_a_schema_and_reads_its_values(hint: Any, schema: dict[str, Any], value: Any, expected: Any) -> None:
    written = Schemas().of(hint)
    assert written == schema
    assert checker({"type": "object", "properties": {"x": written}}).problems({"x": value}) == []
    read = read_value(value, hint, "x")
    assert read == expected
    assert type(read) is type(expected)


def test_a_recursive_class_is_a_definition() -> None:
    schemas = Schemas()
    assert schemas.of(list[Tree]) == {"type": "array", "items": {"$ref": "#/$defs/Tree"}}
    assert schemas.definitions["Tree"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
    read = read_value([{"value": 1, "children": [{"value": 2}]}], list[Tree], "x")
    assert read == [Tree(1, [Tree(2)])]


def test_pydantics_definitions_are_shared_and_its_derived_titles_removed() -> None:
    schemas = Schemas()
    assert schemas.of(Branch) == {"$ref": "#/$defs/Branch"}
    assert schemas.definitions.keys() == {"Branch", "Leaf"}
    assert "title" not in msgspec.json.encode(schemas.definitions).decode()
    read = read_value({"leaves": [{"size": 1}], "side": {}}, Branch, "x")
    assert read == Branch(leaves=[Leaf(size=1)], side=Branch())


def test_two_models_with_the_same_name_are_distinct() -> None:
    other = pydantic.create_model("Leaf", colour=(str, ...))
    first, second = pydantic.create_model("A", leaf=(Leaf, ...)), pydantic.create_model("B", leaf=(other, ...))
    schemas = Schemas()
    schemas.of(first)
    assert schemas.of(second)["properties"]["leaf"] == {"$ref": "#/$defs/Leaf2"}
    assert list(schemas.definitions["Leaf2"]["properties"]) == ["colour"]


WRONG: list[tuple[Any, Any, str]] = [
    (int, "3", r"x: expected an integer, got .*\(3\)"),
    (int, True, "x: expected an integer"),
    (int, 3.5, "x: expected an integer"),
    (float, "a", "x: expected a number"),
    (str, 3, "x: expected a string"),
    (bool, 1, "x: expected true or false"),
    (dt.date, "soon", "x: expected a date such as"),
    (dt.datetime, 5, "x: expected a date and time"),
    (Decimal, "much", "x: expected a number"),
    (bytes, "***", "x: expected base64"),
    (uuid.UUID, "1", "x: expected a UUID"),
    (Color, "green", "x: expected one of 'red', 'blue'"),
    (Color, ["red"], "x: expected one of"),
    (Literal[1], True, "x: expected one of 1"),
    (list[int], [1, "a"], r"x\[1\]: expected an integer"),
    (list[int], "a", "x: expected a list"),
    (tuple[int, int], [1], "x: expected a list of 2, got one of 1"),
    (set[Any], [[1]], "x: .*unhashable"),
    (dict[int, int], {"a": 1}, "x: the key 'a' does not fit"),
    (dict[str, int], {"a": "b"}, r"x\.a: expected an integer"),
    (int | bool, "a", "x: expected an integer.*; or expected true or false"),
    (Place, {}, r"x\.lat: is missing"),
    (Place, {"lat": 1, "lon": 2}, r"x\.lon: unknown parameter; known: lat, name, tags"),
    (Leaf, {"size": 0}, r"x\.size: Input should be greater than 0"),
]


@pytest.mark.parametrize(("hint", "value", "message"), WRONG)
def test_an_invalid_value_is_reported_with_its_path(hint: Any, value: Any, message: str) -> None:
    with pytest.raises(ArgumentsError, match=message):
        read_value(value, hint, "x")


class Iterates:
    def __iter__(self) -> abc.Iterator[int]:
        return iter(())


@pytest.mark.parametrize("hint", [Iterates, complex, abc.Callable[[int], int], Literal[b"a"], type])
def test_a_hint_without_a_json_form_is_rejected(hint: Any) -> None:
    with pytest.raises(CallerError, match="has no JSON form"):
        Schemas().of(hint)


def test_an_error_raised_by_the_class_is_reported() -> None:
    @dataclasses.dataclass
    class Even:
        number: int

        def __post_init__(self) -> None:
            if self.number % 2:
                raise ValueError("odd numbers are not taken")

    with pytest.raises(ArgumentsError, match="x: odd numbers are not taken"):
        read_value({"number": 1}, Even, "x")
