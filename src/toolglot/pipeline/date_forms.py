"""Dates and times in the form that a description asks for: 'MM/DD/YYYY', 'dd-mm-yyyy HH:MM', 'YYYY-MM-DDTHH:MM:SSZ'."""

from __future__ import annotations

import re

from toolglot.pipeline.said import Find, Said

_FORM = re.compile(
    r"(?<![a-z])(?P<date>(?:y{3,4}|mm|dd)(?P<sep>[-/. ])(?:mm|dd|y{3,4})(?P=sep)(?:y{3,4}|dd|mm))"
    r"(?:(?P<joint>[t ])(?P<time>hh:mm(?::ss)?z?))?(?![a-z])",
    re.IGNORECASE,
)
_TIME_FORM = re.compile(r"(?<![a-z])(?<![dy][t ])hh:mm(?P<seconds>:ss)?(?P<half> ?(?:am|pm)\b)?", re.IGNORECASE)
_IN_WORDS = re.compile(r"\b(month|day|year)[-/](month|day|year)[-/](month|day|year)\b", re.IGNORECASE)
_MONTH_FORM = re.compile(r"(?<![a-z/-])(?:yyyy[-/]mm|mm[-/]yyyy)(?![a-z/-])", re.IGNORECASE)
_SHORT = {"month": "MM", "day": "DD", "year": "YYYY"}
_NOON = 12


def months_in_form(about: str, said: Said) -> list[Find]:
    """The months of a text as a description has them; none where it wants a day."""
    form = _MONTH_FORM.search(about)
    if form is None or _FORM.search(about):
        return []
    told = [*said.moments, *said.months]
    return [Find(_day(form[0], f"{one.known}-01"[:10]), one.start, one.end) for one in sorted(told, key=lambda one: one.start)]


def dates_in_form(about: str, said: Said) -> list[Find]:
    """The dates of a text as a description has them; those without a year are left open there, where the form has one."""
    form = _FORM.search(_IN_WORDS.sub(lambda match: "-".join(_SHORT[part.lower()] for part in match.groups()), about))
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
