"""Which optional parameters a text speaks of. The others are not offered: small models fill all that they see."""

from __future__ import annotations

import re

from toolglot.pipeline.held import CLEAR, SOFT, SURE, Held, fills
from toolglot.pipeline.plain_words import FUNCTION_WORDS
from toolglot.pipeline.pointers import pointed
from toolglot.pipeline.said import Find, Said
from toolglot.pipeline.said_flags import flag
from toolglot.pipeline.slot_kinds import Slot
from toolglot.pipeline.spans import Spans

_COUNTS = re.compile(rf"[ -](?!(?:{'|'.join(map(re.escape, FUNCTION_WORDS))})\b)[^\W\d_]+", re.IGNORECASE)  # 3 people
_WHERE = "city location place country state county province warehouse town region area address where venue"
_WHO = "person contact recipient user customer client artist author name team player"
_PLACES, _PEOPLE = frozenset(_WHERE.split()), frozenset(_WHO.split())
_LOOK_BACK = 60  # characters
_YEAR = re.compile(r"(?:19|20)\d\d")
_COMPARED = re.compile(
    r"\b(?:(?:is|are|was) (?:not )?(?:at|over|under|above|below|more|less|greater)[ a-z]{0,12}|equals?|than) $"
)
_VAGUE = frozenset({"words", "free"})
_DEFAULT = re.compile(r"\bdefaults?\b", re.IGNORECASE)


def spoken_of(one: Held, said: Said) -> bool:
    """Whether the text speaks of an optional parameter."""
    kind = one.slot.kind
    if kind == "enum":
        return bool(one.values)
    if kind == "boolean":
        return flag(one.slot, said) is not None
    if one.inner is not None:
        needs = one.slot.kind == "array" or bool(one.slot.schema.get("required"))
        told = fills(one.inner) if needs else bool(one.inner.places)
        return told and one.inner.pointed >= CLEAR
    if kind == "array" and "enum" in (one.slot.schema.get("items") or {}):
        return bool(one.values)
    if kind == "array":
        return bool(one.values) and (one.clear >= SURE or any(pointed(one.slot, find, said) >= CLEAR for find in one.values))
    if kind in ("date", "time", "email", "phone", "url", "currency"):
        return bool(one.values)
    if kind == "unit":
        return len({find.value for find in one.values}) == 1
    return bool(one.values) and one.clear > 0


def left_over(held: list[Held], offered: list[Held], said: Said) -> list[Held]:
    """What is said is said for a reason: a value that nothing takes is that of the only optional parameter of its kind."""
    taken = Spans(
        (find for one in offered for find in one.values if one.required or one.clear),
        (Find("", *place) for one in offered if one.inner is not None for place in one.inner.places),
    )
    found = []
    for kinds in (SOFT, {"code"}, {"number"}, {"path"}):
        alike = [
            one for one in held if one.slot.kind in kinds and not one.required and not any(one is other for other in offered)
        ]
        alike = [one for one in alike if one.slot.kind not in _VAGUE or not _DEFAULT.search(one.slot.about)]
        if len(alike) == 1:
            free = [find for find in alike[0].values if not taken.meet(find)]
            free = [find for find in free if pointed(alike[0].slot, find, said) >= 0]
            free = [find for find in free if not isinstance(find.value, (int, float)) or _is_spare(alike[0], find, said)]
            if free and to_spare(alike[0], held):
                alike[0].values = free
                found.append(alike[0])
    return found


def _is_thing(this: Slot, place: Slot) -> bool:
    """Whether its name may be in plain words, where another asks for a place: graphic designer jobs in Oslo."""
    return bool(place.own & _PLACES) and not this.own & (_PLACES | _PEOPLE)


def _is_spare(this: Held, one: Find, said: Said) -> bool:
    """A number that counts nothing, is no year and compares nothing: someone has said it for a reason."""
    compared = _COMPARED.search(said.text[max(0, one.start - _LOOK_BACK) : one.start])
    year = _YEAR.fullmatch(said.text[one.start : one.end]) and "year" not in this.slot.own
    return not _COUNTS.match(said.text, one.end) and not year and not compared


def to_spare(one: Held, held: list[Held]) -> bool:
    """Whether there is a name for an optional parameter once each of those that must have one has its own."""
    if one.slot.kind not in SOFT or one.is_exact:
        return True
    enums = Spans(*(other.values for other in held if other.slot.kind == "enum"))
    needy = [other for other in held if other.required and other.slot.kind in SOFT]
    if one.clear >= SURE:  # to others any words will do
        needy = [other for other in needy if other.slot.kind not in _VAGUE and not _is_thing(other.slot, one.slot)]
    values = [find for other in [one, *needy] for find in other.values]
    places = {find.start for find in values if not enums.meet(find)}
    return len(places) > len(needy)
