from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.core.messages import Message, Text
from toolglot.core.tools import Tool
from toolglot.pipeline.conversation import Conversation
from toolglot.pipeline.gate import gate
from toolglot.pipeline.said import Said
from toolglot.pipeline.said_numbers import numbers
from toolglot.pipeline.said_options import implied, mentioned
from toolglot.pipeline.said_parts import parts
from toolglot.pipeline.said_times import dates, times
from toolglot.pipeline.said_units import currencies, in_unit, wanted_unit

TUESDAY = date(2027, 3, 9)
KINDS = (
    "names",
    "quoted",
    "after_colon",
    "emails",
    "urls",
    "hosts",
    "phones",
    "paths",
    "codes",
    "tags",
    "addresses",
    "places",
    "called",
    "folders",
)


def values(kind: str, text: str) -> list[Any]:
    return [one.value for one in getattr(Said(text), kind)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("two hundred and fifty", [250]),
        ("twenty-five of 3 million", [25, 3_000_000]),
        ("three twenty-sided dice", [3, 20]),
        ("$1,250.50, and a dozen", [1250.5, 12]),
        ("-3 and 2x - 7", [-3, 2, -7]),
        ("5 m tall, 1.79 m", [5, 1.79]),
        ("the one in the middle", []),
        ("one apple", [1]),
        ("half an hour", [0.5]),
        ("order A-20491, 4f2a91c, 10.0.0.1, 0034", []),
        ("3, 9 and 27", [3, 9, 27]),
    ],
)
def test_numbers(text: str, found: list[float]) -> None:
    assert [one.forms[0] for one in numbers(text)] == found


@pytest.mark.parametrize("text", ["9" * 400, "1," + ",".join(["000"] * 400), "hundred " * 300, f"{'9' * 400} km", "a" * 9000])
def test_what_nobody_could_reckon_with_is_no_number(text: str) -> None:
    assert numbers(text) == []
    assert not Conversation((Message("user", (Text(text),)),)).counts(10**400)
    tool = Tool("t", "", {"type": "object", "properties": {"n": {"type": "number"}, "o": {"enum": ["9" * 5000, "²", "2"]}}})
    assert gate((tool,), (Message("user", (Text(f"{text} km"),)),), must=True).calls


def test_a_number_may_be_written_otherwise() -> None:
    assert [one.forms for one in numbers("5% of 5k, or $5k")] == [(5, 0.05), (5, 5000), (5000,)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("on March 14, 2027", ["2027-03-14"]),
        ("the 21st of September 2027", ["2027-09-21"]),
        ("from 2 to 4 February 2027", ["2027-02-02", "2027-02-04"]),
        ("2027-03-01 or 03/14/2027", ["2027-03-01", "2027-03-14"]),
        ("31 February 2027", []),
        ("may I have 2", []),
        ("tomorrow", ["2027-03-10"]),
        ("the day after tomorrow", ["2027-03-11"]),
        ("on Friday", ["2027-03-12"]),
        ("on Tuesday", ["2027-03-16"]),
        ("5 June", ["2027-06-05"]),
        ("April 3rd to April 5th 2023", ["2023-04-03", "2023-04-05"]),
    ],
)
def test_dates(text: str, found: list[str]) -> None:
    assert [one.value for one in dates(text, TUESDAY)] == found


def test_a_question_in_quotes_has_quotations_of_its_own() -> None:
    assert [one.value for one in Said("\"Find the book 'Dune', please\"").quoted] == ["Dune"]


def test_a_number_of_dates_counts_nothing() -> None:
    assert [one.value for one in Said("two adults from July 10, 2027 to July 20, 2027").numbers] == [2]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("5cm or 3 square feet", ["cm", "square feet"]),
        ("60 miles per hour, in m/s", ["miles per hour", "m/s"]),
        ("in a meter, at a bar", ["meter", "bar"]),
        ("in m or g", []),
    ],
)
def test_units(text: str, found: list[str]) -> None:
    assert [one.value for one in Said(text).units] == found


def test_what_day_it_is_must_be_known() -> None:
    assert dates("tomorrow") == []
    assert [(one.value, one.written) for one in dates("on 5 June")] == [("", "5 June")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("quarter past six in the morning", ["06:15"]),
        ("half past seven in the evening", ["19:30"]),
        ("quarter to nine p.m.", ["20:45"]),
        ("at eight in the morning and ten at night", ["08:00", "22:00"]),
        ("18:45 or 6 pm", ["18:45", "18:00"]),
        ("12 am, noon, midnight", ["00:00", "12:00", "00:00"]),
        ("five o'clock", ["05:00"]),
        ("at 25:00", []),
    ],
)
def test_times(text: str, found: list[str]) -> None:
    assert [one.value for one in times(text)] == found


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        ("names", "Put on Kind of Blue by Miles Davis.", ["Kind of Blue", "Miles Davis"]),
        ("names", "How is it in Oslo, in Madrid and in Cairo?", ["Oslo", "Madrid", "Cairo"]),
        ("names", "Convert 5 miles. Apple and Nvidia", ["Nvidia"]),  # what begins a sentence may be any word
        ("names", "read Marbury v. Madison to me", ["Marbury v. Madison"]),
        ("names", "from Praça do Comércio, then Both Sides Now", ["Praça do Comércio", "Both Sides Now"]),
        ("names", "New order: Ingrid Solberg, two of them", ["Ingrid Solberg"]),
        ("phones", "at 46.8523, 121.7603 west", []),
        ("names", "the weather in Naples, Florida", ["Naples", "Florida", "Naples, Florida"]),
        ("quoted", "Put 'buy milk', \"it's late\" and “so” there", ["buy milk", "it's late", "so"]),
        ("quoted", '"What does all of this mean?"', []),
        ("after_colon", "Text her and say: running late", ["running late"]),
        ("emails", "to a.b@mail.example.", ["a.b@mail.example"]),
        ("hosts", "does example.org answer", ["example.org"]),
        ("phones", "call +44 7700 900123 on 2027-03-09", ["+44 7700 900123"]),
        ("paths", "docs/CHANGELOG.md, report.txt and fix/login", ["docs/CHANGELOG.md", "report.txt", "fix/login"]),
        ("codes", "order A-20491 and 1Z999 of 1.5 kg", ["A-20491", "1Z999"]),
        ("addresses", "8 Mill Lane or Lindenstrasse 12", ["8 Mill Lane", "Lindenstrasse 12"]),
        ("tags", "in #general", ["general"]),
        ("called", "a scene called Movie night with the light off", ["Movie night"]),
        ("folders", "what is in the src folder", ["src"]),
        ("places", "from New York, USA to Naples, Florida", ["New York, USA", "Naples, Florida"]),
        ("places", "in Oslo, Rome and Cairo", []),
    ],
)
def test_values_by_kind(kind: str, text: str, found: list[str]) -> None:
    assert values(kind, text) == found


def test_numbers_of_a_date_are_not_offered_beside_others() -> None:
    assert values("numbers", "a table for four on March 14, 2027 at 7 pm") == [4]
    assert values("numbers", "on March 14, 2027") == [14, 2027]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the four areas of 2, 3, 4 and 5", [2, 3, 4, 5]),
        ("two points, 3 by 4 and 1 by 2", [3, 4, 1, 2]),
        ("three chairs at 49.90 and a desk at 210", [3, 49.9, 210]),
    ],
)
def test_a_number_in_words_may_count_what_is_told_in_digits(text: str, found: list[float]) -> None:
    assert values("numbers", text) == found
    assert [one.value for one in Said(text).part(0, len(text)).numbers] == found


@pytest.mark.parametrize(
    ("options", "text", "found"),
    [
        (["kilometers", "miles"], "42 km in miles", ["kilometers", "miles"]),
        (["kilometers", "centimeters"], "in centimetres", ["centimeters"]),
        (["living_room", "room"], "light in the living room", ["living_room"]),
        (["EUR", "GBP"], "at 5 pounds each", ["GBP"]),
        (["=", ">="], "age >= 3", [">="]),
        ([1, 2, True], "two of them", [2]),
        (["on", "off"], "only offers", []),
    ],
)
def test_options_that_are_named(options: list[Any], text: str, found: list[Any]) -> None:
    assert [one.value for one in mentioned(options, Said(text))] == found


def test_options_that_are_only_spoken_of() -> None:
    assert [one.value for one in implied(["vacation", "sick", 3], Said("I have the flu"))] == ["vacation", "sick"]
    assert implied(["red", "blue"], Said("I have the flu")) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("5 miles and 3 feet", ["5 miles", "3 feet"]),
        ("5 miles with salt and pepper, then 3 feet", ["5 miles with salt and pepper", "3 feet"]),
        ("between 5 and 3", ["between 5 and 3"]),
        ("Ana has 5, Ben has 3", ["Ana has 5", "Ben has 3"]),
        ("5 in Naples, Florida and 3", ["5 in Naples, Florida", "3"]),
        ("write '5 and 3'", ["write '5 and 3'"]),
        ("no number", []),
    ],
)
def test_parts_fill_on_their_own(text: str, found: list[str]) -> None:
    assert [one.text for one in parts(Said(text), lambda part: bool(part.numbers))] == found


def test_pieces_are_put_together_until_they_fill() -> None:
    told = parts(Said("75 kg and 180 cm, then 60 kg and 165 cm"), lambda part: len(part.numbers) > 1)
    assert [one.text for one in told] == ["75 kg and 180 cm", "60 kg and 165 cm"]


def test_units_and_currencies() -> None:
    wanted = wanted_unit("height_cm", "")
    assert wanted is not None
    assert in_unit(1.79, " m tall", wanted) == 179
    assert in_unit(179, " cm", wanted) is None
    assert in_unit(5, " kg", wanted) is None
    minutes = wanted_unit("duration", "Length in minutes")
    assert minutes is not None
    assert in_unit(1.5, " hours", minutes) == 90
    assert wanted_unit("age", "How old") is None
    assert [code for code, _, _ in currencies("120 US dollars, 5 €, 3 francs")] == ["USD", "EUR", "CHF"]


@given(st.text(max_size=200))
def test_any_text_can_be_looked_at(text: str) -> None:
    said = Said(text, TUESDAY)
    for kind in (*KINDS, "numbers", "dates", "times", "stretches", "written_dates", "written_times"):
        for one in getattr(said, kind):
            assert 0 <= one.start <= one.end <= len(text)
    parts(said, lambda part: bool(part.words))


def test_names_in_a_row_are_no_place_whatever_follows() -> None:
    assert Said("Prices of Apple, Nvidia and Netflix shares, please.").places == []
    assert [one.value for one in Said("We saw Naples, Florida and Portland, Oregon.").places] == [
        "Naples, Florida",
        "Portland, Oregon",
    ]
