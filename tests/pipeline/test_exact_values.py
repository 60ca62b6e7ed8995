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
        ("genre", "Genre, e.g. 'thriller'", "some horror films", ["horror"]),
        ("cuisine", "", "Thai food in Oslo", ["Thai"]),
        ("director", "", "films Agnes Varda directed", ["Agnes Varda"]),
        ("director", "", "a Thriller directed by Josephine Decker", ["Josephine Decker"]),
        ("repo", "Repository as owner/name", "PR 412 in acme/webshop", ["acme/webshop"]),
        ("cidr", "Range in CIDR notation", "all from 10.20.0.0/16 to web-01", ["10.20.0.0/16"]),
        ("formula", "Chemical formula", "the mass of K2Cr2O7", ["K2Cr2O7"]),
        ("sequence", "DNA sequence", "the complement of ATGGCC please", ["ATGGCC"]),
        ("pattern", "Glob pattern of the name", "all .proto files", ["*.proto"]),
        ("directory", "", "the files in the api folder", ["api"]),
        ("host", "Server", "restart nginx on web-03", ["web-03"]),
        ("host", "Server", "restart nginx on a.example.org, not web-03", []),
        ("room", "Name of the room", "dim the guest bedroom", ["guest bedroom"]),
        ("topic", "", "a quiz of 5 questions on photosynthesis", ["photosynthesis"]),
        ("query", "Topic or keywords", "find court decisions about dog bites from 2015", ["dog bites"]),
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
        ("contact", "", "Send a message to Sophie: I'm late", ["Sophie"]),
        ("message", "", "Send a message to Sophie: I'm late", ["I'm late"]),
        ("contact", "", "Send Ana a message saying that I'm late", ["Ana"]),
        ("device", "", "Turn the TV off", ["TV"]),
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


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("latitude", "at 46.8523° N, 121.7603° W", [46.8523]),
        ("longitude", "at 46.8523° N, 121.7603° W", [-121.7603]),
        ("lat", "27.5 south, 153.0 east", [-27.5]),
        ("lon", "27.5 south, 153.0 east", [153.0]),
        ("longitude", "27.5, 153.0", []),
        ("number", "merge pull request #96", [96]),
        ("size", "merge pull request #96", []),
    ],
)
def test_numbers_that_a_sign_beside_them_tells(name: str, text: str, found: list[Any]) -> None:
    assert exactly(name, "", text, "number") == found
