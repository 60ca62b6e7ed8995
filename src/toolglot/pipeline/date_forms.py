"""Dates and times in the form that a description asks for: 'MM/DD/YYYY', 'dd-mm-yyyy HH:MM', 'YYYY-MM-DDTHH:MM:SSZ'."""

from __future__ import annotations

import re
from calendar import monthrange

from toolglot.pipeline.said import Find, Said
from toolglot.pipeline.said_times import OPEN_YEAR

_FORM = re.compile(
    r"(?<![a-z])(?P<date>(?:y{3,4}|mm|dd)(?P<sep>[-/. ])(?:mm|dd|y{3,4})(?P=sep)(?:y{3,4}|dd|mm))"
    r"(?:(?P<joint>[t ])(?P<time>hh:mm(?::ss)?z?))?(?![a-z])",
    re.IGNORECASE,
)
_TIME_FORM = re.compile(r"(?<![a-z])(?<![dy][t ])hh:mm(?P<seconds>:ss)?(?P<half> ?(?:am|pm)\b)?", re.IGNORECASE)
_IN_WORDS = re.compile(r"\b(month|day|year)[-/](month|day|year)[-/](month|day|year)\b", re.IGNORECASE)
_MONTH_FORM = re.compile(r"(?<![a-z/-])(?:yyyy[-/]mm|mm[-/]yyyy)(?![a-z/-])", re.IGNORECASE)
_EXAMPLE = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z)?")
_SHORT = {"month": "MM", "day": "DD", "year": "YYYY"}
_NOON = 12


def months_in_form(about: str, said: Said) -> list[Find]:
    """The months of a text as a description has them; none where it wants a day."""
    form = _MONTH_FORM.search(about)
    if form is None or _FORM.search(about):
        return []
    told = [*said.moments, *said.months]
    return [Find(_day(form[0], f"{one.known}-01"[:10]), one.start, one.end) for one in sorted(told, key=lambda one: one.start)]


def edges_of_months(about: str, said: Said, *, last: bool) -> list[Find]:
    """The first or the last days of the months of a text: all of January is from the first to the 31st."""
    found = []
    for one in said.months:
        if not one.known.startswith(OPEN_YEAR):
            year, month = map(int, one.known.split("-"))
            day = f"{year}-{month:02}-{monthrange(year, month)[1] if last else 1:02}"
            found.append(Find(day_in_form(about, day), one.start, one.end))
    return found


def _form(about: str) -> re.Match[str] | None:
    """As a description has it, in letters, in words or by an example."""
    worded = _IN_WORDS.sub(lambda match: "-".join(_SHORT[part.lower()] for part in match.groups()), about)
    return _FORM.search(worded) or _FORM.search(_EXAMPLE.sub(lambda match: "YYYY-MM-DDTHH:MM:SS" + (match[1] or ""), about))


def dates_in_form(about: str, said: Said) -> list[Find]:
    """The dates of a text as a description has them; those without a year are left open there, where the form has one."""
    form = _form(about)
    if form is None:
        return months_in_form(about, said) or said.dates
    days = [(one, _day(form["date"], one.known)) for one in said.moments]
    if form["time"] is None or not said.times:
        return [Find(day, one.start, one.end) for one, day in days]
    if not days:
        return times_in_form(about, said) if _TIME_FORM.search(about) else []
    found = []
    for one in said.times:  # each at the date before it, or the first
        near, day = next((held for held in reversed(days) if held[0].start <= one.start), days[0])
        place = (one.start, one.end) if len(said.times) > 1 else (near.start, near.end)
        found.append(Find(day + form["joint"] + _clock(form["time"], str(one.value)), *place))
    return found


def day_in_form(about: str, day: str) -> str:
    """A day as a description has it."""
    form = _form(about)
    return _day(form["date"], day) if form else day


def times_in_form(about: str, said: Said) -> list[Find]:
    """The times of a text as a description has them; where it tells no form, as they are written, too."""
    form = min(_TIME_FORM.finditer(about), key=lambda match: len(match[0]), default=None)
    if form is None:
        return [*said.times, *said.written_times]
    if form["half"]:
        return [Find(_by_halves(str(one.value)), one.start, one.end) for one in said.times]
    return [Find(str(one.value) + (":00" if form["seconds"] else ""), one.start, one.end) for one in said.times]


def _day(form: str, value: str) -> str:
    year, month, day = value.split("-")
    held = {"y": year, "m": month, "d": day}
    return re.sub(r"y+|m+|d+", lambda match: held[match[0][0].lower()], form, flags=re.IGNORECASE)


def _clock(form: str, value: str) -> str:
    seconds = ":00" if "s" in form.lower() else ""
    return value + seconds + ("Z" if form[-1] in "zZ" else "")


def _by_halves(value: str) -> str:
    hour, minute = value.split(":")
    return f"{(int(hour) - 1) % _NOON + 1:02}:{minute} {'AM' if int(hour) < _NOON else 'PM'}"
