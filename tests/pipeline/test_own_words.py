from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.pipeline.own_words import held_to, only
from toolglot.pipeline.said import Said
from toolglot.pipeline.slot_kinds import slot
from toolglot.pipeline.slots import sure
from toolglot.schema.check import checker


def schema(required: str = "", **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required.split()}


TEXT = {"type": "string"}
NUMBER = {"type": "number"}
WHOLE = {"type": "integer", "minimum": 1}


def offered(held: dict[str, Any], text: str) -> dict[str, Any]:
    """Of each parameter that is offered what it may be."""
    properties = held_to(held, Said(text)).schema["properties"]
    return {name: inner.get("enum", inner.get("pattern")) for name, inner in properties.items()}


@pytest.mark.parametrize(
    ("held", "text", "found"),
    [
        (schema("city", city=TEXT), "Is it warm in Lisbon?", {"city": ["Lisbon"]}),
        (schema("path", path=TEXT), "Show me docs/a.md", {"path": ["docs/a.md"]}),
        (schema("to", to={"type": "string", "description": "E-mail address"}), "Write to a@b.example", {"to": ["a@b.example"]}),
        (schema("date", date={"type": "string", "description": "YYYY-MM-DD"}), "on 2 May 2027", {"date": ["2027-05-02"]}),
        (schema("currency", currency=TEXT), "in euros", {"currency": ["EUR"]}),
        (schema("height_cm", height_cm=NUMBER), "I am 1.79 m tall", {"height_cm": [179]}),
        (schema("body", body=TEXT), 'Send "See you." to her', {"body": ["See you."]}),
        (schema("table", table=TEXT), "rows of the table customers", {"table": ["customers"]}),
        (schema("rate_percent", rate_percent=NUMBER), "at 3.5 percent", {"rate_percent": [3.5]}),
        (schema("name", name=TEXT), 'a ticket on "the Login Page"', {"name": ["the Login Page"]}),
        (schema("why", why={"type": "string", "enum": ["low", "urgent"]}), "it is pressing", {"why": ["urgent"]}),
        (schema("place", place=TEXT, actor=TEXT), "in Rome featuring Jim Carrey", {"place": ["Rome"], "actor": ["Jim Carrey"]}),
        (schema("n", n={"type": "integer", "maximum": 14}), "in 2.5 or 3 or 40 days", {"n": [3]}),
        (schema("symbol", symbol={"type": "string", "description": "Ticker"}), "a Zorbex share", {"symbol": "^[A-Z]{1,5}$"}),
        (schema("symbol", symbol={"type": "string", "description": "Ticker"}), "a share of MSFT", {"symbol": ["MSFT"]}),
        (schema("insured", insured={"type": "boolean"}), "and I want it insured", {"insured": [True]}),
        (schema("insured", insured={"type": "boolean"}), "and not insured", {"insured": [False]}),
        (schema("insured", insured={"type": "boolean"}), "send it", {"insured": None}),
        (schema("query", query=TEXT), "Search the web for vegan food in Berlin.", {"query": ["vegan food in Berlin"]}),
        (schema("query", query=TEXT), "Find pictures of hot air balloons.", {"query": ["hot air balloons"]}),
        (schema("count", count=WHOLE), "Who made the last commit?", {"count": [1]}),
        (schema("count", count=WHOLE), "Who made the last commits?", {"count": None}),
        (schema("count", count=WHOLE), "Show the last commit of the last 3 days", {"count": [3]}),
        (schema("count", count=WHOLE), "What was committed in the last week?", {"count": None}),
        (schema("order_id", order_id=WHOLE), "Cancel my last order", {"order_id": None}),
    ],
)
def test_a_parameter_is_held_to_what_the_text_says(held: dict[str, Any], text: str, found: dict[str, Any]) -> None:
    assert offered(held, text) == found


@pytest.mark.parametrize(
    ("held", "text", "found"),
    [
        (schema("origin destination", destination=TEXT, origin=TEXT), "from Paris to Lyon",
         {"destination": ["Lyon"], "origin": ["Paris"]}),
        (schema("host port", host=TEXT, port=WHOLE), "does example.org answer on port 443, or 2",
         {"host": ["example.org"], "port": [443]}),
        (schema("days count", count=WHOLE, days=WHOLE), "2 of them for 3 days", {"count": [2], "days": [3]}),
        (schema("a b", a=NUMBER, b=NUMBER), "4, then 7", {"a": [4], "b": [7]}),
        (schema("weight_kg height_cm", weight_kg=NUMBER, height_cm=NUMBER), "180 cm and 82 kilos",
         {"weight_kg": [82], "height_cm": [180]}),
    ],
)  # fmt: skip
def test_the_words_beside_a_value_say_whose_it_is(held: dict[str, Any], text: str, found: dict[str, Any]) -> None:
    assert offered(held, text) == found


def test_the_model_chooses_where_the_text_does_not_tell() -> None:
    assert {"Grace", "Alan"} < set(offered(schema("name", name=TEXT), "Ada met Grace and Alan")["name"])
    assert "late boat" in offered(schema("query", query=TEXT), "look for the late boat")["query"]
    assert "main" in offered(schema("branch", branch=TEXT), "Go back to the main branch.")["branch"]
    played = offered(schema("title", title=TEXT, artist=TEXT), "Play Kind of Blue by Miles Davis")
    assert played == {"title": ["Kind of Blue"], "artist": ["Miles Davis"]}


@pytest.mark.parametrize(
    ("inner", "text", "there"),
    [
        ({"type": "string", "enum": ["celsius", "fahrenheit"]}, "weather in Oslo", False),
        ({"type": "string", "enum": ["celsius", "fahrenheit"]}, "weather in Oslo in Fahrenheit", True),
        ({"type": "integer", "description": "How many days"}, "weather in Oslo for 3 days", True),
        ({"type": "integer", "description": "How many days"}, "weather in Oslo for 3 people", False),
        ({"type": "boolean"}, "weather in Oslo", False),
    ],
)
def test_an_optional_parameter_is_offered_only_where_the_text_speaks_of_it(
    inner: dict[str, Any], text: str, there: bool
) -> None:
    assert ("more" in offered(schema("city", city=TEXT, more=inner), text)) is there


def test_lists_and_objects() -> None:
    numbers = schema("numbers", numbers={"type": "array", "items": NUMBER})
    held = held_to(numbers, Said("the middle of 3, 9 and 4")).schema
    assert checker(held).fits({"numbers": [3, 9, 4]})
    assert not checker(held).fits({"numbers": [3, 9]})
    line = schema("size quantity", size={"type": "string", "enum": ["small", "large"]}, quantity=WHOLE)
    pizzas = schema("pizzas", pizzas={"type": "array", "items": line})
    held = held_to(pizzas, Said("two large pizzas with ham and olives and one small one")).schema
    assert checker(held).fits({"pizzas": [{"size": "large", "quantity": 2}, {"size": "small", "quantity": 1}]})
    assert not checker(held).fits({"pizzas": [{"size": "large", "quantity": 2}]})
    person = schema("name email", name=TEXT, email=TEXT)
    held = held_to(schema("who", who=person), Said("to Ada Lovelace (ada@b.example)")).schema
    assert checker(held).fits({"who": {"name": "Ada Lovelace", "email": "ada@b.example"}})
    assert not checker(held).fits({"who": {"name": "Ada", "email": "ada@b.example"}})


def test_what_is_found_what_is_missing_and_what_may_be_implied() -> None:
    kind = {"type": "string", "enum": ["sick", "unpaid"]}
    date = {"type": "string", "description": "YYYY-MM-DD"}
    found = held_to(schema("kind start end", kind=kind, start=date, end=date), Said("off on 2 May 2027"))
    assert (found.found, found.missing, found.implied) == (("start",), ("end",), ("kind",))
    found = held_to(schema("text", text=TEXT), Said("anything at all"))
    assert (found.found, found.missing, found.implied) == ((), (), ())


def test_a_row_of_values_is_told() -> None:
    weather = schema("city", city=TEXT)
    found = held_to(weather, Said("How is it in Oslo, in Madrid and in Cairo?"))
    assert found.each == (("city", ("Oslo", "Madrid", "Cairo")),)
    assert only(found, "city", "Madrid").schema["properties"]["city"]["enum"] == ["Madrid"]
    assert held_to(weather, Said("in Naples, Florida")).each == ()
    assert held_to(schema("origin destination", origin=TEXT, destination=TEXT), Said("Oslo and Bergen")).each == ()


def test_of_more_values_than_parameters_each_keeps_its_order() -> None:
    held = held_to(schema("p q", p=NUMBER, q=NUMBER), Said("Take 3 of 5 by 9")).schema["properties"]
    assert (held["p"]["enum"], held["q"]["enum"]) == ([3, 5], [5, 9])


def test_a_row_of_numbers_is_not_another_parameter_s() -> None:
    saved = schema("amount rate years", amount=NUMBER, rate=NUMBER, years=WHOLE)
    found = held_to(saved, Said("What becomes of $1000 at a rate of 5%, for 10, 20 and 30 years?"))
    assert found.each == (("years", (10, 20, 30)),)
    assert found.schema["properties"]["amount"]["enum"] == [1000]


@given(
    st.text(max_size=80),
    st.dictionaries(
        st.sampled_from(["city", "n", "date", "text", "path", "on", "items", "kind"]),
        st.sampled_from([TEXT, NUMBER, WHOLE, {"type": "boolean"}, {}, {"enum": ["a", 1]}, {"type": "array", "items": TEXT}]),
    ),
)
def test_it_is_never_looser_than_the_schema(text: str, properties: dict[str, Any]) -> None:
    """Whatever the text, each plain value that is offered is one that the parameter takes."""
    held = held_to(schema(" ".join(properties), **properties), Said(f"{text} 5 or 2.5 in Oslo on 2 May 2027"))
    for name, inner in held.schema["properties"].items():
        for value in inner.get("enum", ()):
            assert checker({"properties": {name: properties[name]}}).fits({name: value}), (name, value)


LIST = {"type": "array", "items": {"type": "integer"}}
SWITCH = {"type": "string", "enum": ["True", "False", "dontcare"]}
SERVICE = {"type": "integer", "description": "Which service: 1 for cleaning, 2 for ironing."}


@pytest.mark.parametrize(
    ("held", "text", "found"),
    [
        (schema("one two", one=LIST, two=LIST), "A [3, 4] and B [1, 2, 3]", {"one": [[3, 4]], "two": [[1, 2, 3]]}),
        (schema("flows rate", flows=LIST, rate=NUMBER), "of [5, 6] at 8%", {"flows": [[5, 6]], "rate": [0.08]}),
        (schema("share", share={"type": "integer"}), "at 8%", {"share": [8]}),
        (schema("service", service=SERVICE), "I need ironing", {"service": [2]}),
        (schema("", laundry=SWITCH), "a house with laundry", {"laundry": ["True"]}),
        (schema("county", county=TEXT), "against Apple in Santa Clara County", {"county": ["Santa Clara County"]}),
        (schema("kind", kind={"type": "string", "description": "e.g. jazz, rock"}), "some rock music", {"kind": ["rock"]}),
        (schema("rank suit", rank=TEXT, suit=TEXT), "rank 'Queen', suit 'Hearts'", {"rank": ["Queen"], "suit": ["Hearts"]}),
        (schema("size", size={"type": "integer", "description": "Default is 52."}), "in poker", {"size": [52]}),
        (schema("player", player=TEXT, team=TEXT), "stats of LeBron James", {"player": ["LeBron James"]}),
        (
            schema("city", city={"type": "string", "description": "City and state, e.g. Reno, NV"}),
            "the weather in Modesto or in O'Fallon",
            {"city": "^(Modesto), [A-Z][A-Z]$"},
        ),
    ],
)
def test_what_a_schema_tells_of_its_values(held: dict[str, Any], text: str, found: dict[str, Any]) -> None:
    assert offered(held, text) == found


@pytest.mark.parametrize(
    ("inner", "small", "large"),
    [
        (NUMBER, 12, 10**12),
        ({"type": "array", "items": NUMBER}, [12], [10**12]),
        (schema("n", n=NUMBER), {"n": 12}, {"n": 10**12}),
    ],
)
def test_what_the_text_does_not_hold_has_an_end(inner: dict[str, Any], small: Any, large: Any) -> None:
    held = checker(held_to(schema("more", more=inner), Said("no more")).schema)
    assert held.fits({"more": small})
    assert not held.fits({"more": large})


def option(about: str) -> dict[str, Any]:
    return schema("city", city=TEXT, more={"type": "string", "description": about})


@pytest.mark.parametrize(
    ("about", "text", "found"),
    [
        ("The method: 'trapezoid' or 'simpson'. Default is 'trapezoid'.", "in Oslo, with the simpson method", ["simpson"]),
        ("The method: 'trapezoid' or 'simpson'. Default is 'trapezoid'.", "the BMI in Oslo", None),
        ("The species, default is 'Homo sapiens'", "the SNP in Oslo", None),
    ],
)
def test_of_what_a_description_offers_the_text_names_one_or_none(about: str, text: str, found: Any) -> None:
    assert offered(option(about), text).get("more") == found


@pytest.mark.parametrize(
    ("inner", "text", "found"),
    [
        ({"type": "string"}, "a circle of 4 inches", {"unit": ["inches"]}),
        ({"type": "string"}, "the speed in km/h", {"unit": ["km/h"]}),
        ({"type": "string"}, "a circle", {}),
        ({"type": "string"}, "85 kg and 180 cm", {}),  # which of them, nobody knows
        ({"type": "string", "description": "'metric' or 'imperial'"}, "85 kg", {}),
    ],
)
def test_units_are_those_that_the_text_names(inner: dict[str, Any], text: str, found: dict[str, Any]) -> None:
    assert offered(schema(unit=inner), text) == found


def test_a_number_may_be_an_option() -> None:
    stars = {"type": "string", "enum": ["1", "2", "3", "dontcare"]}
    assert offered(schema(stars=stars), "a three star hotel for 2 nights") == {"stars": ["3"]}


@pytest.mark.parametrize(
    ("text", "found"),
    [("it shouldn't be heated", False), ("exclude any that are heated", False), ("not here, and heated", True)],
)
def test_what_is_denied_in_its_clause(text: str, found: bool) -> None:
    assert offered(schema("heated", heated={"type": "boolean"}), text) == {"heated": [found]}


def test_without_children_there_are_none() -> None:
    assert offered(schema("adults children", adults=NUMBER, children=NUMBER), "two adults without children") == {
        "adults": [2],
        "children": [0],
    }


@pytest.mark.parametrize("text", ["the table users", "the table with id users", "the table is called users"])
def test_a_label_may_stand_further_off(text: str) -> None:
    assert [one.value for one in sure(slot("table", TEXT), Said(text))] == ["users"]


def test_a_quotation_behind_a_label_is_whole() -> None:
    assert offered(schema("table", table=TEXT), "the table is 'New Users'") == {"table": ["New Users"]}


def test_an_id_may_be_any_quotation_behind_its_name() -> None:
    assert offered(schema("id size", id=TEXT, size=NUMBER), 'id "grgr" with size 1024') == {"id": ["grgr"], "size": [1024]}


def test_of_several_a_description_offers_a_list() -> None:
    rows = {"type": "array", "items": TEXT, "description": "Supported are 'Dow Jones', 'NASDAQ', 'DAX' etc."}
    assert offered(schema("rows", rows=rows), "the DAX and the Dow Jones of today") == {"rows": [["DAX", "Dow Jones"]]}


def test_the_only_name_left_is_that_of_what_has_one() -> None:
    found = offered(schema("player sport", player=TEXT, sport=TEXT), "the best tennis match for Serena Williams")
    assert found["player"] == ["Serena Williams"]
    assert "Serena Williams" not in found["sport"]


def test_an_order_in_short() -> None:
    order = {"type": "string", "enum": ["asc", "desc"]}
    assert offered(schema(order=order), "in descending order") == {"order": ["desc"]}


def test_people_are_guests() -> None:
    assert offered(schema(guests=NUMBER, days=NUMBER), "a table for four people") == {"guests": [4]}


def test_a_name_is_whole_and_has_no_title() -> None:
    player = {"type": "string", "description": "The full name of the lawyer"}
    assert offered(schema("name", name=player), "cases of Lawyer John Doe") == {"name": ["John Doe"]}
    assert offered(schema("museum", museum=TEXT), "hours of The British Museum") == {"museum": ["The British Museum"]}
    assert offered(schema("team", team=TEXT), "results of Lakers 2021") == {"team": ["Lakers"]}


def test_each_place_has_its_state() -> None:
    town = {"type": "string", "description": "A city and its state, such as 'Reno, NV'"}
    both = schema("origin destination", origin=town, destination=town)
    found = offered(both, "from New York, NY to Modesto")
    assert found == {"origin": ["New York, NY"], "destination": "^(Modesto), [A-Z][A-Z]$"}
    found = offered(both, "from New York, NY to Los Angeles")  # everyone knows where that is
    assert found == {"origin": ["New York, NY"], "destination": ["Los Angeles, CA"]}


def test_what_is_surely_a_name_is_no_other_word() -> None:
    found = offered(schema("city sort", city=TEXT, sort=TEXT), "an Italian place in Boston")
    assert found["city"] == ["Boston"]
    assert "Boston" not in found["sort"]


def test_an_object_of_which_nothing_is_required_is_offered_where_the_text_speaks_of_it() -> None:
    inner = {"type": "object", "properties": {"max_price": {"type": "number"}, "kind": {"enum": ["house", "flat"]}}}
    held = schema("city", city={"type": "string"}, filters=inner)
    told = held_to(held, Said("a house in Boise under 550000")).schema["properties"]["filters"]["properties"]
    assert {name: one["enum"] for name, one in told.items()} == {"max_price": [550000], "kind": ["house"]}
    assert "filters" not in held_to(held, Said("what is there in Boise?")).schema["properties"]


@pytest.mark.parametrize(
    ("name", "about", "text", "found"),
    [
        ("limit", "", "the next three line 12 trams", 3),
        ("lines", "How many lines", "the last 50 warnings of line 7", 50),
        ("year_to", "", "films from 1973 to 1982", 1982),
        ("decided_after", "", "5 decisions from after 2015", 2015),
        ("duration_minutes", "", "I need a free hour, for 3 people", 60),
        ("duration_seconds", "", "ring in six and a half minutes", 390),
        ("load", "", "alert me at a load of 5 percent", 5),
    ],
)
def test_numbers_that_the_words_beside_them_tell(name: str, about: str, text: str, found: int) -> None:
    number = {"type": "number", "description": about}
    assert held_to(schema("", **{name: number}), Said(text)).schema["properties"][name]["enum"] == [found]


def test_what_is_quoted_is_a_text_and_no_place() -> None:
    held = schema("query state", query={"type": "string"}, state={"type": "string"})
    assert offered(held, 'I live in Oregon. Search the law for "security deposit".') == {
        "query": ["security deposit"],
        "state": ["Oregon"],
    }


def test_days_of_another_kind_switch_nothing_on() -> None:
    held = schema("", business_days_only={"type": "boolean", "description": "Count only business days"})
    assert not held_to(held, Said("21 calendar days from now")).schema["properties"]
    assert held_to(held, Said("in 21 business days")).schema["properties"]


def test_a_service_is_not_the_machine_that_it_runs_on() -> None:
    held = schema("service host", service={"type": "string", "description": "Name of the service"}, host={"type": "string"})
    told = held_to(held, Said("nginx on web-03 is hanging")).schema["properties"]
    assert told["host"]["enum"] == ["web-03"]
    assert "web-03" not in told["service"]["enum"]


def test_the_day_within_an_object_is_not_that_of_the_call() -> None:
    day = {"type": "string", "format": "date"}
    who = {"type": "object", "properties": {"date_of_birth": day}, "required": ["date_of_birth"]}
    text = "Lena, born 17 August 2019, has to see someone: June 3, 2025"
    told = held_to(schema("patient date", patient=who, date=day), Said(text)).schema["properties"]
    assert told["date"]["enum"] == ["2025-06-03"]
    assert told["patient"]["properties"]["date_of_birth"]["enum"] == ["2019-08-17"]
