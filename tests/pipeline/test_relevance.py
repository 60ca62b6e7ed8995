from __future__ import annotations

import pytest

from toolglot.core.messages import Message, Text, ToolCall
from toolglot.core.tools import Choice, Tool, Toolset
from toolglot.pipeline.relevance import most_relevant

NAMES = {
    "get_weather": "The weather of a place",
    "searchFiles": "Find a file by the name of it",
    "list_cities": "All places of a country",
    "send_mail": "Send a message to a person",
    "play_song": "Play the music of an artist",
}
TOOLS = Toolset(Tool(name, about) for name, about in NAMES.items())


def user(*texts: str) -> tuple[Message, ...]:
    return tuple(Message("user", (Text(text),)) for text in texts)


def kept(most: int, messages: tuple[Message, ...], choice: Choice | None = None, tools: tuple[Tool, ...] = TOOLS) -> list[str]:
    inside, outside = most_relevant(tools, most, messages, choice)
    assert len(inside) + len(outside) == len(tools)
    assert [tool for tool in tools if tool in inside] == list(inside)  # their order stays
    return [tool.name for tool in inside]


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What's the WEATHER like?", "get_weather"),
        ("which files did I change", "searchFiles"),
        ("Name a city in the south of the country", "list_cities"),
        ("emailing or mailing them", "send_mail"),
        ("Which artists sing this song?", "play_song"),
    ],
)
def test_words_in_common_decide(question: str, wanted: str) -> None:
    assert kept(1, user(question)) == [wanted]


def test_words_that_all_tools_share_tell_nothing() -> None:
    tools = Toolset([*(Tool(f"t{at}", "the name of a thing for it to be in the list") for at in range(9)), Tool("weather")])
    assert kept(1, user("the name of the thing in the list: weather"), tools=tools) == ["weather"]


def test_what_was_said_last_counts_most() -> None:
    assert kept(1, user("the weather", "no, a song")) == ["play_song"]
    assert kept(2, user("the weather", "no, a song")) == ["get_weather", "play_song"]


def test_named_and_called_tools_stay() -> None:
    messages = (*user("weather"), Message("assistant", (ToolCall("c", "play_song"),)), *user("weather"))
    assert kept(1, messages) == ["play_song"]
    assert kept(1, messages, Choice("required", ("send_mail",))) == ["send_mail"]


def test_without_a_hint_the_first_stay_and_all_where_there_is_room() -> None:
    assert kept(2, ()) == ["get_weather", "searchFiles"]
    assert kept(5, ()) == list(NAMES)
    assert kept(0, ()) == []


def test_a_vendor_s_own_are_kept_and_not_counted() -> None:
    tools = Toolset([*TOOLS, Tool("web_search", kind="server")])
    assert kept(1, user("weather"), tools=tools) == ["get_weather", "web_search"]
