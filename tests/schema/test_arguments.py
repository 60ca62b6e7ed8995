from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.errors import CallerError, ToolglotError
from toolglot.schema.arguments import parse_arguments

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "limit": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "deep": {"type": "object"},
    },
}
PLAIN: list[tuple[Any, dict[str, Any]]] = [
    ("", {}),
    ("  \n", {}),
    ({"x": [1]}, {"x": [1]}),
    ('{"a": {"b": [1, 2]}}', {"a": {"b": [1, 2]}}),
    ("{a: 'x', b: True, c: None,}", {"a": "x", "b": True, "c": None}),
    ('```json\n{"a": 1}\n```', {"a": 1}),
    ('"{\\"a\\": 1}"', {"a": 1}),
    ('**{"a": 1}', {"a": 1}),
    ('key=value, key2="quoted, value"', {"key": "value", "key2": "quoted, value"}),
    ("a=42, b=3.14, c=true, d=True, e=None, f=-1", {"a": 42, "b": 3.14, "c": True, "d": True, "e": None, "f": -1}),
    ("a=\"42\", b='true'", {"a": "42", "b": "true"}),
    (
        'a=[1, 2, {"x": "y, z"}], b={"k": (1, 2)}, c=f(1, 2), d=3',
        {"a": [1, 2, {"x": "y, z"}], "b": {"k": [1, 2]}, "c": "f(1, 2)", "d": 3},
    ),
    ('a="say \\"hi\\", you", b=1', {"a": 'say "hi", you', "b": 1}),
    ('a="say "hi" now", b=1', {"a": 'say "hi" now', "b": 1}),
    ("name=O'Brien, x=1", {"name": "O'Brien", "x": 1}),
    ("at=New York, NY, n=3", {"at": "New York, NY", "n": 3}),
    ("url=http://x.y/z?a=b, n=1", {"url": "http://x.y/z?a=b", "n": 1}),
    ("zip=01234,", {"zip": "01234"}),
    ('a="""one\n"two" """, b=1', {"a": 'one\n"two" ', "b": 1}),
    ("a = 1,\n  b = 2,\n", {"a": 1, "b": 2}),
    ("python, 10", {"arg0": "python", "arg1": "10"}),
    ('"a, b", [1, 2]', {"arg0": "a, b", "arg1": "[1, 2]"}),
    ("x, n=3", {"arg0": "x", "n": 3}),
    ('{"a": 1}, 5', {"arg0": '{"a": 1}', "arg1": "5"}),
    ("x == 3", {"arg0": "x == 3"}),
    ("note: call me", {"arg0": "note: call me"}),
]
TYPED: list[tuple[str, dict[str, Any]]] = [
    ("python, 10", {"query": "python", "limit": 10}),
    ('"a, b", limit="10"', {"query": "a, b", "limit": 10}),
    ("query=1.10", {"query": "1.10"}),
    ('query="5"', {"query": "5"}),
    ('query: "x", limit: 3', {"query": "x", "limit": 3}),
    ("tags=a", {"tags": ["a"]}),
    ("tags=['a', 'b'], deep={'k': [1,]}", {"tags": ["a", "b"], "deep": {"k": [1]}}),
    ('{"query": "x", "limit": "5"}', {"query": "x", "limit": 5}),
    ("limit=many", {"limit": "many"}),
]
ERRORS: list[tuple[Any, str]] = [
    (42, "got an integer"),
    ([1], "got a list"),
    (b"x", "got bytes"),
    ('{"a": ', "invalid JSON"),
    ('{"a": 1, "a": 2}', "given twice"),
    ("a=[1, 2", "'[' is not closed"),
    ("a=1)", "')' closes nothing"),
    ('a="x', "not closed"),
    ("a=1, 2", "'2' has no name"),
    ("a=1, a=2", "given twice"),
    ("a=, b=1", "'a' has no value"),
    ("a,,b", "missing before a comma"),
]


@pytest.mark.parametrize(("text", "value"), PLAIN, ids=[str(text) for text, _ in PLAIN])
def test_without_a_schema(text: Any, value: dict[str, Any]) -> None:
    read = parse_arguments(text)
    assert read == value
    assert [type(item) for item in read.values()] == [type(item) for item in value.values()]


@pytest.mark.parametrize(("text", "value"), TYPED, ids=[text for text, _ in TYPED])
def test_with_a_schema_its_names_and_types_are_used(text: str, value: dict[str, Any]) -> None:
    assert parse_arguments(text, SCHEMA) == value


@pytest.mark.parametrize(("text", "problem"), ERRORS, ids=[str(text) for text, _ in ERRORS])
def test_anything_else_is_an_error_that_names_the_problem(text: Any, problem: str) -> None:
    with pytest.raises(CallerError) as raised:
        parse_arguments(text)
    assert problem in str(raised.value)


def test_more_values_than_parameters() -> None:
    with pytest.raises(CallerError, match="5 values for 4 parameters"):
        parse_arguments("1, 2, 3, 4, 5", SCHEMA)


WORDS = st.text(alphabet="ab ,=()[]{}:.-", max_size=10)
PAIRS = st.dictionaries(st.from_regex(r"\A[a-z_]{1,6}\Z"), st.integers() | st.booleans() | WORDS | st.lists(WORDS), max_size=4)


@given(PAIRS)
def test_python_literals_round_trip(arguments: dict[str, Any]) -> None:
    assert parse_arguments(", ".join(f"{key}={value!r}" for key, value in arguments.items())) == arguments
    assert parse_arguments(", ".join(f"{key}={json.dumps(value)}" for key, value in arguments.items())) == arguments


@given(st.text(alphabet="ab1 ,=()[]{}:.-\"'\\\n*", max_size=30))
def test_no_text_raises_anything_else(text: str) -> None:
    for schema in (None, SCHEMA):
        with contextlib.suppress(ToolglotError):
            assert isinstance(parse_arguments(text, schema), dict)


@pytest.mark.parametrize("schema", [5, [], "object"])
def test_an_invalid_schema_is_reported(schema: Any) -> None:
    with pytest.raises(CallerError, match="schema: expected a JSON Schema, got"):
        parse_arguments("a=1", schema)
