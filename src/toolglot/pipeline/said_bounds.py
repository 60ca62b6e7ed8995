"""Numbers that bound something: at least 4, no more than 80, from 300 to 400, 950 at most."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from toolglot.pipeline.said import Find, Said
from toolglot.pipeline.said_units import unit_after

_BEFORE = {
    "most": r"at (?:the )?most|(?:no|not) (?:more|longer|higher|later|bigger|larger|greater) than|up to|under|below|beneath"
    r"|(?:less|fewer|cheaper|lower|shorter|smaller|younger|closer) than|max(?:imum)?(?: of)?|within|not exceed(?:ing)?|down to",
    "least": r"at (?:the )?least|(?:no|not) (?:less|fewer|lower|smaller|shorter) than|over|above"
    r"|(?:more|greater|higher|larger|bigger|longer|older|better) than|min(?:imum)?(?: of)?|exceed(?:ing)?|starting at",
}
_AFTER = {
    "most": r"at (?:the )?most|or (?:less|fewer|under|below|cheaper|lower)|max(?:imum)?|tops|or so at most",
    "least": r"at (?:the )?least|or (?:more|higher|above|over|better|later|larger)|and (?:up|above|over)|min(?:imum)?|plus",
}
_BEFORE_YEARS = {"most": r"before|until|prior to|earlier than", "least": r"after|since|later than"}
_SIGN = r"(?:[$€£¥]|about |around |a |the )*"
_IN_FRONT = {side: re.compile(rf"\b(?:{words}) {_SIGN}$", re.IGNORECASE) for side, words in _BEFORE.items()}
_DATING = {side: re.compile(rf"\b(?:{words}) (?:the year )?$", re.IGNORECASE) for side, words in _BEFORE_YEARS.items()}
_YEARS, _DATE = range(1000, 3000), re.compile(r"[-/.]\d")
_BEHIND = {
    side: re.compile(rf"(?:[+]?(?: ?[a-z%°$€£]+){{0,4}}?) (?:{words})\b", re.IGNORECASE) for side, words in _AFTER.items()
}
_TO = r"(?: ?[a-z€£$%°]+)?(?:\s*[-–]\s*| (?:to|and|through|until) )[$€£¥]?"
_RANGED = re.compile(_TO, re.IGNORECASE)
_OPENED = re.compile(r"\b(?:between|from|within|of|in) (?:the )?[$€£¥]?$", re.IGNORECASE)
_LOOK = 30  # characters before
_MONEY = re.compile(
    r" ?(?:[$€£¥]|(?:us |canadian |british )?(?:dollars?|euros?|pounds?|bucks|cents|usd|eur|gbp|yen|francs?)\b)", re.IGNORECASE
)
_EACH = re.compile(r"(?: [a-z$€£]+){0,2} (?:each|apiece|per |an? (?:piece|unit|hour|night|day|month|person))", re.IGNORECASE)
_AT = re.compile(r"\b(?:at|for|costs?|@) [$€£¥]?$", re.IGNORECASE)
_SOME = re.compile(r"\b(?:top|first|last|next|latest|newest|recent|best)\W$", re.IGNORECASE)
# the last commit, but no point in time: last week
_LAST_ONE = re.compile(
    r"\b(?:my|the|our|its|their|'s) (?:last|latest|newest|most recent)"
    r" (?!(?:second|minute|hour|day|night|week|weekend|month|quarter|season|year|time|name|word)\b)[a-z]+(?<!s)\b",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(r"(?:how many|(?:max(?:imum)? )?number of)\b", re.IGNORECASE)
_OF_THEM = re.compile(r" ?(?:x|×|units?|pieces?|copies|times|pcs)\b|(?: [a-z-]+){1,3}?s\b(?! (?:of|old)\b)", re.IGNORECASE)

UPPER = frozenset(
    {"max", "maximum", "limit", "most", "upper", "highest", "ceiling", "under", "latest", "up", "to", "until", "before"}
)
_PAID = "price cost amount fee rent budget salary total fare payment deposit revenue income bill subtotal principal"
_PRICES = frozenset(_PAID.split())
_PERCENT = frozenset({"percent", "percentage", "pct"})
_SHARE = re.compile(r"%|percent", re.IGNORECASE)
_COUNTS = frozenset({"quantity", "qty", "count", "number", "units", "copies", "pieces", "limit"})
LOWER = frozenset(
    {"min", "minimum", "least", "lower", "lowest", "floor", "threshold", "fewest", "over", "earliest", "from", "since", "after"}
)


def bound(one: Find, said: Said) -> str:
    """`most` or `least`, as the words beside a number tell; or nothing."""
    if side := _end_of_range(one, said):
        return side
    before = said.text[max(0, one.start - _LOOK) : one.start]
    for side in ("most", "least"):
        if one.value in _YEARS and _DATING[side].search(before) and not _DATE.match(said.text, one.end):
            return side
        if _IN_FRONT[side].search(before) or _BEHIND[side].match(said.text, one.end):
            return side
    return ""


def _start(one: Find) -> int:
    return one.start


def _end_of_range(one: Find, said: Said) -> str:
    begins = bisect_left(said.numbers, one.start - 2 * _LOOK, key=_start)
    ends = bisect_right(said.numbers, one.end + _LOOK, key=_start)
    for other in said.numbers[begins:ends]:
        first, last = (one, other) if one.start < other.start else (other, one)
        if first.start == last.start or not _RANGED.fullmatch(said.text[first.end : last.start]):
            continue
        if (
            _OPENED.search(said.text[max(0, first.start - _LOOK) : first.start])
            or " and " not in said.text[first.end : last.start]
        ):
            return "least" if one.start == first.start else "most"
    return ""


def is_bounded(own: frozenset[str], one: Find, said: Said) -> float:
    """How clearly a number is that of a parameter that bounds something, or is not."""
    wanted = "most" if own & UPPER else "least" if own & LOWER else ""
    told = bound(one, said) if wanted else ""
    return 0.0 if not wanted or not told else 2.0 if told == wanted else -2.0


def is_limited(own: frozenset[str], about: str, one: Find, said: Said) -> float:
    """The next three trams, the last 50 lines: how clearly a number says how many of something are wanted."""
    if not (own & _COUNTS or _HOW_MANY.match(about)) or unit_after(said.text[one.end : one.end + 20]):
        return 0.0
    return 2.0 if _SOME.search(said.text[max(0, one.start - _LOOK) : one.start]) else 0.0


def last_one(own: frozenset[str], about: str, said: Said) -> list[Find]:
    """Who made the last commit? One of them is wanted, where a text that has no number is asked how many."""
    match = _LAST_ONE.search(said.text) if (own & _COUNTS or _HOW_MANY.match(about)) and not said.numbers else None
    return [Find(1, *match.span())] if match else []


def is_share(own: frozenset[str], one: Find, said: Said) -> float:
    """How clearly a number is a percentage, for one that is asked for; or is none, for a price."""
    if not own & (_PERCENT | _PRICES):
        return 0.0
    told = _SHARE.search(said.text[one.start : one.end]) is not None
    return (2.0 if own & _PERCENT else -2.0) if told else 0.0


def is_priced(own: frozenset[str], one: Find, said: Said) -> float:
    """How clearly a number is a price, for one that is asked for; or is none, for a count."""
    if not own & (_PRICES | _COUNTS):
        return 0.0
    sign = said.text[one.start : one.start + 1] in "$€£¥" or said.text[max(0, one.start - 1) : one.start] in (
        "$",
        "€",
        "£",
        "¥",
    )
    money = sign or _MONEY.match(said.text, one.end) is not None
    priced = money or (
        _EACH.match(said.text, one.end) is not None and _AT.search(said.text[max(0, one.start - _LOOK) : one.start]) is not None
    )
    counts = _OF_THEM.match(said.text, one.end) is not None and not priced and not unit_after(said.text[one.end : one.end + 20])
    if own & _PRICES:
        return 2.0 if priced else -2.0 if counts else 0.0
    return -2.0 if priced else 1.0 if counts else 0.0
