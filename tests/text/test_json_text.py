"""JSON in and out, where others would raise."""

from __future__ import annotations

from math import inf, isnan
from typing import Any

import pytest

from toolglot.text.json_text import (
    BadJson,
    decode,
    decode_leniently,
    dumps,
    encode,
    loads_object,
    shown,
    values,
    without_halves,
)

TOO_DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, 2.5, None, True], "b": "\u00fc"}, '{"a":[1,2.5,null,true],"b":"\u00fc"}'),
        (123456789012345678901234567890, "123456789012345678901234567890"),
        ({"a\ud800": ["b\udfff"]}, '{"a\ufffd":["b\ufffd"]}'),
        ("\ud83d", '"\ufffd"'),
    ],
)
def test_anything_can_be_written(value: Any, text: str) -> None:
    assert dumps(value) == text
    assert encode(value) == text.encode()


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a": 1}', {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'{"a": "x\ny\tz"}', {"a": "x\ny\tz"}),
        (b'{"a": "\\ud800"}', {"a": "\ufffd"}),
        (b'{"a": "\xff"}', {"a": "\ufffd"}),
        (b'{"a": 1e999}', {"a": inf}),
        (b"12345678901234567890123", 12345678901234567890123),
    ],
)
def test_sloppy_json_is_read(data: bytes | str, value: Any) -> None:
    assert decode_leniently(data) == value


def test_nan_is_read() -> None:
    assert isnan(decode_leniently(b"NaN"))


@pytest.mark.parametrize("data", [b"", b"{", b"hello", b"{'a': 1}", TOO_DEEP.encode()])
def test_what_is_no_json_is_one_of_the_known_errors(data: bytes) -> None:
    with pytest.raises(BadJson):
        decode_leniently(data)


@pytest.mark.parametrize(
    ("text", "value"),
    [('{"a": 1}', {"a": 1}), (" {} ", {}), ("[]", None), ("1", None), ("", None), ("{", None), ('{"a": 1} x', None)],
)
def test_loads_object(text: str, value: Any) -> None:
    assert loads_object(text) == value


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b'{"a": 1}', [{"a": 1}]),
        (b'{"a": 1}{"a": 2}', [{"a": 1}, {"a": 2}]),
        (b' {"a": 1},\r\n {"a": 2}\n', [{"a": 1}, {"a": 2}]),
        (b'{"a": "x\ny"} {"a": "\\udc00"}', [{"a": "x\ny"}, {"a": "\ufffd"}]),
        (b'{"a": 1} and {"a": 2}', [{"a": 1}]),
        (b"", []),
        (b"  ", []),
        (b"<html>", []),
    ],
)
def test_values_that_stand_one_after_another(data: bytes, found: list[Any]) -> None:
    assert values(data)[0] == found


@pytest.mark.parametrize("depth", [300, 490, 500, 900, 1000, 5000, 100_000])
def test_values_never_raises_for_depth(depth: int) -> None:
    for tail in (b"", b"x", b"{}"):
        values(b"[" * depth + b"]" * depth + tail)


def test_shown_is_short_and_never_raises() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert shown("x" * 300) == "x" * 197 + "..."
    assert shown({"a": 1}) == '{"a":1}'
    assert "deeply" in shown(deep)
    while deep:  # taken apart by hand: Python's own way is recursive
        deep = deep[0]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (rb'"a\ud83d"', "a\ufffd"),
        (rb'"\uDE00b"', "\ufffdb"),
        (rb'"\ud83d\ude00"', "\U0001f600"),
        (rb'"\ud83d\ud83d\ude00\ude00"', "\ufffd\U0001f600\ufffd"),
        (rb'"\\ud83d"', r"\ud83d"),
        (rb'"\\\ud83d\n"', "\\\ufffd\n"),
    ],
)
def test_half_a_letter_is_no_reason_to_refuse_the_rest(text: bytes, told: str) -> None:
    assert decode(without_halves(text)) == told
