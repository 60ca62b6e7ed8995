"""Options that a text means without their name: how often ("every week"), in which order ("cheapest first"), which days."""

from __future__ import annotations

import re
from typing import Any

from toolglot.pipeline.said import Find, Said
from toolglot.pipeline.said_times import DAYS

_SPANS = {"weekday": DAYS[:5], "working day": DAYS[:5], "workday": DAYS[:5], "weekend": DAYS[5:]}
_SPAN = re.compile(rf"\b({'|'.join(_SPANS)})s?\b", re.IGNORECASE)
_ALL_DAYS = re.compile(r"\b(?:every|each) day\b|\bdaily\b|\ball week\b", re.IGNORECASE)
_UNTIL = re.compile(r"s?(?:\s*[-–]\s*|\s+(?:to|through|till|until)\s+)", re.IGNORECASE)

_ADVERBS = {"hour": "hourly", "day": "daily", "week": "weekly", "month": "monthly", "quarter": "quarterly", "year": "yearly"}
_EVERY = re.compile(
    r"\b(?:every|each|once (?:a|per|every))\s+(?:(?P<other>other|second|third|fourth|two|three|four|\d{1,2})(?:nd|rd|th)?\s+)?"
    rf"(?P<unit>{'|'.join(_ADVERBS)}|{'|'.join(DAYS)}|morning|evening|night)s?\b",
    re.IGNORECASE,
)
_APART = {"other": 2, "second": 2, "two": 2, "third": 3, "three": 3, "fourth": 4, "four": 4}
_PER_YEAR = {
    "annually": 1,
    "yearly": 1,
    "semi-annually": 2,
    "semiannually": 2,
    "quarterly": 4,
    "monthly": 12,
    "weekly": 52,
    "daily": 365,
}
_TIMES_A_YEAR = re.compile(
    rf"\bcompound(?:ed|ing|s)?\b[^.;]{{0,20}}?\b({'|'.join(_PER_YEAR)})\b|\b({'|'.join(_PER_YEAR)}) compound", re.IGNORECASE
)

_FIRST = re.compile(
    r"\b(?P<most>[a-z]+est|most [a-z]+|least [a-z]+|best|worst)(?P<of> [a-z_]+)?(?: [a-z]+)?"
    r" (?:(?:ones? )?first|(?:at|on|to) (?:the )?top)\b",
    re.IGNORECASE,
)
_UP = re.compile(r"(?:low|cheap|old|small|earli|short|near|clos|few|young|least|slow|light)", re.IGNORECASE)
_RISING, _FALLING = ("ascending", "asc"), ("descending", "desc")
# what a superlative speaks of, where an option names it: cheapest is by price
_OF = {
    "cheap": "price", "expensive": "price", "new": "date", "recent": "date", "late": "date", "old": "date", "earli": "date",
    "best": "rating", "rated": "rating", "near": "distance", "clos": "distance", "popular": "popularity",
}  # fmt: skip

# other words for options: what a text says, and the option that it means
_MEANT = {
    "on foot|walk": "walking walk foot",
    "by bike|by bicycle|bike|cycle": "cycling bicycling bike bicycle",
    "by car|drive": "driving drive car",
    "by bus|by train|by tram|by subway|by metro|by tube|public transport|public transportation": "transit public",
    "celsius|kilometers|kilometres|km": "metric",
    "fahrenheit|miles": "imperial",
    "there and back|return ticket|return flight|return trip": "round_trip roundtrip return",
    "urgent|urgently|asap|as soon as possible|emergency": "high urgent critical",
    "finished|completed|complete": "done completed closed finished",
    "begun|started": "in_progress started active",
    "loud|louder": "up",
    "quiet|quieter|softer": "down",
    "spend little|inexpensive|affordable|on a budget|low budget": "cheap low budget inexpensive",
    "upscale|high-end|luxury|fancy": "expensive luxury high",
    "woman|women|lady": "female",
    "man|men|gentleman": "male",
    "over|exceeds|more than|greater than|higher than|rises above": "above gt greater greater_than over",
    "under|less than|lower than|fewer than|drops below|falls below": "below lt less less_than under",
    "block|forbid|reject|refuse": "deny block drop reject",
    "permit|accept": "allow permit accept",
    "shut down|shut off|turn off|switch off|kill": "stop off shutdown",
    "bring up|boot|launch|fire up": "start",
    "monday to friday|monday through friday|mon-fri|working days?|workdays?": "weekdays weekday workdays",
    "saturdays? and sundays?": "weekends weekend",
    "lunch|dinner|breakfast|restaurant": "meals meal food dining",
    "hotel|hostel": "lodging accommodation hotel",
    "flight|train ticket|taxi": "travel transport transportation",
    "too small|too big|too large|too tight|doesn't fit": "does_not_fit wrong_size size",
    "pick it up|collect it|collect them|pick them up": "pickup pick_up collection",
}  # fmt: skip
_MEANS = [(re.compile(rf"\b(?:{words})\b", re.IGNORECASE), frozenset(options.split())) for words, options in _MEANT.items()]


def chosen(options: list[Any], said: Said) -> list[Find]:
    """The option that the text means by other words than its own, if one."""
    texts = [option for option in options if isinstance(option, str)]
    return _frequency(texts, said) or _ordered(texts, said) or _meant(texts, said)


def days(options: list[Any], told: list[Find], said: Said) -> list[Find]:
    """Days of the week in a row: weekdays, from Monday to Friday."""
    by_day = {day: option for option in options for day in DAYS if isinstance(option, str) and day.startswith(option.lower())}
    if len(by_day) < len(DAYS):
        return told
    match = _SPAN.search(said.text)
    if match:
        return [Find(by_day[day], match.start(), match.end()) for day in _SPANS[match[1].lower()]]
    if not told and (match := _ALL_DAYS.search(said.text)):
        return [Find(by_day[day], match.start(), match.end()) for day in DAYS]
    order = [by_day[day] for day in DAYS]
    if len(told) == 2 and _UNTIL.fullmatch(said.text[told[0].end : told[1].start]):
        first, last = (order.index(str(one.value)) for one in told)
        return [Find(one, told[0].start, told[1].end) for one in order[first : last + 1]] or told
    return told


def interval(said: Said) -> list[Find]:
    """Every second week: 2."""
    return [
        Find(_APART.get(match["other"].lower()) or int(match["other"]), match.start("other"), match.end("other"))
        for match in _EVERY.finditer(said.text)
        if match["other"]
    ]


def times_a_year(said: Said) -> list[Find]:
    """Compounded quarterly: 4."""
    return [
        Find(_PER_YEAR[(match[1] or match[2]).lower()], match.start(), match.end())
        for match in _TIMES_A_YEAR.finditer(said.text)
    ]


def _frequency(options: list[str], said: Said) -> list[Find]:
    match = _EVERY.search(said.text)
    if match is None:
        return []
    unit = match["unit"].lower()
    named = {_ADVERBS[unit]} if unit in _ADVERBS else {"weekly"} if unit in DAYS else {"daily"}
    named |= {"annually", "annual"} if "yearly" in named else set()
    place = (match.start(), match.start("unit") - 1) if unit in DAYS else match.span("unit")
    return [Find(option, *place) for option in options if option.lower() in named][:1]


def _ordered(options: list[str], said: Said) -> list[Find]:
    match = _FIRST.search(said.text)
    if match is None:
        return []
    sides = _RISING if _UP.match(match["most"]) else _FALLING
    about = next((of for stem, of in _OF.items() if stem in match["most"].lower()), (match["of"] or "").strip().lower())
    low = {option: set(re.split(r"[\W_]+", option.lower())) for option in options}
    both = [option for option, words in low.items() if words & set(sides) and (about in words or len(words) == 1)]
    alone = [option for option, words in low.items() if about and words == {about}]
    return [Find(option, match.start(), match.end()) for option in both or alone][:1]


def _meant(options: list[str], said: Said) -> list[Find]:
    for pattern, means in _MEANS:
        match = pattern.search(said.text)
        held = [option for option in options if option.lower() in means]
        if match and held:
            return [Find(held[0], match.start(), match.end())]
    return []
