"""Whether a text switches something on or off: by a parameter's name, or by what its description says of it."""

from __future__ import annotations

import re

from toolglot.pipeline.plain_words import FUNCTION_WORDS
from toolglot.pipeline.relevance import words_of
from toolglot.pipeline.said import Said
from toolglot.pipeline.said_units import unit_of
from toolglot.pipeline.slot_kinds import Slot, begins_alike

Flag = tuple[bool, tuple[int, int]]

_SWITCHING = frozenset({"is", "includ", "show", "us", "enabl", "allow", "with"})  # stems that say nothing of what is switched
_DENYING = frozenset({"no", "not", "without", "never", "skip", "exclude", "excluding", "except", "few"})
_WITHIN = 6  # words before one that they may deny
_WAIVED = re.compile(  # case doesn't matter
    r"(?: [a-z]+){0,2} (?:(?:doesn't|does not|don't|do not|needn't|isn't|is not|aren't|are not) "
    r"(?:matter|needed|required|necessary|important|be|allowed|included?)|(?:off|disabled|excluded)\b)",
    re.IGNORECASE,
)
_SWITCHES = frozenset({"on", "state", "enabled", "power"})
_SIDE = r"(?: to| for| if| when| means|:| =)?"
_SIDES = re.compile(rf"\btrue\b{_SIDE} ([^,;.]+?)(?:[,;.]| and| or) *(?:\w+ )??false\b{_SIDE} ([^,;.]+)", re.IGNORECASE)
_ON_OFF = re.compile(r"\b(?:turn|switch|put|power|keep)(?:ed|ing)?\b[^.,;!?]*?\b(on|off)\b|\b(on|off)\b(?=\W*$)", re.IGNORECASE)
# what descriptions say of every switch
_ASIDE = """
true false whether if set flag indicates should include included only default defaults value boolean enable enabled specify
specifies determine determines use used optional return returned result results option
"""
_SAID_OF_ALL = frozenset(words_of(_ASIDE))
_SHARE = 0.6  # of the words of a description
_FEWEST = 2  # of them


def flag(this: Slot, said: Said) -> Flag | None:
    """Whether the text speaks of a switch, where, and whether it says no to it."""
    return _by_sides(this, said) or _switched(this, said) or _by_name(this, said) or _by_description(this, said)


def _switched(this: Slot, said: Said) -> Flag | None:
    """On or off, for what is called so."""
    told = _ON_OFF.search(said.text) if this.own & _SWITCHES else None
    return (told.group(told.lastindex or 0).lower() == "on", told.span()) if told else None


def _by_name(this: Slot, said: Said) -> Flag | None:
    own = {stem for word in this.own - FUNCTION_WORDS if not unit_of(word) for stem in words_of(word)} - _SWITCHING
    for at, word in enumerate(said.words):
        if any(begins_alike(stem, name) for stem in words_of(word.low) for name in own):
            denied = _denied(at, said) or _WAIVED.match(said.text, word.end) is not None
            return not denied, (word.start, word.end)
    return None


def _by_sides(this: Slot, said: Said) -> Flag | None:
    """True to lock, false to unlock: which of both the text says."""
    match = _SIDES.search(this.about)
    if match is None:
        return None
    yes, no = ({word.lower() for word in re.findall(r"[^\W\d_]+", side)} for side in match.groups())
    if {"on"} <= yes and {"off"} <= no:
        told = _ON_OFF.search(said.text)
        return (told.group(told.lastindex or 0).lower() == "on", told.span()) if told else None
    for side, words in ((True, yes - no), (False, no - yes)):
        stems = {stem for word in words - FUNCTION_WORDS for stem in words_of(word)}
        place = next((word for word in said.words if stems & set(words_of(word.low))), None)
        if place is not None:
            return side, (place.start, place.end)
    return None


def _by_description(this: Slot, said: Said) -> Flag | None:
    """The text says most of what the description does: leave it at the door."""
    about = re.split(r"[.;(]| instead of | rather than ", this.about)[0]
    told = [stem for word in re.findall(r"[^\W\d_]+", about.lower()) if word not in FUNCTION_WORDS for stem in words_of(word)]
    words = {stem for stem in told if stem not in _SAID_OF_ALL}
    words = words if len(words) > _FEWEST else {*told[-1:]} & words  # of two words the last says what it is about
    shared = [(at, word) for at, word in enumerate(said.words) if words & set(words_of(word.low))]
    stems = {stem for _, word in shared for stem in words_of(word.low)} & words
    named = this.named & words  # a tax exemption is more than a tax
    enough = max(_FEWEST, _SHARE * len(words)) if len(words) > _FEWEST else 1
    if len(stems) < enough or not named <= stems:
        return None
    at, word = shared[-1]
    return not _denied(at, said), (word.start, word.end)


def _denied(at: int, said: Said) -> bool:
    """Whether a word that says no stands before, in the same clause."""
    for word in reversed(said.words[max(0, at - _WITHIN) : at]):
        if word.low in _DENYING or word.low.endswith("n't"):
            return True
        if word.low in ("and", "but") or said.text[word.end : word.end + 1] in (",", ";", ".", "?", "!"):
            return False
    return False
