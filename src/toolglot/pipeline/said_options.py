"""Which of given options a text names: by their words, in short, or spelt almost so."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Any

from toolglot.pipeline.plain_words import FUNCTION_WORDS
from toolglot.pipeline.related_words import related
from toolglot.pipeline.relevance import words_of
from toolglot.pipeline.said import Find, Said, Value
from toolglot.pipeline.said_codes import coded_options
from toolglot.pipeline.said_times import DAYS
from toolglot.pipeline.said_words import Word
from toolglot.pipeline.spans import Spans

_LONG_STEM, _ENDING = 8, 4  # letters
_ALIKE = 0.84  # kilometres and kilometers
_ABBREVIATED = {
    "km": "kilometers", "m": "meters", "cm": "centimeters", "mm": "millimeters", "mi": "miles", "ft": "feet", "in": "inches",
    "kg": "kilograms", "kilos": "kilograms", "kilo": "kilograms", "g": "grams", "mg": "milligrams", "lb": "pounds",
    "lbs": "pounds", "oz": "ounces", "l": "liters", "ml": "milliliters", "gal": "gallons", "€": "eur", "$": "usd", "£": "gbp",
    "c": "celsius", "f": "fahrenheit", "k": "kelvin", "h": "hours", "hr": "hours", "hrs": "hours", "min": "minutes",
    "mins": "minutes", "s": "seconds", "sec": "seconds", "secs": "seconds", "ms": "milliseconds", "foot": "feet",
    "inch": "inches", "ascending": "asc", "descending": "desc", "dev": "development", "prod": "production", "°c": "celsius",
    "°f": "fahrenheit",
}  # fmt: skip


_ABBREVIATED |= {day[:3]: day for day in DAYS}
_UNITS = "mon tue wed thu fri sat sun km m cm mm mi ft in kg g mg lb lbs oz l ml gal c f k"
_SHORT_UNITS = frozenset(_UNITS.split())  # options that are written so, too
_DERIVED = frozenset({"ly", "ally", "al"})  # endings that make another word
_LOOK_BACK = 60  # characters
_NEARBY = 6  # words that an option's words may be scattered over
_NUMBERED = re.compile(  # 1 for Bangkok, 2 for Chiang Mai
    r"\b(\d{1,20}) (?:for|is|to|means|corresponds to|represents|[=:-]) ['\"]?([A-Za-z][A-Za-z -]*?)['\"]?(?=[,.;)]| and |$)"
)
_TOLD = re.compile(r"(?<!\w)['\"‘“`]([^'\"’”`]{1,40})['\"’”`](?!\w)")
_EXAMPLES = re.compile(
    r"\b(?:e\.?g\.?|such as|like|for example|for instance|options?(?: are| include)?|either|one of)[:,]? ([^.;()]+)",
    re.IGNORECASE,
)
_SEPARATED = re.compile(r",| or | and ")
_AROUND = re.compile(r"^(?:and|or) |,? etc$")
_MOST_WORDS = 4  # of an option that a description gives


def numbered(description: str, said: Said) -> list[Find]:
    """The numbers that a description has names for, where the text has the name: 1 for Bangkok, 2 for Chiang Mai."""
    named = {match[2].strip(): int(match[1]) for match in _NUMBERED.finditer(description)}
    return [Find(named[str(one.value)], one.start, one.end) for one in mentioned(list(named), said)] if len(named) > 1 else []


def described_options(description: str) -> list[str]:
    """The values that a description gives, as examples or as all that there are."""
    found = _TOLD.findall(description)
    for match in _EXAMPLES.finditer(description):
        found += [_AROUND.sub("", item.strip()).strip("'\"") for item in _SEPARATED.split(match[1])]
    return [one for one in dict.fromkeys(found) if one and len(one.split()) <= _MOST_WORDS and not one.isdigit()]


def mentioned(options: list[Any], said: Said) -> list[Find]:
    """The options that the text names: by all of their words, or something spelt almost so; or by what they are codes of."""
    if coded := coded_options(options, said):
        return coded
    found: list[Find] = []
    for option in options:
        if isinstance(option, bool) or not isinstance(option, (str, int, float)):
            continue
        place = _place(option, said)
        if place is not None:
            found.append(Find(option, *place))
    codes = {str(option).upper(): option for option in options}
    found += [Find(codes[str(one.value)], one.start, one.end) for one in said.currencies if one.value in codes]
    named = [one for one in found if str(one.value).lower() not in FUNCTION_WORDS]  # any is hardly one, beside another
    found = named or found
    written = Spans(said.paths, said.emails) if found else Spans()
    names = [one for one in said.names if " " in str(one.value)] if found else []
    apart = [one for one in found if not written.reach(one.start)]
    apart = [one for one in apart if not any(p.start <= one.start and one.end < p.end for p in names)] or apart
    found = apart or found
    longest = [
        one for one in found
        if not any(o.start <= one.start and one.end <= o.end and o.end - o.start > one.end - one.start for o in found)
    ]  # fmt: skip
    return sorted(longest, key=lambda one: one.start)


def word_for_word(found: list[Find], said: Said) -> list[Find]:
    """Without what only sounds like an option, beside one that is told: compounded monthly at an annual rate is monthly."""
    told = [(one, said.text[one.start : one.end].lower(), str(one.value).lower()) for one in found]
    same = {one.start for one, text, option in told if text == option}  # basketball is no baseball
    told = [(one, text, option) for one, text, option in told if text == option or one.start not in same]
    apart = [one for one, text, option in told if option.removeprefix(text) not in _DERIVED]
    return apart or found


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
    literal = re.search(rf"(?<!\w){re.escape(option)}(?!\w)", said.text) if len(wanted) > 1 else None
    if literal:
        return literal.span()
    if not wanted:
        match = re.search(rf"(?<!\S){re.escape(option)}(?!\S)", said.text) if option else None
        return match.span() if match else None
    joined = "".join(wanted)
    first = {low for low in said.vocabulary if _same(low, wanted[0])}
    for at, word in enumerate(said.words):
        if len(wanted) > 1 and len(word.low) >= len(joined) and re.sub(r"[\W_]", "", word.low) == joined:  # Wi-Fi
            return word.start, word.end
        if len(wanted) == 1 and _is_preposition(word, said):
            continue
        if word.low not in first:
            continue
        run = said.words[at : at + len(wanted)]
        if len(run) == len(wanted) and all(_same(one.low, want) for one, want in zip(run, wanted, strict=True)):
            return word.start, run[-1].end
    return _scattered(wanted, said) if len(wanted) > 1 else None


def _is_preposition(word: Word, said: Said) -> bool:
    """In is no inch, but behind a number."""
    return (
        word.low in FUNCTION_WORDS
        and word.low in _ABBREVIATED
        and not said.text[max(0, word.start - _LOOK_BACK) : word.start].rstrip()[-1:].isdigit()
    )


def _scattered(wanted: list[str], said: Said) -> tuple[int, int] | None:
    """High and low temperatures are high_low_temperature."""
    if not all(any(_same(low, want) for low in said.vocabulary) for want in wanted):
        return None
    for at, word in enumerate(said.words):
        near = [one for one in said.words[at : at + _NEARBY] if one.low not in FUNCTION_WORDS][: len(wanted)]
        if near and near[0] is word and all(any(_same(one.low, want) for one in near) for want in wanted):
            return word.start, near[-1].end
    return None


def _same(word: str, wanted: str) -> bool:
    if word == wanted:
        return True
    word, wanted = _ABBREVIATED.get(word, word), _ABBREVIATED[wanted] if wanted in _SHORT_UNITS else wanted
    if word == wanted:
        return True
    if len(wanted) < 3 or len(word) < 3:
        return False
    if set(words_of(word)) & set(words_of(wanted)):
        return True
    stem = max(_LONG_STEM, max(len(word), len(wanted)) - _ENDING)
    if word[:stem] == wanted[:stem] and min(len(word), len(wanted)) >= stem:  # a pediatrician's is pediatrics
        return True
    return word[:3] == wanted[:3] and min(len(word), len(wanted)) > 4 and SequenceMatcher(None, word, wanted).ratio() > _ALIKE
