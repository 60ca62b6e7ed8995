"""Tools that are near each other, or to a question that is not for them."""

from __future__ import annotations

import pytest

from tests.pipeline.test_gate import TEXT, due, tool, user
from toolglot.pipeline.gate import gate


def test_what_is_to_be_done_is_done_by_a_tool_that_speaks_of_it() -> None:
    light = tool("turn_off_light", "Turn off the light in a room.", "room", room=TEXT)
    words = "Book me a hotel room in Prague."
    assert due(words, light) == []
    assert gate((light,), user(words)).why == "gate: no tool fits the question: none is there to book"
    assert due(words, light, tool("reserve_room", "Reserve a room in a hotel.", "city", city=TEXT)) == [["reserve_room"]]


ON_AND_OFF = (
    tool("turn_on_light", "Turn on the light in a room.", "room", room=TEXT),
    tool("turn_off_light", "Turn off the light in a room.", "room", room=TEXT),
)


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        ("Turn off the lights in the kitchen, the office and the hall.", [["turn_off_light"]] * 3),
        ("Switch the kitchen light on, please.", [["turn_on_light"]]),
        ("Turn the light off in the office.", [["turn_off_light"]]),
    ],
)
def test_on_is_not_off(words: str, calls: list[list[str]]) -> None:
    assert due(words, *ON_AND_OFF) == calls


def test_what_is_joined_is_no_choice() -> None:
    tools = (
        tool("get_time", "Current time in a city.", "city", city=TEXT),
        tool("get_weather", "Current weather in a city.", "city", city=TEXT),
    )
    assert due("Tell me the current time and the current weather in Sydney.", *tools) == [["get_time"], ["get_weather"]]
