"""How addresses and places are written: 14 Willow Lane; Lindenstrasse 12; Naples, Florida."""

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
