"""How addresses and places are written: 14 Willow Lane; Lindenstrasse 12; Naples, Florida; New York, NY where that is asked."""

from __future__ import annotations

import re

ADDRESS = re.compile(r"\b\d{1,4}[A-Za-z]?(?: [A-Z][\w'.-]*\w)+|\b[A-Z][\w'-]+(?: [A-Z][\w'-]+)* \d+[a-z]?\b")
STREET = re.compile(
    r"\b(?:street|st|road|rd|lane|ln|avenue|ave|drive|dr|way|court|ct|square|boulevard|blvd|terrace|close|crescent|quay|highway|row"
    r"|parkway)\.?$",
    re.IGNORECASE,
)
STREET_ADDRESS = re.compile(r"\b\d{1,5}[A-Za-z]?(?: [A-Z][\w'.-]*\w)+(?:, [A-Z]\w+(?: [A-Z]\w+)*+)?")
PLACE = re.compile(  # Naples, Florida; but not Oslo, Rome and Cairo
    r"(?<![\w'-])(?<!, )[A-Z][\w.'-]*+(?: [A-Z][\w'-]*+)*+, (?!I\b|Can\b|Could\b|Please\b)"
    r"(?:(?:[A-Z]\.?){2,3}(?!\w)|[A-Z][a-z'-]++(?: [A-Z][\w'-]*+)*+)"
    r"(?!,? (?:and|or) (?:in )?[A-Z](?![^,.?!]*, [A-Z])|, [A-Z])"
)

_STATE = re.compile(r"[Cc]ity,? (?:and )?[Ss]tate|[A-Z][a-z]+, [A-Z]{2}\b")
_PLACED = re.compile(r"\b(?:city|state|location|place|where)\b", re.IGNORECASE)
_WELL_KNOWN = """
AK Anchorage, AR Little Rock, AZ Phoenix, AZ Scottsdale, AZ Tucson, CA Anaheim, CA Berkeley, CA Fresno, CA Long Beach, CA Los
Angeles, CA Mountain View, CA Oakland, CA Palo Alto, CA Sacramento, CA San Diego, CA San Francisco, CA San Jose, CO Boulder,
CO Colorado Springs, CO Denver, FL Jacksonville, FL Miami, FL Orlando, FL Tampa, GA Atlanta, HI Honolulu, IA Des Moines, ID
Boise, IL Chicago, IN Indianapolis, KS Wichita, KY Louisville, LA Baton Rouge, LA New Orleans, MA Boston, MD Baltimore, MI Ann
Arbor, MI Detroit, MN Minneapolis, MO Kansas City, MO St. Louis, NC Charlotte, NC Raleigh, NE Omaha, NM Albuquerque, NM Santa
Fe, NV Las Vegas, NV Reno, NY Brooklyn, NY Buffalo, NY Manhattan, NY New York, NY New York City, OH Cincinnati, OH Cleveland,
OH Columbus, OK Oklahoma City, OK Tulsa, OR Portland, PA Philadelphia, PA Pittsburgh, TN Memphis, TN Nashville, TX Austin, TX
Dallas, TX El Paso, TX Fort Worth, TX Houston, TX San Antonio, UT Salt Lake City, VA Virginia Beach, WA Seattle, WA Spokane,
WA Tacoma, WI Milwaukee
"""
_STATE_OF = {name.lower(): state for state, name in (one.split(" ", 1) for one in " ".join(_WELL_KNOWN.split()).split(", "))}


def wants_state(name: str, about: str) -> bool:
    """Whether a parameter is a place with its state, as in San Francisco, CA."""
    return _STATE.search(about) is not None and _PLACED.search(f"{name} {about}") is not None


def with_state(city: str) -> str | None:
    """One that is known to everyone."""
    state = _STATE_OF.get(city.lower())
    return f"{city}, {state}" if state is not None else None
