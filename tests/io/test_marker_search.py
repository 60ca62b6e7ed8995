"""Many literals at once: shared prefixes and the search by names find what a flat list finds."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from toolglot.io.marker_search import Markers, MarkerUnion, NamedMarkers, _either

WORDS = st.lists(st.text("ab<(", min_size=1, max_size=5), min_size=1, max_size=10, unique=True)
TEXT = st.text("ab<( \n_", max_size=60)


@given(WORDS, TEXT)
def test_shared_prefixes_match_what_a_flat_list_matches(words: list[str], text: str) -> None:
    flat = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))
    shared = re.compile(_either(sorted(words)))
    assert [found.span() for found in shared.finditer(text)] == [found.span() for found in flat.finditer(text)]


@given(WORDS, st.text("ab<(", min_size=1, max_size=5))
def test_is_prefix_only_for_proper_prefixes(words: list[str], text: str) -> None:
    beginnings = {word[:size] for word in words for size in range(1, len(word))}
    assert Markers(words).is_prefix(text, 0) == (text in beginnings)


NAMES = ("get", "get_time", "a.b")
FORMS = [form.format(name) for name in NAMES for form in ("{}(", "functions.{}(", "<{}>", "{}\n{{", "<{} />")]
NAMELESS = ["<call>", "[X]"]
PIECES = (
    "get",
    "_time",
    "a.b",
    "(",
    "functions.",
    "<",
    ">",
    "\n",
    "{",
    " ",
    " />",
    "<call>",
    "[X]",
    "x",
    ".",
    "<get",
    "get_time(",
)


@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_a_search_by_names_finds_what_a_search_by_markers_finds(pieces: list[str]) -> None:
    text = "\n" + "".join(pieces)
    line_start = {form for form in FORMS if form.endswith("{")}
    words = {form for form in FORMS if form.endswith("(")}
    anywhere = {*FORMS, *NAMELESS} - line_start - words
    plain = Markers(anywhere, line_start, words)
    named = NamedMarkers(NAMES, anywhere, line_start, words)
    assert named.without_name == set(NAMELESS)
    joined = MarkerUnion(Markers(*Markers(()).split(named)), named)
    assert joined.find(text, 1) == plain.find(text, 1)
    assert joined.buffer_from(text, 1) == plain.buffer_from(text, 1)
    for at in range(1, len(text)):
        assert joined.is_prefix(text, at) == plain.is_prefix(text, at)


@given(WORDS, WORDS, TEXT)
def test_two_sets_find_what_one_of_both_finds(some: list[str], others: list[str], text: str) -> None:
    """With and without the signs that most markers contain, few and many."""
    text = "\n" + text
    assert MarkerUnion(Markers(some), Markers(others)).find(text, 1) == Markers([*some, *others]).find(text, 1)
