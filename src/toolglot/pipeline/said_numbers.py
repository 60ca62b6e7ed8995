"""Numbers that a text says, in digits or in words, and where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

_SMALL = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen
"""
_UNITS = _SMALL.split()
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
NUMBER_WORDS = {word: at for at, word in enumerate(_UNITS)} | {word: 20 + 10 * at for at, word in enumerate(_TENS)}
_TIMES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "k": 1000, "m": 10**6, "bn": 10**9}
_WHOLE = {"dozen": 12, "couple": 2, "pair": 2, "once": 1, "twice": 2, "thrice": 3}

_SPELT = "|".join([*NUMBER_WORDS, "hundred", "thousand", "million", "billion", *_WHOLE])
_WORDS = re.compile(rf"\b(?:a )?(?:{_SPELT})(?:(?:[ -]|,? and )(?:{_SPELT}))*\b", re.IGNORECASE)
_ARTICLES = {
    "a": 1,
    "an": 1,
    "half a": 0.5,
    "half an": 0.5,
    "a quarter of an": 0.25,
    "three quarters of an": 0.75,
    "a half": 0.5,
}
_ONE_OF = re.compile(
    r"\b(half an?|a quarter of an|three quarters of an|a half|an?)(?: (?:free|full|whole|spare|good|solid))?"
    r"(?=[\s-](?:second|minute|hour|day|week|kilo|kilogram|gallon|liter|litre|mile)s?\b)",
    re.IGNORECASE,
)
_AND_PART = re.compile(r"(?P<unit> [a-z]+)? and (?:a|one|three) (?P<part>half|quarters?|thirds?)\b", re.IGNORECASE)
_PARTS = {"half": 0.5, "quarter": 0.25, "quarters": 0.75, "third": 0.333333, "thirds": 0.666667}
_SINGLE = re.compile(r"\b(?:a|one) single\b", re.IGNORECASE)  # a single room in a text with numbers is a kind of room
_RATE = re.compile(r"\d\S*(?: (?!for\b|in\b|after\b|within\b|and\b|lasting\b)[a-z]+){0,3} $")  # 20 miles a day
_MANY = 200
_MOST_DIGITS = 290  # what has more is no number that one could reckon with
LARGEST = 10**_MOST_DIGITS
_LOOK_BACK = 40  # characters
_POINTING = re.compile(r"\b(?:the|this|that|which|each|any|no|first|second|third|last|next|another|other) $", re.IGNORECASE)
_DIGITS = re.compile(
    r"(?<![\w./:@#])(?<!\D\^)(?<!10\^)(?<!\w[-–])"
    r"(?:(?P<minus>[-−–])(?:(?<!\d [-−–])\s)?)?[$€£¥]?"  # of 9 - 5 the minus is no sign
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    r"(?:(?P<percent>\s?%| percent\b)|\s?(?P<times>thousand|million|billion|bn|k|m)\b(?!\s?²)|(?P<rest>[^\W\d_]*))",
    re.IGNORECASE,
)


class Number(msgspec.Struct, frozen=True):
    """`forms` is what it can be written as: the number itself first."""

    start: int
    end: int
    forms: tuple[int | float, ...]


def numbers(text: str) -> list[Number]:
    found = [_of_digits(match) for match in _DIGITS.finditer(text) if not _is_code(match, text)]
    found += [
        Number(match.start(), match.end(), (_ARTICLES[match[1].lower()],))
        for match in _ONE_OF.finditer(text)
        if not _RATE.search(text[max(0, match.start() - _LOOK_BACK) : match.start()])
    ]
    taken = {at for number in found for at in range(number.start, number.end)}
    for start, end in _spelt_out(text):
        value = _spelt(text[start:end])
        if start not in taken and value is not None:
            found.append(Number(start, end, (value,)))
    found = [_with_part(number, text) for number in found]
    lone = [Number(match.start(), match.end(), (1,)) for match in _SINGLE.finditer(text)] if not found else []
    return sorted([*found, *lone], key=lambda number: number.start)


def _with_part(number: Number, text: str) -> Number:
    """Twelve and a half minutes; an hour and a quarter, which ends where it did: what stands behind says what is counted."""
    match = _AND_PART.match(text, number.end)
    if match is None or number.forms[0] != int(number.forms[0]):
        return number
    end = number.end if match["unit"] else match.end()
    return Number(number.start, end, tuple(_plain(form + _PARTS[match["part"].lower()]) for form in number.forms))


def _spelt_out(text: str) -> Iterator[tuple[int, int]]:
    """Where numbers in words stand. Three twenty-sided dice are two of them; "the one" is none."""
    for match in _WORDS.finditer(text):
        start = match.start()
        if match[0].lower() == "one" and _POINTING.search(text[max(0, start - _LOOK_BACK) : start]):
            continue
        before = ""
        for word in re.finditer(r"[a-z]+", match[0].lower()):
            if NUMBER_WORDS.get(before, 99) < 20 and NUMBER_WORDS.get(word[0], 0) >= 1:
                yield start, match.start() + word.start() - 1
                start = match.start() + word.start()
            before = word[0]
        yield start, match.end()


def _is_code(match: re.Match[str], text: str) -> bool:
    """1Z99, 4f2a, 10.0.0.1, 12-345, 0034: no numbers, but what someone is named by."""
    after = text[match.end() : match.end() + 2]
    digits = match["digits"]
    if re.match(r"[-/:.,_]?\d|[_@]", after) and not re.match(r",\d", after):
        return not after.startswith(("-", "/"))
    return len(digits) > _MOST_DIGITS or (len(digits) > 1 and digits.startswith("0") and "." not in digits)


def _of_digits(match: re.Match[str]) -> Number:
    value: int | float = _plain(float(match["digits"].replace(",", "")))
    times = (match["times"] or "").lower()
    forms: tuple[int | float, ...] = (value,)
    end = match.end() - len(match["rest"] or "")
    if times in ("k", "m") and match[0][-2:-1] == " ":  # 5 m are meters, 5m may be millions
        times, end = "", match.end("digits")
    if times:
        priced = re.match(r"[-−–\s]*[$€£¥]", match[0]) is not None
        sure = len(times) > 1 or priced or (match["times"] == "k" and value >= _MANY)  # 410k is no run, and 298K are kelvin
        forms = (_plain(value * _TIMES[times]),) if sure else (value, _plain(value * _TIMES[times]))
    elif match["percent"]:
        forms = (value, _plain(value / 100))
    if match["minus"]:
        forms = tuple(-one for one in forms)
    return Number(match.start(), end, forms)


def _plain(value: float) -> int | float:
    value = round(value, 10)
    return int(value) if value == int(value) else value


def _spelt(words: str) -> int | None:
    total = part = 0
    seen = False
    for word in re.findall(r"[a-z]+", words.lower()):
        if word in NUMBER_WORDS:
            part += NUMBER_WORDS[word]
        elif word in _WHOLE:
            part = max(part, 1) * _WHOLE[word]
        elif word in _TIMES:
            part = max(part, 1) * _TIMES[word]
            if word != "hundred":
                total, part = total + part, 0
        else:
            continue
        seen = True
        if part > LARGEST:
            return None
    return total + part if seen else None
