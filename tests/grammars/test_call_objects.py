"""Calls in loose JSON: the members of a value, where it ends, and the calls in it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.grammars.call_objects import USUAL, Keys, calls_in
from toolglot.grammars.loose_json import LooseJson, Stops, members

STOPS = Stops(("</call>",))


def ends(text: str, size: int) -> tuple[int, bool]:
    """Where the value ends, and whether it is complete."""
    scanner, at, buffer = LooseJson(STOPS), 0, ""
    for start in range(0, len(text), size):
        buffer += text[start : start + size]
        length = scanner.feed(buffer, 0)
        at, buffer = at + length, buffer[length:]
        if scanner.whole or scanner.stopped:
            break
    return at, scanner.whole


ENDS = (
    ('{"a": "}"} x', '{"a": "}"}', True),
    ("{'a': '}'} x", "{'a': '}'}", True),
    ('{"a": "\\"}"} x', '{"a": "\\"}"}', True),
    ('{"a": "say "hi" now"} x', '{"a": "say "hi" now"}', True),
    ('{"a": "5" tall"} x', '{"a": "5" tall"}', True),
    ('{"it\'s": 1} x', '{"it\'s": 1}', True),
    ('[{"a": [1, 2}] x', '[{"a": [1, 2}]', True),
    ('[{"a": 1}}] x', '[{"a": 1}}]', True),
    ('[{"a": 1] x', '[{"a": 1]', True),
    ('{"a": "</call>"} x', '{"a": "</call>"}', True),
    ('{"a": 1</call>', '{"a": 1', False),
    ('{"a": [1, 2], "b": ', '{"a": [1, 2], "b": ', False),
)


@pytest.mark.parametrize(("text", "value", "whole"), ENDS)
@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_where_a_value_ends(text: str, value: str, whole: bool, size: int) -> None:
    assert ends(text, size) == (len(value), whole)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=4), VALUES, max_size=3), st.integers(1, 9), st.sampled_from([None, 2]))
def test_valid_json_ends_where_it_ends(value: dict[str, object], size: int, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    assert ends(text + ' {"b": 1}', size) == (len(text), True)


MEMBERS = (
    ('{"a": 1, "b": [1, 2]}', [("a", "1", True), ("b", "[1, 2]", True)]),
    ("{a: 'x, y', b: {}}", [("a", "'x, y'", True), ("b", "{}", True)]),
    ('{"a": "x" "b": {"c": 1}}', [("a", '"x"', True), ("b", '{"c": 1}', True)]),
    ('{{"a": 1}}', [("a", "1", True)]),
    ('[{"a": 1}{"b": 2}]', [("", '{"a": 1}', True), ("", '{"b": 2}', True)]),
    ('[{"a": 1}, {"b": 2', [("", '{"a": 1}', True), ("", '{"b": 2', False)]),
    ('{"a": {"b": 1}', [("a", '{"b": 1}', True)]),
    ('{"a": "cut', [("a", '"cut', False)]),
)


@pytest.mark.parametrize(("text", "expected"), MEMBERS)
def test_members(text: str, expected: list[tuple[str, str, bool]]) -> None:
    assert [(one.key, one.value, one.whole) for one in members(text)[0]] == expected


Row = tuple[str, list[tuple[str, str]]]
OBJECTS: tuple[Row, ...] = (
    ('{"name": "f", "arguments": {"a": 1}}', [("f", '{"a": 1}')]),
    ('{"parameters": {"a": 1}, "name": "f"}', [("f", '{"a": 1}')]),
    ('{"tool_name": "f", "args": {"a": 1}}', [("f", '{"a": 1}')]),
    ('{"function": "f", "arguments": {}}', [("f", "{}")]),
    ('{"type": "function", "function": {"name": "f", "arguments": "{}"}}', [("f", '"{}"')]),
    ('{"tool_calls": [{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]}', [("f", "{}"), ("g", "{}")]),
    ('{"name": "f"}', [("f", "{}")]),
    ('{"name": "f", "arguments": null}', [("f", "{}")]),
    ('{"name": "f", "a": 1, "b": "x"}', [("f", '{"a": 1, "b": "x"}')]),
    ('["{\\"name\\": \\"f\\", \\"arguments\\": {}}"]', [("f", "{}")]),
    ('["name": "f", "arguments": {"a": 1}}]', [("f", '{"a": 1}')]),
    ('{"name": "获取", "arguments": {"k": "\\u00e9"}}', [("获取", '{"k": "\\u00e9"}')]),
    ('{"name": {"x": 1}}', []),
    ('{"x": 1}', []),
    ('{"name": ""}', []),
    ("[1, 2]", []),
    ("[" * 100_000, []),
    ('{"a":' * 100_000, []),
)


@pytest.mark.parametrize(("text", "expected"), OBJECTS, ids=[row[0][:60] for row in OBJECTS])
def test_calls_in(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(call.name, call.arguments) for call in calls_in(text, USUAL, ended=True)] == expected


def test_the_name_may_be_the_key() -> None:
    found = calls_in('[{"f": {"a": 1}, "g": {}}]', Keys(name_is_key=True), ended=True)
    assert [(call.name, call.arguments) for call in found] == [("f", '{"a": 1}'), ("g", "{}")]


CUT = '{"id": "1", "name": "f", "arguments": {"a": "x"}}'


@pytest.mark.parametrize("at", range(len(CUT)))
def test_a_call_that_is_cut_off_is_not_closed(at: int) -> None:
    found = calls_in(CUT[:at], USUAL, ended=False)
    assert all(not call.closed or call.arguments == '{"a": "x"}' for call in found)
