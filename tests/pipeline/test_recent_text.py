from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from toolglot.core.tools import Tool, Toolset
from toolglot.pipeline.response.recent_text import RecentText

TOOLS = Toolset([Tool("get"), Tool("history.get"), Tool("would", namespace="crm")])


def recent_text(*pieces: str, tools: Toolset = TOOLS) -> str:
    recent = RecentText(tools)
    for piece in pieces:
        recent.add(piece)
    return recent.text()


def test_tool_names_are_replaced() -> None:
    assert recent_text("I call history.get and get now") == "I call it and it now"
    assert recent_text("crm__would, would") == "it, would"
    assert recent_text("Don't forget: together we get_there") == "Don't forget: together we get_there"
    assert recent_text("history.get", tools=Toolset()) == "history.get"


def test_only_the_last_blocks_are_kept() -> None:
    text = "x" * 4096 + "y" * 4096 + "z" * 10
    assert recent_text(text) == "y" * 4096 + "z" * 10
    assert recent_text("x" * 8191) == "x" * 8191


def test_an_open_code_block_is_remembered() -> None:
    assert recent_text("```\n" + "x" * 9000).startswith("```\n")
    assert recent_text("```\n```\n" + "x" * 9000).startswith("x")


def test_new_text_is_included_at_once() -> None:
    recent = RecentText(TOOLS)
    recent.add("a ")
    assert recent.text() == "a "
    recent.add("get")
    assert recent.text() == "a it"


@given(st.lists(st.integers(0, 12_000), max_size=8), st.sampled_from(["words and ```", "get ", "``` get `` `"]))
def test_the_result_does_not_depend_on_chunk_sizes(cuts: list[int], piece: str) -> None:
    text = piece * 1000
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    assert recent_text(*(text[a:b] for a, b in pairwise(places))) == recent_text(text)
