"""Values that nobody said, alone and beside calls that were said in full."""

from __future__ import annotations

from typing import Any

from tests.pipeline.doubting import a_tool, said
from toolglot.core.messages import ToolCall
from toolglot.pipeline.doubt import Doubts
from toolglot.text.json_text import dumps

TRIP = (
    a_tool("find_restaurants", "Find restaurants.", cuisine="Kind of food", city="City"),
    a_tool("book_restaurant", "Book a table.", restaurant="Its name", date="YYYY-MM-DD"),
    a_tool("search_recipes", "Find recipes.", ingredients={"type": "array", "items": {"type": "string"}}),
    a_tool("get_price", "Price of a share.", ticker="Its ticker"),
    a_tool("get_population", "How many live there.", area="Name of the area", kind="city, state or country"),
    a_tool("get_route", "The way from one place to another.", start="Place", end="Place"),
)


def strays(asked: str, *calls: tuple[str, dict[str, Any]]) -> list[str]:
    made = [ToolCall(f"c{at}", name, dumps(held)) for at, (name, held) in enumerate(calls)]
    return list(Doubts(said(asked), TRIP).strays(made))


def test_what_is_made_up_beside_a_call_that_was_said_in_full() -> None:
    asked = "Find a French restaurant in Lyon for our anniversary."
    found = ("find_restaurants", {"cuisine": "French", "city": "Lyon"})
    booked = ("book_restaurant", {"restaurant": "Le Jules Verne", "date": "2023-10-15"})
    cooked = ("search_recipes", {"ingredients": ["eggs", "flour"]})
    assert strays(asked, found, booked, cooked) == ["c1", "c2"]
    assert strays(asked, booked, cooked) == []  # nothing tells which of them is meant
    assert strays(asked, booked) == []
    assert strays(asked, found, ("search_recipes", {"ingredients": ["eggs", "French bread"]})) == []
    assert strays("Prices of Apple and of IBM?", ("get_price", {"ticker": "IBM"}), ("get_price", {"ticker": "AAPL"})) == []
    people = [("get_population", {"area": area, "kind": kind}) for area, kind in (("Ohio", "state"), ("Peru", "country"))]
    assert strays("How many live in the state of Ohio and in Peru?", *people) == []  # one of those that the tool speaks of


def test_two_places_that_are_the_same_and_that_nobody_named() -> None:
    def of(asked: str, start: str, end: str) -> str | None:
        found = Doubts(said(asked), TRIP).of(ToolCall("c", "get_route", dumps({"start": start, "end": end})))
        return None if found is None else found[1]

    asked = "What is the way from the Eiffel Tower to the Louvre?"
    told = of(asked, "Paris, France", "Paris, France")
    assert told is not None
    assert told.startswith("start and end both are 'Paris, France', and nobody has said so")
    assert of(asked, "Eiffel Tower", "Louvre") is None
    assert of("What is the way from Lyon to Lyon?", "Lyon", "Lyon") is None
