"""How much of an incomplete text must be buffered: exactly from where a marker may begin."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolglot.io.marker_search import Markers, MarkerUnion

WORDS = st.lists(st.text("ab<(", min_size=1, max_size=5), min_size=1, max_size=8, unique=True)


def kept_back(words: list[str], text: str) -> int:
    """The same by brute force."""
    beginnings = {word[:size] for word in words for size in range(1, len(word))}
    return next((at for at in range(1, len(text)) if text[at:] in beginnings), len(text))


@given(WORDS, st.text("ab<( ", max_size=20))
def test_a_prefix_is_buffered_from_its_first_character(words: list[str], text: str) -> None:
    text = "\n" + text
    assert Markers(words).buffer_from(text, 1) == kept_back(words, text)


@given(WORDS, st.text("ab<( ", min_size=1, max_size=6))
def test_the_character_before_the_text_is_not_scanned(words: list[str], text: str) -> None:
    assert Markers(words).buffer_from(text, 1) == kept_back(words, text)


@given(WORDS, WORDS, st.text("ab<( ", max_size=20))
def test_a_union_buffers_what_either_set_buffers(some: list[str], others: list[str], text: str) -> None:
    text = "\n" + text
    assert MarkerUnion(Markers(some), Markers(others)).buffer_from(text, 1) == kept_back(some + others, text)


def test_an_indent_is_buffered_with_what_may_follow_it() -> None:
    markers = Markers(["<x>"], ["```"])
    assert markers.buffer_from("\nsome text\n   ", 1) == len("\nsome text\n")
    assert markers.buffer_from("\nsome text\n   ``", 1) == len("\nsome text\n")
    assert markers.buffer_from("\nsome text   ", 1) == len("\nsome text   ")
