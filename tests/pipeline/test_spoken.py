from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from toolglot.core.tools import Tool, Toolset
from toolglot.pipeline.spoken import Spoken

TOOLS = Toolset([Tool("get"), Tool("history.get"), Tool("would", namespace="crm")])


def lately(*pieces: str, tools: Toolset = TOOLS) -> str:
    spoken = Spoken(tools)
    for piece in pieces:
        spoken.add(piece)
    return spoken.lately()


def test_names_of_tools_say_nothing_of_the_past() -> None:
    assert lately("I call history.get and get now") == "I call it and it now"
    assert lately("crm__would, would") == "it, would"
    assert lately("Don't forget: together we get_there") == "Don't forget: together we get_there"
    assert lately("history.get", tools=Toolset()) == "history.get"


def test_only_the_last_blocks_are_kept() -> None:
    text = "x" * 4096 + "y" * 4096 + "z" * 10
    assert lately(text) == "y" * 4096 + "z" * 10
    assert lately("x" * 8191) == "x" * 8191


def test_a_code_block_that_stands_open_is_remembered() -> None:
    assert lately("```\n" + "x" * 9000).startswith("```\n")
    assert lately("```\n```\n" + "x" * 9000).startswith("x")


def test_what_was_said_is_seen_at_once() -> None:
    spoken = Spoken(TOOLS)
    spoken.add("a ")
    assert spoken.lately() == "a "
    spoken.add("get")
    assert spoken.lately() == "a it"


@given(st.lists(st.integers(0, 12_000), max_size=8), st.sampled_from(["words and ```", "get ", "``` get `` `"]))
def test_what_is_remembered_does_not_depend_on_how_it_came(cuts: list[int], piece: str) -> None:
    text = piece * 1000
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    assert lately(*(text[a:b] for a, b in pairwise(places))) == lately(text)
