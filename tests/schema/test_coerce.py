from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.schema.check import checker
from toolglot.schema.coerce import repair
from toolglot.schema.fixes import FIXES

INTEGER = {"type": "integer"}
STRING = {"type": "string"}
BOOLEAN = {"type": "boolean"}
STRINGS = {"type": "array", "items": STRING}


def _of(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


REPAIRED: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any], str]] = [
    ({"n": "5"}, _of(n=INTEGER), {"n": 5}, "coerced_type"),
    ({"n": "-5.0"}, _of(n=INTEGER), {"n": -5}, "coerced_type"),
    ({"n": "9" * 30}, _of(n=INTEGER), {"n": int("9" * 30)}, "coerced_type"),
    ({"n": "2.5"}, _of(n={"type": "number"}), {"n": 2.5}, "coerced_type"),
    ({"b": "True"}, _of(b=BOOLEAN), {"b": True}, "coerced_type"),
    ({"s": 75001}, _of(s=STRING), {"s": "75001"}, "coerced_type"),
    ({"s": 1.5}, _of(s=STRING), {"s": "1.5"}, "coerced_type"),
    ({"s": True}, _of(s=STRING), {"s": "true"}, "coerced_type"),
    ({"l": "x"}, _of(l=STRINGS), {"l": ["x"]}, "scalar_to_list"),
    ({"l": 3}, _of(l={"type": "array", "items": INTEGER}), {"l": [3]}, "scalar_to_list"),
    ({"s": ["x"]}, _of(s=STRING), {"s": "x"}, "list_to_scalar"),
    ({"l": '["x", "y"]'}, _of(l=STRINGS), {"l": ["x", "y"]}, "unwrapped_string"),
    ({"l": "['x']"}, _of(l=STRINGS), {"l": ["x"]}, "unwrapped_string"),
    ({"o": '{"n": "1"}'}, _of(o=_of(n=INTEGER)), {"o": {"n": 1}}, "unwrapped_string"),
    ({"n": None, "s": "x"}, _of("s", n=INTEGER, s=STRING), {"s": "x"}, "dropped_null"),
    ({"n": "null"}, _of(n=INTEGER), {}, "dropped_null"),
    ({"cityName": "x"}, _of("city_name", city_name=STRING), {"city_name": "x"}, "fixed_key"),
    ({"City-Name": "x"}, _of("city_name", city_name=STRING), {"city_name": "x"}, "fixed_key"),
    ({"u": "Celsius"}, _of(u={"enum": ["celsius", "kelvin"]}), {"u": "celsius"}, "fixed_enum"),
    ({"u": "5"}, _of(u={"enum": [5, 6]}), {"u": 5}, "coerced_type"),
    ({"u": 5}, _of(u={"type": "string", "enum": ["5", "6"]}), {"u": "5"}, "coerced_type"),
    ({"arguments": {"c": "x"}}, _of("c", c=STRING), {"c": "x"}, "unwrapped_arguments"),
    ({"name": "f", "parameters": '{"c": "x"}'}, _of("c", c=STRING), {"c": "x"}, "unwrapped_arguments"),
    ({"f": {"c": "x"}}, _of("c", c=STRING), {"c": "x"}, "unwrapped_arguments"),
    ({"a": 1}, _of("filter", filter={"type": "object"}), {"filter": {"a": 1}}, "wrapped_arguments"),
    ({"arg1": "3", "arg0": "x"}, _of("q", q=STRING, n=INTEGER), {"q": "x", "n": 3}, "positional_arguments"),
    ({"v": "5"}, _of(v={"anyOf": [INTEGER, {"type": "null"}]}), {"v": 5}, "coerced_type"),
    ({"v": "null"}, _of("v", v={"anyOf": [INTEGER, {"type": "null"}]}), {"v": None}, "coerced_type"),
    (
        {"v": "5"},
        _of(v={"oneOf": [{"type": "integer", "maximum": 3}, {"type": "number", "minimum": 4}]}),
        {"v": 5},
        "coerced_type",
    ),
    ({"v": "3"}, _of(v={"allOf": [INTEGER, {"minimum": 1}]}), {"v": 3}, "coerced_type"),
    ({"v": "3"}, {**_of(v={"$ref": "#/$defs/k"}), "$defs": {"k": INTEGER}}, {"v": 3}, "coerced_type"),
    ({"v": [{"n": "1"}]}, _of(v={"type": "array", "items": _of(n=INTEGER)}), {"v": [{"n": 1}]}, "coerced_type"),
    ({"v": {"x": "1"}}, _of(v={"type": "object", "additionalProperties": INTEGER}), {"v": {"x": 1}}, "coerced_type"),
]
REFUSED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"n": "five"}, _of(n=INTEGER)),
    ({"n": "5.5"}, _of(n=INTEGER)),
    ({"n": "1,000"}, _of(n=INTEGER)),
    ({"b": 1}, _of(b=BOOLEAN)),
    ({"b": "yes"}, _of(b=BOOLEAN)),
    ({"s": {"a": 1}}, _of(s=STRING)),
    ({"l": "x, y"}, _of(l=STRINGS)),  # one item or two?
    ({"l": ""}, _of(l=STRINGS)),
    ({"n": None}, _of("n", n=INTEGER)),
    ({}, _of("n", n={"type": "integer", "default": 3})),
    ({"other": 1}, {**_of(c=STRING), "additionalProperties": False}),
    ({"cityName": "x", "CITY_NAME": "y"}, _of("city_name", city_name=STRING)),
    ({"u": "a-b"}, _of(u={"enum": ["a_b", "A B"]})),
    ({"v": "7"}, _of(v={"type": ["integer", "array"], "maximum": 3})),
    ({"arguments": {"c": "x"}, "extra": 1}, _of("c", c=STRING)),
    ({"arg0": "x", "arg2": "y"}, _of("q", q=STRING, n=STRING)),
]


@pytest.mark.parametrize(("value", "schema", "meant", "code"), REPAIRED, ids=[str(row[0]) for row in REPAIRED])
def test_arguments_are_repaired(value: dict[str, Any], schema: dict[str, Any], meant: dict[str, Any], code: str) -> None:
    check = checker(schema)
    assert not check.fits(value)
    better = repair(value, check, "f", json.dumps(value))
    assert better is not None
    assert better.value == meant
    assert code in better.fixes
    assert set(better.fixes) <= FIXES.keys()
    assert check.fits(better.value)


@pytest.mark.parametrize(("value", "schema"), REFUSED, ids=[str(row[0]) for row in REFUSED])
def test_ambiguous_arguments_are_unchanged(value: dict[str, Any], schema: dict[str, Any]) -> None:
    check = checker(schema)
    assert not check.fits(value)
    assert repair(value, check, "f", json.dumps(value)) is None


def test_a_number_becomes_text_only_as_it_was_spelled() -> None:
    check = checker(_of(version=STRING))
    assert repair({"version": 1.1}, check, text='{"version": 1.10}') is None
    better = repair({"version": 1.1}, check, text='{"version": 1.1}')
    assert better is not None
    assert better.value == {"version": "1.1"}


def test_valid_values_are_unchanged() -> None:
    better = repair({"n": "5", "s": "7", "x": "8"}, checker(_of(n=INTEGER, s=STRING)))
    assert better is not None
    assert better.value == {"n": 5, "s": "7", "x": "8"}
    either = repair({"n": "5", "v": "7"}, checker(_of(n=INTEGER, v={"anyOf": [INTEGER, STRING]})))
    assert either is not None
    assert either.value == {"n": 5, "v": "7"}


def test_unions_in_unions_end() -> None:
    node: dict[str, Any] = {"anyOf": [_of(a={"$ref": "#/$defs/n"}), _of("b", a={"$ref": "#/$defs/n"}), INTEGER]}
    value: Any = "x"
    for _ in range(60):
        value = {"a": value}
    assert repair({"v": value}, checker({**_of(v={"$ref": "#/$defs/n"}), "$defs": {"n": node}})) is None


def test_a_reference_to_itself_ends() -> None:
    schema = {**_of("v", v={"$ref": "#/$defs/a"}), "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
    assert repair({}, checker(schema)) is None


TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
LEAVES = st.builds(lambda kind: {"type": kind}, TYPES) | st.just({"enum": ["a", "B b", 3, True]})
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(lambda item: {"type": "array", "items": item}, inner)
        | st.builds(lambda one, two: {"anyOf": [one, two]}, inner, inner)
        | st.builds(
            lambda fields, wanted: _of(*wanted, **fields),
            st.dictionaries(st.sampled_from(["aB", "c"]), inner),
            st.just(()),
        )
    ),
    max_leaves=5,
)
WORDS = st.sampled_from(["5", "5.0", "true", "null", "A", "b_b", "[1]", '{"a_b": "1"}', "x", ""])
VALUES = st.recursive(
    WORDS | st.integers(-9, 9) | st.booleans() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["aB", "a_b", "c", "arguments"]), inner, max_size=2)
    ),
    max_leaves=5,
)


@given(
    st.dictionaries(st.sampled_from(["p", "q_r"]), SCHEMAS, min_size=1),
    st.dictionaries(st.sampled_from(["p", "q_r", "QR", "arguments"]), VALUES),
)
def test_repaired_arguments_satisfy_the_schema(properties: dict[str, Any], value: dict[str, Any]) -> None:
    check = checker(_of(*properties, **properties))
    before = json.dumps(value)
    better = repair(value, check, "f", before)
    assert json.dumps(value) == before
    if better is not None:
        assert check.fits(better.value)
        assert better.fixes or better.value == value


def test_the_branches_of_a_schema_are_compiled_once() -> None:
    check = checker(_of(n={"anyOf": [INTEGER, {"type": "null"}]}, s=STRING))
    found = [repair({"n": "5", "s": 1}, check)]
    compiled = dict(check.branches)
    found.append(repair({"n": "5", "s": 1}, check))
    assert [one and one.value for one in found] == [{"n": 5, "s": "1"}] * 2
    assert len(compiled) == 2
    assert all(check.branches[key] is compiled_branch for key, compiled_branch in compiled.items())
    assert len(check.branches) == len(compiled)
