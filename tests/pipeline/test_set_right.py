"""What a conversation sets right in the calls of small models, and what it leaves alone."""

from __future__ import annotations

from typing import Any

import pytest

from toolglot.core.messages import Message, Text, ToolResult
from toolglot.core.tools import Tool
from toolglot.pipeline.conversation import Conversation
from toolglot.pipeline.set_right import CODED, MISCOPIED, MISREAD, NAMED, SPOKEN, UNSPOKEN, set_right
from toolglot.pipeline.told_values import told_values

TOOL = Tool(
    "find",
    "Find something.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "to": {"type": "string"},
            "max_price": {"type": "number"},
            "minutes": {"type": "integer"},
            "unit": {"enum": ["km", "miles"]},
            "genre": {"enum": ["horror", "comedy"]},
            "method": {"type": "string"},
            "page": {"type": "integer", "default": 1},
            "shop_id": {"type": "integer"},
            "new": {"type": "boolean"},
            "since": {"type": "string"},
            "to_currency": {"type": "string"},
            "base_currency": {"enum": ["dollars", "euros"]},
        },
        "required": ["query"],
    },
)


def asked(text: str, result: str | None = None) -> Conversation:
    given = () if result is None else (Message("tool", (ToolResult("c", "find", (Text(result),)),)),)
    return Conversation((Message("user", (Text(text),)), *given))


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("Find a lamp.", "max_price", 100),
        ("How far is it to Rome?", "unit", "miles"),
        ("Find the area.", "method", "trapezoidal"),
        ("Find a lamp.", "minutes", 30),
        ("Find a lamp.", "since", ""),
    ],
)
def test_what_is_optional_and_not_spoken_of_is_left_out(text: str, key: str, value: Any) -> None:
    held = {"query": "x", key: value}
    assert set_right(TOOL, held, asked(text), begun=False) == ({"query": "x"}, (UNSPOKEN,))
    assert set_right(TOOL, held, asked(text), begun=True) == (held, ())  # it may come from what was seen


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("Find a lamp, 100 euros at most.", "max_price", 100),
        ("Find a lamp for a hundred euros.", "max_price", 100),
        ("Find a lamp at a good price.", "max_price", 50),  # the price is spoken of
        ("What can be cooked in half an hour?", "minutes", 30),
        ("How many miles is it to Rome?", "unit", "miles"),
        ("Find a film with ghosts.", "genre", "horror"),  # a choice by its sense
        ("Find it by the trapezoid rule.", "method", "trapezoidal"),
        ("Find a lamp.", "page", 1),  # the default, which makes no difference
        ("Find a lamp in Bangkok.", "shop_id", 1),
        ("Find a lamp.", "new", True),
        ("Find a lamp of last week.", "since", "2027-01-04"),
        ("找一盏灯", "max_price", 100),
    ],
)
def test_what_may_have_been_meant_stays(text: str, key: str, value: Any) -> None:
    held = {"query": "x", key: value}
    assert set_right(TOOL, held, asked(text), begun=False) == (held, ())


def test_what_is_required_stays_whatever_it_is() -> None:
    assert set_right(TOOL, {"query": "sofa"}, asked("Find a lamp."), begun=False) == ({"query": "sofa"}, ())


@pytest.mark.parametrize(
    ("result", "written", "left"),
    [
        ("T.Havel@mail.example", "t.havel@example.com", "T.Havel@mail.example"),
        ("t.havel@mail.example", "t.havel@mail.example", "t.havel@mail.example"),
        ("t.havel@mail.example or t.havel@home.example", "t.havel@example.com", "t.havel@example.com"),  # which one?
        ("t.havel@mail.example", "tomas@example.com", "tomas@example.com"),
        ("t.havel@mail.example", "the address", "the address"),
    ],
)
def test_an_address_is_as_it_stands_in_the_conversation(result: str, written: str, left: str) -> None:
    codes = () if written == left else (MISCOPIED,)
    spoken = asked("Write to Tomas.", result)
    assert set_right(TOOL, {"query": "x", "to": written}, spoken, begun=True) == ({"query": "x", "to": left}, codes)


@pytest.mark.parametrize(
    ("key", "written", "left"),
    [
        ("to_currency", "Canadian dollars", "CAD"),
        ("to_currency", "euros", "EUR"),
        ("to_currency", "eur", "eur"),
        ("to_currency", "shells", "shells"),
        ("base_currency", "euros", "euros"),  # as the tool wants it
        ("query", "euros", "euros"),
    ],
)
def test_a_currency_has_its_code(key: str, written: str, left: str) -> None:
    spoken = asked("What are 5 canadian dollars, eur or shells in euros?")
    found, codes = set_right(TOOL, {"query": "x", key: written}, spoken, begun=False)
    assert (found[key], codes) == (left, () if written == left else (NAMED,))


@pytest.mark.parametrize("schema", [None, {}, {"properties": []}, {"properties": {"page": True}}, {"properties": {"page": {}}}])
def test_a_schema_of_any_form_is_borne(schema: Any) -> None:
    held = {"page": 7}
    assert set_right(Tool("find", "", schema), held, asked("Find it."), begun=False)[0] in (held, {})


ALARM = Tool(
    "set_alarm",
    "Set an alarm or a timer.",
    {
        "type": "object",
        "properties": {
            "time": {"type": "string", "description": "Time of day, HH:MM"},
            "minutes": {"type": "integer", "description": "How long, in minutes"},
            "sound": {"enum": ["bell", "birds", "radio"]},
            "level": {"enum": ["1", "2", "3"]},
            "count": {"type": "integer"},
        },
        "required": ["time", "minutes"],
    },
)


def after(text: str, **held: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    return set_right(ALARM, held, asked(text), told_values(ALARM, text), begun=False)


@pytest.mark.parametrize(
    ("text", "written", "left"),
    [
        ("Wake me at quarter past six in the morning.", "06:30", "06:15"),
        ("Wake me at quarter past six.", "18:15", "18:15"),  # in the evening, perhaps
        ("Wake me at 6:15.", "06:15:00", "06:15:00"),
        ("Wake me at 6:00 or at 7:00.", "06:30", "06:30"),  # which one?
        ("Wake me early.", "06:30", "06:30"),
        ("Wake me at quarter past six.", "dawn", "dawn"),
    ],
)
def test_a_time_that_nobody_said_is_the_only_one_that_was(text: str, written: str, left: str) -> None:
    found, codes = after(text, time=written, minutes=5)
    assert (found["time"], codes) == (left, () if written == left else (MISREAD,))


@pytest.mark.parametrize(
    ("text", "written", "left"),
    [
        ("Set the timer to half an hour.", 45, 30),
        ("Set the timer to half an hour, at 50% volume.", 45, 30),
        ("Set the timer to two hours.", 120, 120),
        ("Set the timer to two hours.", 2, 2),  # it was said, at least
        ("Set the timer to ten minutes or to twenty minutes.", 15, 15),
        ("Set the timer.", 15, 15),
    ],
)
def test_a_duration_that_nobody_said_is_the_only_one_that_was(text: str, written: int, left: int) -> None:
    found, codes = after(text, time="06:00", minutes=written)
    assert (found["minutes"], codes) == (left, () if written == left else (MISREAD,))


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("Wake me at six with birds.", {"sound": "birds"}),
        ("Wake me at six with birds or the radio.", {}),
        ("Wake me at six, floor 3, with no noise.", {}),
        ("Wake me at six.", {}),
    ],
)
def test_one_of_a_few_that_the_question_names_is_put_in(text: str, more: dict[str, str]) -> None:
    assert after(text, time="06:00", minutes=5) == ({"time": "06:00", "minutes": 5, **more}, (SPOKEN,) if more else ())
    assert after(text, time="06:00", minutes=5, sound="bell")[0]["sound"] == "bell"  # the model chose by the sense


CODES = Tool(
    "translate",
    "Translate, or look something up.",
    {
        "type": "object",
        "properties": {
            "language": {"type": "string", "description": "ISO 639-1 code of the language"},
            "country": {"type": "string", "description": "Name of the country"},
            "ticker": {"type": "string"},
            "company": {"type": "string", "description": "The ticker symbol of the company"},
            "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
        },
        "required": ["language", "country", "ticker"],
    },
)


@pytest.mark.parametrize(
    ("key", "written", "left"),
    [
        ("language", "Japanese", "ja"),
        ("language", "ja", "ja"),
        ("language", "Klingon", "Klingon"),
        ("country", "Germany", "Germany"),  # no code is asked for
        ("ticker", "NVIDIA", "NVDA"),
        ("ticker", "NVDA", "NVDA"),
        ("ticker", "IBM", "IBM"),
        ("company", "Apple Inc.", "AAPL"),
        ("company", "Microsoft Corporation", "MSFT"),
        ("location", "New York", "New York, NY"),
        ("location", "Boston, MA", "Boston, MA"),
        ("location", "Springfield", "Springfield"),  # which one?
        ("country", "Boston", "Boston"),  # no state is asked for
    ],
)
def test_a_name_has_its_code_where_that_is_asked_for(key: str, written: str, left: str) -> None:
    found, codes = set_right(CODES, {key: written}, asked(f"About {written}, please."), begun=False)
    assert (found[key], codes) == (left, () if written == left else (CODED,))


def test_a_word_for_a_number_is_said_whatever_it_means() -> None:
    assert set_right(TOOL, {"query": "x", "max_price": 1}, asked("The next one, please."), begun=False)[1] == ()


GUITAR = Tool(
    "price",
    "Prices of instruments, and loans for them.",
    {
        "type": "object",
        "properties": {
            "model": {"type": "string"},
            "finish": {"type": "string"},
            "museum": {"type": "string"},
            "parts": {"type": "array", "items": {"enum": ["strings", "case", "tuner"]}},
            "due": {"type": "string", "description": "Day of delivery, YYYY-MM-DD"},
            "growth_rate": {"type": "number", "description": "A year"},
            "interest": {"type": "number", "description": "Interest a year, in percent"},
            "duration": {"type": "number", "description": "Years"},
            "tax_rate": {"type": "number", "description": "On all"},
        },
        "required": ["model", "growth_rate", "interest", "duration", "tax_rate"],
    },
)


def of_guitar(text: str, **held: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    return set_right(GUITAR, held, asked(text), told_values(GUITAR, text), begun=False)


@pytest.mark.parametrize(
    ("key", "written", "left"),
    [
        ("finish", "Rosewood Finish", "Rosewood"),
        ("finish", "Rosewood", "Rosewood"),
        ("museum", "City Museum", "City Museum"),  # its name
        ("finish", "matte finish", "matte finish"),  # the model's own words
    ],
)
def test_a_kind_is_named_without_the_word_for_it(key: str, written: str, left: str) -> None:
    found, codes = of_guitar("One in Rosewood Finish as in the City Museum; a finish of my own.", **{key: written})
    assert (found[key], codes) == (left, () if written == left else (MISREAD,))


@pytest.mark.parametrize(
    ("key", "written", "left"),
    [
        ("growth_rate", 2, 0.02),
        ("growth_rate", 0.02, 0.02),
        ("growth_rate", 10, 10),  # years, not per cent
        ("interest", 0.02, 2),
        ("interest", 2, 2),
        ("duration", 2, 2),
        ("tax_rate", 2, 2),  # 2 as well as 0.02
    ],
)
def test_a_percentage_is_told_as_the_parameter_has_it(key: str, written: float, left: float) -> None:
    found, codes = of_guitar("It grows by 2% for 10 years.", **{key: written})
    assert (found[key], codes) == (left, () if written == left else (MISREAD,))


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("A Les Paul with case and strings.", {"parts": ["case", "strings"]}),
        ("A Les Paul by 3 May 2026.", {"due": "2026-05-03"}),
        ("A Les Paul by 3 May 2026, not as the one of 5 May 2026.", {}),
        ("A Les Paul.", {}),
    ],
)
def test_some_of_a_few_and_the_only_date_are_put_in(text: str, more: dict[str, Any]) -> None:
    assert of_guitar(text, model="Les Paul") == ({"model": "Les Paul", **more}, (SPOKEN,) if more else ())


def test_a_month_may_be_told_in_days() -> None:
    held = {"query": "concerts", "minutes": 30}
    assert set_right(TOOL, held, asked("Concerts in the upcoming month."), begun=False) == (held, ())
    assert set_right(TOOL, held, asked("Concerts, please."), begun=False)[1] == (UNSPOKEN,)


SHARES = Tool(
    "dividend",
    "Dividend per share.",
    {
        "type": "object",
        "properties": {"payout": {"type": "integer"}, "revenue": {"type": "number", "description": "In millions"}},
        "required": ["payout"],
    },
)


@pytest.mark.parametrize(
    ("text", "key", "written", "left"),
    [
        ("A payout of 50 million USD on 100 million shares", "payout", 50, 50_000_000),
        ("A payout of $2.5 billion", "payout", 2.5, 2_500_000_000),
        ("A payout of 50 million USD on 50 shares", "payout", 50, 50),  # it may be of the other
        ("A payout of 50 million USD", "payout", 50_000_000, 50_000_000),
        ("A payout of 50 USD", "payout", 50, 50),
        ("A revenue of 50 million USD", "revenue", 50, 50),  # as the parameter wants it
    ],
)
def test_a_number_is_told_with_its_millions(text: str, key: str, written: float, left: float) -> None:
    right, codes = set_right(SHARES, {key: written}, asked(text), begun=False)
    assert (right, codes) == ({key: left}, (MISREAD,) if left != written else ())


@pytest.mark.parametrize(
    ("key", "written", "left"),
    [
        ("finish", "the dark walnut", "dark walnut"),
        ("finish", "The Dark Walnut", "The Dark Walnut"),  # a title
        ("finish", "the amber", "the amber"),  # the model's own words
    ],
)
def test_a_thing_is_named_without_its_article(key: str, written: str, left: str) -> None:
    found, codes = of_guitar("One in the dark walnut, please.", **{key: written})
    assert (found[key], codes) == (left, () if written == left else (MISREAD,))


def test_a_text_keeps_its_words() -> None:
    note = Tool("send", "Sends.", {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]})
    held = {"text": "the build is green"}
    assert set_right(note, held, asked("Tell Ann: the build is green"), begun=False) == (held, ())


def test_what_is_only_counted_up_is_left_out() -> None:
    said, held = asked("Find the lamps of all the rooms, on floor 3"), {"query": "lamp", "since": "Room 7"}
    assert set_right(TOOL, held, said, begun=False, alone=False) == ({"query": "lamp"}, (UNSPOKEN,))
    assert set_right(TOOL, held, said, begun=False) == (held, ())
    floor = {"query": "lamp", "since": "Floor 3"}
    assert set_right(TOOL, floor, said, begun=False, alone=False) == (floor, ())


@pytest.mark.parametrize(
    ("text", "left"),
    [("Chords in C# major", "C#"), ("C++ or not", "C++"), ("From C to C#", "C"), ("C major", "C"), ("A key", "C")],
)
def test_a_sign_belongs_to_its_letter(text: str, left: str) -> None:
    found, codes = of_guitar(text, finish="C")
    assert (found["finish"], codes) == (left, () if left == "C" else (MISREAD,))
