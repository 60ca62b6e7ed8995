from __future__ import annotations

from datetime import date

import pytest

from toolglot.pipeline.date_forms import dates_in_form, times_in_form
from toolglot.pipeline.own_words import held_to
from toolglot.pipeline.said import Said


@pytest.mark.parametrize(
    ("about", "text", "found"),
    [
        ("The day, in the format 'MM/DD/YYYY'", "on 5 March 2027", ["03/05/2027"]),
        ("In the format of dd-mm-yyyy", "on March 5, 2027", ["05-03-2027"]),
        ("The date (month-day-year)", "2027/03/05", ["03-05-2027"]),
        ("YYYY-MM-DD", "from 2027 March 5th to Mar.7,2027", ["2027-03-05", "2027-03-07"]),
        ("YYYY-MM-DD", "on March 5th", ["20??-03-05"]),
        ("YYYY-MM-DD", "16/03/2027", ["2027-03-16"]),
        ("YYYY-MM-DDTHH:MM:SSZ", "on 5 March 2027 at 4:30 pm", ["2027-03-05T16:30:00Z"]),
        ("dd/mm/yyyy HH:MM", "on 5 March 2027 from 9:00 to 11:00", ["05/03/2027 09:00", "05/03/2027 11:00"]),
        ("YYYY-MM-DD HH:MM:SS", "on 5 March 2027", ["2027-03-05"]),
        ("'YYYY-MM-DD HH:MM:SS', 'HH:MM:SS' or 'HH:MM'", "at 11 pm", ["23:00"]),
        ("When it begins", "on 5 March 2027", ["2027-03-05"]),
    ],
)
def test_a_date_has_the_form_that_is_asked_for(about: str, text: str, found: list[str]) -> None:
    assert [one.value for one in dates_in_form(about, Said(text))] == found


def test_days_that_are_told_from_today_have_it_too() -> None:
    assert [one.value for one in dates_in_form("MM/DD/YYYY", Said("tomorrow", date(2027, 3, 9)))] == ["03/10/2027"]


@pytest.mark.parametrize(
    ("about", "found"),
    [
        ("HH:MM", ["18:30"]),
        ("HH:MM:SS", ["18:30:00"]),
        ("HH:MM AM/PM", ["06:30 PM"]),
        ("When", ["18:30", "half past six in the evening"]),
    ],
)
def test_a_time_has_the_form_that_is_asked_for(about: str, found: list[str]) -> None:
    assert [one.value for one in times_in_form(about, Said("half past six in the evening"))] == found


def test_a_year_that_is_not_told_is_left_to_the_model() -> None:
    day = {"type": "string", "description": "The date, YYYY-MM-DD"}
    held = held_to({"type": "object", "properties": {"day": day}, "required": ["day"]}, Said("on March 5th"))
    assert held.schema["properties"]["day"]["pattern"] == "^(20[0-9][0-9]-03-05)$"
