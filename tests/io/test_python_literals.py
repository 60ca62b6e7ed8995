"""Python-like values and calls: parsed as Python does, loosely where Python fails, and never with an exception."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cutting import SIZES, cut
from toolglot.io.python_literals import UnparsedText, read_call, read_call_loosely, read_value
from toolglot.io.python_scanner import PythonScanner, skip_value, string_end

VALUES: tuple[tuple[str, Any], ...] = (
    ("1", 1),
    ("-2.5e3", -2500.0),
    ("1_000", 1000),
    ("0x1F", 31),
    (".5", 0.5),
    ("True", True),
    ("null", None),
    ("[1, 'a', (2,), (3), ()]", [1, "a", [2], 3, []]),
    ("{'a': {1, 2}, b: None, 3: 4,}", {"a": [1, 2], "b": None, "3": 4}),
    ("{}", {}),
    ('"a" \'b\' + "c"', "abc"),
    ('r"\\n" "\\n"', "\\n\n"),
    ('"""a "b" \'\'\'c"""', "a \"b\" '''c"),
    (
        r'"\x41\u00e9\U0001F600\101\q\
"',
        "Aé😀A\\q",
    ),
    (r'"\ud83d\ude00"', "😀"),
    ('""', ""),
    ("'it\\'s'", "it's"),
    ("f(1, [2])", UnparsedText("f(1, [2])")),
    ("[1, # one\n 2]", [1, 2]),
)


@pytest.mark.parametrize(("text", "value"), VALUES, ids=[text for text, _ in VALUES])
def test_values(text: str, value: Any) -> None:
    assert read_value(text) == (value, len(text))
    assert read_value(f" {text}, x") == (value, len(text) + 1)


@pytest.mark.parametrize("text", ["", "x", "[1", "{'a' 1}", "[1 2]", "'a", "=", "[" * 200, "{" * 200, "(" * 10_000])
def test_invalid_values(text: str) -> None:
    assert read_value(text) is None


@pytest.mark.parametrize("text", ["9" * 5000, "1e999", "-" + "9" * 4500])
def test_numbers_out_of_range_are_rejected(text: str) -> None:
    assert read_value(text) is None


LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@given(LITERALS)
def test_python_repr_round_trips(value: Any) -> None:
    text = repr(value)
    assert read_value(text) == (value, len(text))
    assert ast.literal_eval(text) == value


@given(LITERALS)
def test_json_round_trips(value: Any) -> None:
    text = json.dumps(value)
    assert read_value(text) == (value, len(text))


@given(st.text("\"'\\nxu0 \n{}[](),:=", max_size=30), st.sampled_from(['"', "'", '"""', "'''"]))
def test_strings_are_parsed_as_python_parses_them(body: str, quote: str) -> None:
    text = f"{quote}{body}{quote}"
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return
    if isinstance(value, str):
        assert read_value(text) == (value, len(text))


CALLS: tuple[tuple[str, Any], ...] = (
    ("f()", ("f", [])),
    ('a.b-c(x=1, y="2")', ("a.b-c", [("x", 1), ("y", "2")])),
    ("f(1, *a)", None),
    ("f(1, k=[2])", ("f", [(None, 1), ("k", [2])])),
    ('f(**{"odd key": 1}, a=2)', ("f", [("odd key", 1), ("a", 2)])),
    ("f(a=g(b=(1, 2)))", ("f", [("a", UnparsedText("g(b=(1, 2))"))])),
    ("f(a=1, )", ("f", [("a", 1)])),
    ("f (a=1)", None),
    ("f(a=1", None),
    ("f(a=x)", None),
    ("1f()", None),
    ("f(a==1)", None),
)


@pytest.mark.parametrize(("text", "call"), CALLS, ids=[text for text, _ in CALLS])
def test_calls(text: str, call: Any) -> None:
    found = read_call(text)
    assert found == (None if call is None else (*call, len(text)))


LOOSE = (
    ('f(a="I "am" here", b=1)', [("a", 'I "am" here'), ("b", 1)], ("unescaped_quote",), True),
    ('f(a="say "hi", then go")', [("a", 'say "hi", then go')], ("unescaped_quote",), True),
    ("f(city=New York, n=2)", [("city", UnparsedText("New York")), ("n", 2)], ("unquoted_value",), True),
    ('f(a: 1, "b": 2)', [("a", 1), ("b", 2)], ("wrong_separator",), True),
    ("f(a=1 b=[1 2])", [("a", 1), ("b", [1, 2])], ("missing_comma",), True),
    ("f(a=1]", [("a", 1)], ("missing_closer",), True),
    ("f(a=[1)", [("a", [1])], ("missing_closer",), True),
    ("f(a=1", [("a", 1)], ("missing_closer",), False),
    ('f(a="x', [("a", "x")], ("missing_closer",), False),
    ("f(a=", [("a", "")], ("missing_value",), False),
    ("f(x, 10)", [(None, UnparsedText("x")), (None, 10)], ("unquoted_value",), True),
)


@pytest.mark.parametrize(("text", "pairs", "fixes", "closed"), LOOSE, ids=[one[0] for one in LOOSE])
def test_loose_calls(text: str, pairs: Any, fixes: tuple[str, ...], closed: bool) -> None:
    found = read_call_loosely(text)
    assert found is not None
    assert (found.pairs, found.fixes, found.closed) == (pairs, fixes, closed)
    assert [type(value) for _, value in found.pairs] == [type(value) for _, value in pairs] or not closed


@settings(max_examples=300)
@given(st.text("fab(){}[]\"'\\,:=1-.# \n*", max_size=40))
def test_nothing_raises(text: str) -> None:
    read_value(text)
    found = read_call_loosely("f(" + text)
    assert found is None or 0 < found.end <= len(text) + 2


# -- where things end

ENDS = (
    ('{"a": "}"} x', 10),
    ("{'a': '}'} x", 10),
    ('[f(a="I ") b" c")] x', 18),
    ('["""a"] """] x', 12),
    ('["I "am] x" y"] z', 15),
    ("[''] x", 4),
    ('[f(a="\\"]")] x', 12),
    ("[{1] x", 4),
    ("[1)] x", 4),
    ("[1", -1),
    ('["a]', -1),
    ('["a" ] x', 6),
)


@pytest.mark.parametrize(("text", "end"), ENDS, ids=[text for text, _ in ENDS])
@pytest.mark.parametrize("size", SIZES)
def test_the_end_of_a_value_as_it_streams(text: str, end: int, size: int | None) -> None:
    scan, at = PythonScanner(), 0
    for piece in cut(text, size):
        found = scan.feed(piece)
        if found >= 0:
            assert at + found == end
            break
        at += len(piece)
    else:
        assert end == -1
    assert scan.examined <= len(text)


@given(st.dictionaries(st.text(max_size=6), LITERALS, max_size=3), st.sampled_from([repr, json.dumps]), st.integers(1, 9))
def test_every_value_ends_where_it_ends(value: dict[str, Any], write: Any, size: int) -> None:
    text = write(value)
    scan, at = PythonScanner(), 0
    for piece in cut(text + " [x", size):
        found = scan.feed(piece)
        if found >= 0:
            break
        at += len(piece)
    assert at + found == len(text)
    assert skip_value(text + " x", 0, len(text) + 2) == (len(text), True)


@pytest.mark.parametrize(
    ("text", "end"), [('"a", b=1', 3), ('"a "b" c"', 9), ('"a', -1), ("'it's', 2", 6), ('"""a" b"""', 10), ('"a\\"', -1)]
)
def test_where_a_string_closes(text: str, end: int) -> None:
    assert string_end(text, 0, len(text)) == end
