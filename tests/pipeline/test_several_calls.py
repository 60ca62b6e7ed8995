from __future__ import annotations

from typing import Any

import pytest

from toolglot.core.messages import Message, Text
from toolglot.core.tools import Tool
from toolglot.pipeline.gate import gate
from toolglot.pipeline.own_words import held_to
from toolglot.pipeline.said import Said
from toolglot.pipeline.value_forms import same_form, same_frame


def tool(called: str, about: str, required: str = "", **properties: Any) -> Tool:
    return Tool(called, about, {"type": "object", "properties": properties, "required": required.split()})


def calls(words: str, *tools: Tool) -> list[tuple[str, dict[str, Any]]]:
    """Of each call the tool, and what its parameters are held to."""
    found = gate(tools, (Message("user", (Text(words),)),)).calls
    return [
        (one.tool.name, {name: inner.get("enum") for name, inner in one.filled.schema["properties"].items()})
        for (one, *_) in found
    ]


def told(words: str, *tools: Tool) -> list[dict[str, Any]]:
    """The same, with the value of what is held to one."""
    return [{name: values[0] for name, values in held.items() if values} for _, held in calls(words, *tools)]


TEXT, COUNT, AMOUNT = {"type": "string"}, {"type": "integer"}, {"type": "number"}
EVENT = tool("get_event_date", "The date of an event in history.", "event", event={**TEXT, "description": "Name of the event"})
TRIP = tool("plan_trip", "Plan a trip to a city.", "city days", city=TEXT, days={**COUNT, "description": "Days of the trip"})
FACTORIAL = tool("get_factorial", "The factorial of a number.", "number", number=COUNT)
LOAN = tool(
    "loan_payment",
    "The monthly payment of a loan.",
    "amount months rate",
    amount={**AMOUNT, "description": "Amount of the loan"},
    months={**COUNT, "description": "Duration in months"},
    rate={**AMOUNT, "description": "Annual rate in percent"},
)
REMIND = tool(
    "create_reminder",
    "Remind the user of something.",
    "text date time",
    text={**TEXT, "description": "What to be reminded of"},
    date={**TEXT, "description": "YYYY-MM-DD"},
    time={**TEXT, "description": "HH:MM"},
)
STATUS = tool(
    "get_service_status",
    "Whether a service is healthy.",
    "service environment",
    service=TEXT,
    environment={**TEXT, "enum": ["staging", "production"]},
)
METAL = tool("get_metal_price", "The price of a metal.", "metal", metal={**TEXT, "description": "Which one"})
BIRD = tool(
    "identify_bird",
    "Identify a bird by how it looks.",
    "size color",
    size={**TEXT, "enum": ["small", "medium", "large"]},
    color={**TEXT, "enum": ["blue", "black", "brown"]},
)
PAY = tool("pay_bill", "Pay a bill.", "payee amount", payee={**TEXT, "description": "Name of the company"}, amount=AMOUNT)
ACCOUNT = {**TEXT, "enum": ["checking", "savings"]}
MOVE = tool("transfer_money", "Move money.", "source target amount", source=ACCOUNT, target=ACCOUNT, amount=AMOUNT)


def test_values_that_are_not_written_alike_are_of_one_call() -> None:
    words = "Tell me the date of the event 'Battle of Waterloo'. I believe that was in Belgium."
    assert told(words, EVENT) == [{"event": "Battle of Waterloo"}]
    words = "The dates of the event 'Battle of Waterloo' and of the event 'Treaty of Ghent', please."
    assert told(words, EVENT) == [{"event": "Battle of Waterloo"}, {"event": "Treaty of Ghent"}]


def test_where_one_call_has_a_place_for_all_that_is_one() -> None:
    unit = {**TEXT, "enum": ["Celsius", "Fahrenheit"]}
    weather = tool("get_weather", "The weather in a city.", "city", city=TEXT, unit=unit)
    assert told("What's the weather in Phoenix? In Fahrenheit, please.", weather) == [{"city": "Phoenix", "unit": "Fahrenheit"}]


@pytest.mark.parametrize(
    "words",
    [
        "Give me the factorial of 5, the factorial of 3, then the factorial of 4 and finally the factorial of 2.",
        "The factorial of 5 followed by the factorial of 3, and also of 4 and of 2.",
    ],
)
def test_parts_within_steps(words: str) -> None:
    assert [held["number"] for held in told(words, FACTORIAL)] == [5, 3, 4, 2]


def test_what_stands_before_the_first_is_of_all() -> None:
    words = "Was that bird small and blue? The first bird was small and blue. The second bird was large and black."
    assert told(words, BIRD) == [{"size": "small", "color": "blue"}, {"size": "large", "color": "black"}]


def test_parts_that_say_some_of_it_alike_share_the_rest() -> None:
    words = 'Set two reminders for 5 May 2025: "water the plants" at 8 am and "pick up the cake" at 5:15 pm.'
    assert [(held["date"], held["time"]) for held in told(words, REMIND)] == [("2025-05-05", "08:00"), ("2025-05-05", "17:15")]
    assert [held["text"] for held in told(words, REMIND)] == ["water the plants", "pick up the cake"]


def test_each_option_that_another_part_names_is_a_call() -> None:
    words = "Is the service 'mailer' healthy: once on staging, once in production?"
    assert [held["environment"] for held in told(words, STATUS)] == ["staging", "production"]


def test_a_row_with_its_unit() -> None:
    schema = {"type": "object", "properties": {"months": {**COUNT, "description": "Duration"}}, "required": ["months"]}
    assert held_to(schema, Said("for 10 months and 20 months")).each == (("months", (10, 20)),)
    assert held_to(schema, Said("for 10 months and 20 cars")).each == ()


def test_what_one_call_has_no_place_for() -> None:
    place = {**TEXT, "description": "City and state, e.g. Los Angeles, CA"}
    schema = {"type": "object", "properties": {"city": place}, "required": ["city"]}
    assert held_to(schema, Said("restaurants in New York, NY")).spare == ()
    assert held_to(schema, Said("restaurants in Oslo or so, and then in Rome")).spare == ((39, 43),)


@pytest.mark.parametrize(
    "words",
    [
        'What is the price of "gold" and "tin"?',
        "I want the price of both gold and tin.",
        "The price of gold, zinc, and tin?",
    ],
)
def test_a_row_of_plain_words(words: str) -> None:
    assert [held["metal"] for held in told(words, METAL)] == [one for one in ("gold", "zinc", "tin") if one in words]


def test_a_part_may_be_of_a_tool_that_only_it_speaks_of() -> None:
    words = "Put 200 from checking into savings, and pay Metro Water 58.20."
    assert [name for name, _ in calls(words, PAY, MOVE)] == ["transfer_money", "pay_bill"]
    assert [held["amount"] for held in told(words, PAY, MOVE)] == [200, 58.2]
    words = f"{words[:-1]}, and put 300 from savings into checking."
    assert [name for name, _ in calls(words, PAY, MOVE)] == ["transfer_money", "pay_bill", "transfer_money"]


def test_each_of_two_tools_is_held_to_its_own_clause() -> None:
    shops = tool("find_shops", "Find all shops in a city.", "city state", city=TEXT, state=TEXT)
    parks = tool("popular_parks", "Find the most popular parks in a city.", "city state", city=TEXT, state=TEXT)
    found = calls("Locate all shops in Austin and find the most popular parks in Miami.", shops, parks)
    assert [(name, held["city"]) for name, held in found] == [("find_shops", ["Austin"]), ("popular_parks", ["Miami"])]


def test_a_clause_that_has_a_value_of_another_form_has_that_of_the_whole() -> None:
    code = {**TEXT, "description": "Ticket key, e.g. OPS-12"}
    assign = tool("assign_ticket", "Say who works on a ticket.", "ticket_id assignee", ticket_id=code, assignee=TEXT)
    comment = tool("add_comment", "Add a comment to a ticket.", "ticket_id comment", ticket_id=code, comment=TEXT)
    found = calls('Assign API-204 to lchen and leave the comment "Please look at it" there.', assign, comment)
    assert [(name, held["ticket_id"][0]) for name, held in found] == [("assign_ticket", "API-204"), ("add_comment", "API-204")]


def test_what_has_a_form_has_its_value_before_what_may_be_any_words() -> None:
    code = {**TEXT, "description": "Ticket key, e.g. OPS-12"}
    assign = {"type": "object", "properties": {"assignee": TEXT, "ticket_id": code}, "required": ["ticket_id", "assignee"]}
    assert held_to(assign, Said("Assign API-204 to lchen")).found == ("ticket_id",)


def test_a_call_that_does_not_say_what_it_must_is_as_the_one_before() -> None:
    case = tool("find_cases", "Find the cases against a company.", "company year", company=TEXT, year=COUNT)
    words = "List all cases against the company 'Dara Inc' of the year 2019. Also list cases of 2018 against the same company."
    assert told(words, case) == [{"company": "Dara Inc", "year": 2019}, {"company": "Dara Inc", "year": 2018}]


def test_a_tool_without_parameters_may_be_a_step() -> None:
    bare = Tool("lock_door", "Lock the front door.", {"type": "object"})
    found = gate((bare, TRIP), (Message("user", (Text("First, lock the front door. Then plan a trip to Rome for 3 days."),)),))
    assert [one.tool.name for (one, *_) in found.calls] == ["lock_door", "plan_trip"]


def test_a_question_of_many_parts_is_one_call() -> None:
    assert len(calls("Plan a trip to Rome for 3 days" + ", to Oslo for 4 days" * 40, TRIP)) == 1


@pytest.mark.parametrize(
    ("one", "other", "form", "frame"),
    [
        ("for <12> months", "for <8> months", True, True),
        ("a mass of <45> kg", "a volume of <15> m", True, False),
        ("the hall to <18>", "the loft to <21> degrees", True, True),
        ("with UPS (<1Z99AA10>)", "with USPS (<940011189922>)", True, False),
        ("in <Oslo>", "in <Rome>", True, True),
        ("near <Oslo>", "in <Rome>", True, False),
        ("<'Oslo'>", "<Rome>", False, False),
        ("<'rs53576'>", "<'Homo sapiens'>", False, False),
        ("from <IBM>", "from <Apple>", True, False),
        ("the <IBM>", "a <Apple>", False, False),
        ("$<50> now", "<50> cars", False, False),
        ("<5%> of it", "<0.5> of it", True, False),
    ],
)
def test_values_that_are_written_alike(one: str, other: str, form: bool, frame: bool) -> None:
    (first, place), (second, elsewhere) = _marked(one), _marked(other)
    assert same_form(first, place, second, elsewhere) is form
    assert same_frame(first, place, second, elsewhere) is frame


def _marked(text: str) -> tuple[Said, tuple[int, int]]:
    start, end = text.index("<"), text.index(">") - 1
    return Said(text.replace("<", "").replace(">", "")), (start, end)
