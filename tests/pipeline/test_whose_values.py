from __future__ import annotations

from typing import Any

import pytest

from toolglot.pipeline.own_words import held_to
from toolglot.pipeline.said import Said

NUMBER = {"type": "number"}


def values(text: str, required: str, **properties: Any) -> dict[str, Any]:
    held = held_to({"type": "object", "properties": properties, "required": required.split()}, Said(text))
    return {name: inner["enum"] for name, inner in held.schema["properties"].items() if "enum" in inner}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("where a=2, b=6 and c=5", {"a": [2], "b": [6], "c": [5]}),
        ("with c = 5, a = 2 and b = 6", {"a": [2], "b": [6], "c": [5]}),
    ],
)
def test_a_number_belongs_to_what_it_is_written_behind(text: str, found: dict[str, Any]) -> None:
    assert values(text, "a b c", a=NUMBER, b=NUMBER, c=NUMBER) == found


def test_names_in_a_row_have_the_numbers_behind_them_in_their_order() -> None:
    found = values("its height and base as 6 cm and 10 cm", "base height", base=NUMBER, height=NUMBER)
    assert found == {"base": [10], "height": [6]}


def test_a_unit_says_whose_a_number_is() -> None:
    mass, heat = ({"type": "number", "description": about} for about in ("The mass (kg)", "The temperature (Celsius)"))
    found = values("its heat, 20 kg at 30 degrees", "heat mass", heat=heat, mass=mass)
    assert found == {"mass": [20], "heat": [30]}


def test_what_must_have_a_number_goes_before_what_need_not() -> None:
    found = values("5% compounded for 10 years", "rate time", rate=NUMBER, time=NUMBER, compounds_per_year=NUMBER)
    assert found == {"rate": [0.05], "time": [10]}
    found = values("5% compounded yearly for 10 years", "rate time", rate=NUMBER, time=NUMBER, compounds_per_year=NUMBER)
    assert found == {"rate": [0.05], "time": [10], "compounds_per_year": [1]}


def test_a_word_behind_a_name_says_what_it_is() -> None:
    text = {"type": "string"}
    assert values("songs of the Cry Pretty album", "", album=text, artist=text) == {"album": ["Cry Pretty"]}


def test_a_value_of_a_few_is_no_name() -> None:
    unit = {"type": "string", "enum": ["celsius", "fahrenheit"]}
    assert values("the weather please, Celsius", "city", city={"type": "string"}, unit=unit)["unit"] == ["celsius"]
