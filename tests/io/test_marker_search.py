"""Many literals at once: shared prefixes and the search by names find what a flat list finds."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from toolglot.io.marker_search import Markers, MarkerUnion, NamedForm, NamedMarkers, _either

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


NAMES = {"get": "get", "get_time": "get_time", "get\\_time": "get_time", "a.b": "a.b", "x": "x", "\u00fc/x": "\u00fc/x"}
FORMS = [
    NamedForm("", "(", word=True),
    NamedForm("functions.", "(", exact=True, word=True),
    NamedForm("<", ">", exact=True),
    NamedForm("<", " />", exact=True),
    NamedForm("", "\n{", at_line_start=True),
    NamedForm("", "", at_line_start=True),
    NamedForm("**", "", exact=True, at_line_start=True),
    NamedForm("(", ""),
]
NAMELESS = ["<call>", "[X]"]


FIRST_WORD = re.compile(r"[A-Za-z0-9_]+|[^A-Za-z0-9_]")


def in_whole_words(text: str, at: int, form: NamedForm, name: str) -> bool:
    """Whether the name's first word is not a part of a longer one."""
    start = at + len(form.before)
    end = start + len(FIRST_WORD.findall(name)[0])
    return not any(re.fullmatch("[A-Za-z0-9_]{2}", text[edge - 1 : edge + 1]) for edge in (start, end))


def by_trying(text: str, forms: set[NamedForm]) -> tuple[int, str] | None:
    for at in range(1, len(text)):
        alone = [Markers([marker]).find(text, at) for marker in NAMELESS]
        for form in forms:
            for name in NAMES:
                marker = form.before + name + form.after
                lines, words = ([marker] * form.at_line_start, [marker] * (form.word and not form.at_line_start))
                found = Markers([] if lines or words else [marker], lines, words).find(text, at)
                if marker in written(form) and found and in_whole_words(text, found[0], form, name):
                    alone.append(found)
        here = [found for found in alone if found is not None and found[0] == at]
        if here:
            return max(here, key=lambda found: len(found[1]))
    return None


def written(form: NamedForm) -> set[str]:
    return {form.before + name + form.after for name in NAMES if NAMES[name] == name or not form.exact}


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
    "\\_time",
    "**",
    "\u00fc/x",
)


@given(st.lists(st.sampled_from(PIECES), max_size=14), st.sets(st.sampled_from(FORMS), min_size=1))
def test_a_search_by_names_finds_what_a_search_by_markers_finds(pieces: list[str], forms: set[NamedForm]) -> None:
    text = "\n" + "".join(pieces)
    line_start = set().union(*(written(form) for form in forms if form.at_line_start))
    words = set().union(*(written(form) for form in forms if form.word))
    anywhere = set(NAMELESS).union(*map(written, forms)) - line_start - words
    plain = Markers(anywhere, line_start, words)
    joined = MarkerUnion(Markers(NAMELESS), NamedMarkers(NAMES, forms))
    assert joined.find(text, 1) == by_trying(text, forms)
    assert joined.buffer_from(text, 1) == plain.buffer_from(text, 1)
    for at in range(1, len(text)):
        assert joined.is_prefix(text, at) == plain.is_prefix(text, at)


@given(WORDS, WORDS, TEXT)
def test_two_sets_find_what_one_of_both_finds(some: list[str], others: list[str], text: str) -> None:
    """With and without the signs that most markers contain, few and many."""
    text = "\n" + text
    assert MarkerUnion(Markers(some), Markers(others)).find(text, 1) == Markers([*some, *others]).find(text, 1)
