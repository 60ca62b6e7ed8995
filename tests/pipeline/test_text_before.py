from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.pipeline.response.text_before import Fence, Place, TextBefore


def place(*pieces: str) -> Place:
    before = TextBefore()
    for piece in pieces:
        before.add(piece)
    return before.place()


@pytest.mark.parametrize(
    ("text", "fence"),
    [
        ("```json\n", Fence("```", "json")),
        ("a\n  ~~~~ Python x\n\n", Fence("~~~~", "python x", above="a")),
        ("b" * 500 + ":\n\n```\n", Fence("```", above=":")),
        ("- ```\n", Fence("```")),
        ("```\nx\n", Fence("```", only_calls=False)),
        ("```\nx", Fence("```", only_calls=False)),
        ("````\n```\n", Fence("````", only_calls=False)),  # a shorter fence does not close it
        ("```\nx\n```\n", None),
        ("```\nx\n````  \n", None),
        ("~~~\n```\n~~~\n", None),
        ("see ``` here\n", None),
        ("``` a `b` c\n", None),  # a code span, not a fence
        ("```json", None),  # its line has not ended
    ],
)
def test_fences(text: str, fence: Fence | None) -> None:
    assert place(text).fence == fence


@pytest.mark.parametrize(
    ("text", "inside"),
    [("`", True), ("``", True), ("`` ` ", True), ("`a` b", False), ("``a`` b", False), ("`a\nb", False), ("", False)],
)
def test_code_spans(text: str, inside: bool) -> None:
    assert place(text).in_code_span is inside


@pytest.mark.parametrize(
    ("text", "inside"), [("<!-- a", True), ("<!-- a --> b", False), ("<!-- a --> b <!--", True), ("<!-", False)]
)
def test_comments(text: str, inside: bool) -> None:
    assert place(text).in_comment is inside


@pytest.mark.parametrize(
    ("text", "inside"),
    [("> a\n", True), (">>> f()\nb\n", True), ("> a\n\n", False), ("> a\n \nb\n", False), ("a > b\n", False), ("", False)],
)
def test_a_quotation_lasts_for_its_paragraph(text: str, inside: bool) -> None:
    assert place(text).in_quotation is inside


def test_lines() -> None:
    found = place(" \nabove \n\n  here:")
    assert (found.first, found.above, found.line, found.last, found.starts_line) == (False, "above", "  here:", ":", False)
    assert place(" \n ").first
    assert place("a\n  ").starts_line
    assert not place(" " * 500 + "a").starts_line


def test_a_call_separates_what_is_around_it() -> None:
    before = TextBefore()
    before.add('"')
    before.add_call()
    assert before.place().last == ""


@given(
    st.lists(st.integers(0, 12_000), max_size=8), st.sampled_from(["`` ` x ", "\n```\n", "\n~~~ a\n<!-", "--> <!-- `", "- \n"])
)
def test_the_result_does_not_depend_on_chunk_sizes(cuts: list[int], piece: str) -> None:
    text = piece * 1001
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    assert place(*(text[a:b] for a, b in pairwise(places))) == place(text)
