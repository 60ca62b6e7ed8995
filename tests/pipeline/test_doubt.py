"""Calls of small models that nothing speaks for: what is doubted, and above all what is not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pipeline.doubting import a_tool, said
from toolglot.core.messages import Message, Text, ToolCall, ToolResult
from toolglot.core.tools import Tool
from toolglot.pipeline.doubt import INCOMPLETE, INVENTED, LACKING, MADE_UP, REPEATED, UNRELATED, Doubts
from toolglot.text.json_text import dumps

TOOLS = (
    a_tool("find_book", "Search the library's catalogue.", title="Title"),
    a_tool("reserve_book", "Reserve a book at the library.", book_id="As the catalogue gives it"),
    a_tool("send_email", "Send an e-mail.", to="Address", body="Text"),
    a_tool("get_weather", "Current weather in a city.", ("city",), city="Name of the city", unit={"enum": ["C", "F"]}),
    a_tool("create_task", "Create a task.", ("id", "text"), id="Id of the task", text="What to do"),
    a_tool("add_to_cart", "Put a product into the cart.", product_id="Id of the product"),
    a_tool("get_station", "Where a train stops.", train="The train's id"),
    a_tool("multiply", "Product.", a={"type": "number"}, b={"type": "number"}),
)


def doubt(messages: tuple[Message, ...], name: str, **arguments: Any) -> str | None:
    found = Doubts(messages, TOOLS).of(ToolCall("c", name, dumps(arguments)))
    return None if found is None else found[0]


def a_result(text: str, *, is_error: bool = False) -> Message:
    return Message("tool", (ToolResult("c1", "find_book", (Text(text),), is_error=is_error),))


@pytest.mark.parametrize(
    ("asked", "name", "arguments", "code"),
    [
        ("Reserve the book Emma for me.", "reserve_book", {"book_id": "12345"}, INVENTED),
        ("Reserve the book B-77 for me.", "reserve_book", {"book_id": "B-77"}, None),
        ("Reserve book b 77.", "reserve_book", {"book_id": "B77"}, None),
        ("Reserve the book Pride and Prejudice.", "reserve_book", {"book_id": "Pride and Prejudice"}, INVENTED),
        ("Look for a book.", "find_book", {"title": "some title"}, INVENTED),
        ("Look for a book.", "find_book", {"title": "<title>"}, INVENTED),
        ("Mail a@b.example that it is ready.", "send_email", {"to": "a@b.example", "body": "Your order is ready"}, None),
        ("Look for the book Some Tame Gazelle.", "find_book", {"title": "Some Tame Gazelle"}, None),
        ("Where does the train from Graz stop?", "get_station", {"train": "some train id"}, INVENTED),
        ("Mail Tomas that I am late.", "send_email", {"to": "tomas@example.com", "body": "I am late"}, INVENTED),
        ("Mail t.h@mail.example that I am late.", "send_email", {"to": "T.H@mail.example", "body": "I am late"}, None),
        ("Add the lamp to my cart.", "add_to_cart", {"product_id": "12345"}, INVENTED),
        ("Make a task: wash the car.", "create_task", {"id": "1", "text": "wash the car"}, None),  # the id is its to choose
        ("How is the weather here?", "get_weather", {"city": "London"}, INVENTED),
        ("What's the weather where I am?", "get_weather", {"city": "London"}, INVENTED),
        ("how is the weather in london?", "get_weather", {"city": "London"}, None),
        ("get the weather of nyc", "get_weather", {"city": "New York, NY"}, None),
        ("How is the weather where the Eiffel Tower stands?", "get_weather", {"city": "Paris"}, None),  # something is named
        ('How is the weather in the city called "big apple"?', "get_weather", {"city": "New York"}, None),
        ("Call me a taxi.", "find_book", {"title": "taxi"}, UNRELATED),
        ("Which port is set in settings.ini?", "find_book", {"title": "settings.ini"}, None),  # nobody says that by chance
        ("What is 394 times 213?", "multiply", {"a": 394, "b": 213}, None),  # what it is given was said
        ("上海天气怎么样?", "get_weather", {"city": "Shanghai"}, None),  # words are no measure here
        ("Look in the library for Emma.", "find_book", {"title": "Emma"}, None),
        ("Emma, please.", "no_such_tool", {"title": "Emma"}, None),  # the guard's affair
    ],
)
def test_what_is_doubted(asked: str, name: str, arguments: dict[str, Any], code: str | None) -> None:
    assert doubt(said(asked), name, **arguments) == code


def test_a_result_gives_what_was_missing() -> None:
    asked = said("Reserve the book Emma for me.", a_result('{"book_id": "B-77"}'))
    assert doubt(asked, "reserve_book", book_id="B-77") is None
    found = Doubts(asked, TOOLS).of(ToolCall("c", "reserve_book", '{"book_id": "B-78"}'))
    assert found == (INVENTED, "book_id is 'B-78', which stands nowhere in the conversation; the conversation has B-77")
    asked = said("Mail Emma that I am late.", a_result("Emma: <e.w@mail.example>."))
    found = Doubts(asked, TOOLS).of(ToolCall("c", "send_email", '{"to": "emma@example.com", "body": "late"}'))
    assert found is not None
    assert found[1].endswith("; it has e.w@mail.example")


def test_what_the_model_said_itself_gives_nothing() -> None:
    asked = said("Reserve the book Emma.", Message("assistant", (Text("I take 12345."),)), "Yes, reserve the book.")
    assert doubt(asked, "reserve_book", book_id="12345") == INVENTED


def refused(before: tuple[Message, ...], name: str, **arguments: Any) -> tuple[Message, ...]:
    """The conversation, with a call that was refused and the reason, as an agent tells it."""
    call = ToolCall(f"r{len(before)}", name, dumps(arguments))
    found = Doubts(before, TOOLS).of(call)
    assert found is not None
    told = ToolResult(call.id, name, (Text(f"Not run: {name}: {found[1]}."),), is_error=True)
    return (*before, Message("assistant", (call,)), Message("tool", (told,)))


def test_who_insists_may_know_better() -> None:
    taxi = refused(said("Call me a taxi."), "find_book", title="taxi")
    assert doubt(taxi, "find_book", title="taxi") is None
    assert doubt(taxi[:1], "find_book", title="taxi") == UNRELATED
    assert doubt(taxi, "find_book", title="cab") == UNRELATED
    called = said("Call me a taxi.", Message("assistant", (ToolCall("c1", "x", "{}"),)), a_result("ok"))
    assert doubt(called, "find_book", title="cab") is None  # it is under way: a step may only serve what was asked
    advised = refused(said("Do it."), "reserve_book", book_id="1")
    assert doubt(advised, "find_book", title="cab") is None
    assert doubt(advised, "get_station", train="cab") == INVENTED
    weather = said("How is the weather in the capital of France?".replace("France", "france"))
    assert doubt(weather, "get_weather", city="Paris") == INVENTED
    assert doubt(refused(weather, "get_weather", city="Paris"), "get_weather", city="Paris") is None


@pytest.mark.parametrize(
    ("name", "arguments", "advice"),
    [
        ("reserve_book", {"book_id": "12345"}, "call find_book first, which may give it"),
        ("send_email", {"to": "a@b.example", "body": "x"}, "ask the user for it"),
        ("get_weather", {"city": "London"}, "ask the user for it"),
    ],
)
def test_the_reason_says_where_the_value_may_come_from(name: str, arguments: dict[str, Any], advice: str) -> None:
    found = Doubts(said("do it for me"), TOOLS).of(ToolCall("c", name, dumps(arguments)))
    assert found is not None
    assert found[1].endswith(advice)


CALENDAR = (
    a_tool("list_events", "What is in the calendar on a day.", date="YYYY-MM-DD"),
    a_tool("search_email", "Search the mail of a sender.", sender="Address"),
)


@pytest.mark.parametrize(
    ("asked", "date", "doubted"),
    [
        ("What is in my calendar on Saturday?", "2023-04-15", True),
        ("What is in my calendar on Saturday?", "Saturday", False),
        ("What is in my calendar on 15 April?", "2023-04-15", False),
        ("It is 2023. What is in my calendar on Saturday?", "2023-04-15", False),
    ],
)
def test_a_date_where_nobody_said_which_day_it_is(asked: str, date: str, doubted: bool) -> None:
    found = Doubts(said(asked), CALENDAR).of(ToolCall("c", "list_events", dumps({"date": date})))
    assert (found is not None and found[0] == INVENTED) is doubted


@pytest.mark.parametrize(
    ("asked", "number", "doubted"),
    [
        ("Renew my library books, they are due today.", "1234567890", True),
        ("Where is my parcel 12 345 678 90?", "1234567890", False),
        ("Where is my parcel, ordered on 3 May?", "2023-05-03", False),  # a date may be told otherwise
        ("Where is parcel seven?", "7", False),
    ],
)
def test_a_long_number_that_nobody_said(asked: str, number: str, doubted: bool) -> None:
    tools = (a_tool("track_package", "Where a package is.", tracking_number="Number of the package"),)
    found = Doubts(said(asked), tools).of(ToolCall("c", "track_package", dumps({"tracking_number": number})))
    assert (found is not None and found[0] == INVENTED) is doubted


def test_the_reason_names_a_tool_that_has_all_it_needs() -> None:
    asked = said("Am I free on 2025-07-08? Show me all events.")
    found = Doubts(asked, CALENDAR).of(ToolCall("c", "search_email", dumps({"sender": "a@b.example"})))
    assert found is not None
    assert "or call list_events, if that is meant" in found[1]


def test_a_tool_with_something_made_up_gives_way_to_one_that_finds_all() -> None:
    tools = (
        a_tool("find_restaurants", "Find restaurants in a city.", cuisine="Kind of food", city="Name of the city"),
        a_tool("find_places", "Find places near a spot.", category="Kind of place", near="A spot"),
    )
    asked = said("Find a pharmacy near Alexanderplatz.")

    def why(category: str) -> tuple[str, str] | None:
        return Doubts(asked, tools).of(ToolCall("c", "find_restaurants", dumps({"cuisine": category, "city": "Berlin"})))

    found = why("Italian")
    assert found is not None
    assert found[0] == INVENTED
    assert "cuisine is 'Italian', which nobody has said; call find_places, unless this is meant" in found[1]


def test_a_tool_with_nothing_that_was_said_gives_way_to_one_that_the_question_is_all_about() -> None:
    flags: dict[str, Any] = {
        name: {"type": "boolean", "description": f"Is {name}."} for name in ("talkative", "nervous", "lazy", "forgiving")
    }
    tools = (
        a_tool(
            "type_indicator", "Personality by preferences.", thinking="Thinking or feeling", judging="Judging or perceiving"
        ),
        a_tool("five_factor", "Personality by the five factors.", **flags),
    )
    asked = said("Tell me my personality by the five factors: I am talkative, nervous, lazy and forgiving.")
    found = Doubts(asked, tools).of(ToolCall("c", "type_indicator", dumps({"thinking": "extroverted", "judging": "sensing"})))
    assert found is not None
    assert found[0] == INVENTED
    assert "call five_factor, unless this is meant" in found[1]


def test_a_call_that_has_its_result_is_not_made_again_at_once() -> None:
    call = Message("assistant", (ToolCall("c1", "find_book", dumps({"title": "Emma"})),))
    made = said("Find the book Emma.", call, a_result("nothing"))
    assert doubt(made, "find_book", title="Emma") == REPEATED
    assert doubt(made, "find_book", title="emma") is None
    assert doubt((*made, *said("Look again for the book.")), "find_book", title="Emma") is None
    failed = said("Find the book Emma.", call, a_result("no connection", is_error=True))
    assert doubt(failed, "find_book", title="Emma") is None
    assert doubt(refused(made, "find_book", title="Emma"), "find_book", title="Emma") is None  # it polls


def test_a_die_may_be_rolled_again() -> None:
    die = a_tool("roll_die", "Roll a die.", sides={"type": "integer"})
    roll = ToolCall("c1", "roll_die", dumps({"sides": 6}))
    made = said("Roll a die with 6 sides twice.", Message("assistant", (roll,)), a_result("4"))
    assert Doubts(made, (die,)).of(roll) is None


def test_each_doubt_is_told_once_and_two_are_believed() -> None:
    asked = refused(said("call me a taxi to the airport"), "get_weather", city="London")
    assert doubt(asked, "get_weather", city="London") == UNRELATED  # nobody named London, and nobody asked for the weather
    asked = refused(asked, "get_weather", city="London")
    assert doubt(asked, "get_weather", city="London") == INVENTED  # wrong in two ways is wrong


def test_what_stands_in_for_a_tool_that_is_not_there_is_not_insisted_on() -> None:
    wanted = Message("assistant", (ToolCall("c1", "call_taxi", "{}"),))
    asked = said("Call me a taxi.", wanted, a_result("Not run: call_taxi: there is no such tool; there are ...", is_error=True))
    assert doubt(asked, "find_book", title="taxi") == UNRELATED
    assert doubt(refused(asked, "find_book", title="taxi"), "find_book", title="taxi") == UNRELATED
    wanted = Message("assistant", (ToolCall("c1", "look_for_books", "{}"),))
    asked = said("Find the book on the shelf.", wanted, a_result("Not run: look: there is no such tool; ...", is_error=True))
    assert doubt(asked[:1], "find_book", title="Emma") is None
    assert doubt(asked, "find_book", title="Emma") == UNRELATED  # nobody said Emma
    assert doubt(asked, "find_book", title="shelf") is None  # it is about books, as what was called for
    wanted = Message("assistant", (ToolCall("c1", "search_shelf", "{}"),))
    asked = said("Find the book on the shelf.", wanted, a_result("Not run: look: there is no such tool; ...", is_error=True))
    assert doubt(asked, "find_book", title="shelf") == UNRELATED
    wanted = Message("assistant", (ToolCall("c1", "times", "{}"),))
    none = a_result("Not run: times: there is no such tool; ...", is_error=True)
    assert doubt(said("What is 7 times 8?", wanted, none), "multiply", a=7, b=8) == UNRELATED
    wanted = Message("assistant", (ToolCall("c1", "product", "{}"),))
    assert doubt(said("What is the product of 7 and 8?", wanted, none), "multiply", a=7, b=8) is None  # by another name


def test_what_we_told_the_model_is_not_the_users_word() -> None:
    told = Message("user", (Text("Not run: book_id is 'B-77', which stands nowhere. Make up no value."),))
    asked = said("Reserve the book Emma for me.", Message("assistant", (Text("..."),)), told)
    assert doubt(asked, "reserve_book", book_id="B-77") == INVENTED


def test_nobody_may_insist_on_a_tool_beside_the_question_with_nothing_that_was_said() -> None:
    asked = refused(said("Book me a hotel room."), "multiply", a=3, b=4)
    assert doubt(asked, "multiply", a=3, b=4) == UNRELATED
    asked = refused(said("Call me a taxi."), "find_book", title="taxi")
    assert doubt(asked, "find_book", title="taxi") is None


def test_nobody_may_insist_on_an_id() -> None:
    asked = refused(said("Reserve the book Emma."), "reserve_book", book_id="12345")
    assert doubt(asked, "reserve_book", book_id="12345") == INVENTED


@pytest.mark.parametrize("schema", [{}, None, {"properties": []}, {"properties": {"a": True}, "required": ["a"]}])
def test_a_schema_of_any_form_is_borne(schema: Any) -> None:
    tool = Tool("find_book", "Search the library.", schema)
    assert Doubts(said("search the library, find the book"), (tool,)).of(ToolCall("c", "find_book", '{"a": "12345"}')) is None


@pytest.mark.parametrize(
    ("asked", "name", "arguments", "code"),
    [
        ("Does a library pay its authors?", "find_book", {"title": "Payment"}, UNRELATED),  # a word in common, no more
        ("Does a library pay its authors?", "find_book", {"title": "authors"}, None),  # what it needs was said
        ("Does a library pay its authors?", "list_books", {}, None),  # nothing need be
        ("Does a library pay its authors?", "latest_books", {"count": 1}, None),  # numbers may be implied
        ("Find the book Emma.", "find_book", {"title": "Emma"}, None),
        ("Paga la library derechos?", "find_book", {"title": "derechos"}, None),  # the gate knows English
        ("Does a web pay its authors?", "search_web", {"query": "payment"}, None),  # it serves whatever is asked
    ],
)
def test_what_the_gate_would_not_call_for_is_doubted_once(
    asked: str, name: str, arguments: dict[str, Any], code: str | None
) -> None:
    tools = (
        *TOOLS[:2],
        a_tool("search_web", "Search the web.", query="What to look for"),
        a_tool("list_books", "All books of the library."),
    )
    found = Doubts(said(asked), tools).of(ToolCall("c", name, dumps(arguments)))
    assert (found and found[0]) == code


def test_what_was_said_counts_at_any_depth() -> None:
    tools = (a_tool("search", "Look for something.", where="A town", filters={"type": "object"}),)
    asked = said("Furnished flats in Ghent for 950 a month at most?")
    held = {"where": "Ghent", "filters": {"most": [{"rent": 950}]}}
    assert Doubts(asked, tools).of(ToolCall("c", "search", dumps(held))) is None


def test_of_several_questions_and_of_many_tools_the_gate_is_not_asked() -> None:
    asked, call = "Does a library pay its authors?", ToolCall("c", "find_book", dumps({"title": "Payment"}))
    assert Doubts(said(asked), TOOLS[:2]).of(call) is not None
    assert Doubts(said("Do you know a library?", asked), TOOLS[:2]).of(call) is None
    many = (*TOOLS, a_tool("get_time", "The time in a city.", city="Name of the city"))
    assert Doubts(said(asked), many).of(call) is None


def test_who_wants_nothing_done_is_not_insisted_at() -> None:
    asked = refused(said("When I lived in Lisbon I loved the weather there."), "get_weather", city="Lisbon")
    assert doubt(asked, "get_weather", city="Lisbon") == UNRELATED
    assert doubt(said("Find me a book.", "Hello again"), "find_book", title="again") is None  # later it may be an answer
    assert doubt(said("When I lived in Lisbon I loved it. How is the weather there now?"), "get_weather", city="Lisbon") is None


@pytest.mark.parametrize(
    ("asked", "text", "doubted"),
    [
        ("Convert 5 miles to km.", '```json\n{"result": 8.05}\n```', True),
        ("Convert 5 miles to km.", '{"result": 8.05}', True),
        ("Convert 5 miles to km.", 'It is 8.05 km.\n```json\n{"result": 8.05}\n```', False),
        ("Convert 5 miles to km, as JSON.", '{"result": 8.05}', False),
        ("Convert 5 miles to km.", "[8.05]", False),
        ("Convert 5 miles to km.", "", False),
    ],
)
def test_a_result_that_the_model_made_up(asked: str, text: str, doubted: bool) -> None:
    found = Doubts(said(asked), TOOLS).of_text(text)
    assert (found is not None and found[0] == MADE_UP) == doubted
    if found is not None:
        assert Doubts(said(asked, f"Not run: {found[1]}."), TOOLS).of_text(text) is None  # it is told once
        assert Doubts(said(asked, a_result("8.05")), TOOLS).of_text(text) is None  # it has a result to tell of


def test_an_answer_without_what_was_asked_for() -> None:
    asked = said("Where is my book, and when is it back?", a_result('{"location": "Kassel", "back": "Thursday", "number": 7}'))
    found = Doubts(asked, TOOLS).of_text("It is back on Thursday.")
    assert found == (LACKING, "the answer does not say what was asked for, and the results have it: Kassel")
    assert Doubts(asked, TOOLS).of_text("It is in Kassel, and back on Thursday.") is None  # who wants to know the number?
    told = Message("user", (Text(f"Not run: {found[1]}. Answer again."),))
    assert Doubts((*asked, told), TOOLS).of_text("It is back on Thursday.") is None  # it is told once
    assert Doubts(said("Reserve it.", a_result('{"location": "Kassel"}')), TOOLS).of_text("It is reserved.") is None
    failed = said("Where is my book?", a_result("location: unknown", is_error=True))
    assert Doubts(failed, TOOLS).of_text("It went wrong.") is None


BMI = (
    a_tool("calculate_bmi", "Body mass index.", weight_kg={"type": "number"}, height_cm={"type": "number"}),
    a_tool("convert_units", "Convert a length.", value={"type": "number"}, unit={"enum": ["m", "ft"]}),
)
BOTH = "Work out the BMI for both of us: he has 91 kg and 185 cm, and I have 64 kg and 169 cm."
HIS, HERS = {"weight_kg": 91, "height_cm": 185}, {"weight_kg": 64, "height_cm": 169.0}


def of_all(messages: tuple[Message, ...], *made: dict[str, Any], name: str = "calculate_bmi") -> tuple[str, str] | None:
    return Doubts(messages, BMI).of_all([ToolCall(f"c{at}", name, dumps(one)) for at, one in enumerate(made)])


def test_one_call_of_several_that_a_question_tells_comes_with_the_others() -> None:
    found = of_all(said(BOTH), HIS)
    assert found is not None
    assert found[0] == INCOMPLETE
    assert found[1].endswith('all 2: with it make calculate_bmi with {"weight_kg":64,"height_cm":169}')
    assert of_all(said(BOTH), HIS, HERS) is None
    assert of_all(said(BOTH), {"weight_kg": 90, "height_cm": 185}) is None  # nobody knows what it is up to
    assert of_all(said(BOTH), {"value": 185, "unit": "m"}, name="convert_units") is None
    assert of_all(said("Work out my BMI: I have 64 kg and 169 cm."), HERS) is None
    assert of_all(said(BOTH)) is None


def test_who_makes_one_of_several_again_may_go_step_by_step() -> None:
    found = of_all(said(BOTH), HIS)
    assert found is not None
    call = Message("assistant", (ToolCall("c0", "calculate_bmi", dumps(HIS)),))
    told = Message("tool", (ToolResult("c0", "calculate_bmi", (Text(f"Not run: calculate_bmi: {found[1]}."),), is_error=True),))
    assert of_all((*said(BOTH), call, told), HIS) is None
    hers = ToolCall("c1", "calculate_bmi", dumps(HERS))
    assert [one.arguments for one in Doubts((*said(BOTH), call, told), BMI).held_back([hers])] == [HIS]
    given = Message("tool", (ToolResult("c0", "calculate_bmi", (Text("26.6"),)),))
    assert of_all((*said(BOTH), call, given), HERS) is None  # it was made before
