from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolglot.pipeline.exact_values import exact
from toolglot.pipeline.said import Said
from toolglot.pipeline.slot_kinds import slot


def exactly(name: str, about: str, text: str, type_: str = "string") -> list[Any]:
    return [one.value for one in exact(slot(name, {"type": type_, "description": about}), Said(text))]


@pytest.mark.parametrize(
    ("name", "about", "text", "found"),
    [
        ("target_language", "ISO 639-1 code", "this in Portuguese", ["pt"]),
        ("country", "Two-letter country code", "news from Denmark", ["DK"]),
        ("state", "State abbreviation", "tax in New York", ["NY"]),
        ("country", "Name of the country", "news from Denmark", []),
        ("symbol", "Ticker symbol", "How is Microsoft doing?", ["MSFT"]),
        ("first_name", "", "for Emma Larsson", ["Emma"]),
        ("last_name", "", "for Emma Larsson", ["Larsson"]),
        ("version", "", "ship 2.8.1 of it", ["2.8.1"]),
        ("sort_by", "", "sorted by price please", ["price"]),
        ("assignee", "User name", "assign it to hwang.", ["hwang"]),
        ("color", "", "red running shoes", ["red"]),
        ("color_name", "", "the value of Sea Green", ["Sea Green"]),
        ("to", "Addresses of the recipients", "write to a@b.example", ["a@b.example"]),
        ("to", "Name of the recipient", "write to a@b.example", []),
        ("month", "", "in December", ["December"]),
        ("check_out", "YYYY-MM-DD", "3 nights from 1 June 2026", ["2026-06-04"]),
        ("check_in", "YYYY-MM-DD", "3 nights from 1 June 2026", []),
    ],
)
def test_what_a_parameter_asks_for(name: str, about: str, text: str, found: list[Any]) -> None:
    assert exactly(name, about, text) == found


@pytest.mark.parametrize(
    ("name", "about", "text", "found"),
    [
        ("interval", "", "every second month", [2]),
        ("compounds_per_year", "", "compounded quarterly", [4]),
        ("month", "", "the November 2024 payslip", [11]),
        ("nights", "", "from 9 to 12 July 2027", [3]),
        ("duration_minutes", "Length in minutes", "from 2 pm until half past three", [90]),
        ("duration_minutes", "Length in minutes", "from 2 pm until 3 pm or for 20 minutes", []),
        ("count", "", "every second month", []),
    ],
)
def test_what_a_number_is_asked_for(name: str, about: str, text: str, found: list[Any]) -> None:
    assert exactly(name, about, text, "integer") == found


@pytest.mark.parametrize(
    ("name", "about", "text", "found"),
    [
        ("text", "What to be reminded of", "Remind me to renew my passport on 3 May 2026 at 9:00.", ["renew my passport"]),
        ("text", "", "Tell Marta I'll be half an hour late.", ["I'll be half an hour late"]),
        ("text", "", "Let my sister know that dinner is at eight.", ["dinner is at eight"]),
        ("contact", "", "Let my sister know that dinner is at eight.", ["sister"]),
        ("message", "", "Text Ravi: can you call me?", ["can you call me?"]),
        ("text", "Text to translate", "How do you say good luck in Korean?", ["good luck"]),
        ("word", "", "what does ubiquitous mean", ["ubiquitous"]),
        ("query", "", "Show me office chairs between 150 and 300", ["office chairs"]),
        ("topic", "", "three headlines about renewable energy from Denmark", ["renewable energy"]),
        ("device", "", "Turn off the coffee machine in 10 minutes", ["coffee machine"]),
        ("reason", "", "Mute him because of repeated advertising", ["repeated advertising"]),
        ("label", "", "Set a 25 minute timer for the pasta bake", ["pasta bake"]),
        ("note", "", "Book it. Note: one of us is late", ["one of us is late"]),
        ("query", "The SQL statement", "Run SELECT a FROM b WHERE c = 0 on the shop db.", ["SELECT a FROM b WHERE c = 0"]),
        ("name", "Name of the dish", "Order 2 Pad Thai and 1 curry", ["Pad Thai"]),
        ("description", "What was sold", "three chairs at 49.90 each", ["chairs"]),
        ("product", "", "in 45 minutes", []),
        ("text", "", 'Tell Marta "see you"', []),
    ],
)
def test_texts_whose_form_tells_where_they_end(name: str, about: str, text: str, found: list[Any]) -> None:
    assert exactly(name, about, text) == found


@given(st.text(alphabet="remind to 31st June 2026 nights from 9:00 until ' . : Aa0", max_size=80))
def test_any_text_is_read(text: str) -> None:
    for name in ("nights", "duration_minutes", "interval", "month"):
        exactly(name, "Length in minutes", text, "integer")
    for name in ("check_out", "text", "contact", "assignee", "color", "first_name", "version", "query"):
        exactly(name, "", text)
