"""Units and currencies: a number in the unit that a parameter wants (1.79 m are 179 cm), a currency by its code."""

from __future__ import annotations

import re

# of each dimension its units, by all their names, and how many of the first they are
_DIMENSIONS: tuple[dict[str, float], ...] = (
    {"mm millimeter millimetre": 1, "cm centimeter centimetre": 10, "m meter metre": 1000, "km kilometer kilometre": 1e6},
    {"in inch inche": 1, "ft foot feet": 12, "yd yard": 36, "mi mile": 63360},
    {"mg milligram": 1, "g gram gramme": 1000, "kg kilogram kilo": 1e6, "t tonne": 1e9},
    {"ml milliliter millilitre": 1, "cl centiliter": 10, "l liter litre": 1000},
    {"ms millisecond": 0.001, "s sec second": 1, "min minute": 60, "h hr hour": 3600, "day": 86_400, "week": 604_800},
    {"month": 1, "year yr": 12},
    {"celsius degree": 1},
    {"kelvin": 1},
    {"fahrenheit": 1},
)  # fmt: skip
TIME = 4  # among them
_UNITS = {
    name: (at, factor) for at, units in enumerate(_DIMENSIONS) for names, factor in units.items() for name in names.split()
}
TIME = _UNITS["second"][0]  # the dimension of durations
# by ISO 4217: what a currency is called; a bare "dollar" is taken for the commonest
_CURRENCIES = {
    "USD": "us dollar|american dollar|dollar|usd|buck|$",
    "EUR": "euro|eur|€",
    "GBP": "british pound|pound sterling|pound|gbp|£",
    "JPY": "japanese yen|yen|jpy|¥",
    "CHF": "swiss franc|franc|chf",
    "CAD": "canadian dollar|cad",
    "AUD": "australian dollar|aud",
    "NZD": "new zealand dollar|nzd",
    "CNY": "chinese yuan|yuan|renminbi|cny|rmb",
    "INR": "indian rupee|rupee|inr",
    "SEK": "swedish krona|krona|kronor|sek",
    "NOK": "norwegian krone|krone|kroner|nok",
    "DKK": "danish krone|dkk",
    "PLN": "polish zloty|zloty|złoty|pln",
    "CZK": "czech koruna|koruna|czk",
    "MXN": "mexican peso|peso|mxn",
    "BRL": "brazilian real|reais|brl",
    "KRW": "south korean won|korean won|krw",
    "TRY": "turkish lira|lira",
    "ZAR": "south african rand|rand|zar",
    "SGD": "singapore dollar|sgd",
    "HKD": "hong kong dollar|hkd",
    "THB": "thai baht|baht|thb",
    "HUF": "hungarian forint|forint|huf",
}
CURRENCY_CODES = frozenset(_CURRENCIES)
_CALLED = {name: code for code, names in _CURRENCIES.items() for name in names.split("|")}
_CURRENCY = re.compile(
    rf"\b(?:{'|'.join(re.escape(name) for name in sorted(_CALLED, key=len, reverse=True) if name[0].isalpha())})s?\b"
    rf"|[{''.join(name for name in _CALLED if not name[0].isalpha())}]",
    re.IGNORECASE,
)
# units that numbers are told in, beyond those above
_BEYOND = """
joule kilojoule calorie watt kilowatt volt ampere newton pascal atm bar psi hertz hz mph kmh kph radian ounce oz pound lb stone
gallon quart pint cup tablespoon tbsp teaspoon tsp acre hectare
"""
_OTHERS = frozenset(_BEYOND.split())
_WRITTEN = re.compile(
    r"(?P<number>\d\s?-?)?(?<![^\W\d])"
    r"(?P<unit>(?:square |cubic )?(?P<first>[A-Za-z]+)(?:/[A-Za-z]+\b(?:\^?\d|[²³])?|\^\d|[²³]| per [a-z]+)?)"
)
_AFTER = re.compile(r"[\s-]?°?([A-Za-z]+)")


def unit_of(word: str) -> tuple[int, float] | None:
    """Its dimension and its size."""
    word = word.lower()
    return _UNITS.get(word) or (_UNITS.get(word.removesuffix("s")) if len(word) > 2 else None)


def unit_after(behind: str) -> tuple[int, float] | None:
    """Of a number, by what stands behind it."""
    said = _AFTER.match(behind)
    return unit_of(said[1]) if said else None


def wanted_unit(name: str, description: str) -> tuple[int, float] | None:
    """The unit that a parameter is in, as the end of its name or its description tells."""
    last = re.split(r"[\W_]+", name)[-1]
    forms = (r"\bin (?:whole |degrees? )?([A-Za-z]{3,})", r"(?:Number of )?([A-Za-z]{3,})\b", r".*\((?:in )?([A-Za-z]+)\)")
    told = (re.search(forms[0], description), re.match(forms[1], description), re.match(forms[2], description))
    return unit_of(last) or next((unit for match in told if match and (unit := unit_of(match[1]))), None)


def in_unit(value: float, after: str, wanted: tuple[int, float]) -> int | float | None:
    """The value in the unit wanted; None: the text has it in that one, in none, or in one of another kind."""
    unit = unit_after(after)
    if unit is None or unit[0] != wanted[0] or unit[1] == wanted[1]:
        return None
    found = round(value * unit[1] / wanted[1], 6)
    return int(found) if found == int(found) else found


def in_any_unit(value: float, after: str) -> list[float]:
    """The value in each unit of the kind that the text has it in: half an hour is 30 and 1800, too."""
    unit = unit_after(after)
    if unit is None:
        return [value]
    return [value, *(round(value * unit[1] / size, 6) for size in _DIMENSIONS[unit[0]].values())]


def units(text: str) -> list[tuple[str, int, int]]:
    """The units that a text names: behind a number, or by more than two letters."""
    found = []
    for match in _WRITTEN.finditer(text):
        name = match["first"].lower()
        known = unit_of(name) is not None or name in _OTHERS or name.removesuffix("s") in _OTHERS
        if known and (match["number"] or len(name) > 2 or match["unit"] != match["first"]):
            found.append((match["unit"], match.start("unit"), match.end("unit")))
    return found


def currencies(text: str) -> list[tuple[str, int, int]]:
    """The code of each currency that the text names, and where."""
    return [(currency_code(match[0]) or "", match.start(), match.end()) for match in _CURRENCY.finditer(text)]


def currency_code(name: str) -> str | None:
    """Of a currency by one of its names, in the plural too."""
    name = name.lower()
    return _CALLED.get(name) or _CALLED.get(name.removesuffix("s"))
