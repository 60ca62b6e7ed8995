"""Many literals at once: the pattern that shares beginnings finds what a flat list finds, and so does the search by names."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from toolglot.text.markers import Joined, Markers, NamedMarkers, _either

WORDS = st.lists(st.text("ab<(", min_size=1, max_size=5), min_size=1, max_size=10, unique=True)
TEXT = st.text("ab<( \n_", max_size=60)


@given(WORDS, TEXT)
def test_shared_beginnings_find_what_a_flat_list_finds(words: list[str], text: str) -> None:
    flat = re.compile("|".join(map(re.escape, sorted(words, key=len, reverse=True))))
    shared = re.compile(_either(sorted(words)))
    assert [found.span() for found in shared.finditer(text)] == [found.span() for found in flat.finditer(text)]


@given(WORDS, st.text("ab<(", min_size=1, max_size=5))
def test_what_may_go_on_is_a_true_beginning(words: list[str], text: str) -> None:
    beginnings = {word[:size] for word in words for size in range(1, len(word))}
    assert Markers(words).may_go_on(text, 0) == (text in beginnings)


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
    joined = Joined(Markers(*Markers(()).split(named)), named)
    assert joined.find(text, 1) == plain.find(text, 1)
    assert joined.held(text, 1) == plain.held(text, 1)
    for at in range(1, len(text)):
        assert joined.may_go_on(text, at) == plain.may_go_on(text, at)


@given(WORDS, WORDS, TEXT)
def test_two_sets_find_what_one_of_both_finds(some: list[str], others: list[str], text: str) -> None:
    """With and without the signs that most markers hold, few and many."""
    text = "\n" + text
    assert Joined(Markers(some), Markers(others)).find(text, 1) == Markers([*some, *others]).find(text, 1)
