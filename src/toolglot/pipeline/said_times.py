"""Dates and times of day that a text says, in any usual words, and where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import islice

import msgspec

from toolglot.pipeline.said_numbers import NUMBER_WORDS

_NAMES = "january february march april may june july august september october november december"
MONTHS = _NAMES.split()
DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]}|t)?" if len(name) > 3 else name for name in MONTHS)
_D = r"(?P<d{0}>\d{{1,2}})(?:st|nd|rd|th)?"
_TO = r"\s*(?:to|until|till|through|and|-|–)\s*(?:the\s+)?"
_YEAR = r"(?:(?:,\s*|\s+)(?:of\s+)?(?P<y>\d{4})\b)?"
_MOST = 200  # dates of a form
OPEN_YEAR = "20??"  # of a date whose year is not told

_DATES = (
    re.compile(r"\b(?P<y>\d{4})(?P<sep>[-/.])(?P<m>\d{1,2})(?P=sep)(?P<d1>\d{1,2})\b"),
    re.compile(rf"\b(?P<y>\d{{4}}),?\s+(?P<m>{_MONTH})\s+{_D.format(1)}\b", re.IGNORECASE),
    re.compile(rf"\b{_D.format(1)}(?:{_TO}{_D.format(2)})?\s+(?:of\s+)?(?P<m>{_MONTH})\b\.?{_YEAR}", re.IGNORECASE),
    re.compile(
        rf"\b(?P<m>{_MONTH})(?![a-z])\.?\s*{_D.format(1)}\b(?:{_TO}{_D.format(2)}(?!\s*[ap]\.?m))?{_YEAR}", re.IGNORECASE
    ),
    re.compile(r"\b(?P<m>\d{1,2})/(?P<d1>\d{1,2})/(?P<y>\d{4})\b"),
)
_IN_MONTH = re.compile(
    rf"(?<![\w-])(?<!\d )(?<!\dth )(?P<m>{'|'.join(MONTHS)}|(?:{_MONTH})(?=,? ?\d{{4}}))\b"
    r"(?:,?\s*(?:of\s+)?(?P<y>(?:19|20)\d\d)\b)?(?!\.?\s?\d)",
    re.IGNORECASE,
)
_BARE_DAY = re.compile(r"\bthe (?P<d>[1-9]|[12]\d|3[01])(?:st|nd|rd|th)\b(?= ?(?:[.,;?!]|$|and\b|at\b|in\b|for\b|to\b|with\b))")
_RELATIVE = re.compile(
    rf"\b(?:(?P<day_after>the day after tomorrow)|(?P<word>today|tonight|tomorrow|yesterday)"
    rf"|(?:(?P<next>next|this|on|coming)\s+)?(?P<weekday>{'|'.join(DAYS)}))\b",
    re.IGNORECASE,
)
_LEAP = 2024  # has every day that a year may have
_WORDS = {"today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1}

_HOUR = rf"(?:\d{{1,2}}|{'|'.join(list(NUMBER_WORDS)[1:13])})"
_MINUTES = r"(?:a )?quarter|five|ten|twenty(?:[ -]five)?"
_AWAY = {"quarter": 15, "five": 5, "ten": 10, "twenty": 20, "twentyfive": 25}
_PART = r"(?:\s*(?P<part>a\.?m\b\.?|p\.?m\b\.?|(?:in the |at )(?:morning|afternoon|evening|night)|tonight))"
_TIMES = (
    re.compile(rf"\b(?P<h>\d{{1,2}}):(?P<min>\d{{2}})\b(?!-){_PART}?", re.IGNORECASE),
    re.compile(rf"\b(?P<past>half past)\s+(?P<h>{_HOUR})\b{_PART}?", re.IGNORECASE),
    re.compile(
        rf"\b(?P<away>{_MINUTES})(?: minutes?)? (?P<side>past|after|to|before)\s+(?P<h>{_HOUR})\b(?! ?%){_PART}?", re.IGNORECASE
    ),
    re.compile(rf"\b(?P<h>{_HOUR})(?:\s+o'?clock)?{_PART}", re.IGNORECASE),
    re.compile(rf"\b(?P<h>{_HOUR})\s+o'?clock\b", re.IGNORECASE),
    re.compile(rf"\bat\s+(?P<h>{_HOUR})(?:\s+sharp)?(?=\s*(?:[.,?!](?! ?\d)|$|on\b|for\b|and\b))", re.IGNORECASE),
    re.compile(r"\b(?P<fixed>noon|midday|midnight)\b", re.IGNORECASE),
)
_FIXED = {"noon": "12:00", "midday": "12:00", "midnight": "00:00"}
_PAST = {"half past": 30}


class Moment(msgspec.Struct, frozen=True):
    """`value` is YYYY-MM-DD or HH:MM; `written` is as the text has it; `known` has OPEN_YEAR where a date has no year."""

    start: int
    end: int
    value: str
    written: str
    known: str = ""


def dates(text: str, today: date | None = None) -> list[Moment]:
    """A year that is not told is another date's or today's, if that is known. Days of the week are told from today."""
    found: list[Moment] = []
    taken: set[int] = set()
    matches = [match for pattern in _DATES for match in islice(pattern.finditer(text), _MOST)]
    year = next((int(match["y"]) for match in matches if match["y"]), today.year if today is not None else None)
    for match in matches:
        if taken.isdisjoint(range(*match.span())):
            told = list(_of_date(match, year))
            taken.update(at for one in told for at in range(one.start, one.end))
            found += told
    found += _bare_days(text, found)
    if today is not None:
        for match in _RELATIVE.finditer(text):
            value = _relative(match, today).isoformat()
            found.append(Moment(match.start(), match.end(), value, match[0], value))
    return sorted(found, key=lambda one: one.start)


def _bare_days(text: str, found: list[Moment]) -> list[Moment]:
    """From 20 May to the 28th: a day without a month is in that of the date before it."""
    told = []
    for match in islice(_BARE_DAY.finditer(text), _MOST):
        before = next((one for one in reversed(found) if one.end <= match.start() and one.known), None)
        if before is None or int(match["d"]) <= int(before.known[-2:]):
            continue
        known = f"{before.known[:-2]}{int(match['d']):02}"
        try:
            date.fromisoformat(known.replace(OPEN_YEAR, str(_LEAP)))
        except ValueError:  # 31 June
            continue
        told.append(Moment(match.start(), match.end(), known if before.value else "", match[0], known))
    return told


def months(text: str, today: date | None = None) -> list[Moment]:
    """The months that are told without a day: `known` is YYYY-MM."""
    told = [match for match in _IN_MONTH.finditer(text) if match["y"] or match[0][0].isupper()]
    year = next((match["y"] for match in told if match["y"]), str(today.year) if today is not None else OPEN_YEAR)
    return [
        Moment(match.start(), match.end(), str(_month(match["m"])), match[0], f"{match['y'] or year}-{_month(match['m']):02}")
        for match in told
    ]


def _month(name: str) -> int:
    return next(at for at, month in enumerate(MONTHS, 1) if month[:3] == name[:3].lower())


def _of_date(match: re.Match[str], year: int | None) -> Iterator[Moment]:
    held = match.groupdict()
    year = int(held["y"]) if held["y"] else year
    month = int(held["m"]) if held["m"].isdigit() else _month(held["m"])
    if month > 12 and not held.get("d2"):  # 16/03/2024
        month, held["d1"] = int(held["d1"]), str(month)
    ends = [(held["d1"], match.start(), match.end())]
    if held.get("d2"):  # from 2 to 4 May: each has a place of its own
        ends = [(held["d1"], match.start(), match.end("d1")), (held["d2"], match.start("d2"), match.end())]
    for day, start, end in ends:
        try:
            value = date(year or _LEAP, month, int(day)).isoformat()
        except ValueError:  # 31 February
            continue
        known = value if year is not None else OPEN_YEAR + value[4:]
        yield Moment(start, end, value if year is not None else "", match.string[start:end], known)


def _relative(match: re.Match[str], today: date) -> date:
    if match["day_after"]:
        return today + timedelta(2)
    if match["word"]:
        return today + timedelta(_WORDS[match["word"].lower()])
    ahead = (DAYS.index(match["weekday"].lower()) - today.weekday()) % 7
    return today + timedelta(ahead or 7)


def times(text: str) -> list[Moment]:
    found: list[Moment] = []
    taken: set[int] = set()
    for pattern in _TIMES:
        for match in pattern.finditer(text):
            value = _time(match.groupdict())
            if value is not None and taken.isdisjoint(range(*match.span())):
                taken.update(range(*match.span()))
                found.append(Moment(match.start(), match.end(), value, match[0]))
    return sorted(found, key=lambda one: one.start)


def _time(held: dict[str, str | None]) -> str | None:
    if held.get("fixed"):
        return _FIXED[str(held["fixed"]).lower()]
    said = str(held["h"]).lower()
    hour = int(said) if said.isdigit() else NUMBER_WORDS[said]
    minute = int(held.get("min") or 0) + _PAST.get((held.get("past") or "").lower(), 0)
    away = _AWAY.get(re.sub(r"^a |\W", "", (held.get("away") or "").lower()), 0)
    minute += away if (held.get("side") or "").lower() in ("past", "after") else -away
    part = (held.get("part") or "").lower().replace(".", "")
    if part.startswith("p") or part.endswith(("afternoon", "evening", "night")):
        late = not (part.endswith("night") and hour < 5)
        hour += 12 if hour < 12 and late else 0
    elif (part.startswith("a") or part.endswith("morning")) and hour == 12:
        hour = 0
    total = (hour * 60 + minute) % (24 * 60) if hour < 25 and minute < 60 else -1
    return f"{total // 60:02}:{total % 60:02}" if total >= 0 else None
