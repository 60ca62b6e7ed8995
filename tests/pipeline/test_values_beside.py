"""What stands beside a value, and what a value is written as, says whose it is."""

from __future__ import annotations

from typing import Any

import pytest

from toolglot.pipeline.own_words import held_to
from toolglot.pipeline.said import Said

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
FLAG = {"type": "boolean"}
UNIT = {"type": "string", "enum": ["cm", "inch", "kg", "pound"]}
SORT = {"type": "string", "enum": ["relevance", "price_ascending", "rating"]}
DAYS = {"type": "array", "items": {"type": "string", "enum": "mon tue wed thu fri sat sun".split()}}  # noqa: SIM905
CLOCK = {"type": "string", "description": "HH:MM"}


def about(text: str, **held: Any) -> dict[str, Any]:
    return {**(held or TEXT), "description": text}


def values(text: str, required: str, /, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required.split()}
    held = held_to(schema, Said(text)).schema["properties"]
    return {name: inner.get("enum") for name, inner in held.items()}


@pytest.mark.parametrize(
    ("text", "properties", "found"),
    [
        ("weather in Celsius for Oslo", {"city": TEXT, "unit": {"enum": ["celsius", "kelvin"]}},
         {"city": ["Oslo"], "unit": ["celsius"]}),
        ("How many inches are 87.5 centimetres?", {"from_unit": UNIT, "to_unit": UNIT},
         {"from_unit": ["cm"], "to_unit": ["inch"]}),
        ("no more than 80, but at least 20", {"minimum": NUMBER, "maximum": NUMBER}, {"minimum": [20], "maximum": [80]}),
        ("between 1 and 49", {"minimum": NUMBER, "maximum": NUMBER}, {"minimum": [1], "maximum": [49]}),
        ("3 chairs at $20 each", {"unit_price": NUMBER, "quantity": NUMBER}, {"unit_price": [20], "quantity": [3]}),
        ("the order_items table of the shop database", {"database": TEXT, "table": TEXT},
         {"database": ["shop"], "table": ["order_items"]}),
        ("bring checkout-web in production up", {"service": TEXT}, {"service": ["checkout-web"]}),
        ("a blue-green deployment", {"service": TEXT}, {"service": ["blue-green", "blue-green deployment", "deployment"]}),
        ("has LH 438 landed", {"flight_number": TEXT}, {"flight_number": ["LH 438"]}),
        ("what about ticket SEC-33", {"ticket_id": TEXT}, {"ticket_id": ["SEC-33"]}),
        ("a timer for an hour and a quarter", {"minutes": NUMBER}, {"minutes": [75]}),
        ("a timer for 1 hour 15 minutes", {"minutes": NUMBER}, {"minutes": [75]}),
        ("wake me at twenty past five", {"time": CLOCK}, {"time": ["05:20"]}),
        ("spent in April 2025", {"month": about("Month, YYYY-MM")}, {"month": ["2025-04"]}),
        ("from Monday to Wednesday", {"days": DAYS}, {"days": [["mon", "tue", "wed"]]}),
        ("From 8 Mill Road to Leeds Airport", {"pickup": TEXT, "dropoff": TEXT},
         {"pickup": ["8 Mill Road"], "dropoff": ["Leeds Airport"]}),
        ("cities like London, UK", {"city": TEXT, "country": TEXT}, {"city": ["London"], "country": ["UK"]}),
        ("the team with UUID '12'", {"uuid": TEXT}, {"uuid": ["12"]}),
        ("the database name is 'main_db'", {"database": TEXT}, {"database": ["main_db"]}),
        ("turn the lamp off", {"on": about("True to switch on, false to switch off", **FLAG)}, {"on": [False]}),
        ("unlock the door", {"locked": about("True to lock, false to unlock", **FLAG)}, {"locked": [False]}),
    ],
)  # fmt: skip
def test_whose_a_value_is(text: str, properties: dict[str, Any], found: dict[str, Any]) -> None:
    assert values(text, " ".join(properties), **properties) == found


@pytest.mark.parametrize(
    ("text", "properties", "found"),
    [
        ("desks, cheapest first", {"sort": SORT}, {"sort": ["price_ascending"]}),
        ("best rated at the top", {"sort": SORT}, {"sort": ["rating"]}),
        ("every week", {"often": {"enum": ["daily", "weekly"]}}, {"often": ["weekly"]}),
        ("subfolders included", {"recursive": about("Descend into subfolders", **FLAG)}, {"recursive": [True]}),
        ("case doesn't matter", {"case_sensitive": FLAG}, {"case_sensitive": [False]}),
        ("the purchase tax", {"exempt": about("Whether the purchase is tax-exempt", **FLAG)}, {}),
        ("flats for 950 a month at most", {"max_rent": NUMBER, "min_rooms": NUMBER}, {"max_rent": [950]}),
        ("built in 2020 or later", {"limit": NUMBER}, {}),
        ("at 3:30 pm", {"start": CLOCK, "end": CLOCK}, {"start": ["15:30"]}),
        ("with the labels docs and website", {"labels": {"type": "array", "items": TEXT}}, {"labels": [["docs", "website"]]}),
        ("any vegan recipes", {"diet": {"enum": ["any", "vegan"]}}, {"diet": ["vegan"]}),
        ("compounded monthly at an annual rate", {"often": {"enum": ["annually", "monthly"]}}, {"often": ["monthly"]}),
    ],
)  # fmt: skip
def test_what_is_spoken_of(text: str, properties: dict[str, Any], found: dict[str, Any]) -> None:
    assert values(text, "", **properties) == found
