"""What a text that breaks off must keep back: exactly from where a marker may have begun."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolglot.text.markers import Joined, Markers

WORDS = st.lists(st.text("ab<(", min_size=1, max_size=5), min_size=1, max_size=8, unique=True)


def kept_back(words: list[str], text: str) -> int:
    """By trying every place."""
    beginnings = {word[:size] for word in words for size in range(1, len(word))}
    return next((at for at in range(1, len(text)) if text[at:] in beginnings), len(text))


@given(WORDS, st.text("ab<( ", max_size=20))
def test_a_beginning_is_held_from_its_first_character(words: list[str], text: str) -> None:
    text = "\n" + text
    assert Markers(words).held(text, 1) == kept_back(words, text)


@given(WORDS, st.text("ab<( ", min_size=1, max_size=6))
def test_what_stands_before_the_text_begins_nothing(words: list[str], text: str) -> None:
    assert Markers(words).held(text, 1) == kept_back(words, text)


@given(WORDS, WORDS, st.text("ab<( ", max_size=20))
def test_two_sets_hold_what_either_holds(some: list[str], others: list[str], text: str) -> None:
    text = "\n" + text
    assert Joined(Markers(some), Markers(others)).held(text, 1) == kept_back(some + others, text)


def test_an_indent_is_held_with_what_may_follow_it() -> None:
    markers = Markers(["<x>"], ["```"])
    assert markers.held("\nsome text\n   ", 1) == len("\nsome text\n")
    assert markers.held("\nsome text\n   ``", 1) == len("\nsome text\n")
    assert markers.held("\nsome text   ", 1) == len("\nsome text   ")
