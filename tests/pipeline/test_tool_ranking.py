from __future__ import annotations

import pytest

from toolglot.core.messages import Message, Text, ToolCall
from toolglot.core.tools import Choice, Tool, Toolset
from toolglot.pipeline.request import tool_ranking
from toolglot.pipeline.request.tool_ranking import most_relevant

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
    assert [tool for tool in tools if tool in inside] == list(inside)  # in their order
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
def test_shared_words_decide(question: str, wanted: str) -> None:
    assert kept(1, user(question)) == [wanted]


def test_words_of_all_tools_count_little() -> None:
    tools = Toolset([*(Tool(f"t{at}", "the name of a thing for it to be in the list") for at in range(9)), Tool("weather")])
    assert kept(1, user("the name of the thing in the list: weather"), tools=tools) == ["weather"]


def test_newer_messages_count_more() -> None:
    assert kept(1, user("the weather", "no, a song")) == ["play_song"]
    assert kept(2, user("the weather", "no, a song")) == ["get_weather", "play_song"]


def test_named_and_called_tools_are_kept() -> None:
    messages = (*user("weather"), Message("assistant", (ToolCall("c", "play_song"),)), *user("weather"))
    assert kept(1, messages) == ["play_song"]
    assert kept(1, messages, Choice("required", ("send_mail",))) == ["send_mail"]


def test_without_shared_words_the_first_tools_are_kept() -> None:
    assert kept(2, ()) == ["get_weather", "searchFiles"]
    assert kept(5, ()) == list(NAMES)
    assert kept(0, ()) == []


def test_server_tools_are_kept_and_not_counted() -> None:
    tools = Toolset([*TOOLS, Tool("web_search", kind="server")])
    assert kept(1, user("weather"), tools=tools) == ["get_weather", "web_search"]


def tool(name: str, about: str = "", /, **parameters: object) -> Tool:
    return Tool(name, about, {"type": "object", "properties": parameters})


@pytest.mark.parametrize(
    "wanted",
    [
        tool("b", counselor={"type": "string"}),
        tool("b", kind={"type": "string", "description": "A counselor or another"}),
        tool("b", kind={"type": "string", "enum": ["Counselor", "Teacher"]}),
        tool("b", near={"type": "object", "properties": {"counselor": {"type": "string"}}}),
        tool("b", all={"type": "array", "items": {"anyOf": [{"description": "counselors"}]}}),
        tool("findCounselor"),
        tool("find_counselor"),
        Tool("find", namespace="counselor"),
    ],
)
def test_every_place_of_a_tool_counts(wanted: Tool) -> None:
    tools = Toolset([tool("a", "Finds people", name={"type": "string"}), wanted])
    assert kept(1, user("Is there a counselor nearby?"), tools=tools) == [wanted.name]


def test_a_parameter_may_have_any_name() -> None:
    """`description`, `enum` and `properties` are keywords only where a schema has them."""
    odd = tool("b", description={"type": "string"}, enum={"type": "string"}, properties={"type": "object"})
    assert kept(1, user("of which type?"), tools=Toolset([tool("a"), odd])) == ["a"]
    assert kept(1, user("its properties"), tools=Toolset([tool("a"), odd])) == ["b"]


def test_a_name_counts_more_than_a_parameter() -> None:
    tools = Toolset([tool("a", "", song={"type": "string"}), tool("song", "", a={"type": "string"})])
    assert kept(1, user("a song"), tools=tools) == ["song"]


def test_stop_words_do_not_count() -> None:
    tools = Toolset([tool("a", "what is the one that you would like"), tool("b", "the weather")])
    assert kept(1, user("what would the weather be like"), tools=tools) == ["b"]


def test_only_the_start_of_long_texts_counts() -> None:
    filler = "x " * 5000
    assert kept(1, user(f"song {filler}")) == ["play_song"]
    assert kept(1, user(f"{filler} song")) == ["get_weather"]  # the first: no word is shared
    tools = Toolset(
        [tool("a"), tool("b", filler + " song"), tool("c", p={"description": filler}, q={"description": "song " * 5000})]
    )
    assert kept(1, user("song"), tools=tools) == ["a"]


def test_the_index_is_built_once_for_a_toolset(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[int] = []
    index = tool_ranking._index

    def counted(tools: tuple[Tool, ...], key: str) -> dict[str, list[tuple[int, float]]]:
        built.append(len(tools))
        return index(tools, key)

    monkeypatch.setattr(tool_ranking, "_index", counted)
    tools = Toolset(TOOLS)
    for question in ("weather", "song", "files"):
        kept(1, user(question), tools=tools)
    assert built == [len(TOOLS)]
