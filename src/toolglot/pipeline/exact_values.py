"""Values that are one parameter's and no other's, by what it asks for: a code, a part of a name, what to be reminded of."""

from __future__ import annotations

import re
from datetime import date, timedelta
from itertools import takewhile

from toolglot.pipeline.date_forms import day_in_form
from toolglot.pipeline.relevance import words_of
from toolglot.pipeline.said import FUNCTION_WORDS, Find, Said
from toolglot.pipeline.said_choices import interval, times_a_year
from toolglot.pipeline.said_codes import codes_said, tickers_said
from toolglot.pipeline.said_numbers import NUMBER_WORDS
from toolglot.pipeline.said_texts import told_text
from toolglot.pipeline.said_units import TIME, unit_after, wanted_unit
from toolglot.pipeline.slot_kinds import Slot, begins_alike

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
_DOING = re.compile(
    r"\b(?P<verb>[a-z]+(?:ed|e|gn))\s+(?:(?:it|this|that|them|the \w+|task \S+)\s+)?(?:to|by)\s+"
    r"(?P<whom>(?!the\b|my\b|a\b|me\b)[^\W\d_])",
    re.IGNORECASE,
)
_SHORT = 4  # letters of a stem
_COLOUR = re.compile(
    r"\b(?:(?:dark|light|navy|pale|bright|hot) )?"
    r"(?:red|blue|green|yellow|black|white|orange|purple|pink|brown|gr[ae]y|silver|gold|beige|turquoise|violet|navy|teal|maroon)\b",
    re.IGNORECASE,
)
_LEAVING = frozenset({"end", "out", "checkout", "return", "departure", "to", "until"})
_NIGHTS = re.compile(rf"\b(?:\d+|{'|'.join(NUMBER_WORDS)}) nights?\b", re.IGNORECASE)
_HALF_DAY = 12 * 60
_LONG_NAME = 3  # words


def exact(this: Slot, said: Said) -> list[Find]:
    """The values that are this parameter's and no other's, by what it asks for."""
    about = str(this.schema.get("description") or "")
    if this.kind == "ticker":
        return tickers_said(said)
    if this.kind == "number" and "interval" in this.own:
        return interval(said)
    if this.kind == "number" and _REPEATED.search(f"{this.name} {about}"):
        return times_a_year(said)
    if this.own & {"color", "colour"} and this.kind in ("words", "name"):
        found = [Find(match[0], match.start(), match.end()) for match in _COLOUR.finditer(said.text)]
        return [next((name for name in said.names if name.start <= one.start < name.end), one) for one in found[:1]]
    if this.kind in ("words", "name") and (done := _done_to(this, said)):
        return done
    if "month" in this.own and (told := _of_months(this, said)):
        return told
    if this.own & _VERSIONED and this.kind != "number" and said.versions:
        return said.versions
    if this.own & _SORTED and this.kind in ("words", "name") and (by := _SORT.search(said.text)):
        return [Find(by["key"], by.start("key"), by.end("key"))]
    if this.kind == "date" and this.own & _LEAVING and (left := _left_on(about, said)) is not None:
        return [left]
    if this.kind == "number" and (span := _span(this, said)) is not None:
        return [span]
    if this.own & _ADDRESSED and said.emails and not _FULL_NAME.search(about):
        return said.emails
    if this.kind in ("name", "words") and (part := next((part for part in _PARTS if this.own & _PARTS[part]), None)):
        return _part_of_names(part, said)
    if this.kind in ("name", "words", "free", "code"):
        return codes_said(this.name, about, said) or told_text(this.name, about, said)
    return []


def _done_to(this: Slot, said: Said) -> list[Find]:
    """Assign it to hwang; directed by david leitch: a verb of the parameter's own name, and whom it is done to or by."""
    for match in _DOING.finditer(said.text):
        if any(begins_alike(stem, own) for stem in words_of(match["verb"]) for own in this.named if len(own) > _SHORT):
            start = match.start("whom")
            name = next((one for one in said.names if one.start == start), None)
            run = list(
                takewhile(lambda word: word.low not in FUNCTION_WORDS, (one for one in said.words if one.start >= start))
            )
            whole = [word for at, word in enumerate(run) if not said.is_broken(run[: at + 1])][:_LONG_NAME]
            return [name or said.span(whole)] if whole else []
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


def _left_on(about: str, said: Said) -> Find | None:
    """Three nights from 1 June end on the 4th."""
    days, nights = [one for one in said.moments if one.value], _NIGHTS.search(said.text)
    counted = [one for one in said.numbers if nights is not None and one.start == nights.start()]
    if len(days) != 1 or not counted:
        return None
    last = (date.fromisoformat(days[0].value) + timedelta(int(counted[0].value))).isoformat()
    return Find(day_in_form(about, last), counted[0].start, counted[0].end)


def _part_of_names(part: str, said: Said) -> list[Find]:
    """Tomasz Zielinski is Tomasz first and Zielinski last."""
    people = [one for one in said.names if 1 < len(str(one.value).split()) <= _LONG_NAME and "," not in str(one.value)]
    if not people:
        return []
    name, (first, last) = people[0], str(people[0].value).split(" ", 1)
    return [Find(last, name.end - len(last), name.end) if part == "last" else Find(first, name.start, name.start + len(first))]


def _of_months(this: Slot, said: Said) -> list[Find]:
    """A month by its number, or by its name where any words may be the value."""
    told = [*said.months, *said.moments]
    if this.kind == "number":
        return [Find(int(one.known.split("-")[1]), one.start, one.end) for one in told]
    return [Find(one.written.split()[0].strip(","), one.start, one.end) for one in said.months] if this.kind == "words" else []
