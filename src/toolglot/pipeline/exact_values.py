"""Values that are one parameter's and no other's, by what it asks for: a code, a part of a name, what to be reminded of."""

from __future__ import annotations

import re
from datetime import date

from toolglot.pipeline.said import Find, Said
from toolglot.pipeline.said_choices import interval, times_a_year
from toolglot.pipeline.said_codes import codes_said
from toolglot.pipeline.said_texts import told_text
from toolglot.pipeline.said_units import TIME, unit_after, wanted_unit
from toolglot.pipeline.slot_kinds import Slot

_REPEATED = re.compile(r"compound|times a year|times .*per year|interest is (?:added|paid)", re.IGNORECASE)
_ADDRESSED = frozenset({"to", "cc", "bcc", "recipient", "recipients", "attendee", "attendees", "invitees", "participants"})
_FULL_NAME = re.compile(r"\bnames?\b", re.IGNORECASE)
_PARTS = {
    "first": frozenset({"first", "given", "forename", "firstname"}),
    "last": frozenset({"last", "surname", "family", "lastname"}),
}
_VERSIONED = frozenset({"version", "release"})
_SORTED = frozenset({"sort", "order", "sorting", "orderby", "sortby"})
_SORT = re.compile(r"\b(?:sort|order|rank)(?:ed|ing)? (?:[a-z]+ ){0,2}?by (?:the )?(?P<key>[\w-]+)", re.IGNORECASE)
_HALF_DAY = 12 * 60
_LONG_NAME = 3  # words


def exact(this: Slot, said: Said) -> list[Find]:
    """The values that are this parameter's and no other's, by what it asks for."""
    about = str(this.schema.get("description") or "")
    if this.kind == "number" and "interval" in this.own:
        return interval(said)
    if this.kind == "number" and _REPEATED.search(f"{this.name} {about}"):
        return times_a_year(said)
    if this.own & _VERSIONED and this.kind != "number" and said.versions:
        return said.versions
    if this.own & _SORTED and this.kind in ("words", "name") and (by := _SORT.search(said.text)):
        return [Find(by["key"], by.start("key"), by.end("key"))]
    if this.kind == "number" and (span := _span(this, said)) is not None:
        return [span]
    if this.own & _ADDRESSED and said.emails and not _FULL_NAME.search(about):
        return said.emails
    if this.kind in ("name", "words") and (part := next((part for part in _PARTS if this.own & _PARTS[part]), None)):
        return _part_of_names(part, said)
    if this.kind in ("name", "words", "free", "code"):
        return codes_said(this.name, about, said) or told_text(this.name, about, said)
    return []


def _span(this: Slot, said: Said) -> Find | None:
    """The nights between two days; the minutes from two to half past three."""
    days = [one for one in said.moments if one.value]
    if this.own & {"nights", "night"} and len(days) == 2 and "night" not in said.text:
        apart = date.fromisoformat(days[1].value) - date.fromisoformat(days[0].value)
        return Find(apart.days, days[1].start, days[1].end)
    wanted = wanted_unit(this.name, str(this.schema.get("description") or ""))
    if not this.own & {"duration", "length"} or len(said.times) != 2 or wanted is None or wanted[0] != TIME:
        return None
    hours = [int(clock[:2]) * 60 + int(clock[3:5]) for clock in (str(one.value) for one in said.times)]
    minutes = (hours[1] - hours[0]) % _HALF_DAY
    told = [one for one in said.numbers if (unit := unit_after(said.text[one.end : one.end + 20])) and unit[0] == TIME]
    seconds = minutes * 60 / wanted[1]
    return None if told else Find(int(seconds) if seconds == int(seconds) else seconds, said.times[1].start, said.times[1].end)


def _part_of_names(part: str, said: Said) -> list[Find]:
    """Tomasz Zielinski is Tomasz first and Zielinski last."""
    people = [one for one in said.names if 1 < len(str(one.value).split()) <= _LONG_NAME and "," not in str(one.value)]
    if not people:
        return []
    name, (first, last) = people[0], str(people[0].value).split(" ", 1)
    return [Find(last, name.end - len(last), name.end) if part == "last" else Find(first, name.start, name.start + len(first))]
