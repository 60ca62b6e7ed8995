"""Names that have a short code, where a schema asks for that: languages (ISO 639), countries (ISO 3166), states, shares; and
cities that everyone knows, which have their state behind them.
"""

from __future__ import annotations

import re
from typing import Any

from toolglot.pipeline.said import Find, Said

_LANGUAGES = """
ar Arabic, bg Bulgarian, bn Bengali, ca Catalan, cs Czech, da Danish, de German, el Greek, en English, es Spanish, et Estonian,
fa Persian, fi Finnish, fr French, ga Irish, he Hebrew, hi Hindi, hr Croatian, hu Hungarian, id Indonesian, is Icelandic,
it Italian, ja Japanese, ko Korean, lt Lithuanian, lv Latvian, ms Malay, nl Dutch, no Norwegian, pl Polish, pt Portuguese,
ro Romanian, ru Russian, sk Slovak, sl Slovenian, sr Serbian, sv Swedish, sw Swahili, ta Tamil, th Thai, tr Turkish,
uk Ukrainian, ur Urdu, vi Vietnamese, zh Chinese, zh Mandarin
"""
_COUNTRIES = """
AE United Arab Emirates, AR Argentina, AT Austria, AU Australia, BE Belgium, BG Bulgaria, BR Brazil, CA Canada, CH Switzerland,
CL Chile, CN China, CO Colombia, CZ Czech Republic, CZ Czechia, DE Germany, DK Denmark, EE Estonia, EG Egypt, ES Spain,
FI Finland, FR France, GB United Kingdom, GB Great Britain, GB Britain, GB England, GB UK, GR Greece, HR Croatia, HU Hungary,
ID Indonesia, IE Ireland, IL Israel, IN India, IS Iceland, IT Italy, JP Japan, KE Kenya, KR South Korea, LT Lithuania,
LU Luxembourg, LV Latvia, MA Morocco, MX Mexico, MY Malaysia, NG Nigeria, NL Netherlands, NL Holland, NO Norway,
NZ New Zealand, PE Peru, PH Philippines, PK Pakistan, PL Poland, PT Portugal, RO Romania, RS Serbia, RU Russia,
SA Saudi Arabia, SE Sweden, SG Singapore, SI Slovenia, SK Slovakia, TH Thailand, TR Turkey, TW Taiwan, UA Ukraine,
US United States, US USA, US America, VN Vietnam, ZA South Africa
"""
_STATES = """
AL Alabama, AK Alaska, AZ Arizona, AR Arkansas, CA California, CO Colorado, CT Connecticut, DE Delaware, FL Florida, GA Georgia,
HI Hawaii, ID Idaho, IL Illinois, IN Indiana, IA Iowa, KS Kansas, KY Kentucky, LA Louisiana, ME Maine, MD Maryland,
MA Massachusetts, MI Michigan, MN Minnesota, MS Mississippi, MO Missouri, MT Montana, NE Nebraska, NV Nevada, NH New Hampshire,
NJ New Jersey, NM New Mexico, NY New York, NC North Carolina, ND North Dakota, OH Ohio, OK Oklahoma, OR Oregon,
PA Pennsylvania, RI Rhode Island, SC South Carolina, SD South Dakota, TN Tennessee, TX Texas, UT Utah, VT Vermont, VA Virginia,
WA Washington, WV West Virginia, WI Wisconsin, WY Wyoming
"""
_TICKERS = """
AAPL Apple, MSFT Microsoft, GOOGL Google, GOOGL Alphabet, AMZN Amazon, TSLA Tesla, NVDA Nvidia, META Meta, META Facebook,
NFLX Netflix, INTC Intel, IBM IBM, DIS Disney, KO Coca-Cola, PEP Pepsi, PEP PepsiCo, BA Boeing, NKE Nike, WMT Walmart,
MCD McDonald's, SBUX Starbucks, ORCL Oracle, ADBE Adobe, CRM Salesforce, PYPL PayPal, UBER Uber, ABNB Airbnb, SPOT Spotify,
F Ford, GM General Motors, GE General Electric, V Visa, MA Mastercard, JPM JPMorgan, GS Goldman Sachs, PFE Pfizer, CSCO Cisco,
QCOM Qualcomm, T AT&T, VZ Verizon, XOM Exxon, CVX Chevron, COST Costco, HD Home Depot
"""
_WELL_KNOWN = """
AK Anchorage, AR Little Rock, AZ Phoenix, AZ Scottsdale, AZ Tucson, CA Anaheim, CA Berkeley, CA Fresno, CA Long Beach,
CA Los Angeles, CA Mountain View, CA Oakland, CA Palo Alto, CA Sacramento, CA San Diego, CA San Francisco, CA San Jose,
CO Boulder, CO Colorado Springs, CO Denver, FL Jacksonville, FL Miami, FL Orlando, FL Tampa, GA Atlanta, HI Honolulu,
IA Des Moines, ID Boise, IL Chicago, IN Indianapolis, KS Wichita, KY Louisville, LA Baton Rouge, LA New Orleans, MA Boston,
MD Baltimore, MI Ann Arbor, MI Detroit, MN Minneapolis, MO Kansas City, MO St. Louis, NC Charlotte, NC Raleigh, NE Omaha,
NM Albuquerque, NM Santa Fe, NV Las Vegas, NV Reno, NY Brooklyn, NY Buffalo, NY Manhattan, NY New York, NY New York City,
OH Cincinnati, OH Cleveland, OH Columbus, OK Oklahoma City, OK Tulsa, OR Portland, PA Philadelphia, PA Pittsburgh, TN Memphis,
TN Nashville, TX Austin, TX Dallas, TX El Paso, TX Fort Worth, TX Houston, TX San Antonio, UT Salt Lake City,
VA Virginia Beach, WA Seattle, WA Spokane, WA Tacoma, WI Milwaukee
"""


def _read(table: str) -> dict[str, str]:
    pairs = (item.strip().split(" ", 1) for item in table.replace("\n", " ").split(","))
    return {name: code for code, name in pairs}


_TABLES = {"language": _read(_LANGUAGES), "country": _read(_COUNTRIES), "state": _read(_STATES), "ticker": _read(_TICKERS)}
_CALLED = {
    kind: re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, table), key=len, reverse=True))})\b", re.IGNORECASE)
    for kind, table in _TABLES.items()
}
_CODE_OF = {kind: {name.lower(): code for name, code in table.items()} for kind, table in _TABLES.items()}
_WANTED = re.compile(r"\bcode\b|\bISO\b|BCP|abbreviat|(?:two|2)[- ]letter|alpha-2", re.IGNORECASE)
_KIND = {
    "language": re.compile(r"lang", re.IGNORECASE),
    "country": re.compile(r"country|nation", re.IGNORECASE),
    "state": re.compile(r"\bstate", re.IGNORECASE),
}
_SHARES = re.compile(r"ticker$|symbol$", re.IGNORECASE)
_SHARES_TOLD = re.compile(r"\b(?:ticker|stock) symbols?\b", re.IGNORECASE)
_FIRM = re.compile(r",? (?:inc|corp|corporation|co|company|ltd|plc)\.?$", re.IGNORECASE)  # behind a company's name
_FEWEST = 2  # options that are codes of one kind
_STATE_OF = {name.lower(): state for name, state in _read(_WELL_KNOWN).items()}
_WANTS_STATE = re.compile(r"[Cc]ity,? (?:and )?[Ss]tate|[A-Z][a-z]+, [A-Z]{2}\b")
_PLACED = re.compile(r"\b(?:city|state|location|place|where)\b", re.IGNORECASE)


def codes_said(name: str, about: str, said: Said) -> list[Find]:
    """The codes of what the text names, where a parameter asks for codes."""
    kind = _kind_of(name, about)
    return _named(kind, said) if kind is not None else []


def _kind_of(name: str, about: str) -> str | None:
    """Of the codes that a parameter asks for, if it does."""
    if not _WANTED.search(f"{name} {about}".replace("_", " ")):
        return None
    kind = next((kind for kind, told in _KIND.items() if told.search(name)), None)
    return kind or next((kind for kind, told in _KIND.items() if told.search(about)), None)


def code_for(name: str, about: str, value: str) -> str | None:
    """The code of a value that is a name, where a parameter asks for codes: Japanese is ja."""
    if _SHARES.search(name) or _SHARES_TOLD.search(about):
        return _CODE_OF["ticker"].get(_FIRM.sub("", value).lower())
    kind = _kind_of(name, about)
    return _CODE_OF[kind].get(value.lower()) if kind is not None else None


def tickers_said(said: Said) -> list[Find]:
    """The symbols of the companies that the text names; a few dozen are known to everyone."""
    return _named("ticker", said)


def coded_options(options: list[Any], said: Said) -> list[Find]:
    """The options that are codes of what the text names: German is de, or de-DE."""
    short = {str(option): str(option).split("-")[0].split("_")[0] for option in options if isinstance(option, str)}
    for kind in _KIND:
        table = _CODE_OF[kind]
        known = set(table.values())
        held = {option: code for option, code in short.items() if code in known}
        if len(held) >= _FEWEST and len(held) == len([option for option in short if option.lower() not in ("auto", "any")]):
            return [
                Find(option, one.start, one.end)
                for one in _named(kind, said)
                for option, code in held.items()
                if code == one.value
            ]
    return []


def _named(kind: str, said: Said) -> list[Find]:
    found = _CALLED[kind].finditer(said.text)
    return [Find(_CODE_OF[kind][match[0].lower()], match.start(), match.end()) for match in found if match[0][0].isupper()]


def wants_state(name: str, about: str) -> bool:
    """Whether a parameter is a place with its state, as in San Francisco, CA."""
    return _WANTS_STATE.search(about) is not None and _PLACED.search(f"{name} {about}") is not None


def with_state(city: str) -> str | None:
    """One that is known to everyone."""
    state = _STATE_OF.get(city.lower())
    return f"{city}, {state}" if state is not None else None
