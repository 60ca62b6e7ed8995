"""Which of given options a text names: by their words, in short, or spelt almost so."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Any

from toolglot.pipeline.related_words import related
from toolglot.pipeline.relevance import words_of
from toolglot.pipeline.said import Find, Said, Value
from toolglot.pipeline.said_units import currencies

_ALIKE = 0.84  # kilometres and kilometers
_ABBREVIATED = {
    "km": "kilometers", "m": "meters", "cm": "centimeters", "mm": "millimeters", "mi": "miles", "ft": "feet", "in": "inches",
    "kg": "kilograms", "kilos": "kilograms", "kilo": "kilograms", "g": "grams", "mg": "milligrams", "lb": "pounds",
    "lbs": "pounds", "oz": "ounces", "l": "liters", "ml": "milliliters", "gal": "gallons", "€": "eur", "$": "usd", "£": "gbp",
    "foot": "feet", "inch": "inches", "°c": "celsius", "°f": "fahrenheit",
}  # fmt: skip


def mentioned(options: list[Any], said: Said) -> list[Find]:
    """The options that the text names: by all of their words, or something spelt almost so."""
    found: list[Find] = []
    for option in options:
        if isinstance(option, bool) or not isinstance(option, (str, int, float)):
            continue
        place = _place(option, said)
        if place is not None:
            found.append(Find(option, *place))
    codes = {str(option).upper(): option for option in options}
    found += [Find(codes[str(one.value)], one.start, one.end) for one in _currencies(said) if one.value in codes]
    longest = [
        one for one in found
        if not any(o.start <= one.start and one.end <= o.end and o.end - o.start > one.end - one.start for o in found)
    ]  # fmt: skip
    return sorted(longest, key=lambda one: one.start)


def implied(options: list[Any], said: Said) -> list[Find]:
    """The options that the text speaks of in other words: a flu is sick leave."""
    found = []
    for option in options:
        stems = {near for stem in words_of(str(option).replace("_", " ")) for near in related(stem)}
        place = next((word for word in said.words if stems & set(words_of(word.low))), None)
        if isinstance(option, str) and place is not None:
            found.append(Find(option, place.start, place.end))
    return found


def _place(option: Value, said: Said) -> tuple[int, int] | None:
    if not isinstance(option, str):
        return next(((one.start, one.end) for one in said.numbers if one.value == option), None)
    wanted = [word for word in re.split(r"[\W_]+", option.lower()) if word]
    if not wanted:
        match = re.search(rf"(?<!\S){re.escape(option)}(?!\S)", said.text) if option else None
        return match.span() if match else None
    for at, word in enumerate(said.words):
        run = said.words[at : at + len(wanted)]
        if len(run) == len(wanted) and all(_same(one.low, want) for one, want in zip(run, wanted, strict=True)):
            return word.start, run[-1].end
    return None


def _same(word: str, wanted: str) -> bool:
    word = _ABBREVIATED.get(word, word)
    if word == wanted:
        return True
    if len(wanted) < 3 or len(word) < 3:
        return False
    if set(words_of(word)) & set(words_of(wanted)):
        return True
    return word[:3] == wanted[:3] and min(len(word), len(wanted)) > 4 and SequenceMatcher(None, word, wanted).ratio() > _ALIKE


def _currencies(said: Said) -> list[Find]:
    return [Find(code, start, end) for code, start, end in currencies(said.text)]
