"""How values are written that are known by their form: addresses, paths, codes, rows of things."""

from __future__ import annotations

import re

EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)+")
URL = re.compile(r"\bhttps?://[^\s,;\"')>]+[^\s,;\"')>.?!]")
HOST = re.compile(r"(?<![@\w/.-])(?:\d{1,3}(?:\.\d{1,3}){3}|(?:[a-z\d-]++\.)+[a-z]{2,})(?![\w@/])|\blocalhost\b", re.IGNORECASE)
PHONE = re.compile(r"(?<![\w-])(?!\d++\.\d++(?![\s.-]?[\d(]))\+?\d[\d\s().-]{5,}\d(?![\w-])")
PATH = re.compile(r"[\w.~-]*/[\w./~-]*|[\w~-][\w.~-]*\.[A-Za-z]\w{0,4}", re.ASCII)
CODE = re.compile(r"(?<![\w/.@+-])#?(?=[\w-]*\d)\w++(?:[-/]\w++)*+(?!@|\.\d)")
TWO_WORDED = re.compile(r"\b[A-Z]{2,3} \d{2,5}\b")  # a flight: LH 438
VERSION = re.compile(r"(?<![\w.])v?\d+(?:\.\d+){1,3}(?:-[a-z]+\.?\d*)?(?![\w.]\w|%)", re.IGNORECASE)
CAPS = re.compile(r"\b[A-Z][A-Z0-9]{1,5}\b")
NOUN = r"(?!(?:and|or|in|at|for|to|from|of|the|a|an|with|on|by|is|are|that|which|my|me|please|I|we|you|he|she|they)\b)\w[\w'-]*"
THING = rf"{NOUN}(?: (?:of |per )?{NOUN}){{0,2}}"
ROW = re.compile(rf"\b{THING}(?:, {THING})*,? (?:and|&|or) (?:an? |the )?{THING}(?=[\s.,;?!]|$)")
ITEM = re.compile(rf"\b{THING}")
CALLED = re.compile(rf"\b(?:called|named|titled) ({NOUN}(?: {NOUN}){{0,4}})")
FOLDER = re.compile(
    r"\b(?:the|my|our) (?!(?:current|working|same|whole|entire|root|parent)\b)([\w.-]+) (?:folder|directory)\b"
    r"|\bfiles (?:are )?(?:in|of) (?:the )?"
    r"(?!(?:current|working|directory|folder|here|there|it|this|that)\b)([\w.-]*[a-z][\w.-]*)"
    r"(?=\s*[?.!]?$)"
    r"|\b(?:under|inside|below) (?:the )?([\w.-]*[a-z][\w.-]*)(?! \w+ (?:folder|dir))"
)
TAG = re.compile(r"#([\w-]+)")
_DOTS = re.compile(r"(?<!\S)\.{1,2}(?=/)")


def dotted(text: str, start: int) -> int:
    """Where a path begins that is told from here: ./src, ../src."""
    return next((match.start() for match in _DOTS.finditer(text, max(0, start - 2), start + 1) if match.end() == start), start)
