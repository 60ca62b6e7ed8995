"""Words beside a value say whose it is: "from Paris", "three days", "port 443"."""

from __future__ import annotations

import re
from itertools import pairwise, takewhile

from toolglot.pipeline.plain_words import FUNCTION_WORDS
from toolglot.pipeline.related_words import related
from toolglot.pipeline.relevance import words_of
from toolglot.pipeline.said import Find, Said
from toolglot.pipeline.said_bounds import is_bounded, is_limited, is_priced, is_share
from toolglot.pipeline.said_numbers import NUMBER_WORDS
from toolglot.pipeline.said_units import unit_after, wanted_unit
from toolglot.pipeline.said_words import Word
from toolglot.pipeline.slot_kinds import Slot, begins_alike

# a word before a value -> words of the parameter that it points to
_POINTS = {
    "from": "from origin source start base begin departure depart sender old initial pickup"
    " company organization brand store shop",
    "between": "from origin source start begin",
    "to": "to destination target end arrival quote recipient until into new dest final dropoff",
    "into": "to target destination",
    "until": "end to until",
    "in": "city location place country in to room language",
    "at": "at place restaurant location address time price host company employer store shop",
    "by": "artist author by director writer maker actor brand manufacturer",
    "for": "for name recipient city location topic party",
    "on": "on date day",
    "born": "birth dob birthday birthdate",
    "with": "with attendee",
    "called": "name title",
    "named": "name title",
    "titled": "title name",
    "saying": "message body text content",
    "says": "message body text content",
    "say": "message body text content",
    "off": "from base",
    "about": "topic query subject",
    "than": "price",
    "under": "price",
    "below": "price",
    "of": "name",
}
POINTED = {word: frozenset(names.split()) for word, names in _POINTS.items()}
_APART = re.compile(r"[,;:?!]|\.\s")
_BEHIND = re.compile(r"['\"”’]? (?:(?:in|as) (?:the|a|its|my) )?([^\W\d_]+)")
_EQUALS = re.compile(r"([A-Za-z]\w*)\s?=\s?$")
_AMOUNT = re.compile(rf"(?:\d|\b(?:{'|'.join(NUMBER_WORDS)}|hundred|thousand|million|half|dozen))[ -]?$", re.IGNORECASE)
_CODED = re.compile(r"[A-Z]{2,}-?\d[A-Z\d-]*")
_SAYS_SO = 2.5  # a name that has its own word in it: Premier League
_PERSONS = frozenset(
    {"artist", "author", "singer", "actor", "director", "painter", "person", "contact", "player", "assignee", "user"}
)
_AHEAD = 2  # words after a number
_LABEL = 20  # characters before a number
_WITHIN = 3  # words between a value and the one that says whose it is


def pointed(this: Slot, one: Find, said: Said) -> float:
    """How clearly the words beside a value say that it is this parameter's."""
    score = 0.0
    before = _before(one, said)
    coded = this.kind == "name" and _CODED.fullmatch(str(one.value)) is not None  # in CO2, one of CUP-008: nobody's name
    for far, word in enumerate(reversed(before)):
        if far and (word.text[0].isdigit() or _APART.search(said.text[word.end : one.start])):
            break
        if this.own & POINTED.get(word.low, frozenset()) and not (this.kind == "number" and word.low == "at") and not coded:
            score += 2.0 if not far else 1.0 if far == 1 and before[-1].low in FUNCTION_WORDS else 0.0
        score += _shared(word.low, this) / (1 + far / 2)
    if this.kind == "name" and this.own & _PERSONS and one in said.quoted and said.names:
        score -= 1.0  # people stand in no quotes
    if this.kind == "name" and "title" in this.own and one in said.quoted:
        score += 1.0  # titles do
    if this.kind == "name" and " " in str(one.value) and set(words_of(str(one.value))) & this.named:
        score += _SAYS_SO
    if this.kind != "number":
        return score + _labelled_behind(this, one, said) + _measured(this, one, said)
    about = this.about
    score += is_share(this.own, one, said)
    score += is_bounded(this.own, one, said) + is_priced(this.own, one, said) + is_limited(this.own, about, one, said)
    label = _EQUALS.search(said.text[max(0, one.start - _LABEL) : one.start])  # x in "x = 3"
    if label:
        return 2.0 if label[1].lower() in this.own else 0.0
    unit = unit_after(said.text[one.end : one.end + 20])
    wanted = wanted_unit(this.name, about) if unit is not None else None
    behind = _after(one, said)
    if unit is not None and wanted is not None:
        score += 1.5 if unit[0] == wanted[0] else -2.0
        behind = behind[1:]
    return score + sum(_shared(word, this) for word in behind)


def _before(one: Find, said: Said) -> list[Word]:
    """The words before a value. What follows another number is that one's, unless a sign parts them."""
    found = said.before(one.start, _WITHIN)
    counts = [
        at
        for at, (word, behind) in enumerate(pairwise(found))
        if word.text[0].isdigit() and not _APART.search(said.text[word.end : behind.start])
    ]
    if counts and len(found) - counts[-1] > 1:
        found = [*found[: counts[-1] + 1], *found[counts[-1] + 2 :]]
    return found


def _labelled_behind(this: Slot, one: Find, said: Said) -> float:
    """The Darwin model, Bill Murray in the cast: what stands behind a value may say what it is."""
    behind = _BEHIND.match(said.text, one.end)
    return 1.5 if behind and set(words_of(behind[1].lower())) & this.named else 0.0


def _measured(this: Slot, one: Find, said: Said) -> float:
    """The unit or currency that an amount is told in is the one to convert from, wherever it stands."""
    if this.kind not in ("enum", "unit", "currency") or not _AMOUNT.search(said.text, max(0, one.start - _LABEL), one.start):
        return 0.0
    if not any(one.start <= unit.start < one.end for unit in [*said.units, *said.currencies]):
        return 0.0
    if this.own & POINTED["to"]:
        return -2.0
    return 1.5 if this.kind != "unit" or this.own & POINTED["from"] else 0.0


def _after(one: Find, said: Said) -> list[str]:
    """The words behind a number, up to one that tells nothing."""
    clause = re.split(r"[,.;:?!](?:\s|$)|\d", said.text[one.end : one.end + 40])[0].lower()
    words = re.findall(r"[^\W\d_]+", clause)[:_AHEAD]
    return list(takewhile(lambda word: word not in FUNCTION_WORDS and word not in NUMBER_WORDS, words))


def _shared(word: str, this: Slot) -> float:
    """A word of its name says more than one of its description."""
    if word in FUNCTION_WORDS:
        return 0.0
    stems = set(words_of(word))
    if stems & this.named or any(begins_alike(stem, own) for stem in stems for own in this.named):
        return 1.5
    if any(related(stem) & this.named for stem in stems):
        return 1.0
    return 0.5 if stems & this.words else 0.0
