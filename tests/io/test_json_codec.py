"""JSON encoding and decoding of values on which others raise."""

from __future__ import annotations

from math import inf, isnan
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.io import json_codec
from toolglot.io.json_codec import (
    JSON_ERRORS,
    decode,
    decode_in_parts,
    decode_lenient,
    decode_values,
    dumps,
    encode,
    encode_in_parts,
    loads_object,
    preview,
    replace_surrogate_escapes,
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
def test_any_value_can_be_encoded(value: Any, text: str) -> None:
    assert dumps(value) == text
    assert encode(value) == text.encode()


def test_what_some_readers_take_for_the_end_of_a_line_is_escaped() -> None:
    assert encode({"a\u2028": "b\u2029\x85c"}) == b'{"a\\u2028":"b\\u2029\\u0085c"}'
    assert dumps("a\u2028") == '"a\u2028"'


@given(st.lists(st.sampled_from(["\u2028", "\u2029", "\x85", "\u2027", "\xa8", "\xc2", "\u0405", "\ue028", "a"]), max_size=8))
def test_signs_that_share_bytes_with_the_end_of_a_line_stay(signs: list[str]) -> None:
    escaped = {"\u2028": "\\u2028", "\u2029": "\\u2029", "\x85": "\\u0085"}
    expected = "".join(escaped.get(sign, sign) for sign in signs)
    assert encode("".join(signs)) == f'"{expected}"'.encode()
    many = "\xe9\xa8\u2025\u0405" * 1100  # all bytes of each, over and over
    assert encode(many + "".join(signs)) == f'"{many}{expected}"'.encode()


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
def test_lenient_decoding(data: bytes | str, value: Any) -> None:
    assert decode_lenient(data) == value


def test_nan_is_decoded() -> None:
    assert isnan(decode_lenient(b"NaN"))


@pytest.mark.parametrize("data", [b"", b"{", b"hello", b"{'a': 1}", TOO_DEEP.encode()])
def test_invalid_json_raises_one_of_the_known_errors(data: bytes) -> None:
    with pytest.raises(JSON_ERRORS):
        decode_lenient(data)


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
def test_consecutive_values(data: bytes, found: list[Any]) -> None:
    assert decode_values(data)[0] == found


@pytest.mark.parametrize("depth", [300, 490, 500, 900, 1000, 5000, 100_000])
def test_values_never_raises_for_depth(depth: int) -> None:
    for tail in (b"", b"x", b"{}"):
        decode_values(b"[" * depth + b"]" * depth + tail)


def test_preview_is_short_and_never_raises() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert preview("x" * 300) == "x" * 197 + "..."
    assert preview({"a": 1}) == '{"a":1}'
    shown = preview(deep)  # from Python 3.14 on, msgspec encodes as deep as the stack reaches
    assert len(shown) <= 200
    assert "deeply" in shown or shown.startswith("[[[")
    while deep:  # unnested by hand: Python frees it recursively
        deep = deep[0]


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        (rb'"a\ud83d"', "a\ufffd"),
        (rb'"\uDE00b"', "\ufffdb"),
        (rb'"\ud83d\ude00"', "\U0001f600"),
        (rb'"\ud83d\ud83d\ude00\ude00"', "\ufffd\U0001f600\ufffd"),
        (rb'"\\ud83d"', r"\ud83d"),
        (rb'"\\\ud83d\n"', "\\\ufffd\n"),
    ],
)
def test_lone_surrogate_escapes_are_replaced(text: bytes, decoded: str) -> None:
    assert decode(replace_surrogate_escapes(text)) == decoded


def test_long_lists_are_decoded_and_encoded_in_parts() -> None:
    values = [{"at": at, "text": "é\u2028" * 40} for at in range(7000)]
    data = encode(values)
    assert len(data) > 512 * 1024
    assert decode_in_parts(data) == decode_in_parts(msgspec.Raw(data)) == values
    assert encode_in_parts({"a": values, "b": "x\u2028"}) == encode({"a": values, "b": "x\u2028"})
    with pytest.raises(JSON_ERRORS):
        decode_in_parts(data[:-1])
    with pytest.raises(JSON_ERRORS):
        decode_in_parts(data.replace("é".encode(), b"\xff\xff", 1))


def test_a_long_value_inside_others_is_decoded_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    value = [{"name": "f", "schema": {"allOf": [{"const": at, "title": "t" * 80} for at in range(7000)]}}]
    data, sizes = encode(value), list[int]()

    def counted(part: bytes | msgspec.Raw) -> Any:
        sizes.append(len(bytes(part)))
        return decode(part)

    monkeypatch.setattr(json_codec, "decode", counted)
    assert decode_in_parts(data) == value
    assert max(sizes) < 200 < len(data)
