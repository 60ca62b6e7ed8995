"""The end of a JSON value, compared with the standard library."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cutting import cut
from toolglot.io.json_scanner import JsonScanner

TEXTS = st.text(alphabet=st.sampled_from('a"\\{}[]:, \u00e9\U0001f600\n'), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)
CONTAINERS = st.dictionaries(TEXTS, VALUES, max_size=4) | st.lists(VALUES, max_size=4)


@given(CONTAINERS, st.text(max_size=8), st.booleans(), st.data())
def test_the_end_is_where_the_standard_library_finds_it(value: Any, tail: str, plain: bool, data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=plain)
    places = sorted(data.draw(st.sets(st.integers(0, len(text) + len(tail)), max_size=6)))
    whole = text + tail
    _, expected = json.JSONDecoder().raw_decode(whole)
    watcher, fed, end = JsonScanner(), 0, -1
    for piece in (whole[a:b] for a, b in zip([0, *places], [*places, len(whole)], strict=True)):
        end = watcher.feed(piece)
        if end >= 0:
            end += fed
            break
        fed += len(piece)
    assert end == expected
    assert watcher.done
    assert watcher.examined == expected


@pytest.mark.parametrize("size", [1, 2, 3, 64])
@pytest.mark.parametrize("filler", ["\\\\", "{}", '\\"', "x", "[["])
def test_every_character_is_examined_once(filler: str, size: int) -> None:
    text = json.dumps({"a": filler * 2000})
    watcher = JsonScanner()
    ends = [watcher.feed(piece) for piece in cut(text, size)]
    assert ends[-1] >= 0
    assert set(ends[:-1]) <= {-1}
    assert watcher.examined == len(text)


@pytest.mark.parametrize("text", ["", "{", '{"a', '{"a\\', '{"a":{}', '{"}', "[{}", '{"a":"\\"}'])
def test_an_incomplete_value_continues(text: str) -> None:
    for size in (1, 2, None):
        watcher = JsonScanner()
        assert [watcher.feed(piece) for piece in cut(text, size)].count(-1) == len(list(cut(text, size)))
        assert not watcher.done


def test_scanning_begins_at_start() -> None:
    watcher = JsonScanner()
    assert watcher.feed('}}{"a":1}{', 2) == 9
    assert watcher.examined == 7
