from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.pipeline.answering import leaves, stream, text
from toolglot.core.fold import fold
from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.core.request import Request
from toolglot.core.tools import Choice, Tool, Toolset
from toolglot.pipeline.fit import fit
from toolglot.pipeline.gate import gate
from toolglot.pipeline.plan import Plan
from toolglot.pipeline.route import resolve
from toolglot.schema.check import checker


def tool(called: str, about: str, required: str = "", **properties: Any) -> Tool:
    return Tool(called, about, {"type": "object", "properties": properties, "required": required.split()})


TEXT = {"type": "string"}
WEATHER = tool("get_weather", "Get the current weather in a city.", "city", city=TEXT)
FORECAST = tool("get_forecast", "The forecast of the coming days.", "city days", city=TEXT, days={"type": "integer"})
READ = tool("read_file", "Read a text file.", "path", path=TEXT)
DELETE = tool("delete_file", "Delete a file for good.", "path", path=TEXT)
ADDRESS = {"type": "string", "description": "E-mail address"}
MAIL = tool("send_email", "Send an e-mail.", "to body", to=ADDRESS, body=TEXT)
WHERE = tool("get_location", "Find out in which city the user is now.")
PERSON = tool("find_contact", "Look someone up in the address book.", "name", name=TEXT)
ROOMS, STATES = ({"type": "string", "enum": options} for options in (["kitchen", "office"], ["on", "off"]))
LIGHT = tool("set_light", "Switch the light of a room.", "room state", room=ROOMS, state=STATES)
ALL = (WEATHER, FORECAST, READ, DELETE, MAIL, WHERE, PERSON, LIGHT)


def user(words: str) -> tuple[Message, ...]:
    return (Message("user", (Text(words),)),)


def due(words: str, *tools: Tool, **how: Any) -> list[list[str]]:
    found = gate(tools or ALL, user(words), **how)
    assert found.why.startswith("gate: ")
    return [[one.tool.name for one in options] for options in found.calls]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("What's the weather in Rome?", "get_weather"),
        ("The forecast for Rome for 3 days, please", "get_forecast"),
        ("Show me what's in docs/a.md", "read_file"),
        ("Delete notes.txt for good", "delete_file"),
        ('Send an e-mail to a@b.example: "See you."', "send_email"),
        ("Turn on the kitchen light", "set_light"),
        ("Do I have a number for Ingrid Solberg?", "find_contact"),
    ],
)
def test_a_call_is_due(words: str, name: str) -> None:
    calls = due(words)
    assert len(calls) == 1
    assert calls[0][0] == name


@pytest.mark.parametrize(
    "words",
    ["Hello!", "Thanks a lot", "What's the capital of Australia?", "Send an email.", "Start the robot lawnmower.",
     "Tell me a joke", "What is a file, in plain words?", "Write me a poem", "", "…"],
)  # fmt: skip
def test_no_call_is_due(words: str) -> None:
    assert due(words, READ, DELETE, MAIL, LIGHT) == []


def test_a_greeting_is_answered_in_words_whatever_it_names() -> None:
    assert due("Thanks for the weather in Rome", WEATHER) == []
    assert due("I want the weather in Rome", WEATHER) == [["get_weather"]]
    assert due("Hey, what's the weather in Rome?", WEATHER) == [["get_weather"]]
    assert due("Thanks, and the weather in Rome?", WEATHER) == [["get_weather"]]


def test_a_memory_is_no_question() -> None:
    assert due("When I lived in Lisbon I loved the weather there.", WEATHER) == []


def test_what_is_asked_about_may_be_looked_up() -> None:
    word = tool("lookup_word", "Look a word up in the dictionary.", "word", word=TEXT)
    assert due("What does defenestration mean?", word) == [["lookup_word"]]
    assert due("What does defenestration mean?", READ) == []


def test_a_short_question_goes_on_from_the_one_before() -> None:
    before = (*user("What's the weather in Rome?"), Message("assistant", (Text("Sunny."),)))
    found = gate((WEATHER,), (*before, *user("And in Naples?")))
    assert found.calls[0][0].filled.schema["properties"]["city"]["enum"] == ["Naples"]
    assert due("And in Naples?", WEATHER) == []


def test_one_common_word_is_not_enough() -> None:
    note = tool("add_memo", "Keep it in mind.", "text", text=TEXT)
    assert due("I try to keep calm", note) == []
    assert due("Keep a memo that I was calm", note) == [["add_memo"]]


def test_a_required_call_is_due_whatever_is_said() -> None:
    assert len(due("Hello!", must=True)) == 1
    assert due("Hello!", READ, must=True) == [["read_file"]]


@pytest.mark.parametrize(
    ("words", "calls"),
    [
        ("How's the weather in Oslo, in Madrid and in Cairo?", [["get_weather"]] * 3),
        ("Show me a.md, then delete b.txt", [["read_file"], ["delete_file"]]),
        ("Turn on the light in the kitchen and in the office", [["set_light"]] * 2),
        ("Weather in Naples, Florida", [["get_weather"]]),
    ],
)
def test_several_calls(words: str, calls: list[list[str]]) -> None:
    assert due(words, WEATHER, READ, DELETE, LIGHT) == calls


def held(words: str, *tools: Tool) -> list[dict[str, Any]]:
    """Of each call that is due what its parameters may be."""
    calls = gate(tools, user(words)).calls
    return [{name: one.get("enum") for name, one in options[0].filled.schema["properties"].items()} for options in calls]


def test_what_a_part_lacks_is_as_before() -> None:
    words = "The forecast for Rome for 3 days, and the same for Oslo"
    assert held(words, FORECAST) == [{"city": ["Rome"], "days": [3]}, {"city": ["Oslo"], "days": [3]}]
    paint = tool("paint_walls", "Paint so many walls.", "count how", count={"type": "integer"}, how=TEXT)
    assert [call["count"] for call in held("Paint 12 walls 'dark green' and 5 walls the same", paint)] == [[12], [5]]
    assert "dark green" in held("Paint 12 walls 'dark green' and 5 walls the same", paint)[1]["how"]


def test_each_pair_of_two_rows_is_a_call() -> None:
    wins = tool("get_wins", "How often a team won in a season.", "team season", team=TEXT, season={"type": "integer"})
    every = [("Lakers", 2018), ("Lakers", 2020), ("Bulls", 2018), ("Bulls", 2020)]
    for end, pairs in {".": every, " respectively.": [every[0], every[3]]}.items():
        told = held(f"Get the wins of Lakers and Bulls in season 2018 and 2020{end}", wins)
        assert [(call["team"], call["season"]) for call in told] == [([team], [season]) for team, season in pairs]


def test_a_question_that_goes_step_by_step() -> None:
    words = "I need some help. First, read the file a.txt, it is long. Then switch the kitchen light on. Lastly, the weather."
    assert due(words) == [["read_file"], ["set_light"]]
    assert due(f"{words[:-1]} in Rome.") == [["read_file"], ["set_light"], ["get_weather"]]


def test_each_list_is_a_call() -> None:
    mean = tool("get_mean", "The mean of numbers.", "of", of={"type": "array", "items": {"type": "integer"}})
    assert held("The mean of [1, 2] and that of [3, 4, 5]", mean) == [{"of": [[1, 2]]}, {"of": [[3, 4, 5]]}]


def test_plain_words_may_be_the_name_that_is_lacking() -> None:
    recipe = tool("get_recipe", "Fetch the recipe of a dish.", "dish_name", dish_name=TEXT)
    assert "chocolate cake" in held("Get the recipe of a chocolate cake", recipe)[0]["dish_name"]
    assert due("Get the recipe", recipe) == []


def test_a_tool_that_is_named_and_lacks_one_thing_is_due() -> None:
    odds = tool("card_odds", "Odds.", "cards hearts", cards={"type": "integer"}, hearts={"type": "integer"})
    assert due("The odds of a heart card among 52 cards", odds) == [["card_odds"]]
    assert due("Some hearts, 52", odds) == []


def test_a_tool_that_is_due_goes_before_one_that_only_lacks_nothing() -> None:
    alarm = tool("set_alarm", "Set an alarm clock.", "time label", time=TEXT, label={"type": "integer"})
    song = tool("play_song", "Play music.", "title", title=TEXT)
    assert due("Set an alarm for 11 PM", alarm, song) == [["set_alarm"]]


def test_not_several_where_that_is_not_wanted() -> None:
    assert due("How's the weather in Oslo and in Cairo?", WEATHER, several=False) == [["get_weather"]]


def test_tools_as_near_as_the_best_are_offered_too() -> None:
    assert due("What about a.md?", READ, DELETE, WEATHER) == [["read_file", "delete_file"]]


# -- loops


def after(words: str, name: str, result: str) -> tuple[Message, ...]:
    call = Message("assistant", (ToolCall("1", name, "{}"),))
    return (*user(words), call, Message("tool", (ToolResult("1", name, (Text(result),)),)))


def test_what_a_tool_lacks_another_may_tell() -> None:
    words, tools = "What's the weather where I am?", (WHERE, WEATHER)
    first = gate(tools, user(words))
    assert [[one.tool.name for one in options] for options in first.calls] == [["get_location"]]
    assert first.why == "gate: a call is due: get_weather lacks city, which get_location may tell"
    then = gate(tools, after(words, "get_location", '{"city": "Ghent"}'))
    assert [one.tool.name for one in then.calls[0]] == ["get_weather"]
    assert then.calls[0][0].filled.schema["properties"]["city"]["enum"] == ["Ghent"]


def test_with_the_result_at_hand_no_further_call_is_due() -> None:
    found = gate((WEATHER, FORECAST), after("What's the weather in Rome?", "get_weather", '{"temperature": 24}'))
    assert found.calls == ()
    assert found.why == "gate: no further call is due: the results are there"


def test_a_word_of_the_tool_that_was_called_names_no_other() -> None:
    get = tool("get_ticket", "Look up a ticket.", "ticket_id", ticket_id={"type": "integer"})
    create = tool("create_ticket", "Open a new ticket.", "title", title=TEXT)
    told = '{"ticket_id": 356, "title": "Login page is slow", "assigned_to": "Fiona Becker"}'
    assert not gate((get, create), after("Who is working on ticket 356?", "get_ticket", told)).calls


def test_a_tool_that_the_question_does_not_name_is_not_called_because_a_result_fills_it() -> None:
    task = tool(
        "create_event",
        "Put an appointment into the calendar.",
        "title date",
        title=TEXT,
        date=ADDRESS | {"description": "YYYY-MM-DD"},
    )
    asked = after("What's on my calendar on 8 March 2027?", "list_events", '{"title": "Dentist"}')
    assert gate((task,), asked).calls == ()


# -- in a request


def planned(words: str, choice: Choice | None = None, tools: tuple[Tool, ...] = ALL) -> Plan:
    return fit(Request("m", messages=user(words), tools=Toolset(tools), choice=choice), resolve("local/smollm2"))


def test_the_answer_is_held_to_the_calls_that_are_due() -> None:
    plan = planned("What's the weather in Rome?")
    assert plan.request.output is not None
    form = checker(plan.request.output.schema)
    assert form.fits({"name": "get_weather", "arguments": {"city": "Rome"}})
    assert not form.fits({"name": "get_weather", "arguments": {"city": "Paris"}})
    assert not form.fits({"answer": "words"})
    (why,) = (note for note in plan.notes if note.startswith("gate"))
    assert why.startswith("gate: a call is due: get_weather (shares weather")
    reply = fold(leaves(plan, stream(text('{"name": "get_weather", "arguments": {"city": "Rome"}}'))))
    assert [(call.name, call.arguments) for call in reply.calls] == [("get_weather", {"city": "Rome"})]


def test_several_calls_are_a_list() -> None:
    plan = planned("Weather in Oslo and in Cairo?")
    assert plan.request.output is not None
    form = checker(plan.request.output.schema)
    oslo, cairo = ({"name": "get_weather", "arguments": {"city": city}} for city in ("Oslo", "Cairo"))
    assert form.fits([oslo, cairo])
    assert not form.fits([oslo])
    assert not form.fits(oslo)


def test_where_none_is_due_the_question_is_put_in_plain_words() -> None:
    plan = planned("What's the capital of Australia?")
    assert plan.request.messages == user("What's the capital of Australia?")
    assert (plan.request.output, plan.request.tools, plan.hears) == (None, (), None)
    assert any(note.startswith("gate: no tool fits the question: the nearest, ") for note in plan.notes)
    said = '{"name": "get_weather", "arguments": {"city": "Rome"}}'
    reply = fold(leaves(plan, stream(text(said))))
    assert (reply.calls, reply.text) == ([], said)


def test_the_caller_s_choice_stands_above_the_gate() -> None:
    named = planned("Hello!", Choice("required", ("read_file",)))
    assert named.request.output is not None
    assert named.request.output.schema is not None
    assert named.request.output.schema["properties"]["name"]["enum"] == ["read_file"]
    none = planned("Weather in Rome?", Choice("none"))
    assert (none.request.output, none.hears) == (None, None)
    assert not any(note.startswith("gate") for note in none.notes)


def test_a_model_that_decides_is_not_gated() -> None:
    plan = fit(Request("m", messages=user("Hello!"), tools=Toolset(ALL)), resolve("llamacpp/some-model"), ask="constrained")
    assert plan.request.output is not None
    assert not any(note.startswith("gate") for note in plan.notes)


@given(st.text(max_size=120), st.booleans())
def test_any_question_gets_the_same_answer_twice(words: str, must: bool) -> None:
    one, other = (gate(ALL, user(words), must=must) for _ in range(2))
    assert one == other
    assert one.calls or not must


def arguments(words: str, *tools: Tool) -> list[dict[str, Any]]:
    calls = gate(tools, user(words)).calls
    return [{name: one.get("enum") for name, one in options[0].filled.schema["properties"].items()} for options in calls]


POPULATION = tool("count_people", "How many people live in a town.", "city", city=TEXT)


def test_a_tool_that_the_question_names_beside_another_has_a_call_of_its_own() -> None:
    words = "Get the current weather in Rome, as well as its people"
    assert due(words, WEATHER, POPULATION) == [["get_weather"], ["count_people"]]
    assert due("What's the current weather in Rome?", WEATHER, POPULATION) == [["get_weather"]]


def test_a_tool_that_lacks_something_has_none() -> None:
    assert due("Look up Ingrid Solberg in the address book and send her an e-mail", PERSON, MAIL) == [["find_contact"]]


def test_what_one_of_several_calls_says_may_hold_for_all() -> None:
    unit = {"type": "string", "description": "Either 'miles' or 'meters'. Default is 'meters'."}
    distance = tool(
        "get_distance", "The distance between two towns.", "origin destination", origin=TEXT, destination=TEXT, unit=unit
    )
    words = "What is the distance in miles from Oslo to Bergen, and from Rome to Naples?"
    assert [one["unit"] for one in arguments(words, distance)] == [["miles"], ["miles"]]


def test_the_words_of_a_name_tell_tools_apart_before_values_that_any_may_have() -> None:
    kind = {"type": "string", "enum": ["groceries", "rent"]}
    log = tool("log_cost", "Write down what was paid.", "amount kind", amount={"type": "number"}, kind=kind)
    read = tool("get_spending", "What was paid so far.", "kind month", kind=kind, month={"type": "string", "format": "date"})
    assert due("How high was our spending on groceries in season 2025?", log, read) == [["get_spending"]]


def test_a_word_for_doing_tells_little_where_only_a_description_has_it() -> None:
    code = {"type": "string", "description": "Ticket key, e.g. OPS-12"}
    states = {"type": "string", "enum": ["open", "done"]}
    assign = tool("assign_ticket", "Set who is responsible.", "ticket_id person", ticket_id=code, person=TEXT)
    update = tool("update_ticket", "Move it on.", "ticket_id status", ticket_id=code, status=states)
    assert due("Set WEB-12 to done.", assign, update) == [["update_ticket"]]


def test_a_tool_does_not_tell_what_it_must_be_told_itself() -> None:
    words = {"type": "string", "description": "Word to look for"}
    within = tool("search_in_files", "Find a text in files.", "text directory", text=words, directory=TEXT)
    path = {"type": "string", "description": "Directory to list"}
    listing = tool("list_directory", "List what is in a directory.", "path", path=path)
    question = 'Search for a text in the files a directory has: they say "deprecated"'
    assert due(question, within, listing) == [["search_in_files"]]


def test_related_words_name_a_tool_half() -> None:
    listing = tool("list_directory", "List the files in a directory.", "path", path=TEXT, show_hidden={"type": "boolean"})
    words = "Open config.yaml for me, and also show me which files are in the src folder."
    assert due(words, READ, listing, DELETE) == [["read_file"], ["list_directory"]]


def test_a_phrase_may_say_the_word_of_a_tool() -> None:
    song = tool("play_song", "Play a song.", "title", title=TEXT)
    assert due("Get rid of notes.txt", READ, DELETE) == [["delete_file"]]
    assert due('Put on "Hurt"', song, READ) == [["play_song"]]
    part = tool("percentage", "Part of a number.", "part number", part={"type": "number"}, number={"type": "number"})
    assert due("What is 15% of 80?", part, READ) == [["percentage"]]


def test_new_york_is_no_news() -> None:
    news, clock = (
        tool("get_news", "News of a place.", "place", place=TEXT),
        tool("get_time", "Time in a place.", "place", place=TEXT),
    )
    assert due("What time is it in New York?", news, clock) == [["get_time"]]
    assert due("Any news from New York?", news, clock) == [["get_news"]]
    assert due("What's new in New York?", news, clock) == [["get_news"]]


def test_what_is_not_meant_does_not_name_a_tool() -> None:
    cases = tool("search_court_cases", "Search the decisions of courts.", "query", query=TEXT)
    laws = tool("search_laws", "Search written laws, not court cases.", "query", query=TEXT)
    assert due('Search the laws for "deposit", not court cases.', cases, laws) == [["search_laws"]]
    assert due('Search court cases for "deposit" rather than laws.', cases, laws) == [["search_court_cases"]]


NUMBER = {"type": "number"}
POWER = tool("pow", "Raise to a power.", "base exponent", base=NUMBER, exponent=NUMBER)
SERVICE = tool("restart_service", "Restart a service.", "host port", host={**TEXT, "format": "ipv4"}, port={"type": "integer"})


def test_a_text_that_tells_what_to_do_needs_less_than_a_question() -> None:
    assert due("Take 5 and then 3", POWER) == [["pow"]]
    assert due("Is 118 over 76 normal?", POWER) == []
    assert due("Restart what is on port 80", SERVICE) == [["restart_service"]]
    assert due("Why did it restart on port 80?", SERVICE) == []


@pytest.mark.parametrize(
    "words",
    ["How do you say 'see you' in Spanish?", "Who painted the file 'Guernica'?", "Write a short poem on Rome's weather"],
)
def test_what_asks_for_words_has_no_call(words: str) -> None:
    assert due(words, DELETE, LIGHT) == []


def test_a_tool_that_lacks_much_waits_for_no_other() -> None:
    cost = tool("electricity_cost", "What power costs.", "hours watts rate", hours=NUMBER, watts=NUMBER, rate=NUMBER)
    rate = tool("get_rate", "The rate of a country.", "country", country=TEXT)
    assert due("What's the electricity cost of Siemens?", cost, rate) == []
